"""Grids of ranks: the place of a rank, and the grid of a program on more ranks.

Ranks are placed row by row on a grid of one to three sides, the first side fastest.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from bareline.profile.model import MOST_RANKS
from bareline.vocabulary.errors import AnalysisError, UsageError

MOST_SIDES = 3
#: Sides of this length have no inside.
BOTH_ENDS = 2
#: The place of a rank along each side: 0 at the low end, 1 inside, 2 at the high end.
Place = tuple[int, ...]


@dataclass(frozen=True, slots=True, order=True)
class Grid:
    """Sides of a grid of ranks, the fastest first."""

    sides: tuple[int, ...]

    def __str__(self) -> str:
        return "x".join(map(str, self.sides))

    @property
    def ranks(self) -> int:
        """The number of its ranks."""
        return math.prod(self.sides)

    def at(self, rank: int) -> tuple[int, ...]:
        """Return a rank's coordinates."""
        coordinates = []
        for side in self.sides:
            rank, here = divmod(rank, side)
            coordinates.append(here)
        return tuple(coordinates)

    def rank(self, at: Sequence[int]) -> int:
        """Return the rank at coordinates; beyond an end they go on at the other end."""
        rank = 0
        for here, side in zip(reversed(at), reversed(self.sides), strict=True):
            rank = rank * side + here % side
        return rank

    def place(self, rank: int) -> Place:
        """Return the place of a rank along each side."""
        place = []
        for here, side in zip(self.at(rank), self.sides, strict=True):
            if here == 0:
                place.append(0)
            elif here == side - 1:
                place.append(2)
            else:
                place.append(1)
        return tuple(place)


def grids(ranks: int, count: int) -> Iterator[Grid]:
    """Yield all grids of `ranks` ranks with `count` sides, each side cut."""
    if count == 1:
        if ranks > 1:
            yield Grid((ranks,))
        return
    for side in range(2, ranks // 2 + 1):
        if ranks % side == 0:
            for rest in grids(ranks // side, count - 1):
                yield Grid((side, *rest.sides))


def place_words(place: Place) -> str:
    """Describe a place along each side, for a message."""
    names = ("at the low end of", "inside", "at the high end of")
    return ", ".join(f"{names[here]} side {side}" for side, here in enumerate(place, start=1))


# The grid of more ranks ---------------------------------------------------------------------------


def grids_by_rule(known: Sequence[Grid], ranks: int) -> list[Grid]:
    """Return the grids of `ranks` ranks by each rule that gives all known grids.

    A rule keeps some sides as they are, and cuts the rest into the sides of the least sum, in one
    order. The first grid follows the rule that keeps fewest sides.
    """
    count = len(known[0].sides)
    ruled: list[Grid] = []
    for fixed in _constant_sides(known):
        for order in permutations(range(count - len(fixed))):
            if any(
                _ruled(known_grid, known_grid.ranks, fixed, order) != known_grid
                for known_grid in known
            ):
                continue
            grid = _ruled(known[0], ranks, fixed, order)
            if grid is not None and grid not in ruled:
                ruled.append(grid)
    return ruled


def _constant_sides(profiled: Sequence[Grid]) -> Iterator[tuple[int, ...]]:
    """Yield the sets of sides, not all, that have one length on all known grids."""
    sides = range(len(profiled[0].sides))
    constant = [side for side in sides if len({grid.sides[side] for grid in profiled}) == 1]
    for count in range(min(len(constant) + 1, len(sides))):
        yield from combinations(constant, count)


def _ruled(model: Grid, ranks: int, fixed: Sequence[int], order: Sequence[int]) -> Grid | None:
    """Return a grid with some sides of a model, and the rest of the least sum in an order.

    None where the number of ranks does not divide so.
    """
    rest, left = divmod(ranks, math.prod(model.sides[side] for side in fixed))
    if left:
        return None
    even = min(grids(rest, len(order)), key=lambda grid: (sum(grid.sides), grid), default=None)
    if even is None:
        return None
    rising = sorted(even.sides)
    others = iter([rising[number] for number in order])
    sides = [
        model.sides[side] if side in fixed else next(others) for side in range(len(model.sides))
    ]
    return Grid(tuple(sides))


def grid_by_rule(known: Sequence[Grid], ranks: int) -> Grid:
    """Return the one grid of `ranks` ranks that follows the rule of the known grids.

    Raises AnalysisError: they follow no rule, or several rules with different grids of these ranks.
    """
    candidates = grids_by_rule(known, ranks)
    listed = ", ".join(map(str, known))
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise AnalysisError(
            f"the sides of the grid of {ranks} ranks do not follow from {listed}",
            hint="give them: --grid 4x4x8, the fastest side first",
        )
    raise AnalysisError(
        f"{ranks} ranks may lie as {' or '.join(map(str, candidates))}: {listed} follow "
        "the rule of each",
        hint=f"give the program's own: --grid {candidates[0]}, the fastest side first",
    )


def counts_that_check(
    known: Sequence[Grid], most: int, given: Collection[int] = ()
) -> tuple[int, ...]:
    """Return the fewest more ranks after which each side has been cut into four or more.

    A side of three has one rank inside, which fits every rule. Empty where all sides have been, or
    where no count up to `most` cuts them so by the rule of the known grids.

    - `given`: counts that were profiled, also those that do not fit the known grids.
    """
    if is_checked(known):
        return ()
    taken = {*given, *(grid.ranks for grid in known)}
    tried: list[Grid] = []
    for ranks in range(4, most + 1):
        if ranks in taken:
            continue
        grids_there = grids_by_rule(known, ranks)
        if len(grids_there) != 1:
            continue
        if is_checked([*known, grids_there[0]]):
            return (ranks,)
        tried.append(grids_there[0])
    for first, second in combinations(tried[:40], 2):
        if is_checked([*known, first, second]):
            return (first.ranks, second.ranks)
    return ()


def is_checked(known: Sequence[Grid]) -> bool:
    """Whether each side had two ranks inside."""
    lengths = zip(*(grid.sides for grid in known), strict=True)
    return all(max(side_lengths) >= BOTH_ENDS + 2 for side_lengths in lengths)


def parse_grid(text: str) -> Grid:
    """Parse ``4x4x8``; raises UsageError where it is not a grid of one to three sides."""
    parts = text.lower().split("x")
    if not 1 <= len(parts) <= MOST_SIDES or not all(
        part.isdecimal() and 2 <= int(part) <= MOST_RANKS for part in parts
    ):
        raise UsageError(
            f"'{text[:40]}' is not a valid grid",
            hint="write its sides, the fastest first: --grid 4x4x8",
        )
    return Grid(tuple(map(int, parts)))
