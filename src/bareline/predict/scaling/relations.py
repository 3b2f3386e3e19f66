"""The relation between a call's rank and the rank at its other end: e.g. a neighbour, a root.

Each side of the grid has a separate relation, which leads from the rank's coordinate to the
coordinate of the partner or root:

- a shift, the mirror image, or half the side further on,
- the rank's coordinate along another side (a transposition),
- a fixed distance from an end of the side, or the middle of the side.

Of all relations that fit every rank of a place in every profile, the simplest is used. If another
fitting relation leads to a different rank on the new grid, the call is unchecked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bareline.predict.scaling.grid import Grid

_Numbers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, order=True)
class Relation:
    """A relation from a rank to a coordinate of its partner along one side.

    The partner's coordinate by `kind`:
    - ``shift``: `by` steps after the rank.
    - ``mirror``: the mirror image of the rank.
    - ``half``: half the side after the rank.
    - ``copy``: equal to the rank's coordinate along side `by`.
    - ``low``, ``high``: at the distance `by` from the low or the high end of the side.
    - ``middle``: the middle of the side.
    """

    kind: str
    by: int = 0

    def coordinate(self, origin: Sequence[int], side: int, sides: Sequence[int]) -> int | None:
        """Return the partner's coordinate along `side`; None if the grid has no such rank."""
        length = sides[side]
        here = origin[side]
        match self.kind:
            case "shift":
                return (here + self.by) % length
            case "mirror":
                return length - 1 - here
            case "half":
                return (here + length // 2) % length
            case "copy":
                return origin[self.by] if sides[self.by] == length else None
            case "middle":
                return length // 2
            case "low":
                there = self.by
            case _:
                there = length - 1 - self.by
        return there if 0 <= there < length else None


@dataclass(frozen=True, slots=True)
class End:
    """All relations that explain the rank at the other end of a call.

    - `sides`: for each side, the relations, the simplest first; empty if relations do not fit all
      sides.
    - `rank`: the rank at the other end, if it is fixed; else None.
    - `from_last`: the distance of the rank at the other end from the last rank, if this distance is
      fixed; else None.
    """

    sides: tuple[tuple[Relation, ...], ...]
    rank: int | None
    from_last: int | None

    def __bool__(self) -> bool:
        return bool(self.sides) or self.rank is not None or self.from_last is not None

    @property
    def chosen(self) -> tuple[Relation, ...]:
        """The simplest relation of each side, or the number of a fixed rank."""
        if self.sides:
            return tuple(relations[0] for relations in self.sides)
        if self.rank is not None:
            return (Relation("rank", self.rank),)
        return (Relation("from_last", self.from_last or 0),)

    def also(self, other: End) -> End:
        """Return the relations that are in both objects, which must have the same `chosen`."""
        pairs = zip(self.sides, other.sides, strict=False)
        sides = tuple(_in_both(relations, others) for relations, others in pairs)
        rank = self.rank if self.rank == other.rank else None
        from_last = self.from_last if self.from_last == other.from_last else None
        return End(sides, rank, from_last)

    def _fixed_ranks(self, grid: Grid) -> list[int]:
        """Return the possible ranks at a fixed distance from the first or from the last rank."""
        ranks = []
        if self.rank is not None:
            ranks.append(self.rank)
        if self.from_last is not None:
            ranks.append(grid.ranks - 1 - self.from_last)
        return ranks

    def rank_on(self, grid: Grid, rank: int) -> int | None:
        """Return the partner of a rank by the simplest relations; None outside of the grid."""
        if not self.sides:
            partner = self._fixed_ranks(grid)[0]
            return partner if 0 <= partner < grid.ranks else None
        origin = grid.at(rank)
        coordinates = []
        for side, relations in enumerate(self.sides):
            coordinate = relations[0].coordinate(origin, side, grid.sides)
            if coordinate is None:
                return None
            coordinates.append(coordinate)
        return grid.rank(coordinates)

    def is_checked_on(self, grid: Grid, rank: int) -> bool:
        """Whether all fitting relations lead to the same partner of `rank` on `grid`."""
        chosen = self.rank_on(grid, rank)
        for partner in self._fixed_ranks(grid):
            if 0 <= partner < grid.ranks and partner != chosen:
                return False
        origin = grid.at(rank)
        for side, relations in enumerate(self.sides):
            there = {relation.coordinate(origin, side, grid.sides) for relation in relations}
            if len(there - {None}) > 1:
                return False
        return True

    def alternatives(self) -> str:
        """Describe the relations that the profiles do not distinguish, for a message."""
        parts = []
        for side, relations in enumerate(self.sides, start=1):
            if len(relations) > 1:
                names = [_relation_words(relation) for relation in relations]
                parts.append(f"along side {side} {' or '.join(names)}")
        return "; ".join(parts) or "rank by number"


def _in_both(relations: tuple[Relation, ...], others: tuple[Relation, ...]) -> tuple[Relation, ...]:
    return tuple(relation for relation in relations if relation in others)


def _relation_words(relation: Relation) -> str:
    match relation.kind:
        case "shift":
            return "itself" if relation.by == 0 else f"{relation.by:+d}"
        case "mirror":
            return "its mirror image"
        case "half":
            return "half-way round"
        case "copy":
            return f"as on side {relation.by + 1}"
        case "middle":
            return "the middle"
        case "low":
            return f"number {relation.by}"
        case _:
            return f"number {relation.by} from the end"


@dataclass(frozen=True, slots=True)
class OtherEnds:
    """The ranks at the other ends of the calls that ranks of one place make, in all profiles.

    - `coordinates`: a row for each rank, with its coordinates on the grid.
    - `sides`: a row for each rank, with the lengths of the sides of its grid.
    - `ranks`: for each rank, the number of ranks of its job.
    - `others`: a row for each rank, with the rank at the other end of each of its calls.
    """

    coordinates: _Numbers
    sides: _Numbers
    ranks: _Numbers
    others: _Numbers

    def ends(self) -> list[End]:
        """Return the relations that fit each call; an `End` is false if no relation fits."""
        by_side = [self._relations(side) for side in range(self.coordinates.shape[1])]
        # Only several numbers of ranks distinguish a fixed rank from a neighbour.
        ranks = _fixed(self.others)
        from_last = _fixed(self.ranks[:, None] - 1 - self.others)
        ends = []
        for call, side_relations in enumerate(zip(*by_side, strict=True)):
            relations = tuple(map(tuple, side_relations))
            fitting = relations if all(relations) else ()
            ends.append(End(fitting, ranks[call], from_last[call]))
        return ends

    def _there(self, side: int) -> _Numbers:
        """Return the coordinates of the other ends along a side."""
        below = self.sides[:, :side].prod(axis=1)
        there: _Numbers = (self.others // below[:, None]) % self.sides[:, side, None]
        return there

    def _relations(self, side: int) -> list[list[Relation]]:
        """Return for each call the relations of one side that fit."""
        there = self._there(side)
        here = self.coordinates[:, side, None]
        length = self.sides[:, side, None]
        fitting = _Fitting([[] for _ in range(there.shape[1])])
        # The longest side distinguishes steps best.
        base = int(np.argmax(length))
        forth = (there[base] - here[base]) % length[base]
        back = forth - length[base]
        near = np.where(-back < forth, back, forth)
        far = np.where(-back < forth, forth, back)
        is_near = ((there - here - near) % length == 0).all(axis=0)
        is_far = ((there - here - far) % length == 0).all(axis=0)
        fitting.add(is_near, "shift", near)
        # Half of the side is as far in both directions; otherwise the shorter direction is meant.
        fitting.add(is_far & (forth == -back), "shift", far)
        fitting.add((there == length - 1 - here).all(axis=0), "mirror")
        fitting.add((there == (here + length // 2) % length).all(axis=0), "half")
        for other in range(self.coordinates.shape[1]):
            if other != side and (self.sides[:, other, None] == length).all():
                fitting.add((there == self.coordinates[:, other, None]).all(axis=0), "copy", other)
        from_end = length - 1 - there
        fitting.add((there == there[base]).all(axis=0), "low", there[base])
        fitting.add((from_end == from_end[base]).all(axis=0), "high", from_end[base])
        fitting.add((there == length // 2).all(axis=0), "middle")
        return fitting.relations


def _fixed(numbers: _Numbers) -> list[int | None]:
    """Return for each column its only number; None for a column with several numbers."""
    fixed: list[int | None] = [None] * numbers.shape[1]
    is_fixed = (numbers == numbers[0]).all(axis=0)
    for column in np.flatnonzero(is_fixed).tolist():
        fixed[column] = int(numbers[0, column])
    return fixed


@dataclass(frozen=True, slots=True)
class _Fitting:
    """For each call, the relations along one side of the grid that fit it."""

    relations: list[list[Relation]]

    def add(self, fits: npt.NDArray[np.bool_], kind: str, by: _Numbers | int = 0) -> None:
        """Add a relation to the calls that it fits; `by` may differ between calls."""
        numbers = np.broadcast_to(by, fits.shape)
        for call in np.flatnonzero(fits).tolist():
            self.relations[call].append(Relation(kind, int(numbers[call])))
