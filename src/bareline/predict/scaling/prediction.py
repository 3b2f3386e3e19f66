"""The time of a program on more ranks than it was profiled on, its shares, and the end of scaling.

The period is made for each count (`ranks`) and replayed by an engine, simulated or on a measured
ladder. Some periods are replayed and multiplied, never all. The cost of a function is the time by
which the replay is shorter without its calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from bareline.predict.scaling.grid import Grid
from bareline.predict.scaling.laws import fitted
from bareline.predict.scaling.messages import basis
from bareline.predict.scaling.pattern import program_of
from bareline.predict.scaling.ranks import MOST_UNCHECKED, Grown, Scaled
from bareline.profile.period import ProgramPeriod
from bareline.profile.records import NOBODY, POINT_TO_POINT, Shape
from bareline.profile.trace import CallStream, Trace
from bareline.vocabulary.errors import AnalysisError, UsageError


@dataclass(frozen=True)
class Target:
    """A platform that replays traces.

    - `run`: returns a trace's time in s.
    - `simulated`: by SimGrid; else on the measured costs of messages.
    - `notes`: the assumptions of its replays; each replay may add to them.
    """

    name: str
    run: Callable[[Trace], float]
    simulated: bool = True
    notes: list[str] = field(default_factory=list)


COMPUTING = "computing"
MESSAGES = "messages between two ranks"
#: Periods of the longer replay; the shorter one has one, which pays for the beginning of both.
_PERIODS = 3
#: Programs that compute nothing are divided by this.
_LEAST_S = 1e-12
#: Shares below this are rounding.
_EXACT = 1e-9


@dataclass(frozen=True, slots=True)
class Computing:
    """The computing of a rank in a period, by the number of ranks p: a/p, or a + b/p.

    - `error`: the largest error, as a share, of a count predicted from the other counts; None where
      a law rests on as many counts as it has terms.
    """

    fixed_s: float
    shared_s: float
    source: str
    error: float | None

    def at(self, ranks: int) -> float:
        """Return the computing of a rank where there are `ranks` ranks, in s."""
        return max(0.0, self.fixed_s + self.shared_s / ranks)


def computing(periods: Sequence[ProgramPeriod]) -> Computing:
    """Fit computing to the profiles whose ranks had a core each, or to all if there is none."""
    chosen = [period for period in periods if not period.shared] or list(periods)
    ranks = np.array([period.ranks for period in chosen], float)
    times = np.maximum([period.compute_s for period in chosen], _LEAST_S)
    names = ", ".join(str(period.ranks) for period in chosen)
    source = f"computing as profiled on {names} ranks, a core each"
    if chosen[0].shared:
        source = f"computing as profiled on {names} ranks that shared cores, which it is not to be"
    # Weighted by the times, so that errors are shares.
    columns = np.stack([1 / ranks, np.ones(len(chosen))], axis=1) / times[:, None]
    terms = 2 if len(chosen) > 2 else 1
    factors, errors = fitted(columns[:, :terms], np.ones(len(chosen)), ranks)
    if factors.min() < 0:  # neither part takes less than no time
        factors, errors = fitted(columns[:, :1], np.ones(len(chosen)), ranks)
    fixed_s = float(factors[1]) if len(factors) > 1 else 0.0
    return Computing(fixed_s, float(factors[0]), source, max(errors, default=None))


@dataclass(frozen=True, slots=True)
class GrownRanks:
    """``predict --ranks``: the time of a program on a number of ranks.

    - `period_s`: replayed, between the bounds that computing, sizes and unchecked calls allow.
    - `period_measured_s`: of a profile whose ranks had a core each.
    - `efficiency`: of the smallest count's speed for each rank.
    - `shares`: of a period, by computing, messages, and each collective function.
    - `scaling_ends`: the count up to which more ranks bring something; None: all that are shown.
    - `ended_by`: the part whose time grows from there on.
    - `times_largest`: how many times the ranks of the largest profile.
    - `unchecked_calls`: of a period, all ranks; their shares of calls, of bytes, of calls' time.
    - `assumed_even`: sides, from 1, whose cut into equal parts no profile proves;
      `assumed_even_share`: of the bytes, the share that depends on one.
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
    """Times of a program by its number of ranks.

    - `grown`: the period of most ranks; `skipped`: counts that could not be made, and why.
    """

    own: Scaled
    target: Target
    points: tuple[GrownRanks, ...]
    computing: Computing
    skipped: tuple[str, ...]
    grown: Grown

    def rows(self) -> list[dict[str, Any]]:
        """Return tidy rows in SI units."""
        return list(map(asdict, self.points))


