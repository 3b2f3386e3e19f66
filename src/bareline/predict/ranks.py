"""A program's period on more ranks than it was profiled on.

What each rank calls is known from where it lies on the grid (`grid`). How many bytes a call moves
follows a law in the sides of the grid, never in the number of ranks. Such a law holds exactly at
every profiled count, or the call is refused by name.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from bareline.predict.consistency import first_fault
from bareline.predict.grid import (
    Grid,
    GridCall,
    Pattern,
    Place,
    program_of,
    recognise,
    share_of,
    squarest,
)
from bareline.predict.laws import (
    MOST_CELLS,
    RULES,
    Cells,
    Law,
    close_law,
    cut_tells,
    differ_along,
    laws_of,
    products,
    terms_at,
)
from bareline.profile.period import ProgramPeriod, calls_of
from bareline.profile.records import NOBODY, Shape
from bareline.profile.trace import CallStream, Trace
from bareline.vocabulary.errors import AnalysisError, UsageError

#: A prediction reaches at most so many times the ranks of the largest profile.
FURTHEST = 8
#: Sizes that a refusal lists.
_SHOWN = 8


@dataclass(frozen=True)
class Grown:
    """A period made anew.

    - `trace`: on `grid`; computing as on the largest profile.
    - `unchecked`: calls of a period whose sizes rest on as many counts as their law has terms.
    - `off`: by which share the bytes of its calls may be off, where sizes follow no law exactly.
    """

    grid: Grid
    trace: Trace
    unchecked: int
    off: float


@dataclass(frozen=True)
class Scaled:
    """Periods of one program at several counts; `pattern` is of the largest."""

    periods: tuple[ProgramPeriod, ...]
    pattern: Pattern
    counts: tuple[tuple[Grid, ProgramPeriod], ...]

    @property
    def largest(self) -> ProgramPeriod:
        """The period of most ranks."""
        return self.pattern.period

    @property
    def left_out(self) -> tuple[int, ...]:
        """Counts whose ranks call something else."""
        own = {one.ranks for one, _ in self.counts}
        return tuple(one.ranks for one in self.periods if one.ranks not in own)

    @property
    def spread(self) -> float:
        """By which share of their bytes messages differ from period to period."""
        return max(one.spread for one in self.periods)

    def grid(self, ranks: int) -> Grid:
        """Give the grid of so many ranks by the rule of the profiled ones."""
        return squarest([grid for grid, _ in self.counts], ranks)

    def grown(self, grid: Grid) -> Grown:
        """Make a grid's period; raises UsageError: too many ranks, or AnalysisError: no law."""
        most = FURTHEST * self.largest.ranks
        if grid.ranks > most:
            raise UsageError(
                f"{grid.ranks} ranks are more than {FURTHEST} times the {self.largest.ranks} of "
                "the largest profile",
                hint=f"ask for {most} at most, or profile on more ranks (they may share cores)",
            )
        if len(grid.sides) != len(self.pattern.grid.sides):
            raise UsageError(
                f"the grid {grid} has {len(grid.sides)} sides, the program cuts "
                f"{len(self.pattern.grid.sides)}",
                hint=f"write --grid as {self.pattern.grid} has it",
            )
        maker = _Maker(self, grid)
        streams = tuple(maker.stream(rank) for rank in range(grid.ranks))
        own = self.largest.trace
        trace = Trace(own.path, grid.ranks, own.began_unix_ns, own.command, streams)
        fault = first_fault(trace, exact=maker.off == 0)
        if fault is not None:
            raise AnalysisError(
                f"the period of {program_of(self.largest)} that its laws make for {grid.ranks} "
                f"ranks is not a program: {fault}",
                where=str(own.path),
                hint="the program follows another rule there: profile it on one more number of "
                "ranks, with four or more along each side, or give its --grid",
            )
        return Grown(grid, trace, maker.unchecked, maker.off / max(1, maker.bytes))


def scaled(periods: Sequence[ProgramPeriod]) -> Scaled:
    """Find what periods have in common; raises AnalysisError: a single count, or no grid."""
    ordered = sorted(periods, key=lambda one: one.ranks)
    if len({one.ranks for one in ordered}) < len(ordered):
        raise UsageError("two profiles have as many ranks", hint="give one of each number of ranks")
    if len(ordered) < 2:
        raise UsageError(
            "more ranks are predicted from the profiles of several counts",
            hint="`bareline profile --period` on 4, 8 and 16 ranks, and name all three",
        )
    programs = {program_of(one) for one in ordered}
    if len(programs) > 1:
        raise UsageError(
            f"the profiles are of {' and '.join(sorted(programs))}", hint="give one program's"
        )
    repeats = sorted({one.repeats for one in ordered})
    if len(repeats) > 1:
        raise AnalysisError(
            f"the profiles have {', '.join(map(str, repeats))} periods",
            hint="profile as many steps on each count",
        )
    pattern = recognise(ordered[-1])
    found = ((pattern.fits(one), one) for one in ordered)
    counts = tuple((grid, one) for grid, one in found if grid is not None)
    own = Scaled(tuple(ordered), pattern, counts)
    if len(counts) < 2:
        others = ", ".join(map(str, own.left_out)) or "no other number of"
        raise AnalysisError(
            f"only the profile of {pattern.grid.ranks} ranks cuts all sides of {pattern.grid}; on "
            f"{others} ranks other calls are made",
            where=str(ordered[-1].trace.path),
            hint="profile on two more numbers of ranks that cut every side: 4, 8 and 16 for two",
        )
    return own


