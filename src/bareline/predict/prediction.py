"""A prediction: the application's time on another platform, its interval, and what limits it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from bareline.predict.base import Base
from bareline.predict.compute import ComputeFactor
from bareline.predict.costs import INPUTS, Costs, mixed, start_up
from bareline.predict.delta import delta, message_share
from bareline.predict.fitness import CallLack, check_base, check_ladders, refuse_contradictions
from bareline.predict.ladder import Ladder
from bareline.predict.replay import Replayed, replay, why_not_replayable
from bareline.vocabulary.errors import AnalysisError

Model = Literal["auto", "replay", "delta"]
#: How the replay's change is carried over: as a difference, as a ratio, or (carried) as a
#: difference to slower platforms and as a ratio to faster ones. What a replay lacks on the base,
#: waits above all, stays the same where bytes take longer, and shrinks where they take less.
Form = Literal["carried", "difference", "ratio"]

#: 90 % of the errors |ln(true/predicted)| of programs that were not looked at, by model, where no
#: validation of one's own is at hand (docs/method/prediction.md).
RESIDUAL = {"replay": 0.17, "delta": 0.25}
#: How far a replay may be from the time that it replays.
_WARN, REFUSE = 0.05, 0.15
#: Shorter programs are predicted with a wider interval.
SHORT_S = 0.05
#: Shares of messages, and changes of the time, at which hidden and shared latency matters, of
#: which only a trace knows.
_MESSAGES, _MOVED = 0.2, 0.1
_DRAWS = 100
#: Launches of an application from which on they show how well it repeats itself.
_REPEATED = 3
#: What drawing the launches anew may change, in ln, before curves that contradict themselves are
#: refused: a rough curve that hardly counts does no harm.
_DRAWN = math.log(1.25)


@dataclass(frozen=True, slots=True)
class Prediction:
    """``predict``: what an application will take.

    - `base`, `platform`: where the profile was taken, and where the time is meant for.
    - `base_s`: time on the base by the application's own clock, as a median; of a profile without
      records from ``MPI_Init`` to ``MPI_Finalize``, of the rank that took longest.
    - `time_s`, `lo_s`, `hi_s`: predicted time with its interval; no point where only bounds are
      known.
    - `reproduced`: the replay of the base over its time; None without a replay.
    - `launches`, `ladder`, `residual`: parts of the interval's half-width, in ln: what single
      launches differ by, what drawing the ladders' launches anew changes, and what unseen programs
      were off by.
    - `repeats`: what launches of the application differ by on the base, in ln: no interval that
      holds single launches is narrower. None below three launches.
    - `compute`, `compute_lo`, `compute_hi`: times that computing takes longer.
    - `start_up_s`, `connections`, `connecting_s`: what starting up takes longer, where both ladders
      tell, and of that connecting to so many ranks.
    - `warnings`: what widens the interval, in words.
    - `measured_s`: what launches took on the platform, where the run holds them: no part of the
      prediction.
    - `lacks`: by function and size, what the replay of the base takes less or more than traced.
    """

    base: str
    platform: str
    model: Literal["replay", "delta"]
    base_s: float
    time_s: float | None
    lo_s: float
    hi_s: float
    ratio: float | None
    level: float
    reproduced: float | None
    launches: float
    ladder: float
    residual: float
    repeats: float | None
    compute: float | None
    compute_lo: float
    compute_hi: float
    compute_from: str
    start_up_s: float | None
    connections: int | None
    connecting_s: float | None
    warnings: tuple[str, ...]
    measured_s: tuple[float, ...]
    lacks: tuple[CallLack, ...]


@dataclass(frozen=True)
class PredictionCase:
    """One application between two platforms; `compute` is computing's factor from A to B."""

    base: Base
    b: Ladder
    compute: ComputeFactor
    io: float = 1.0
    _replayed: dict[float, Replayed] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def a(self) -> Ladder:
        """The ladder of the base."""
        return self.base.ladder

    def replayed(self, factor: float) -> Replayed:
        """Replay the trace on B with this factor of computing, once."""
        assert self.base.trace is not None
        if factor not in self._replayed:
            self._replayed[factor] = replay(self.base.trace, self.costs(factor)[1])
        return self._replayed[factor]

    @cached_property
    def drawn(self) -> float:
        """Half-width that drawing the ladders' launches anew adds, in ln.

        By the difference model: its sensitivity is about the replay's, its price a thousandth.
        """
        if min(self.a.n, self.b.n) < 2:
            return 0.0
        rng = np.random.default_rng(1)
        return _log_width(drawn_case(self, rng) for _ in range(_DRAWS))

    @cached_property
    def speeds(self) -> float:
        """Half-width, in ln, of what single launches of the ladders give: as a run meets them.

        TCP between hosts has two speeds, by launch: a run meets one of them, and no more launches
        of the ladder make that surer. What a block slowed on both sides cancels.
        """
        launches = min(self.a.n, self.b.n, _DRAWS)
        if launches < 2:
            return 0.0
        return _log_width(
            self.between(*(ladder.of_launches(np.array([launch])) for ladder in (self.a, self.b)))
            for launch in range(launches)
        )

    @property
    def repeats(self) -> float | None:
        """Half-width, in ln, of the application's launches on the base; None below three."""
        times_s = self.base.launches_s
        if len(times_s) < _REPEATED:
            return None
        return half_width(np.log(times_s))

    @property
    def launches(self) -> float:
        """Half-width, in ln, of single launches: of the application's, or of the ladders'.

        The larger one: the base may have one speed where the platform that is asked for has two.
        """
        return max(self.speeds, self.repeats or 0.0)

    def between(self, a: Ladder, b: Ladder) -> PredictionCase:
        """Return the case with other ladders of the same platforms."""
        return replace(self, base=replace(self.base, ladder=a), b=b)

    def costs(self, factor: float) -> tuple[Costs, Costs]:
        """Return the costs on both platforms."""
        ranks = self.base.profile.ranks
        before, after = self.a.beside(ranks), self.b.beside(ranks)
        b = Costs(self.b, factor, self.io)
        if before is not None and after is not None:
            # Of a stretch that A traced.
            b = replace(b, beside=after[0] / before[0] - 1, beside_s=before[1])
        return Costs(self.a), b


