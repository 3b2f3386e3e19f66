"""A prediction: the application's time on another platform, its interval, and what limits it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from bareline.predict.compute import ComputeFactor
from bareline.predict.costs import INPUTS, Costs, StartUp, mixed, start_up
from bareline.predict.curve import UNSURE
from bareline.predict.delta import delta, message_share
from bareline.predict.ladder import Gap, Ladder, LadderGaps
from bareline.predict.needs import Need, needs_of
from bareline.predict.replay import replay, why_not_replayable
from bareline.profile.model import Profile
from bareline.profile.summary import DISTURBED, queued_share
from bareline.profile.trace import Trace
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.units import significant

Model = Literal["auto", "replay", "delta"]
#: How the replay's change is carried over: as a ratio, or as a difference.
Form = Literal["ratio", "difference"]

#: 90 % of the errors |ln(true/predicted)| of programs that were not looked at, by model, where no
#: validation of one's own is at hand (docs/method/prediction.md).
RESIDUAL = {"replay": 0.18, "delta": 0.25}
#: Half-width that is left where nothing differs: a launch is no median.
_LEAST_UNSEEN = 0.05
#: How far a replay may be from the time that it replays.
_WARN, REFUSE = 0.05, 0.15
#: Shorter programs are predicted with a wider interval.
SHORT_S = 0.05
#: Shares of messages, and changes of the time, at which hidden and shared latency matters.
_MESSAGES, _MOVED = 0.2, 0.1
_WIDER = 1.5
_HALF = math.log(1.5)
_DRAWS = 100
#: What drawing the launches anew may change, in ln, before curves that contradict themselves are
#: refused: a rough curve that hardly counts does no harm.
_DRAWN = math.log(1.25)


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted time.

    - `base`, `platform`: where the profile was taken, and where the time is meant for.
    - `base_s`: time on the base by the application's own clock, as a median; of a profile without
      records from ``MPI_Init`` to ``MPI_Finalize``, of the rank that took longest.
    - `time_s`, `lo_s`, `hi_s`: predicted time with its 90 % interval; no point where only bounds
      are known.
    - `reproduced`: the replay of the base over its time; None without a replay.
    - `half_width`: half of the interval's width, in ln; `residual` and `ladder` are its parts: what
      unseen programs were off by, and what drawing launches anew changes.
    - `start_up`: what starting up takes longer, where both ladders tell.
    - `warnings`: what widens the interval, in words.
    - `measured_s`: what launches took on the platform, where the run holds them: no part of the
      prediction.
    """

    base: str
    platform: str
    model: Literal["replay", "delta"]
    base_s: float
    time_s: float | None
    lo_s: float
    hi_s: float
    reproduced: float | None
    half_width: float
    residual: float
    ladder: float
    compute: ComputeFactor
    start_up: StartUp | None = None
    warnings: tuple[str, ...] = field(default=())
    measured_s: tuple[float, ...] = ()

    def row(self) -> dict[str, Any]:
        """Give it as a tidy row in SI units."""
        return {
            "base": self.base,
            "platform": self.platform,
            "model": self.model,
            "base_s": self.base_s,
            "time_s": self.time_s,
            "lo_s": self.lo_s,
            "hi_s": self.hi_s,
            "ratio": self.time_s / self.base_s if self.time_s is not None else None,
            "level": 0.9,
            "reproduced": self.reproduced,
            "residual": self.residual,
            "ladder": self.ladder,
            "compute": self.compute.value,
            "compute_lo": self.compute.lo,
            "compute_hi": self.compute.hi,
            "compute_from": self.compute.source,
            "start_up_s": self.start_up.time_s if self.start_up else None,
            "connections": self.start_up.connections if self.start_up else None,
            "connecting_s": self.start_up.connecting_s if self.start_up else None,
            "warnings": list(self.warnings),
            "measured_s": list(self.measured_s),
        }


def base_time_s(profile: Profile) -> float:
    """Give the time of the rank that took longest, without pauses of counting, in s."""
    ranks = profile.rank_table
    return float((ranks["wall_ns"] - ranks["paused_ns"]).to_numpy().max()) * 1e-9


def check_base(profile: Profile, *, openly_shared: bool = False) -> None:
    """Refuse a profile that tells more about its machine than about the program.

    - `openly_shared`: the platform has fewer cores than ranks: they wait for one by design, and the
      models know.

    Raises AnalysisError: it is unfinished, split, or its ranks had no core for too long.
    """
    where = str(profile.path)
    if not profile.complete:
        raise AnalysisError(f"the profile is unfinished: {profile.ended}", where=where)
    if profile.mode == "split":
        raise AnalysisError(
            "a split profile holds its own barriers", where=where, hint="profile without --split"
        )
    queued = queued_share(profile)
    if queued > DISTURBED and not openly_shared:
        raise AnalysisError(
            f"the ranks had no core for {queued:.1%} of their time: no base for a prediction",
            where=where,
            hint="profile on a quiet machine with a core per rank",
        )


