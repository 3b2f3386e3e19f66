"""Grids of ranks: the position of a rank, and the grid of a program on more ranks.

Ranks are numbered row by row on a grid of one to three sides; the first side is the fastest.
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
    """A grid of ranks: the lengths of its sides, the fastest side first."""

    sides: tuple[int, ...]

    def __str__(self) -> str:
        return "x".join(map(str, self.sides))

    @property
    def ranks(self) -> int:
        """The number of ranks of the grid."""
        return math.prod(self.sides)

    def at(self, rank: int) -> tuple[int, ...]:
        """Return the coordinates of a rank."""
        coordinates = []
        for side in self.sides:
            rank, here = divmod(rank, side)
            coordinates.append(here)
        return tuple(coordinates)

    def rank(self, coordinates: Sequence[int]) -> int:
        """Return the rank at some coordinates, which are periodic."""
        rank = 0
        for here, side in zip(reversed(coordinates), reversed(self.sides), strict=True):
            rank = rank * side + here % side
        return rank

    def place(self, rank: int) -> Place:
        """Return the place of a rank: low end, inside or high end, for each side."""
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
    """Yield all grids of `ranks` ranks with `count` sides, each of at least two ranks."""
    if count == 1:
        if ranks > 1:
            yield Grid((ranks,))
        return
    for side in range(2, ranks // 2 + 1):
        if ranks % side == 0:
            for rest in grids(ranks // side, count - 1):
                yield Grid((side, *rest.sides))


def place_words(place: Place) -> str:
    """Describe a place on the grid (low end, inside or high end of each side), for a message."""
    names = ("at the low end of", "inside", "at the high end of")
    return ", ".join(f"{names[here]} side {side}" for side, here in enumerate(place, start=1))


# The grid of more ranks ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _GridRule:
    """A rule that determines the grid for a number of ranks.

    - `fixed`: the sides that keep their lengths.
    - `order`: for each other side, its position after these sides are sorted by length.
    """

    fixed: tuple[int, ...]
    order: tuple[int, ...]

    def grid(self, model: Grid, ranks: int) -> Grid | None:
        """Return the grid of `ranks` ranks that follows the rule; None if there is none.

        The fixed sides are as long as in `model`. The other sides have the smallest sum of lengths.
        """
        fixed_ranks = math.prod(model.sides[side] for side in self.fixed)
        if ranks % fixed_ranks:
            return None
        lengths = _most_even(ranks // fixed_ranks, len(self.order))
        if lengths is None:
            return None
        sides = list(model.sides)
        free = [side for side in range(len(sides)) if side not in self.fixed]
        for side, number in zip(free, self.order, strict=True):
            sides[side] = lengths[number]
        return Grid(tuple(sides))

    def gives(self, grid: Grid) -> bool:
        """Whether the grid follows the rule."""
        return self.grid(grid, grid.ranks) == grid


def _most_even(ranks: int, count: int) -> list[int] | None:
    """Return the lengths of `count` sides with the smallest sum, ascending; None if impossible."""
    even = min(grids(ranks, count), key=lambda grid: (sum(grid.sides), grid), default=None)
    return sorted(even.sides) if even is not None else None


def grids_by_rule(profiled: Sequence[Grid], ranks: int) -> list[Grid]:
    """Return the grids of `ranks` ranks by each rule that all profiled grids follow.

    A rule keeps the length of some sides, and gives the other sides the lengths with the smallest
    sum. The order of these other sides by length is the same on every grid. The first grid follows
    the rule with the fewest fixed sides.
    """
    ruled: list[Grid] = []
    for rule in _rules(profiled):
        if not all(map(rule.gives, profiled)):
            continue
        grid = rule.grid(profiled[0], ranks)
        if grid is not None and grid not in ruled:
            ruled.append(grid)
    return ruled


def _rules(profiled: Sequence[Grid]) -> Iterator[_GridRule]:
    """Yield the rules that the profiled grids may follow; rules with fewest fixed sides first."""
    for fixed in _constant_sides(profiled):
        free = len(profiled[0].sides) - len(fixed)
        for order in permutations(range(free)):
            yield _GridRule(fixed, order)


def _constant_sides(profiled: Sequence[Grid]) -> Iterator[tuple[int, ...]]:
    """Yield each proper subset of the sides that have the same length on all profiled grids."""
    by_side = list(zip(*(grid.sides for grid in profiled), strict=True))
    constant = [side for side, lengths in enumerate(by_side) if len(set(lengths)) == 1]
    for count in range(min(len(constant) + 1, len(by_side))):
        yield from combinations(constant, count)


def grid_by_rule(profiled: Sequence[Grid], ranks: int) -> Grid:
    """Return the only grid of `ranks` ranks that follows a rule of the profiled grids.

    Raises AnalysisError: the profiled grids follow no rule, or several rules that differ for
    `ranks`.
    """
    candidates = grids_by_rule(profiled, ranks)
    listed = ", ".join(map(str, profiled))
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise AnalysisError(
            f"the sides of the grid of {ranks} ranks cannot be derived from {listed}",
            hint="give the sides, the fastest first: --grid 4x4x8",
        )
    raise AnalysisError(
        f"{ranks} ranks may form the grid {' or '.join(map(str, candidates))}: each of them "
        f"agrees with {listed}",
        hint=f"give the grid of the program, the fastest side first: --grid {candidates[0]}",
    )


def counts_that_check(
    profiled: Sequence[Grid], most: int, given: Collection[int] = ()
) -> tuple[int, ...]:
    """Return the one or two further numbers of ranks whose profiles would check every side.

    A side is checked if it has been cut into four or more parts; of three parts only one is inside,
    which fits every rule. The result is empty if all sides are checked, or if no numbers up
    to `most` check them by the rule of the profiled grids.

    - `given`: all numbers of ranks that were profiled, including numbers that do not fit these
      grids.
    """
    if is_checked(profiled):
        return ()
    taken = {*given, *(grid.ranks for grid in profiled)}
    tried: list[Grid] = []
    for ranks in range(4, most + 1):
        if ranks in taken:
            continue
        grids_there = grids_by_rule(profiled, ranks)
        if len(grids_there) != 1:
            continue
        if is_checked([*profiled, grids_there[0]]):
            return (ranks,)
        tried.append(grids_there[0])
    for first, second in combinations(tried[:40], 2):
        if is_checked([*profiled, first, second]):
            return (first.ranks, second.ranks)
    return ()


def is_checked(profiled: Sequence[Grid]) -> bool:
    """Whether each side had, in some profile, at least two ranks that were not at its ends."""
    lengths = zip(*(grid.sides for grid in profiled), strict=True)
    return all(max(side_lengths) >= BOTH_ENDS + 2 for side_lengths in lengths)


def parse_grid(text: str) -> Grid:
    """Return the grid in a text like ``4x4x8``.

    Raises UsageError: the text is not a grid of one to three sides.
    """
    parts = text.lower().split("x")
    if not 1 <= len(parts) <= MOST_SIDES or not all(map(_is_length, parts)):
        raise UsageError(
            f"'{text[:40]}' is not a valid grid",
            hint="write its sides, the fastest first: --grid 4x4x8",
        )
    return Grid(tuple(map(int, parts)))


def _is_length(text: str) -> bool:
    return text.isdecimal() and 2 <= int(text) <= MOST_RANKS