def grown_period(
    own: Scaled, ranks: int, grid: Grid | None, most_unchecked: float = MOST_UNCHECKED
) -> Grown:
    """Return a program's period on more ranks.

    - `grid`: their sides; None: by the rule of the profiled ones.
    - `most_unchecked`: the share of calls and of bytes that may rest on unchecked laws.

    Raises AnalysisError, UsageError: the period cannot be made for `ranks` ranks.
    """
    if grid is not None and grid.ranks != ranks:
        raise UsageError(
            f"--grid {grid} has {grid.ranks} ranks, not {ranks}",
            hint="change --grid or the number of ranks",
        )
    return own.grown(grid or own.grid(ranks), most_unchecked)


def grow(
    own: Scaled,
    ranks: int,
    grid: Grid | None,
    target: Target,
    most_unchecked: float = MOST_UNCHECKED,
) -> ScalingPrediction:
    """Replay a program's period on more and more ranks, up to `ranks`.

    Parameters and errors are as for `grown_period`.
    """
    furthest = grown_period(own, ranks, grid, most_unchecked)
    law = computing(own.periods)
    last_grid = furthest.grid
    made = {
        profile_grid.ranks: profile_grid
        for profile_grid, _ in own.counts
        if profile_grid.ranks < ranks
    } | {ranks: last_grid}
    points: list[GrownRanks] = []
    skipped = []
    for count in sorted({*made, *_doubled(own.largest.ranks, ranks)}):
        try:
            sides = made[count] if count in made else own.grid(count)
            grown = furthest if count == ranks else own.grown(sides, most_unchecked)
        except AnalysisError as error:
            skipped.append(f"{count} ranks: {error.what}")
            continue
        points.append(_point(own, grown, law, target, points[0] if points else None))
    ends, by = _end(points)
    complete = tuple(replace(point, scaling_ends=ends, ended_by=by) for point in points)
    return ScalingPrediction(own, target, complete, law, tuple(skipped), furthest)


def _doubled(ranks: int, most: int) -> Iterator[int]:
    while (ranks := 2 * ranks) < most:
        yield ranks


def _with_computing(grown: Grown, law: Computing) -> Trace:
    """Return the made period in which each rank computes as long as the law says.

    The time is spread over its calls as on the largest profile.
    """
    mean_s = float(np.mean([stream.compute_s.sum() for stream in grown.trace.streams])) or 1.0
    return _resized(grown.trace, law.at(grown.grid.ranks) / mean_s, 1.0)


def _point(
    program: Scaled, grown: Grown, law: Computing, on: Target, first: GrownRanks | None
) -> GrownRanks:
    trace = _with_computing(grown, law)
    period_s, parts = _replayed(trace, on.run)
    speed = first.period_s * first.ranks / (period_s * grown.grid.ranks) if first else 1.0
    largest = program.largest
    unchecked = grown.unchecked
    lo_s, hi_s = _band_s(trace, period_s, parts[COMPUTING], grown, law, on.run)
    return GrownRanks(
        program=program_of(largest),
        platform=on.name,
        clock="simulated" if on.simulated else "replayed",
        ranks=grown.grid.ranks,
        grid=str(grown.grid),
        profiled=program.profiled_on(grown.grid) is not None,
        periods=largest.repeats,
        period_s=period_s,
        period_lo_s=lo_s,
        period_hi_s=hi_s,
        period_measured_s=_measured_s(program.profiled_on(grown.grid)),
        time_s=period_s * largest.repeats,
        efficiency=speed,
        shares={name: part / period_s for name, part in parts.items()},
        scaling_ends=None,
        ended_by=None,
        computing_from=law.source,
        computing_error=law.error,
        times_largest=grown.grid.ranks / largest.ranks,
        unchecked_calls=unchecked.calls,
        unchecked_call_share=unchecked.call_share,
        unchecked_byte_share=unchecked.byte_share,
        unchecked_time_share=unchecked.time_share,
        assumed_even=tuple(side + 1 for side in grown.assumed_even),
        assumed_even_share=grown.even_share,
        assumptions=tuple(basis(program, grown)),
        sizes_off=grown.off,
        calls_beside=largest.beside,
        notes=on.notes,
    )


def _measured_s(profiled: ProgramPeriod | None) -> float | None:
    """Return the time of a period whose ranks had a core each."""
    if profiled is None or profiled.shared:
        return None
    return profiled.time_s


