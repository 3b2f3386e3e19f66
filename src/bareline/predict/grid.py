"""The grid that a program lays its ranks on, read off the partners of one period's messages.

Ranks lie row by row on a grid of one to three sides, the first side fastest. A partner is then an
offset along the sides, and what a rank calls follows from where it lies: at the low end of a side,
inside, or at the high end. On a grid without ends all three are the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from bareline.profile.model import MOST_RANKS
from bareline.profile.period import ProgramPeriod
from bareline.profile.records import NOBODY, POINT_TO_POINT, Shape
from bareline.profile.trace import CallStream
from bareline.vocabulary.errors import AnalysisError, UsageError, one_line

_MOST_SIDES = 3
#: Sides of this length do not tell a step forth from one back.
_BOTH_WAYS = 2
#: Offsets of a rank along the sides; None where a call names no partner.
Offset = tuple[int, ...] | None
#: Where a rank lies along each side: 0 at the low end, 1 inside, 2 at the high end.
Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """Sides of a grid of ranks, the fastest first."""

    sides: tuple[int, ...]

    def __str__(self) -> str:
        return "x".join(map(str, self.sides))

    @property
    def ranks(self) -> int:
        """How many ranks lie on it."""
        return math.prod(self.sides)

    def at(self, rank: int) -> tuple[int, ...]:
        """Give a rank's coordinates."""
        found = []
        for side in self.sides:
            rank, here = divmod(rank, side)
            found.append(here)
        return tuple(found)

    def rank(self, at: Sequence[int]) -> int:
        """Give the rank at coordinates, which go on at the other end."""
        found = 0
        for here, side in zip(reversed(at), reversed(self.sides), strict=True):
            found = found * side + here % side
        return found

    def offset(self, rank: int, other: int) -> tuple[int, ...]:
        """Give the shortest way from a rank to another."""
        ways = (
            (there - here) % side
            for here, there, side in zip(self.at(rank), self.at(other), self.sides, strict=True)
        )
        return tuple(
            way - side if 2 * way > side else way
            for way, side in zip(ways, self.sides, strict=True)
        )

    def place(self, rank: int) -> Place:
        """Say where on its sides a rank lies."""
        return tuple(
            0 if here == 0 else 2 if here == side - 1 else 1
            for here, side in zip(self.at(rank), self.sides, strict=True)
        )


class GridCall(NamedTuple):
    """What a call asks for, by where its rank lies instead of by numbers of ranks.

    - `along`: sides along which its communicator's ranks lie, or None; `ago`: as in `Shape`.
    """

    call: str
    kind: str
    posts: bool
    to: Offset
    from_: Offset
    root: int
    send_tag: int
    receive_tag: int
    along: tuple[int, ...] | None
    ago: int


