"""The time of a program on more ranks, its shares, and the ranks where scaling ends.

A period is built for each number of ranks and replayed by an engine: simulated, or with the
measured curves of a platform. A few periods are replayed and the time is multiplied. The cost of a
function is the time by which the replay is shorter without its calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from bareline.predict.scaling.computing import Computing, computing
from bareline.predict.scaling.grid import Grid
from bareline.predict.scaling.messages import basis
from bareline.predict.scaling.pattern import program_of
from bareline.predict.scaling.period_time import PeriodTime, resized, time_of_period
from bareline.predict.scaling.ranks import MOST_UNCHECKED, Grown, Scaled
from bareline.profile.period import ProgramPeriod
from bareline.profile.trace import Trace
from bareline.vocabulary.errors import AnalysisError, UsageError


@dataclass(frozen=True)
class Target:
    """A platform on which traces are replayed.

    - `run`: returns the time of a trace in s.
    - `simulated`: whether SimGrid replays the traces; if false, `run` uses measured costs of
      messages.
    - `notes`: the assumptions of the replays; each replay may add assumptions.
    """

    name: str
    run: Callable[[Trace], float]
    simulated: bool = True
    notes: list[str] = field(default_factory=list)

    @property
    def clock(self) -> Literal["simulated", "replayed"]:
        """The kind of clock of the target's times."""
        return "simulated" if self.simulated else "replayed"


#: Shares below this are rounding.
_EXACT = 1e-9
#: Twice the ranks have to shorten a period by this factor at least.
_LEAST_GAIN = 1.05


@dataclass(frozen=True, slots=True)
class GrownRanks:
    """``predict --ranks``: the time of a program on a number of ranks.

    - `period_s`: the replayed time of a period, with bounds that computing, sizes and unchecked
      calls allow.
    - `period_measured_s`: the time in a profile whose ranks had a core each.
    - `efficiency`: the speed of each rank divided by the speed of a rank on the smallest number of
      ranks.
    - `shares`: the shares of a period: computing, messages, and each collective function.
    - `scaling_ends`: the number of ranks up to which more ranks save time; null if that is true for
      all rows.
    - `ended_by`: the part of the period whose time grows most on more than `scaling_ends` ranks.
    - `times_largest`: the number of ranks divided by the number of ranks of the largest profile.
    - `unchecked_calls`: the calls of all ranks in a period that depend on laws which the profiles
      do not check.
    - `unchecked_call_share`: the share of unchecked calls in all calls.
    - `unchecked_byte_share`: the share of unchecked calls in the bytes of all calls.
    - `unchecked_time_share`: the share of unchecked calls in the time of all calls.
    - `assumed_even`: the numbers, from 1, of the sides that are assumed to be cut into equal parts;
      no profile proves it.
    - `assumed_even_share`: the share of the bytes that depends on a side in `assumed_even`.
    - `assumptions`: the assumptions of the period, a sentence each.
    """

    program: str
    platform: str
    clock: Literal["simulated", "replayed"]
    ranks: int
    grid: str
    profiled: bool
    periods: int
    period_s: float
    period_lo_s: float
    period_hi_s: float
    period_measured_s: float | None
    time_s: float
    efficiency: float
    shares: dict[str, float]
    scaling_ends: int | None
    ended_by: str | None
    computing_from: str
    computing_error: float | None
    times_largest: float
    unchecked_calls: int
    unchecked_call_share: float
    unchecked_byte_share: float
    unchecked_time_share: float
    assumed_even: tuple[int, ...]
    assumed_even_share: float
    assumptions: tuple[str, ...]
    sizes_off: float
    calls_beside: int
    notes: list[str]


@dataclass(frozen=True, slots=True)
class ScalingPrediction:
    """The times of a program by its number of ranks.

    - `grown`: the period on the most ranks.
    - `skipped`: numbers of ranks without a period, with the reasons.
    """

    program: Scaled
    target: Target
    points: tuple[GrownRanks, ...]
    computing: Computing
    skipped: tuple[str, ...]
    grown: Grown

    def rows(self) -> list[dict[str, Any]]:
        """Return tidy rows in SI units."""
        return list(map(asdict, self.points))


def grown_period(
    program: Scaled, ranks: int, grid: Grid | None, most_unchecked: float = MOST_UNCHECKED
) -> Grown:
    """Return a program's period on more ranks.

    - `grid`: the grid of the ranks; if None, it follows the rule of the profiled grids.
    - `most_unchecked`: the share of calls and of bytes that may depend on unchecked laws.

    Raises AnalysisError, UsageError: the period cannot be built for `ranks` ranks.
    """
    if grid is not None and grid.ranks != ranks:
        raise UsageError(
            f"--grid {grid} has {grid.ranks} ranks, not {ranks}",
            hint="change --grid or the number of ranks",
        )
    return program.grown(grid or program.grid(ranks), most_unchecked)


def grow(
    program: Scaled,
    ranks: int,
    grid: Grid | None,
    target: Target,
    most_unchecked: float = MOST_UNCHECKED,
) -> ScalingPrediction:
    """Return the times of a program's period, replayed on more and more ranks up to `ranks`.

    Parameters and errors are as for `grown_period`.
    """
    furthest = grown_period(program, ranks, grid, most_unchecked)
    law = computing(program.periods)
    growth = _Growth(program, target, law)
    made = {profiled.ranks: profiled for profiled in program.known if profiled.ranks < ranks}
    skipped = []
    for count in sorted({*made, *_doubled(program.largest.ranks, ranks)}):
        try:
            grid_there = made[count] if count in made else program.grid(count)
            grown = program.grown(grid_there, most_unchecked)
        except AnalysisError as error:
            skipped.append(f"{count} ranks: {error.what}")
        else:
            growth.add(grown)
    growth.add(furthest)
    return ScalingPrediction(program, target, growth.complete(), law, tuple(skipped), furthest)