def _band_s(
    trace: Trace,
    period_s: float,
    computing_s: float,
    grown: Grown,
    law: Computing,
    run: Callable[[Trace], float],
) -> tuple[float, float]:
    """Return the shortest and longest period that computing, sizes and unchecked calls allow."""
    ends = [period_s]
    error = law.error or 0.0
    if error > _EXACT or grown.off > _EXACT:
        off = [(max(0.0, 1 + way * error), max(0.0, 1 + way * grown.off)) for way in (-1, 1)]
        ends = [_period_s(_resized(trace, *each), run) for each in off]
    # Calls that are not checked may cost nothing, or twice as much.
    waits = grown.unchecked.time_share * (1 - computing_s / period_s) if period_s else 0.0
    return min(ends) * (1 - waits), max(ends) * (1 + waits)


def _each(trace: Trace, change: Callable[[CallStream], CallStream]) -> Trace:
    return replace(trace, streams=tuple(map(change, trace.streams)))


def _resized(trace: Trace, computing: float, sizes: float) -> Trace:
    """Return a trace with computing, and sizes of messages between two ranks, multiplied."""

    def sized(shape: Shape) -> Shape:
        if sizes == 1 or shape.kind not in POINT_TO_POINT:
            return shape
        size, sent, received = (round(sizes * n) for n in (shape.size, shape.sent, shape.received))
        return replace(shape, size=size, sent=sent, received=received)

    def resized(stream: CallStream) -> CallStream:
        shapes = tuple(map(sized, stream.shapes))
        return replace(stream, compute_s=stream.compute_s * computing, shapes=shapes)

    return _each(trace, resized)


def _replayed(trace: Trace, run: Callable[[Trace], float]) -> tuple[float, dict[str, float]]:
    """Return a period's time and its parts.

    Computing is the period without any call. The rest is divided among functions in proportion to
    the time saved without each: without one function, another may wait longer.
    """
    period_s = _period_s(trace, run)

    def taken_s(chosen: Callable[[Shape], bool]) -> float:
        return _period_s(_of_calls(trace, chosen), run)

    parts = {COMPUTING: min(taken_s(lambda _: False), period_s)}
    shapes = {shape for stream in trace.streams for shape in stream.shapes}
    calls = sorted(
        {shape.call for shape in shapes if shape.kind == "collective" and not shape.posts}
    )
    saved = {
        call: period_s - taken_s(lambda shape, call=call: shape.call != call)  # type: ignore[misc]
        for call in calls
    }
    if any(shape.kind in POINT_TO_POINT for shape in shapes):
        messages = (*POINT_TO_POINT, "done", "wait")
        saved[MESSAGES] = period_s - taken_s(lambda shape: shape.kind not in messages)
    saved = {name: max(0.0, time_s) for name, time_s in saved.items()}
    whole = sum(saved.values()) or 1.0
    left_s = period_s - parts[COMPUTING]
    return period_s, parts | {name: left_s * time_s / whole for name, time_s in saved.items()}


def _period_s(trace: Trace, run: Callable[[Trace], float]) -> float:
    def again(stream: CallStream) -> CallStream:
        compute_s, spent_s = (
            np.tile(each, _PERIODS) for each in (stream.compute_s, stream.spent_s)
        )
        numbers = np.tile(stream.shape, _PERIODS)
        return replace(stream, shape=numbers, compute_s=compute_s, spent_s=spent_s)

    return (run(_each(trace, again)) - run(trace)) / (_PERIODS - 1)


_REST = Shape("compute", "compute", False, NOBODY, NOBODY, NOBODY, -1, -1, 0, 0, 0, 0, 0)


def _of_calls(trace: Trace, chosen: Callable[[Shape], bool]) -> Trace:
    """Return a trace of some calls; the computing between the removed calls stays."""

    def reduced(stream: CallStream) -> CallStream:
        mask = np.array(list(map(chosen, stream.shapes)))[stream.shape]
        ends = np.append(np.cumsum(stream.compute_s)[mask], stream.compute_s.sum())
        return replace(
            stream,
            shapes=(*stream.shapes, _REST),
            shape=np.append(stream.shape[mask], np.int32(len(stream.shapes))),
            compute_s=np.diff(ends, prepend=0.0),
            spent_s=np.append(stream.spent_s[mask], 0.0),
        )

    return _each(trace, reduced)


def _end(points: Sequence[GrownRanks]) -> tuple[int | None, str | None]:
    """Return the count from which on twice the ranks bring less than 5 %, and the part that grows.

    Both are None where every count brings more.
    """
    for smaller, larger in pairwise(points):
        doublings = np.log2(larger.ranks / smaller.ranks)
        if smaller.period_s / larger.period_s < 1.05**doublings:
            more = {
                name: share * larger.period_s - smaller.shares.get(name, 0.0) * smaller.period_s
                for name, share in larger.shares.items()
            }
            return smaller.ranks, max(more, key=lambda name: more[name])
    return None, None
