"""The other end of a call, by its rank's place on the grid: a neighbour, an opposite, a root.

Each side is looked at alone: the other end's coordinate may be a shift of the own one, its mirror
image, half the side further on, that of another side (a transposition), fixed from an end, or the
middle of the side. The simplest of all relations that fit every rank of a place on every count is
taken. Where another fitting relation leads to another rank on the new grid, the call is unchecked.
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
    """A coordinate that follows from a rank's own: `kind` and a number that it takes.

    ``shift`` by steps along the side, ``mirror``, ``half`` the side, ``copy`` of the coordinate on
    another side, ``low`` and ``high``: so far from an end; ``middle`` of the side.
    """

    kind: str
    by: int = 0

    def coordinate(self, at: Sequence[int], side: int, sides: Sequence[int]) -> int | None:
        """Return the coordinate, None where the grid has no such rank."""
        length = sides[side]
        here = at[side]
        match self.kind:
            case "shift":
                return (here + self.by) % length
            case "mirror":
                return length - 1 - here
            case "half":
                return (here + length // 2) % length
            case "copy":
                other = at[self.by] if sides[self.by] == length else length
            case "middle":
                other = length // 2
            case "low":
                other = self.by
            case _:
                other = length - 1 - self.by
        return other if 0 <= other < length else None


@dataclass(frozen=True, slots=True)
class End:
    """All relations that fit a call's other end.

    - `sides`: of each side, the simplest first; empty where no set of them fits.
    - `rank`, `from_last`: the number of the rank, from the first or from the last; or None.
    """

    sides: tuple[tuple[Relation, ...], ...]
    rank: int | None
    from_last: int | None

    def __bool__(self) -> bool:
        return bool(self.sides) or self.rank is not None or self.from_last is not None

    @property
    def chosen(self) -> tuple[Relation, ...]:
        """The simplest relation of each side; of a rank that is fixed, its number."""
        if self.sides:
            return tuple(relations[0] for relations in self.sides)
        if self.rank is not None:
            return (Relation("rank", self.rank),)
        return (Relation("from_last", self.from_last or 0),)

    def also(self, other: End) -> End:
        """Return the relations that also fit calls of another place with the same `chosen`."""
        sides = tuple(
            tuple(relation for relation in relations if relation in others)
            for relations, others in zip(self.sides, other.sides, strict=False)
        )
        return End(
            sides,
            self.rank if self.rank == other.rank else None,
            self.from_last if self.from_last == other.from_last else None,
        )

    def rank_on(self, grid: Grid, rank: int) -> int | None:
        """Return a rank's partner by the simplest relation of each side, None if it has none."""
        if not self.sides:
            other = self.rank if self.rank is not None else grid.ranks - 1 - (self.from_last or 0)
            return other if 0 <= other < grid.ranks else None
        origin = grid.at(rank)
        coordinates = []
        for side, relations in enumerate(self.sides):
            there = relations[0].coordinate(origin, side, grid.sides)
            if there is None:
                return None
            coordinates.append(there)
        return grid.rank(coordinates)

    def is_checked_on(self, grid: Grid, rank: int) -> bool:
        """Whether all fitting relations lead to the same rank."""
        chosen = self.rank_on(grid, rank)
        if self.rank is not None and 0 <= self.rank < grid.ranks and self.rank != chosen:
            return False
        if self.from_last is not None and 0 <= grid.ranks - 1 - self.from_last != chosen:
            return False
        coordinates = grid.at(rank)
        for side, relations in enumerate(self.sides):
            there = (relation.coordinate(coordinates, side, grid.sides) for relation in relations)
            if len({coordinate for coordinate in there if coordinate is not None}) > 1:
                return False
        return True

    def alternatives(self) -> str:
        """Describe the relations that the counts do not distinguish, for a message."""
        parts = []
        for side, relations in enumerate(self.sides, start=1):
            if len(relations) > 1:
                names = [_relation_words(relation) for relation in relations]
                parts.append(f"along side {side} {' or '.join(names)}")
        return "; ".join(parts) or "rank by number"


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
    """The other ends of the calls that ranks of one place make, on all counts.

    - `at`, `sides`: coordinates and grid of each rank, a row each.
    - `others`: of each rank and each of its calls, the other end's rank.
    - `ranks`: how many ranks the job of each row has.
    """

    at: _Numbers
    sides: _Numbers
    ranks: _Numbers
    others: _Numbers

    def ends(self) -> list[End]:
        """Return the relations that fit each call; an end that is false where none fits."""
        count = self.at.shape[1]
        by_side = [self._relations(side) for side in range(count)]
        first = self.others[0]
        last = self.ranks[0] - 1 - self.others[0]
        fixed = (self.others == first).all(axis=0)
        from_last = (self.ranks[:, None] - 1 - self.others == last).all(axis=0)
        # Only several counts distinguish a fixed rank from a neighbour.
        ends = []
        for call in range(self.others.shape[1]):
            relations = tuple(tuple(side[call]) for side in by_side)
            ends.append(
                End(
                    relations if all(relations) else (),
                    int(first[call]) if fixed[call] else None,
                    int(last[call]) if from_last[call] else None,
                )
            )
        return ends

    def _there(self, side: int) -> _Numbers:
        below = self.sides[:, :side].prod(axis=1)
        there: _Numbers = (self.others // below[:, None]) % self.sides[:, side, None]
        return there

    def _relations(self, side: int) -> list[list[Relation]]:
        """Return, for each call, the relations of one side that fit."""
        there = self._there(side)
        here = self.at[:, side, None]
        length = self.sides[:, side, None]
        fitting: list[list[Relation]] = [[] for _ in range(there.shape[1])]

        def add(holds: npt.NDArray[np.bool_], kind: str, by: _Numbers | int = 0) -> None:
            numbers = np.broadcast_to(by, holds.shape)
            for call in np.flatnonzero(holds).tolist():
                fitting[call].append(Relation(kind, int(numbers[call])))

        # The longest side distinguishes steps best.
        base = int(np.argmax(length))
        forth = (there[base] - here[base]) % length[base]
        back = forth - length[base]
        near = np.where(-back < forth, back, forth)
        far = np.where(-back < forth, forth, back)
        steps = there - here
        add(((steps - near) % length == 0).all(axis=0), "shift", near)
        # Half-way round both ways are as long; else the shorter one is meant.
        add(((steps - far) % length == 0).all(axis=0) & (forth == -back), "shift", far)
        add((there == length - 1 - here).all(axis=0), "mirror")
        add((there == (here + length // 2) % length).all(axis=0), "half")
        for other in range(self.at.shape[1]):
            if other != side and (self.sides[:, other, None] == length).all():
                add((there == self.at[:, other, None]).all(axis=0), "copy", other)
        low = there[base]
        high = length[base] - 1 - there[base]
        add((there == low).all(axis=0), "low", low)
        add((length - 1 - there == high).all(axis=0), "high", high)
        add((there == length // 2).all(axis=0), "middle")
        return fitting