def half_width(drawn: npt.NDArray[np.float64] | list[float]) -> float:
    """Return half of what holds 90 % of some values."""
    low, high = np.quantile(drawn, [0.05, 0.95])
    return float(high - low) / 2


def _log_width(drawn: Iterable[PredictionCase]) -> float:
    """Return half of what holds 90 % of the predictions from drawn ladders, in ln."""
    times = (_time(case, "delta", "ratio", case.compute.middle) for case in drawn)
    return half_width([math.log(time_s) for time_s in times])


def predict(
    case: PredictionCase,
    *,
    model: Model = "auto",
    form: Form = "carried",
    residual: float | None = None,
) -> Prediction:
    """Predict the time of an application on another platform.

    Raises AnalysisError: base or ladder is unfit, or the replay asked for does not reproduce A.
    """
    _check(case)
    base_s = case.base.time_s
    chosen, reproduced, notes = _choose(case, model)
    factors = (case.compute.lo, case.compute.value, case.compute.hi)
    low, middle, high = (one and _time(case, chosen, form, one) for one in factors)
    assert low is not None and high is not None
    if case.drawn > _DRAWN:
        for ladder in (case.a, case.b):
            refuse_contradictions(case.base.profile, ladder, case.drawn)
    unseen = residual if residual is not None else _unseen(case, chosen, case.compute.hi)
    notes += _widening(case, reproduced if chosen == "replay" else None)
    width = math.hypot(case.launches, case.drawn, unseen) * 1.5 ** len(notes)
    notes += _speeds(case)
    moved, in_messages = abs(math.log(high / base_s)), message_share(case.base.profile)
    if chosen == "delta" and (moved > _MOVED or in_messages > _MESSAGES):
        width = max(width, math.log(1.5))
        notes.append("without a trace, codes that pass work on in a pipeline may be off by half")
    start_up_s, connections, connecting_s = start_up(case.base.profile, case.a, case.b)
    return Prediction(
        base=case.a.platform,
        platform=case.b.platform,
        model=chosen,
        base_s=base_s,
        time_s=middle,
        lo_s=low * math.exp(-width),
        hi_s=high * math.exp(width),
        ratio=None if middle is None else middle / base_s,
        level=0.9,
        reproduced=reproduced,
        launches=case.launches,
        ladder=case.drawn,
        residual=unseen,
        repeats=case.repeats,
        compute=case.compute.value,
        compute_lo=case.compute.lo,
        compute_hi=case.compute.hi,
        compute_from=case.compute.source,
        start_up_s=start_up_s,
        connections=connections,
        connecting_s=connecting_s,
        warnings=tuple(notes),
        measured_s=(),
        lacks=case.base.lacks if reproduced is not None else (),
    )


