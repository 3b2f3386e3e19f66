"""Ways to cut a problem's sides into parts, so that the parts explain sizes of profiled calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bareline.predict.scaling.cells import RULES, Cells, Cut, Rule
from bareline.predict.scaling.grid import Grid
from bareline.predict.scaling.laws import LawTerms, SizeTable, laws_of, terms_at

_MOST_CELLS = 4096
#: The most ways to cut the sides that are compared: more would determine nothing.
_MOST_CUTS = 24


class RankSize(NamedTuple):
    """The size of a call on one rank, in bytes."""

    rank: int
    size: int


class CountSizes(NamedTuple):
    """The sizes of a call in one profile."""

    grid: Grid
    sizes: tuple[RankSize, ...]

    def at_parts(self, side: int) -> set[tuple[int, int]]:
        """Return the pairs of a size and a coordinate along `side` at which the size occurs."""
        return {(size, self.grid.at(rank)[side]) for rank, size in self.sizes}

    @property
    def differ(self) -> bool:
        """Whether the ranks have several sizes."""
        return len({size for _, size in self.sizes}) > 1


#: The sizes of a call in all profiles.
CallSizes = tuple[CountSizes, ...]


@dataclass(frozen=True, slots=True)
class SideCuts:
    """The possible ways to cut a problem along the sides of a grid, the even cut first.

    - `unclear`: the reason why uneven cuts are missing; "" if they are not missing.
    """

    ways: list[Cut]
    unclear: str = ""

    @classmethod
    def of(cls, grid: Grid, uneven: Sequence[CallSizes]) -> SideCuts:
        """Return the even cut, and the uneven cuts that explain the profiled sizes.

        If there are too many uneven cuts, only the even cut is returned.

        - `uneven`: the calls whose sizes differ between the ranks of a profile.
        """
        even: Cut = (None,) * len(grid.sides)
        ways = [even]
        for rules in RULES:
            for cut in _ways_of(grid, uneven, rules):
                if cut not in ways:
                    ways.append(cut)
        if len(ways) > _MOST_CUTS:
            return cls([even], "; many ways to cut a side give these sizes")
        return cls(ways)


def _ways_of(grid: Grid, uneven: Sequence[CallSizes], rules: Sequence[Rule]) -> list[Cut]:
    """Return the ways to cut a problem along all sides of the grid, by one of `rules` per side."""
    ways: list[Cut] = [(None,) * len(grid.sides)]
    for side in range(len(grid.sides)):
        wider: list[Cut] = []
        for cut in ways:
            wider += _with_side(grid, side, cut, uneven, rules)
        ways = wider
    return ways


def _with_side(
    grid: Grid, side: int, cut: Cut, uneven: Sequence[CallSizes], rules: Sequence[Rule]
) -> list[Cut]:
    """Return `cut`, extended by each possible uneven cut of `side`.

    If no uneven cut explains the sizes of the calls, `cut` is returned unchanged.
    """
    for call in uneven:
        if not _differ_along(side, call):
            continue
        # Cells with the same parts on the new grid count as one cut.
        by_shares: dict[tuple[float, ...], Cut] = {}
        for cells in _cells_of_side(side, call, cut, rules):
            shares = _shares(cells, grid.sides[side])
            by_shares.setdefault(shares, _replaced(cut, side, cells))
        if by_shares:
            return list(by_shares.values())
    return [cut]


def _differ_along(side: int, call: CallSizes) -> bool:
    """Whether the sizes of a call differ along `side`, and along no other side of the grid."""
    for count in call:
        parts = count.at_parts(side)
        if len(parts) > len({coordinate for _, coordinate in parts}):
            return False
    return any(count.differ for count in call)


def _shares(cells: Cells, length: int) -> tuple[float, ...]:
    """Return the share of a side's cells in each of its parts."""
    parts = [cells.part(length, coordinate) for coordinate in range(length)]
    whole = sum(parts)
    return tuple(part / whole for part in parts)


def _replaced(cut: Cut, side: int, cells: Cells) -> Cut:
    return (*cut[:side], cells, *cut[side + 1 :])


def _cells_of_side(side: int, call: CallSizes, cut: Cut, rules: Sequence[Rule]) -> Iterator[Cells]:
    """Yield the numbers of cells along a side, with their rules, that explain a call's sizes.

    - `cut`: the cells along the other sides.
    """
    candidates: list[_Candidate] = []
    for rule in rules:
        candidates += _candidates(side, call, rule)
    # Most sizes are shares of the cells. Without such a fit, sizes may have cells of neighbours.
    shares = [candidate for candidate in candidates if candidate.is_share]
    for candidate in shares or candidates:
        if _gives_sizes(call, _replaced(cut, side, candidate.cells)):
            yield candidate.cells


def _gives_sizes(call: CallSizes, cut: Cut) -> bool:
    """Whether a law explains the sizes of a call if the sides are cut by `cut`."""
    samples = set()
    for grid, sizes in call:
        for rank, size in sizes:
            terms = tuple(terms_at(grid, rank, cut).tolist())
            samples.add((grid.ranks, terms, size))
    return bool(laws_of(SizeTable.of(sorted(samples)), LawTerms(len(cut), None)))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A number of cells along a side; its parts differ exactly where the sizes of a call differ.

    - `is_share`: whether the sizes in each profile are proportional to the parts.
    """

    cells: Cells
    is_share: bool


def _candidates(side: int, call: CallSizes, rule: Rule) -> Iterator[_Candidate]:
    """Yield the numbers of cells along a side that may explain a call's sizes with `rule`."""
    numbers = np.arange(2, _MOST_CELLS)
    fits = np.ones(len(numbers), bool)
    shares = np.ones(len(numbers), bool)
    for count in call:
        if not count.sizes:
            continue
        sizes, coordinates = np.array(sorted(count.at_parts(side))).T
        parts = rule(numbers[:, None], count.grid.sides[side], coordinates[None, :])
        fits &= parts.min(axis=1) >= 1
        # Each part is compared with the part of the next larger size.
        part = parts[:, :-1]
        next_part = parts[:, 1:]
        are_equal = sizes[:-1] == sizes[1:]
        fits &= np.where(are_equal, part == next_part, part < next_part).all(axis=1)
        shares &= (part * sizes[1:] == next_part * sizes[:-1]).all(axis=1)
    for number, is_share in zip(numbers[fits].tolist(), shares[fits].tolist(), strict=True):
        yield _Candidate(Cells(number, rule), is_share)