def grids(ranks: int, count: int) -> Iterator[Grid]:
    """Give all grids of so many ranks with so many sides, each cut."""
    if count == 1:
        if ranks > 1:
            yield Grid((ranks,))
        return
    for side in range(2, ranks // 2 + 1):
        if ranks % side == 0:
            for rest in grids(ranks // side, count - 1):
                yield Grid((side, *rest.sides))


@dataclass(frozen=True)
class Pattern:
    """What each rank calls in a period, by its place on the grid."""

    grid: Grid
    steps: Mapping[Place, tuple[GridCall, ...]]
    period: ProgramPeriod

    @property
    def ways(self) -> set[tuple[int, ...]]:
        """The offsets of all partners."""
        steps = {step for own in set(self.steps.values()) for step in own}
        return {way for step in steps for way in (step.to, step.from_) if way is not None}

    def of(self, place: Place) -> tuple[GridCall, ...]:
        """Give the calls of a rank in a place; inside a side of two it is as at its ends."""
        return self.steps[self.nearest(place)]

    def nearest(self, place: Place) -> Place:
        """Give a place that there is, for one on a longer grid."""
        return tuple(
            0 if here == 1 and side == _BOTH_WAYS else here
            for here, side in zip(place, self.grid.sides, strict=True)
        )

    def fits(self, period: ProgramPeriod) -> Grid | None:
        """Give the grid on which a period of other ranks makes the same calls."""
        for grid in grids(period.ranks, len(self.grid.sides)):
            members = _members(period, grid)
            if members is not None and all(
                _relative(stream, grid, members) == self._expected(grid, stream.rank)
                for stream in period.trace.streams
            ):
                return grid
        return None

    def _expected(self, grid: Grid, rank: int) -> tuple[GridCall, ...]:
        """Give a rank's calls, with offsets as a grid of these sides tells them."""
        here, own = grid.at(rank), self.of(grid.place(rank))

        def seen(offset: Offset) -> Offset:
            if offset is None:
                return None
            there = grid.rank([one + way for one, way in zip(here, offset, strict=True)])
            return grid.offset(rank, there)

        known = {one: one._replace(to=seen(one.to), from_=seen(one.from_)) for one in set(own)}
        return tuple(known[step] for step in own)


def recognise(period: ProgramPeriod) -> Pattern:
    """Find a program's grid; raises AnalysisError for none, with the call that does not fit."""
    if not any(
        shape.kind in POINT_TO_POINT for one in period.trace.streams for shape in one.shapes
    ):
        raise _refused(period, "no rank sends to another alone, so that nothing shows a grid")
    found = []
    odd = ""
    for count in range(1, _MOST_SIDES + 1):
        for grid in grids(period.ranks, count):
            one = _on(grid, period)
            if isinstance(one, Pattern):
                # One that is all ends and no inside takes any calls.
                ends = sum(side == _BOTH_WAYS for side in grid.sides)
                found.append((ends, len(one.ways), one))
            else:
                odd = one or odd
    if not any(ends < len(one.grid.sides) for ends, _, one in found):
        share = share_of(period, (*POINT_TO_POINT, "wait"))
        what = f"what it sends ({share:.0%} of a period's time; {odd} differs first)"
        raise _refused(period, f"{what} does not go along the sides of a grid")
    own = min(found, key=lambda one: one[:2])[2]
    if any(
        2 * abs(here) == side > _BOTH_WAYS
        for way in own.ways
        for here, side in zip(way, own.grid.sides, strict=True)
    ):
        why = f"a partner lies half-way round a side of {own.grid}, on either side of a longer one"
        raise _refused(period, why)
    return _both_ways(own)


def _on(grid: Grid, period: ProgramPeriod) -> Pattern | str:
    """Give a period on a grid, or the call that does not fit."""
    members = _members(period, grid)
    if members is None:
        return "MPI_Comm_split"
    found: dict[Place, tuple[GridCall, ...]] = {}
    for stream in period.trace.streams:
        steps = _relative(stream, grid, members)
        expected = found.setdefault(grid.place(stream.rank), steps)
        if steps != expected:
            return _first_other(expected, steps)
    return Pattern(grid, found, period)


def program_of(period: ProgramPeriod) -> str:
    """Name a period's program."""
    return one_line(period.trace.command.split(" ", 1)[0].rsplit("/", 1)[-1])[:60]


def _refused(period: ProgramPeriod, why: str) -> AnalysisError:
    return AnalysisError(
        f"{program_of(period)} on {period.ranks} ranks is not made anew for more: {why}",
        where=str(period.trace.path),
        hint="profile with three or more ranks along each side (16 for two, 27 or 64 for three); "
        "other programs are predicted for the ranks that were profiled",
    )


def _first_other(one: Sequence[GridCall], other: Sequence[GridCall]) -> str:
    """Name the first call that two ranks of one place do not share."""
    pairs = zip_longest(one, other)
    named = ((a or b).call for a, b in pairs if a != b and (a or b).kind != "done")
    return next(named, "MPI_Wait")


def share_of(period: ProgramPeriod, kinds: Sequence[str]) -> float:
    """Give the share of a period's time that calls of some kinds take."""
    spent = whole = 0.0
    for stream in period.trace.streams:
        chosen = np.array([shape.kind in kinds for shape in stream.shapes])[stream.shape]
        spent += float(stream.spent_s[chosen].sum())
        whole += float(stream.spent_s.sum() + stream.compute_s.sum())
    return spent / (whole or 1.0)


def _members(period: ProgramPeriod, grid: Grid) -> dict[int, tuple[int, ...]] | None:
    """Give the sides along which each communicator lies; None where one lies along none."""
    ranks: dict[int, set[int]] = {}
    for stream in period.trace.streams:
        for shape in stream.shapes:
            if shape.comm_size > 1:
                ranks.setdefault(shape.comm, set()).add(stream.rank)
    found = {}
    for comm, members in ranks.items():
        at = [set(column) for column in zip(*map(grid.at, members), strict=True)]
        along = tuple(side for side, here in enumerate(at) if len(here) > 1)
        if math.prod(grid.sides[side] for side in along) != len(members):
            return None
        found[comm] = along
    return found


def _relative(
    stream: CallStream, grid: Grid, members: Mapping[int, tuple[int, ...]]
) -> tuple[GridCall, ...]:

    def step(shape: Shape) -> GridCall:
        done = shape.kind == "done"
        to, from_ = (
            None if done or end == NOBODY else grid.offset(stream.rank, end)
            for end in (shape.to, shape.from_)
        )
        along = members.get(shape.comm) if shape.comm_size > 1 else None
        what, tags = (shape.call, shape.kind, shape.posts), (shape.send_tag, shape.receive_tag)
        return GridCall(*what, to, from_, shape.root, *tags, along, shape.to if done else 0)

    steps = [step(shape) for shape in stream.shapes]
    return tuple(steps[number] for number in stream.shape.tolist())


def _both_ways(pattern: Pattern) -> Pattern:
    """Tell forth from back along sides of two, by a longer side along which the same is called.

    Which of both is forth changes no partner, number or size on a grid without ends.
    """
    sides = pattern.grid.sides
    short = [side for side, length in enumerate(sides) if length == _BOTH_WAYS]
    steps = set(pattern.steps.values())
    if not short:
        return pattern
    if len(steps) > 1:
        raise _refused(pattern.period, f"{pattern.grid} has two ranks along a side with ends")
    (own,) = steps
    for side in short:
        ways = _along(own, side)
        longer = (_along(own, other) for other, length in enumerate(sides) if length > _BOTH_WAYS)
        called = [one[:2] for one in ways]
        model = next((one for one in longer if [each[:2] for each in one] == called), None)
        if model is None:
            raise _refused(
                pattern.period, f"{pattern.grid} has two ranks along a side, like no other side"
            )
        own = _turned(own, side, iter([sign for _, _, sign in model]))
    return replace(pattern, steps=dict.fromkeys(pattern.steps, own))


def _along(steps: Sequence[GridCall], side: int) -> list[tuple[str, bool, int]]:
    """Give the messages along a side: the function, whether it sends, and which way it goes."""
    return [
        (step.call, sends, way[side])
        for step in steps
        for sends, way in ((True, step.to), (False, step.from_))
        if way is not None and way[side]
    ]


def _turned(steps: Sequence[GridCall], side: int, signs: Iterator[int]) -> tuple[GridCall, ...]:
    def turned(way: Offset) -> Offset:
        if way is None or not way[side]:
            return way
        return (*way[:side], next(signs), *way[side + 1 :])

    return tuple(step._replace(to=turned(step.to), from_=turned(step.from_)) for step in steps)


def squarest(known: Sequence[Grid], ranks: int) -> Grid:
    """Give the grid of so many ranks that follows the rule of those that are known.

    The rule is the least sum of sides, in rising or in falling order.
    Raises AnalysisError: they follow another rule.
    """
    for falling in (False, True):
        if all(_even(one.ranks, len(one.sides), falling=falling) == one for one in known):
            found = _even(ranks, len(known[0].sides), falling=falling)
            if found is not None:
                return found
    raise AnalysisError(
        f"the sides of the grid of {ranks} ranks do not follow from " + ", ".join(map(str, known)),
        hint="say them: --grid 4x4x8, the fastest side first",
    )


def _even(ranks: int, count: int, *, falling: bool) -> Grid | None:
    best = min(grids(ranks, count), key=lambda grid: (sum(grid.sides), grid.sides), default=None)
    return best and Grid(tuple(sorted(best.sides, reverse=falling)))


def parse_grid(text: str) -> Grid:
    """Read ``4x4x8``; raises UsageError where it is no grid of one to three sides."""
    parts = text.lower().split("x")
    if not 1 <= len(parts) <= _MOST_SIDES or not all(
        part.isdecimal() and 2 <= int(part) <= MOST_RANKS for part in parts
    ):
        raise UsageError(
            f"'{text[:40]}' is no grid", hint="write its sides, the fastest first: --grid 4x4x8"
        )
    return Grid(tuple(map(int, parts)))
