"""A prediction: an application's time on another platform, with its interval and warnings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from bareline.predict.case import REPEATED, Form, PredictionCase, time_by
from bareline.predict.curves.costs import start_up
from bareline.predict.curves.platform_curves import PlatformCurves
from bareline.predict.interval import LEVEL, MODEL_ERRORS
from bareline.predict.replay.delta import message_share
from bareline.predict.replay.engine import why_not_replayable
from bareline.predict.replay.reference import ReferenceRun
from bareline.predict.replay.validity import (
    CallLack,
    check_base,
    check_ladders,
    refuse_contradictions,
)
from bareline.vocabulary.errors import AnalysisError

Model = Literal["auto", "replay", "delta"]
#: The error of a replay of the base from which on there is a warning, and a refusal.
_WARN = 0.05
REFUSE = 0.15
#: Programs that are shorter are mentioned: their launches differ more.
SHORT_S = 0.05
#: The share of messages and the change of the time from which on overlapping latencies matter,
#: which only a trace shows; and the least half-width of such predictions without a trace.
_MESSAGES = 0.2
_MOVED = 0.1
_UNTRACED = math.log(1.5)
#: Each circumstance that no campaign measured widens an interval by this factor.
_WIDENED = 1.5
#: Curves whose launches contradict each other are refused if drawing launches again moves the
#: prediction by more than this, in ln. A rough curve with little effect does no harm.
_DRAWN = math.log(1.25)


@dataclass(frozen=True, slots=True)
class Prediction:
    """``predict``: the expected time of an application on a platform.

    - `base`, `platform`: the platform of the profile, and the platform of the predicted time.
    - `base_s`: median time on the base by the application's own clock. If this clock is unknown, it
      is the time from ``MPI_Init`` to ``MPI_Finalize`` of the slowest rank.
    - `time_s`, `lo_s`, `hi_s`: predicted time with its interval; `time_s` is null if only bounds
      are known.
    - `reproduced`: the replayed time on the base divided by the measured time; null without a
      replay.
    - `launches`: the part of the interval's half-width from differences of launches, in ln.
    - `ladder`: the part from the uncertainty of the measured curves, in ln.
    - `residual`: the part from the model's error, in ln.
    - `repeats`: the half-width of the application's launches on the base, in ln. An interval for
      single launches is at least as wide. It is null if there are fewer than three launches.
    - `compute`, `compute_lo`, `compute_hi`: the factor of computing time, and its bounds.
    - `start_up_s`: the additional time of start-up, if it was measured on both platforms.
    - `connections`: the number of ranks to which a rank connects.
    - `connecting_s`: the part of `start_up_s` for connecting.
    - `warnings`: sentences on circumstances that make the prediction less accurate.
    - `measured_s`: the times of launches on the platform, if the run has them; the prediction does
      not use them.
    - `lacks`: the replayed time minus the traced time on the base, by function and size.
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


@dataclass(frozen=True, slots=True)
class _Choice:
    """The model of a prediction.

    - `reproduced`: the replayed time on the base divided by the measured time, for a replay.
    - `reason`: the reason why the model is not a replay.
    """

    model: Literal["replay", "delta"]
    reproduced: float | None = None
    reason: str = ""

    def lacks_of(self, base: ReferenceRun) -> tuple[CallLack, ...]:
        """Return the replay's error on the base, by function and size; empty without a replay."""
        return () if self.reproduced is None else base.lacks


def predict(case: PredictionCase, *, model: Model = "auto", form: Form = "carried") -> Prediction:
    """Return the predicted time of an application on another platform.

    Raises AnalysisError: the base or the measured curves are unusable, or the requested replay does
    not reproduce the time on A.
    """
    _check(case)
    if case.drawn > _DRAWN:
        for ladder in (case.a, case.b):
            refuse_contradictions(case.base.profile, ladder, case.drawn)
    choice = _choose(case, model)
    base_s = case.base.time_s
    low_s = time_by(case, choice.model, form, case.compute.lo)
    high_s = time_by(case, choice.model, form, case.compute.hi)
    time_s = None
    if case.compute.value is not None:
        time_s = time_by(case, choice.model, form, case.compute.value)
    unmeasured = list(_unmeasured(case))
    blind = choice.model == "delta" and _hides_latency(case, high_s)
    residual = _residual(case, choice)
    width = math.hypot(case.launches, case.drawn, residual) * _WIDENED ** len(unmeasured)
    warnings = [*_remarks(case, choice), *unmeasured, *_speeds(case)]
    if blind:
        width = max(width, _UNTRACED)
        warnings.append(_BLIND)
    starting = start_up(case.base.profile, case.a, case.b)
    return Prediction(
        base=case.a.platform,
        platform=case.b.platform,
        model=choice.model,
        base_s=base_s,
        time_s=time_s,
        lo_s=low_s * math.exp(-width),
        hi_s=high_s * math.exp(width),
        ratio=_over(time_s, base_s),
        level=LEVEL,
        reproduced=choice.reproduced,
        launches=case.launches,
        ladder=case.drawn,
        residual=residual,
        repeats=case.repeats,
        compute=case.compute.value,
        compute_lo=case.compute.lo,
        compute_hi=case.compute.hi,
        compute_from=case.compute.source,
        start_up_s=starting.longer_s,
        connections=starting.connections,
        connecting_s=starting.connecting_s,
        warnings=tuple(warnings),
        measured_s=(),
        lacks=choice.lacks_of(case.base),
    )