class _Maker:
    def __init__(self, own: Scaled, grid: Grid) -> None:
        self._own, self._grid = own, grid
        self._cells_unclear = ""
        self._moved = [_moved(own.pattern, one, period) for one, period in own.counts]
        self._cells = self._found_cells()
        self._rows = [
            [terms_at(one, rank, self._cells) for rank in range(one.ranks)] for one, _ in own.counts
        ]
        self._comms: dict[tuple[object, ...], int] = {}
        self._laws: dict[tuple[object, ...], list[Law]] = {}
        # The calls of a place, with the laws of what each moves.
        self._templates: dict[Place, list[tuple[GridCall, tuple[list[Law], ...]]]] = {}
        self._spent = _times(own.pattern)
        self._likely: set[tuple[GridCall, int]] = set()
        self.bytes, self.off = 0, 0.0

    def _found_cells(self) -> list[Cells | None]:
        """Find how many cells the problem has along each side that does not divide them."""
        uneven = set()
        for key in self._moved[-1]:
            some = [
                tuple(sorted((rank, sizes[0]) for rank, sizes in own.get(key, {}).items()))
                for own in self._moved
            ]
            if any(len({size for _, size in one}) > 1 for one in some):
                uneven.add(tuple(some))
        grids = [grid for grid, _ in self._own.counts]
        cells: list[Cells | None] = [None for _ in self._grid.sides]
        if self._own.spread:
            return cells
        for side, length in enumerate(self._grid.sides):
            amounts = next((one for one in sorted(uneven) if differ_along(side, grids, one)), None)
            if amounts is None:
                continue
            fits: dict[tuple[float, ...], Cells] = {}
            for number, rule in product(range(2, MOST_CELLS), RULES):
                cells[side] = (number, rule)
                if cut_tells(grids, amounts, side, cells):
                    local = tuple(rule(number, length, at) / number for at in range(length))
                    fits.setdefault(local, (number, rule))
            # Several that cut the new grid alike are one; several that do not tell nothing.
            cells[side] = next(iter(fits.values())) if len(fits) == 1 else None
            if len(fits) > 1:
                self._cells_unclear = "; several ways to cut a side do: profile one count more"
        return cells

    def stream(self, rank: int) -> CallStream:
        place = self._own.pattern.nearest(self._grid.place(rank))
        if place not in self._templates:
            self._templates[place] = [
                (step, tuple(self._law(step, nth, index) for index in range(3)))
                for step, nth in _numbered(self._own.pattern.steps[place])
            ]
        row = terms_at(self._grid, rank, self._cells)
        shapes: dict[Shape, int] = {}
        known: dict[tuple[object, ...], tuple[int, int, float]] = {}
        numbers = []
        for step, laws in self._templates[place]:
            key = (step, *map(id, laws))
            if key not in known:
                amounts = tuple(self._amount(step, own, row) for own in laws)
                number = shapes.setdefault(self._shape(rank, step, amounts), len(shapes))
                known[key] = number, amounts[0], amounts[0] * (laws[0][0].off or 0.0)
            number, size, off = known[key]
            numbers.append(number)
            self.bytes += size
            self.off += off
        compute, spent = self._spent[place]
        return CallStream(
            rank, tuple(shapes), np.array(numbers, np.int32), compute, spent, finished=True, lost=0
        )

    @property
    def unchecked(self) -> int:
        """Calls whose sizes rest on a law that no count checks, or on what a face would carry."""
        made = [each for own in self._templates.values() for each in own]
        likely = sum((step, id(laws[0])) in self._likely for step, laws in made)
        return likely + sum(not any(law.checked for law in laws[0]) for _, laws in made)

    def _law(self, step: GridCall, nth: int, index: int) -> list[Law]:
        along = _along(step)
        key = (
            along,
            tuple(
                tuple((rank, moved[index]) for rank, moved in own.get((step, nth), {}).items())
                for own in self._moved
            ),
        )
        if key not in self._laws:
            samples = {
                (len(rows), tuple(rows[rank]), size)
                for rows, own in zip(self._rows, key[1], strict=True)
                for rank, size in own
            }
            found = laws_of(sorted(samples), len(self._cells), along)
            if not found and self._own.spread:
                found = [close_law(sorted(samples), len(self._cells), along)]
            self._laws[key] = found
            if not found:
                some = list(dict.fromkeys(size for _, _, size in sorted(samples)))
                said = ", ".join(map(str, some[:_SHOWN])) + ", ..." * (len(some) > _SHOWN)
                why = f"no law in the grid's sides gives its sizes ({said} B){self._cells_unclear}"
                raise self._refused(step, why)
        return self._laws[key]

    def _amount(self, step: GridCall, laws: Sequence[Law], row: npt.NDArray[np.float64]) -> int:
        if laws[0].off is not None:
            return max(0, round(laws[0].at(row)))
        found = {round(law.at(row), 3) for law in laws}
        if len(found) > 1:
            # Where a side was never cut otherwise: what a face carries, and one size for all ranks.
            along, sides = _along(step), range(len(self._cells))
            others = tuple(side for side in sides if side != along)
            likely = 0 if along is None else 1 + products(len(sides)).index(others)
            found = {round(law.at(row), 3) for law in laws if likely in law.terms}
            self._likely.add((step, id(laws)))
        if len(found) != 1:
            raise self._refused(step, "two laws give its sizes; profile one count more")
        value = found.pop()
        if value < 0 or value % 1:
            raise self._refused(
                step,
                f"its size on {self._grid} would be {value:g} B: the cut is not even",
            )
        return round(value)

    def _refused(self, step: GridCall, why: str) -> AnalysisError:
        largest = self._own.largest
        share = share_of(largest, (step.kind,))
        return AnalysisError(
            f"{step.call} (such calls take {share:.0%} of a period's time) cannot be made anew for "
            f"{self._grid.ranks} ranks: {why}",
            where=str(largest.trace.path),
            hint="choose a number of ranks that cuts the problem evenly, or say its --grid",
        )

    def _shape(self, rank: int, step: GridCall, amounts: tuple[int, ...]) -> Shape:
        at = self._grid.at(rank)

        def end(offset: tuple[int, ...] | None) -> int:
            if offset is None:
                return NOBODY
            return self._grid.rank([here + way for here, way in zip(at, offset, strict=True)])

        if step.kind == "done":
            return Shape("done", "done", False, step.ago, 0, 0, 0, 0, 0, 0, *amounts)
        comm = members = 0
        if step.along is not None:
            fixed = tuple(here for side, here in enumerate(at) if side not in step.along)
            comm = self._comms.setdefault((step.along, fixed), len(self._comms) + 1)
            members = math.prod(self._grid.sides[side] for side in step.along)
        return Shape(
            step.call, step.kind, step.posts, end(step.to), end(step.from_), step.root,
            step.send_tag, step.receive_tag, comm, members, *amounts,
        )  # fmt: skip