def _doubled(ranks: int, most: int) -> Iterator[int]:
    while (ranks := 2 * ranks) < most:
        yield ranks


@dataclass
class _Growth:
    """The predicted times (points) of a program on a platform, from few ranks to many."""

    program: Scaled
    target: Target
    law: Computing
    points: list[GrownRanks] = field(default_factory=list)

    def add(self, grown: Grown) -> None:
        """Replay a predicted period, and add its time to the points."""
        trace = self._with_computing(grown)
        replayed = PeriodTime.of(trace, self.target.run)
        band = self._band_s(trace, replayed, grown)
        self.points.append(self._point(grown, replayed, band))

    def _point(self, grown: Grown, replayed: PeriodTime, band_s: tuple[float, float]) -> GrownRanks:
        ranks = grown.grid.ranks
        largest = self.program.largest
        profiled = self.program.profiled_on(grown.grid)
        unchecked = grown.unchecked
        return GrownRanks(
            program=program_of(largest),
            platform=self.target.name,
            clock=self.target.clock,
            ranks=ranks,
            grid=str(grown.grid),
            profiled=profiled is not None,
            periods=largest.repeats,
            period_s=replayed.period_s,
            period_lo_s=band_s[0],
            period_hi_s=band_s[1],
            period_measured_s=_measured_s(profiled),
            time_s=replayed.period_s * largest.repeats,
            efficiency=self._efficiency(ranks, replayed.period_s),
            shares=replayed.shares(),
            scaling_ends=None,
            ended_by=None,
            computing_from=self.law.source,
            computing_error=self.law.error,
            times_largest=ranks / largest.ranks,
            unchecked_calls=unchecked.calls,
            unchecked_call_share=unchecked.call_share,
            unchecked_byte_share=unchecked.byte_share,
            unchecked_time_share=unchecked.time_share,
            assumed_even=tuple(side + 1 for side in grown.assumed_even),
            assumed_even_share=grown.even_share,
            assumptions=tuple(basis(self.program, grown)),
            sizes_off=grown.off,
            calls_beside=largest.beside,
            notes=self.target.notes,
        )

    def _efficiency(self, ranks: int, period_s: float) -> float:
        """Return a rank's speed divided by its speed on the smallest number of ranks."""
        if not self.points:
            return 1.0
        first = self.points[0]
        return first.period_s * first.ranks / (period_s * ranks)

    def _with_computing(self, grown: Grown) -> Trace:
        """Return the period in which each rank computes as long as the law of computing requires.

        The computing time is distributed over the calls as in the largest profile.
        """
        made_s = [stream.compute_s.sum() for stream in grown.trace.streams]
        mean_s = float(np.mean(made_s)) or 1.0
        return resized(grown.trace, computing=self.law.at(grown.grid.ranks) / mean_s)

    def _band_s(self, trace: Trace, replayed: PeriodTime, grown: Grown) -> tuple[float, float]:
        """Return the least and the greatest time that the prediction's errors allow, in s."""
        period_s = replayed.period_s
        ends_s = [period_s]
        error = self.law.error or 0.0
        if error > _EXACT or grown.off > _EXACT:
            ends_s = []
            for way in (-1, 1):
                computing = max(0.0, 1 + way * error)
                sizes = max(0.0, 1 + way * grown.off)
                other = resized(trace, computing=computing, sizes=sizes)
                ends_s.append(time_of_period(other, self.target.run))
        # Calls that are not checked may cost nothing, or twice as much.
        waits = 0.0
        if period_s:
            waits = grown.unchecked.time_share * (1 - replayed.computing_s / period_s)
        return min(ends_s) * (1 - waits), max(ends_s) * (1 + waits)

    def complete(self) -> tuple[GrownRanks, ...]:
        """Return the predicted times, each with the ranks where scaling ends and the reason."""
        ends, part = _end(self.points)
        return tuple(replace(point, scaling_ends=ends, ended_by=part) for point in self.points)


def _measured_s(profiled: ProgramPeriod | None) -> float | None:
    """Return the time of a period whose ranks had a core each, else None."""
    if profiled is None or profiled.shared:
        return None
    return profiled.time_s


def _end(points: Sequence[GrownRanks]) -> tuple[int | None, str | None]:
    """Return the number of ranks where scaling ends, and the part of the time that grows most.

    Scaling ends where twice as many ranks save less than 5 % of the time. Both are None if scaling
    does not end.
    """
    for smaller, larger in pairwise(points):
        doublings = np.log2(larger.ranks / smaller.ranks)
        if smaller.period_s / larger.period_s < _LEAST_GAIN**doublings:
            return smaller.ranks, _grown_part(smaller, larger)
    return None, None


def _grown_part(smaller: GrownRanks, larger: GrownRanks) -> str:
    """Return the part of a period whose time increases most on more ranks."""
    more_s: dict[str, float] = {}
    for name, share in larger.shares.items():
        before_s = smaller.shares.get(name, 0.0) * smaller.period_s
        more_s[name] = share * larger.period_s - before_s
    return max(more_s, key=lambda name: more_s[name])