def _over(time_s: float | None, base_s: float) -> float | None:
    return None if time_s is None else time_s / base_s


def _residual(case: PredictionCase, choice: _Choice) -> float:
    """Return the model's error in ln(time).

    It is the error of the model for programs that were not used to build it. For a replay, it is
    combined with the error of this program's replay on the base.
    """
    unseen = MODEL_ERRORS[choice.model].of(case.change)
    if choice.model == "delta" or choice.reproduced is None:
        return unseen
    return math.hypot(unseen, math.log(choice.reproduced))


def _hides_latency(case: PredictionCase, time_s: float) -> bool:
    """Whether a trace is needed, because overlapping messages may affect the predicted time.

    This is assumed if messages take much of the time, or if the predicted time differs much from
    the time on the base.
    """
    moved = abs(math.log(time_s / case.base.time_s))
    return moved > _MOVED or message_share(case.base.profile) > _MESSAGES


def point(case: PredictionCase, model: Model = "auto") -> tuple[float, float]:
    """Return the time on the base and the predicted time, without an interval.

    Raises AnalysisError: for the same reasons as `predict`, or because only bounds of the factor of
    computing time are known.
    """
    _check(case)
    if case.compute.value is None:
        raise AnalysisError(
            "the computing speed of the platform is known only within bounds, but a single value"
            " is needed",
            hint="use --calibrate RUN",
        )
    choice = _choose(case, model)
    return case.base.time_s, time_by(case, choice.model, "carried", case.compute.value)


def _check(case: PredictionCase) -> None:
    check_base(case.base.profile, openly_shared=case.a.cores is not None)
    check_ladders(case.base.profile, case.a, case.b)


def _choose(case: PredictionCase, model: Model) -> _Choice:
    """Return the model that the profile allows, with the reason if it is not a replay."""
    trace = case.base.trace
    if model == "delta" or (model == "auto" and trace is None):
        return _Choice("delta")
    if trace is None:
        raise AnalysisError(
            "the replay needs a trace, which the profile does not have",
            where=str(case.base.profile.path),
            hint="profile with --trace, or use --model delta",
        )
    reason = why_not_replayable(trace)
    reproduced = None if reason else case.base.reproduced
    if reproduced is not None and abs(reproduced - 1) > REFUSE:
        reason = f"its replay takes {reproduced:.2f} times the measured time"
    if not reason:
        return _Choice("replay", reproduced)
    if model == "replay":
        raise AnalysisError(
            f"the trace cannot be replayed: {reason}",
            where=str(trace.path),
            hint="use --model delta",
        )
    return _Choice("delta", reproduced, f"the trace cannot be replayed: {reason}")


def _speeds(case: PredictionCase) -> Iterator[str]:
    """Yield sentences on curves with two speeds: at most three, the largest factor first."""
    ladders = {ladder.platform: ladder for ladder in (case.a, case.b)}
    texts: list[tuple[float, str]] = []
    for ladder in ladders.values():
        for _, curve in ladder.used(case.base.profile):
            times, slow = curve.two_speeds
            if slow:
                text = f"{curve.key.probe} on {ladder.platform} has two speeds: {slow} of "
                text += f"{ladder.n} launches take {times:.2f} times as long"
                texts.append((times, text))
    texts.sort(key=lambda entry: -entry[0])
    yield from (text for _, text in texts[:3])


_BLIND = "without a trace, codes that pass work on in a pipeline may be off by half"


def _remarks(case: PredictionCase, choice: _Choice) -> Iterator[str]:
    """Yield circumstances that make predictions less accurate.

    The measured model errors already include the effect of these circumstances.
    """
    if choice.reason:
        yield choice.reason
    if case.base.time_s < SHORT_S and case.repeats is not None:
        yield _short(case)
    if choice.model == "replay" and abs((choice.reproduced or 1.0) - 1) > _WARN:
        yield (
            f"the replay takes {choice.reproduced:.3f} times the measured time on {case.a.platform}"
        )


def _unmeasured(case: PredictionCase) -> Iterator[str]:
    """Yield circumstances that widen the interval, because no measurements include them."""
    if case.base.time_s < SHORT_S and case.repeats is None:
        yield _short(case)
    for ladder in (case.a, case.b):
        if ladder.n < REPEATED:
            yield f"the ladder of {ladder.platform} has {ladder.n} launches only"
    before = _library(case.a)
    after = _library(case.b)
    if before and after and before != after:
        yield f"other MPI libraries: {before} and {after}"
    if case.base.profile.computing_s <= 0:
        yield "the profile has no time of computing"


def _short(case: PredictionCase) -> str:
    return f"the program runs for {1e3 * case.base.time_s:.0f} ms only"


def _library(ladder: PlatformCurves) -> str:
    """Return the MPI library of a platform with its version; "" if neither is known."""
    facts = [ladder.facts[key] for key in ("mpi.flavour", "mpi.version") if key in ladder.facts]
    return " ".join(map(str, facts))
