"""Predictions for every ordered pair of a run's platforms, compared with the measured times.

Each application is predicted from the launch nearest to its median, and compared with the median of
its launches on the other platform. The interval is the interval of `bareline predict`; the errors
that are found here do not change it. A reason of an error is a further measurement that explains a
relevant part of the error. Without such a measurement, the reason is that calls took another time
than modelled. Reasons do not correct the prediction.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial

import numpy as np
import polars as pl

from bareline.analysis.numbers.records import Records
from bareline.predict.applications import Application, applications
from bareline.predict.case import Form, PredictionCase
from bareline.predict.curves.compute import factor_between, same_processor
from bareline.predict.curves.platform_curves import PlatformCurves, read_ladder
from bareline.predict.prediction import SHORT_S, Model, predict
from bareline.predict.replay.reference import ReferenceRun, base_time_s
from bareline.predict.validation.scores import AGAIN, Lacking, Trial, Validation
from bareline.predict.validation.wrong import wrong_term
from bareline.profile.summary import DISTURBED
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.units import format_value

#: A function that is called with the next step, its position, and the number of steps.
Note = Callable[[str, int, int], None]


def cross_validate(
    records: Records, *, max_queued: float = DISTURBED, note: Note | None = None
) -> Validation:
    """Return predictions of every application of a run for every ordered pair of platforms.

    - `max_queued`: the largest accepted share of the time in which ranks had no core. Launches with
      a larger share are left out.
    - `note`: called before each pair with its name, its position and the number of pairs.
    """
    by_name = applications(records, max_queued=max_queued)
    usable = {name: _with_launches(platforms) for name, platforms in by_name.items()}
    campaign = _Campaign(records, is_disturbed=max_queued > DISTURBED)
    pairs = sum(math.perm(len(platforms), 2) for platforms in usable.values())
    position = itertools.count(1)
    for name, platforms in usable.items():
        for platform in by_name[name].keys() - platforms.keys():
            campaign.refuse(f"{name} on {platform}", "every launch had ranks without a core")
        for a, b in itertools.permutations(platforms, 2):
            if note is not None:
                note(f"{name}: {a} to {b}", next(position), pairs)
            campaign.predict(platforms[a], platforms[b])
    disturbed = 0
    again: list[Trial] = []
    for name, platforms in by_name.items():
        disturbed += sum(application.disturbed for application in platforms.values())
        for application in usable[name].values():
            again += _again(application)
    return Validation(
        tuple(campaign.trials),
        tuple(campaign.refused),
        disturbed,
        tuple(again),
        tuple(campaign.lacking()),
    )


def _with_launches(platforms: Mapping[str, Application]) -> dict[str, Application]:
    """Return an application on the platforms on which at least one launch was not left out."""
    return {name: application for name, application in platforms.items() if application.launches}


class _Campaign:
    """The predictions of a run's applications, and the refused cases with reasons.

    - `is_disturbed`: whether disturbed launches are used on purpose.
    """

    def __init__(self, records: Records, *, is_disturbed: bool) -> None:
        self._records = records
        self._is_disturbed = is_disturbed
        self._ladder_of = cache(partial(read_ladder, records))
        self._bases: dict[tuple[str, str], ReferenceRun] = {}
        self.trials: list[Trial] = []
        self.refused: list[tuple[str, str]] = []

    def refuse(self, case: str, reason: str) -> None:
        """Add a refused case."""
        self.refused.append((case, reason))

    def predict(self, base: Application, target: Application) -> None:
        """Predict an application on another platform by all models, or add the refusal."""
        try:
            self.trials += _pair(self._case(base, target), base, target)
        except BarelineError as error:
            self.refuse(f"{base.name}, {base.platform} to {target.platform}", str(error))

    def lacking(self) -> Iterator[Lacking]:
        """Yield for each replayed base the errors of its replay."""
        for (name, platform), base in self._bases.items():
            if base.is_replayed:
                yield Lacking(name, platform, base.lacks)

    def _case(self, base: Application, target: Application) -> PredictionCase:
        a = self._base(base)
        b = self._ladder_of(target.platform, target.launches[0].layout)
        compute = factor_between(a.ladder, b, self._records, program=base.program)
        return PredictionCase(a, b, compute)

    def _base(self, application: Application) -> ReferenceRun:
        """Return the base of an application's predictions, which all its predictions share."""
        key = (application.name, application.platform)
        if key not in self._bases:
            ladder = self._ladder_of(application.platform, application.launches[0].layout)
            self._bases[key] = _base(application, ladder, is_disturbed=self._is_disturbed)
        return self._bases[key]


def _base(application: Application, ladder: PlatformCurves, *, is_disturbed: bool) -> ReferenceRun:
    """Return the base of predictions.

    - `is_disturbed`: whether disturbed launches are used on purpose, and not refused.
    """
    base = application.base(ladder)
    if not is_disturbed:
        return base
    quiet = base.profile.rank_table.with_columns(queued_ns=pl.col("queued_ns") * 0)
    return replace(base, profile=replace(base.profile, rank_table=quiet))