def _along(step: GridCall) -> int | None:
    """Give the one side that a message crosses; None: it crosses several, or is none."""
    sides = [side for side, way in enumerate(step.to or step.from_ or ()) if way]
    return sides[0] if len(sides) == 1 and len(step.to or step.from_ or ()) > 1 else None


def _moved(
    pattern: Pattern, grid: Grid, period: ProgramPeriod
) -> dict[tuple[GridCall, int], dict[int, tuple[int, int, int]]]:
    """Give what the n-th of equal calls moves at one count, by rank."""
    found: dict[tuple[GridCall, int], dict[int, tuple[int, int, int]]] = {}
    for stream in period.trace.streams:
        numbered = _numbered(pattern.of(grid.place(stream.rank)))
        for step, shape in zip(numbered, calls_of(stream), strict=True):
            found.setdefault(step, {})[stream.rank] = (shape.size, shape.sent, shape.received)
    return found


def _numbered(steps: Sequence[GridCall]) -> Iterator[tuple[GridCall, int]]:
    """Give calls with how many equal ones each has before it."""
    seen: Counter[GridCall] = Counter()
    for step in steps:
        yield step, seen[step]
        seen[step] += 1


def _times(pattern: Pattern) -> dict[Place, npt.NDArray[np.float64]]:
    """Give the mean times before and in each call, two rows, of the ranks of a place."""
    found: dict[Place, list[npt.NDArray[np.float64]]] = {}
    for stream in pattern.period.trace.streams:
        times = np.stack([stream.compute_s, stream.spent_s])
        found.setdefault(pattern.grid.place(stream.rank), []).append(times)
    return {place: np.mean(times, axis=0) for place, times in found.items()}
