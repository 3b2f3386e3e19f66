"""A program's period on more ranks than were profiled.

The calls of each rank follow from its place on the grid (`pattern`). The bytes of a call follow a
law in the sides of the grid, never in the number of ranks (`maker`). The law must be exact in every
profile. Otherwise an error names the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bareline.predict.scaling.alignment import aligned
from bareline.predict.scaling.cautions import Caution, cautions_of, padding_caution
from bareline.predict.scaling.consistency import first_fault
from bareline.predict.scaling.grid import Grid, counts_that_check, grid_by_rule, grids, is_checked
from bareline.predict.scaling.job_calls import JobCalls
from bareline.predict.scaling.maker import Maker
from bareline.predict.scaling.pattern import (
    Pattern,
    collectives_of,
    first_other,
    program_of,
    recognise,
)
from bareline.predict.scaling.unchecked import Unchecked
from bareline.profile.period import ProgramPeriod
from bareline.profile.trace import Trace
from bareline.vocabulary.errors import AnalysisError, UsageError

#: A prediction reaches at most this multiple of the ranks of the largest profile.
FURTHEST = 8
#: Of a period's calls and of its bytes, at most this share may rest on unchecked laws.
MOST_UNCHECKED = 0.25
#: Sides of this length show all places, one rank each.
_ALL_PLACES = 3


@dataclass(frozen=True)
class Grown:
    """A period that was built for another grid.

    - `trace`: the period on `grid`, with the computing of the largest profile.
    - `unchecked`: the calls that depend on laws that the profiles do not check.
    - `off`: the share by which the bytes may be wrong, if sizes follow no law exactly.
    - `assumed_even`: sides whose cut into equal parts no profile proves.
    - `even_share`: the share of the bytes that depends on a side in `assumed_even`.
    - `cautions`: further assumptions, with the calls that depend on each.
    """

    grid: Grid
    trace: Trace
    unchecked: Unchecked
    off: float
    assumed_even: tuple[int, ...] = ()
    even_share: float = 0.0
    cautions: tuple[Caution, ...] = ()


@dataclass(frozen=True)
class Scaled:
    """The profiled periods of one program on several numbers of ranks.

    `pattern` is the pattern of the periods that fit each other.
    """

    periods: tuple[ProgramPeriod, ...]
    pattern: Pattern

    @property
    def counts(self) -> tuple[tuple[Grid, ProgramPeriod], ...]:
        """The grids and periods of the profiles whose ranks make the same calls."""
        return tuple((count.grid, count.job.period) for count in self.pattern.counts)

    @property
    def known(self) -> list[Grid]:
        """The grids of the profiles whose ranks make the same calls."""
        return self.pattern.grids

    def profiled_on(self, grid: Grid) -> ProgramPeriod | None:
        """Return the period that was profiled on a grid."""
        return dict(self.counts).get(grid)

    @property
    def largest(self) -> ProgramPeriod:
        """The period on the most ranks."""
        return self.pattern.period

    @property
    def left_out(self) -> tuple[int, ...]:
        """The numbers of ranks of profiles whose ranks make different calls."""
        included = {grid.ranks for grid in self.known}
        return tuple(period.ranks for period in self.periods if period.ranks not in included)

    @property
    def spread(self) -> float:
        """The difference of message sizes between periods, as a share of the bytes."""
        return max(period.spread for period in self.periods)

    def grid(self, ranks: int) -> Grid:
        """Return the grid of `ranks` ranks by the rule of the profiled grids."""
        return grid_by_rule(self.known, ranks)

    def recommended(self, ranks: int) -> str:
        """Return the advice to profile the numbers of ranks that would check the laws."""
        if is_checked(self.known):
            return "profile one more number of ranks, with another length of each side"
        given = {period.ranks for period in self.periods}
        counts = counts_that_check(self.known, ranks // 2, given)
        if not counts:
            return "profile one more number of ranks, with four or more along each side"
        return f"profile on {' and '.join(map(str, counts))} ranks as well"

    def grown(self, grid: Grid, most_unchecked: float = MOST_UNCHECKED) -> Grown:
        """Return the period on a grid.

        Raises
        ------
        UsageError
            There are too many ranks, or the grid has another number of sides than the program.
        AnalysisError
            A call follows no law, the calls do not fit together, or too many are unchecked.
        """
        self._check_reach(grid)
        maker = Maker(self.pattern, grid, self.spread)
        try:
            streams = tuple(maker.stream(rank) for rank in range(grid.ranks))
        except AnalysisError as error:
            if error.hint is None:
                error.hint = self.recommended(grid.ranks)
            raise
        profiled = self.largest.trace
        trace = Trace(profiled.path, grid.ranks, profiled.began_unix_ns, profiled.command, streams)
        self._check_program(trace, exact=maker.off == 0)
        unchecked = maker.unchecked()
        self._check_share(unchecked, grid, most_unchecked)
        off = maker.off / max(1, maker.bytes)
        even_share = maker.even_bytes / max(1, maker.bytes)
        cautions = list(cautions_of(self.pattern, grid, trace))
        padding = padding_caution(maker.padded_calls)
        if padding is not None:
            cautions.append(padding)
        sides = maker.assumed_even()
        return Grown(grid, trace, unchecked, off, sides, even_share, tuple(cautions))

    def _check_reach(self, grid: Grid) -> None:
        most = FURTHEST * self.largest.ranks
        if grid.ranks > most:
            raise UsageError(
                f"{grid.ranks} ranks are more than {FURTHEST} times the {self.largest.ranks}"
                " ranks of "
                "the largest profile",
                hint=(
                    f"predict at most {most} ranks, or profile on more ranks (they may share cores)"
                ),
            )
        if len(grid.sides) != len(self.pattern.grid.sides):
            raise UsageError(
                f"the grid {grid} has {len(grid.sides)} dimensions, but the program's grid has "
                f"{len(self.pattern.grid.sides)}",
                hint=f"give as many dimensions as the grid of the profile: {self.pattern.grid}",
            )

    def _check_program(self, trace: Trace, *, exact: bool) -> None:
        fault = first_fault(trace, exact=exact)
        if fault is not None:
            raise AnalysisError(
                f"the scaling laws of {program_of(self.largest)} give an impossible program"
                f" for {trace.ranks} "
                f"ranks: {fault}",
                where=str(trace.path),
                hint=f"the program follows another rule on {trace.ranks} ranks: "
                f"{self.recommended(trace.ranks)}, or give the program's grid with --grid",
            )

    def _check_share(self, unchecked: Unchecked, grid: Grid, most: float) -> None:
        share = max(unchecked.call_share, unchecked.byte_share)
        if share > most:
            raise AnalysisError(
                f"{unchecked.call_share:.0%} of the calls and {unchecked.byte_share:.0%} of the "
                f"bytes on {grid} rest on laws that the profiles do not check (at most "
                f"{most:.0%} may); the first of these calls: {unchecked.first}",
                where=str(self.largest.trace.path),
                hint=self.recommended(grid.ranks),
            )


def scaled(periods: Sequence[ProgramPeriod]) -> Scaled:
    """Return the pattern of some periods.

    Raises AnalysisError: there is only one number of ranks, or no grid fits.
    """
    ordered = sorted(periods, key=lambda period: period.ranks)
    _check_periods(ordered)
    jobs = [JobCalls.of(period) for period in ordered]
    jobs = [*(aligned(job, jobs[-1]) for job in jobs[:-1]), jobs[-1]]
    pattern = recognise(jobs[-1], jobs[:-1])
    program = Scaled(tuple(ordered), pattern)
    left_out = [job for job in jobs if job.period.ranks in program.left_out]
    for job in left_out:
        _check_iterations(job, pattern)
    if len(pattern.counts) < 2:
        others = ", ".join(map(str, program.left_out)) or "other numbers of"
        raise AnalysisError(
            f"only the profile of {pattern.grid.ranks} ranks has three or more ranks along"
            f" all sides of {pattern.grid}; on "
            f"{others} ranks the calls are different (the first difference is in"
            f" {_first_unlike(jobs[-2], jobs[-1])})",
            where=str(ordered[-1].trace.path),
            hint="profile on two more numbers of ranks with three or more ranks along every side, "
            f"such as {_cutting_counts(pattern.grid, program.periods)}",
        )
    for job in left_out:
        _check_left_out(job, pattern)
    return program


def _cutting_counts(grid: Grid, periods: Sequence[ProgramPeriod]) -> str:
    """Name two further numbers of ranks that cut each side into three or more parts."""
    given = {period.ranks for period in periods}
    smallest = _ALL_PLACES ** len(grid.sides)
    cutting = (
        ranks
        for ranks in range(smallest, 4 * smallest + max(given))
        if ranks not in given and _cuts_all_sides(ranks, len(grid.sides))
    )
    return f"{next(cutting)} and {next(cutting)}"


def _cuts_all_sides(ranks: int, sides: int) -> bool:
    return any(min(grid.sides) >= _ALL_PLACES for grid in grids(ranks, sides))


def _check_periods(ordered: Sequence[ProgramPeriod]) -> None:
    """Refuse periods that are not of one program on different numbers of ranks.

    Raises UsageError or AnalysisError.
    """
    if len({period.ranks for period in ordered}) < len(ordered):
        raise UsageError(
            "two profiles have the same number of ranks",
            hint="give one profile for each number of ranks",
        )
    if len(ordered) < 2:
        raise UsageError(
            "a prediction for more ranks needs profiles on several numbers of ranks",
            hint="`bareline profile --period` on 4, 8 and 16 ranks, and name all three",
        )
    programs = {program_of(period) for period in ordered}
    if len(programs) > 1:
        raise UsageError(
            f"the profiles are of several programs: {' and '.join(sorted(programs))}",
            hint="give the profiles of one program",
        )
    repeats = sorted({period.repeats for period in ordered})
    if len(repeats) == 1:
        return
    lengths = [period.calls for period in ordered]
    if len({period.calls * period.repeats for period in ordered}) == 1:
        raise AnalysisError(
            f"the repeated part (period) of rank 0 has {', '.join(map(str, lengths))} calls on "
            f"{', '.join(str(period.ranks) for period in ordered)} ranks: it contains more steps "
            "of the program on more ranks (for example because the ranks take turns as the root "
            "of a collective)",
            where=str(ordered[-1].trace.path),
            hint="predict this program for a number of ranks that was profiled",
        )
    raise AnalysisError(
        f"the profiles have different numbers of periods: {', '.join(map(str, repeats))}",
        hint="profile the same number of steps on each number of ranks",
    )


def _first_unlike(job: JobCalls, other: JobCalls) -> str:
    return first_other(other.ranks[0].steps, job.ranks[0].steps)


def _check_iterations(job: JobCalls, pattern: Pattern) -> None:
    """Refuse profiles that differ in the number of collectives, e.g. in their iterations."""
    model = pattern.counts[-1].job
    collectives = collectives_of(model)
    others = collectives_of(job)
    unlike = sorted(
        call for call in collectives.keys() | others.keys() if collectives[call] != others[call]
    )
    if unlike:
        call = unlike[0]
        raise AnalysisError(
            f"{call} is called {others[call]} times a period on {job.period.ranks} ranks and "
            f"{collectives[call]} times on {model.period.ranks} ranks: the number of"
            " iterations depends "
            "on the number of ranks in an unknown way",
            where=str(job.period.trace.path),
            hint=(
                "give the program the same number of iterations on every number of ranks, and"
                " profile it again"
            ),
        )


def _check_left_out(job: JobCalls, pattern: Pattern) -> None:
    """Refuse a profile that contradicts the pattern, unless it has two ranks along a side.

    With two ranks along a side, a rank has the same neighbour in both directions, and programs send
    to it only once.
    """
    model = pattern.counts[-1].job
    if _cuts_all_sides(job.period.ranks, len(pattern.grid.sides)):
        raise AnalysisError(
            f"the calls on {job.period.ranks} ranks differ from the calls on"
            f" {model.period.ranks} ranks "
            f"(the first difference is in {_first_unlike(job, model)})",
            where=str(job.period.trace.path),
            hint="leave one of the two profiles out if the program works differently on its ranks, "
            "or make profiles on numbers of ranks on which the program works in the same way",
        )