def check_ladders(profile: Profile, *ladders: Ladder) -> None:
    """Refuse ladders that lack a curve, or hold an unfit one, that the application needs.

    Raises LadderGaps: with each curve, what is wrong with it, and the measure to add.
    """
    for ladder in ladders:
        gaps = ladder.gaps(_needs(profile, ladder))
        if gaps:
            raise LadderGaps(ladder.platform, gaps)


def _needs(profile: Profile, ladder: Ladder) -> Sequence[Need]:
    """Give the curves that a profile needs of a platform, with the ranks as they lie there."""
    return needs_of(profile, spread=ladder.layout.nodes > 1)


def _apart(spread: float) -> str:
    """Say how far launches lie apart: in per cent, or in times where those would be thousands."""
    return f"{spread:.0%}" if spread < 10 else f"{significant(spread)} times their median"


def _refuse_contradictions(profile: Profile, ladder: Ladder, drawn: float) -> None:
    """Refuse curves whose launches contradict each other, where the prediction hangs on them."""
    gaps = [
        Gap(
            f"the launches of {curve.key} differ by {_apart(curve.spread)}, which moves the "
            f"prediction by {math.expm1(drawn):.0%}",
            "\n\n".join(need.measures(curve.key.nodes)),
        )
        for need, curve in ladder.used(_needs(profile, ladder))
        if curve.contradicts
    ]
    if gaps:
        raise LadderGaps(ladder.platform, gaps)


@dataclass(frozen=True, slots=True)
class Clock:
    """An application's time by its own clock, which is what a comparison compares.

    - `launch_s`: of the profiled launch.
    - `median_s`: of all launches.
    """

    launch_s: float
    median_s: float


@dataclass(frozen=True)
class Case:
    """One application between two platforms, ready to be predicted.

    - `compute`: the factor of computing from A to B.
    """

    profile: Profile
    trace: Trace | None
    a: Ladder
    b: Ladder
    compute: ComputeFactor
    io: float = 1.0
    clock: Clock | None = None
    _replayed: dict[float | None, float] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _base: dict[float | None, float] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def base_s(self) -> float:
        """The application's time on A: the median by its own clock, where that is known."""
        return self.clock.median_s if self.clock else base_time_s(self.profile)

    def on_clock(self, time_s: float, factor: float) -> float:
        """Turn a time from ``MPI_Init`` to ``MPI_Finalize`` into the application's own.

        What its clock leaves out (setting up, verification) is taken to compute.
        """
        if self.clock is None:
            return time_s
        outside_s = max(0.0, base_time_s(self.profile) - self.clock.launch_s)
        own_s = max(time_s - factor * outside_s, 0.01 * self.clock.launch_s)
        return own_s * self.clock.median_s / self.clock.launch_s

    def replayed_s(self, factor: float | None) -> float:
        """Replay the trace, once: on A (None), or on B with this factor of computing."""
        assert self.trace is not None
        known = self._base if factor is None else self._replayed
        if factor not in known:
            a, b = self.costs(factor or 1.0)
            known[factor] = replay(self.trace, a if factor is None else b).time_s
        return known[factor]

    def take_base(self, other: Case) -> None:
        """Share the replay of the base with a case of the same one: whoever needs it first."""
        object.__setattr__(self, "_base", other._base)

    @cached_property
    def drawn(self) -> float:
        """Half-width that drawing the ladders' launches anew adds, in ln.

        By the difference model, whose sensitivity to the curves is about the replay's at a
        thousandth of its price.
        """
        if min(self.a.n, self.b.n) < 2:
            return 0.0
        rng = np.random.default_rng(1)
        factor = self.compute.value or math.sqrt(self.compute.lo * self.compute.hi)
        logs = []
        for _ in range(_DRAWS):
            one = drawn_case(self, rng)
            logs.append(math.log(_time(one, "delta", "ratio", factor)))
        low, high = np.quantile(logs, [0.05, 0.95])
        return float(high - low) / 2

    def costs(self, factor: float) -> tuple[Costs, Costs]:
        """Give the costs on both platforms."""
        return Costs(self.a), Costs(self.b, compute=factor, io=self.io)