#: The models of a case: their names here, and model and form as `predict` takes them.
_MODELS: tuple[tuple[str, Model, Form], ...] = (
    ("delta", "delta", "ratio"),
    ("replay", "auto", "carried"),
    ("replay-ratio", "auto", "ratio"),
    ("replay-difference", "auto", "difference"),
)


def _pair(case: PredictionCase, base: Application, target: Application) -> Iterator[Trial]:
    """Yield the predictions of an application on another platform, one for each model."""
    naive = Trial(
        application=base.name,
        base=base.platform,
        platform=target.platform,
        model="no-change",
        base_s=base.median_s,
        time_s=base.median_s,
        truth_s=target.median_s,
        truth=tuple(target.times_s),
        calibrated=bool(same_processor(case.a, case.b)),
    )
    for name, model, form in _MODELS:
        prediction = predict(case, model=model, form=form)
        is_fallback = name != "delta" and prediction.model == "delta"
        if prediction.time_s is None or is_fallback:
            continue
        term = wrong_term(case, target) if name == "replay" else None
        error = math.log(prediction.time_s / target.median_s)
        reproduced = None if name == "delta" else prediction.reproduced
        yield replace(
            naive,
            model=name,
            time_s=prediction.time_s,
            lo_s=prediction.lo_s,
            hi_s=prediction.hi_s,
            launches=prediction.launches,
            ladder=prediction.ladder,
            residual=prediction.residual,
            term=term,
            warnings=prediction.warnings,
            reasons=reasons(case, base, target, error, reproduced),
        )
    yield naive
    time_s = _by_latency(case, base)
    if time_s is not None:
        yield replace(naive, model="latency-ratio", time_s=time_s)


def _by_latency(case: PredictionCase, base: Application) -> float | None:
    """Return the time if all calls became slower by the ratio of latencies.

    None if a curve of latency is missing.
    """
    before = case.a.message("mpi.pingpong", min(2, case.a.layout.nodes))
    after = case.b.message("mpi.pingpong", min(2, case.b.layout.nodes))
    if before is None or after is None:
        return None
    computing_s = case.base.profile.computing_s
    calls_s = max(0.0, base.median_s - computing_s)
    return computing_s + calls_s * after.latency_s / before.latency_s


def _again(application: Application) -> Iterator[Trial]:
    """Yield the typical time of every second launch as a prediction of the other launches."""
    if len(application.launches) < 4:
        return
    first = replace(application, launches=application.launches[::2])
    second = replace(application, launches=application.launches[1::2])
    yield Trial(
        application=application.name,
        base=application.platform,
        platform=application.platform,
        model=AGAIN,
        base_s=first.typical.time_s,
        time_s=first.typical.time_s,
        truth_s=second.median_s,
        truth=tuple(second.times_s),
    )


#: Smaller errors are not explained.
_NOTABLE = 0.03
#: Possible reason of an error: its largest effect, in ln, and its words.
Reason = tuple[float, str]


def reasons(
    case: PredictionCase,
    base: Application,
    target: Application,
    log_error: float,
    reproduced: float | None,
) -> tuple[str, ...]:
    """Return the reasons that are large enough to explain an error, the largest first.

    - `base`: the application on the platform from which it was predicted.
    - `target`: the application on the platform that it was predicted for.
    - `log_error`: ln(predicted/measured).
    - `reproduced`: the replayed time on the base divided by the measured time.
    """
    if abs(log_error) < _NOTABLE:
        return ()
    candidates = [
        *_computing(case, target, log_error),
        *_launches(base, target),
        (case.drawn, "the ladders' launches differ"),
    ]
    if reproduced is not None:
        text = f"the replay takes {reproduced:.2f} times the measured time on {case.a.platform}"
        candidates.append((abs(math.log(reproduced)), text))
    least = 0.3 * abs(log_error)  # the part of an error that a reason explains
    named = [text for size, text in sorted(candidates, reverse=True) if size >= least]
    if base.median_s < SHORT_S:
        named.append(f"it runs for {format_value(base.median_s, 's')} only")
    if case.a.cores is not None or case.b.cores is not None:
        named.append("ranks share cores: who has one when is the scheduler's choice")
    nothing = "no measurement shows it: the calls themselves took another time than modelled"
    return tuple(named or [nothing])


def _computing(case: PredictionCase, target: Application, log_error: float) -> Iterator[Reason]:
    """Yield the difference between the assumed and the measured time of computing."""
    profile = target.typical.profile
    expected = case.base.profile.computing_s * (case.compute.value or 1.0)
    measured = profile.computing_s
    if expected <= 0 or measured <= 0:
        return
    share = measured / base_time_s(profile)
    moved = -math.log(measured / expected) * share
    # Only in the direction of the error.
    if moved * log_error > 0:
        text = f"computing took {measured / expected:.2f} times as long as on {case.a.platform}"
        yield abs(moved), f"{text}, which no curve shows"


def _launches(base: Application, target: Application) -> Iterator[Reason]:
    for application in (base, target):
        times = application.times_s
        if len(times) < 2:
            yield _NOTABLE, f"{application.platform} has one launch only"
            continue
        low, high = np.quantile(times, [0.1, 0.9])
        text = f"its launches on {application.platform} take {format_value(float(low), 's')}"
        yield math.log(high / low) / 2, f"{text} to {format_value(float(high), 's')}"