def point(case: PredictionCase, model: Model = "auto") -> tuple[float, float]:
    """Return the time on the base and the predicted one, without an interval.

    Raises AnalysisError: as `predict`; bounds of computing make no point.
    """
    _check(case)
    if case.compute.value is None:
        raise AnalysisError("only bounds of computing are known", hint="use --calibrate RUN")
    chosen, _, _ = _choose(case, model)
    return case.base.time_s, _time(case, chosen, "carried", case.compute.value)


def _check(case: PredictionCase) -> None:
    check_base(case.base.profile, openly_shared=case.a.cores is not None)
    check_ladders(case.base.profile, case.a, case.b)


def drawn_case(case: PredictionCase, rng: np.random.Generator) -> PredictionCase:
    """Draw launches anew, the same blocks on both sides: what they have in common cancels."""
    seed = int(rng.integers(2**63))
    return case.between(*(one.resampled(np.random.default_rng(seed)) for one in (case.a, case.b)))


def _unseen(case: PredictionCase, model: str, factor: float) -> float:
    """Return what unseen programs are off by, in ln: no more than all that differs moves.

    Between two ladders that price every call alike the error of a price cancels.
    """
    a, b = case.costs(factor)
    changes = (delta(case.base.profile, a, mixed(a, b, {name})) for name in INPUTS)
    moved = math.log1p(sum(map(abs, changes)) / case.base.wall_s)
    # Where nothing differs 5 % are left: a launch is no median.
    return min(RESIDUAL[model], max(0.05, moved))


def _choose(
    case: PredictionCase, model: Model
) -> tuple[Literal["replay", "delta"], float | None, list[str]]:
    """Choose the model by what there is, and say why it is not the better one."""
    if model == "delta" or (model == "auto" and case.base.trace is None):
        return "delta", None, []
    if case.base.trace is None:
        raise AnalysisError(
            "there is no trace to replay",
            where=str(case.base.profile.path),
            hint="profile with --trace, or use --model delta",
        )
    reason = why_not_replayable(case.base.trace)
    reproduced = None if reason else case.base.reproduced
    if reproduced is not None and abs(reproduced - 1) > REFUSE:
        reason = f"its replay gives {reproduced:.2f} of the measured time"
    if not reason:
        return "replay", reproduced, []
    if model == "replay":
        raise AnalysisError(
            f"the trace is not replayed: {reason}",
            where=str(case.base.trace.path),
            hint="use --model delta",
        )
    return "delta", reproduced, [f"the trace is not replayed: {reason}"]


def _time(case: PredictionCase, model: str, form: Form, factor: float) -> float:
    base = case.base
    if model == "delta":
        time_s = base.wall_s + delta(base.profile, *case.costs(factor))
        return base.on_clock(max(time_s, 0.01 * base.wall_s), factor)
    on_a, on_b = base.timed_s(base.replayed), base.timed_s(case.replayed(factor))
    if form == "ratio" or (form == "carried" and on_b < on_a):
        return base.time_s * on_b / on_a
    launch_s = base.launch_s
    return base.time_s * max(launch_s + on_b - on_a, 0.01 * launch_s) / launch_s


def _speeds(case: PredictionCase) -> Iterator[str]:
    """Name the curves whose launches have two speeds, the farthest apart first."""
    found = [
        (*curve.two_speeds, curve.key, ladder)
        for ladder in {one.platform: one for one in (case.a, case.b)}.values()
        for _, curve in ladder.used(case.base.profile)
        if curve.two_speeds[1]
    ]
    for times, slow, key, ladder in sorted(found, key=lambda one: -one[0])[:3]:
        yield (
            f"{key.probe} on {ladder.platform} has two speeds: {slow} of {ladder.n} launches take "
            f"{times:.2f} times as long"
        )


def _widening(case: PredictionCase, reproduced: float | None) -> Iterator[str]:
    if case.base.time_s < SHORT_S:
        yield f"the program runs for {1e3 * case.base.time_s:.0f} ms only"
    for ladder in (case.a, case.b):
        if ladder.n < 3:
            yield f"the ladder of {ladder.platform} has {ladder.n} launches only"
    keys = ("mpi.flavour", "mpi.version")
    one, other = (" ".join(str(x.facts[k]) for k in keys if k in x.facts) for x in (case.a, case.b))
    if one and other and one != other:
        yield f"other MPI libraries: {one} and {other}"
    if case.base.profile.computing_s <= 0:
        yield "the profile has no time of computing"
    if reproduced is not None and abs(reproduced - 1) > _WARN:
        yield f"the replay gives {reproduced:.3f} of the measured time on {case.a.platform}"