def predict(
    case: Case,
    *,
    model: Model = "auto",
    form: Form = "ratio",
    residual: float | None = None,
) -> Prediction:
    """Predict the time of an application on another platform.

    Raises AnalysisError: the base or a ladder is unfit, or the replay that was asked for does not
    reproduce A.
    """
    check_base(case.profile, openly_shared=case.a.cores is not None)
    check_ladders(case.profile, case.a, case.b)
    base_s = case.base_s
    chosen, reproduced, notes = _choose(case, model)
    factors = (case.compute.lo, case.compute.value, case.compute.hi)
    times = [_time(case, chosen, form, one) if one is not None else None for one in factors]
    low, middle, high = times
    assert low is not None and high is not None
    drawn = case.drawn
    if drawn > _DRAWN:
        for ladder in (case.a, case.b):
            _refuse_contradictions(case.profile, ladder, drawn)
    unseen = residual if residual is not None else _unseen(case, chosen, case.compute.hi)
    notes += list(_widening(case, base_s))
    if reproduced is not None and abs(reproduced - 1) > _WARN and chosen == "replay":
        notes.append(f"the replay gives {reproduced:.3f} of the measured time on {case.a.platform}")
    width = math.hypot(unseen, drawn) * _WIDER ** len(notes)
    moved = abs(math.log(high / base_s)) > _MOVED
    if chosen == "delta" and (moved or message_share(case.profile) > _MESSAGES):
        width = max(width, _HALF)
        notes.append("without a trace, codes that pass work on in a pipeline may be off by half")
    return Prediction(
        base=case.a.platform,
        platform=case.b.platform,
        model=chosen,
        base_s=base_s,
        time_s=middle,
        lo_s=low * math.exp(-width),
        hi_s=high * math.exp(width),
        reproduced=reproduced,
        half_width=width,
        residual=unseen,
        ladder=drawn,
        compute=case.compute,
        start_up=start_up(case.profile, case.a, case.b),
        warnings=tuple(notes),
    )


def point(case: Case, model: Model = "auto") -> tuple[float, float]:
    """Give the time on the base and the predicted one, without an interval.

    Raises AnalysisError: as `predict`; bounds of computing make no point.
    """
    check_base(case.profile, openly_shared=case.a.cores is not None)
    check_ladders(case.profile, case.a, case.b)
    if case.compute.value is None:
        raise AnalysisError("only bounds of computing are known", hint="use --calibrate RUN")
    chosen, _, _ = _choose(case, model)
    return case.base_s, _time(case, chosen, "ratio", case.compute.value)


def drawn_case(case: Case, rng: np.random.Generator) -> Case:
    """Draw launches anew, the same blocks on both sides: what they have in common cancels."""
    seed = int(rng.integers(2**63))
    a, b = (one.resampled(np.random.default_rng(seed)) for one in (case.a, case.b))
    return replace(case, a=a, b=b)


def _unseen(case: Case, model: str, factor: float) -> float:
    """Give what unseen programs are off by, in ln: no more than all that differs moves.

    Between two ladders that price every call alike the error of a price cancels.
    """
    a, b = case.costs(factor)
    changes = (delta(case.profile, a, mixed(a, b, {name})) for name in INPUTS)
    moved = math.log1p(sum(map(abs, changes)) / base_time_s(case.profile))
    return min(RESIDUAL[model], max(_LEAST_UNSEEN, moved))


def _choose(case: Case, model: Model) -> tuple[Literal["replay", "delta"], float | None, list[str]]:
    """Choose the model by what there is, and say why it is not the better one."""
    if model == "delta" or (model == "auto" and case.trace is None):
        return "delta", None, []
    if case.trace is None:
        raise AnalysisError(
            "there is no trace to replay",
            where=str(case.profile.path),
            hint="profile with --trace, or use --model delta",
        )
    reason = why_not_replayable(case.trace)
    reproduced = None
    if not reason:
        reproduced = case.replayed_s(None) / base_time_s(case.profile)
        if abs(reproduced - 1) > REFUSE:
            reason = f"its replay gives {reproduced:.2f} of the measured time"
    if not reason:
        return "replay", reproduced, []
    if model == "replay":
        raise AnalysisError(
            f"the trace is not replayed: {reason}",
            where=str(case.trace.path),
            hint="use --model delta",
        )
    return "delta", reproduced, [f"the trace is not replayed: {reason}"]


def _time(case: Case, model: str, form: Form, factor: float) -> float:
    """Predict the application's time, whose launch on A took `base_time_s`."""
    wall_s = base_time_s(case.profile)
    if model == "delta":
        time_s = wall_s + delta(case.profile, *case.costs(factor))
    else:
        on_a, on_b = case.replayed_s(None), case.replayed_s(factor)
        time_s = wall_s * on_b / on_a if form == "ratio" else wall_s + on_b - on_a
    return case.on_clock(max(time_s, 0.01 * wall_s), factor)


def _widening(case: Case, base_s: float) -> Iterator[str]:
    """Say what makes the interval wider, each by half."""
    if base_s < SHORT_S:
        yield f"the program runs for {1e3 * base_s:.0f} ms only"
    for ladder in (case.a, case.b):
        if any(curve.spread > UNSURE for _, curve in ladder.used(_needs(case.profile, ladder))):
            yield f"launches of the ladder of {ladder.platform} differ by more than {UNSURE:.0%}"
        if ladder.n < 3:
            yield f"the ladder of {ladder.platform} has {ladder.n} launches only"
    keys = ("mpi.flavour", "mpi.version")
    one, other = (" ".join(str(x.facts[k]) for k in keys if k in x.facts) for x in (case.a, case.b))
    if one and other and one != other:
        yield f"other MPI libraries: {one} and {other}"
    if case.profile.computing_s <= 0:
        yield "the profile tells no time of computing"
