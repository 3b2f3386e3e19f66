"""Every ordered pair of a run's platforms, predicted, then looked up, and why it was off.

Each application is predicted from the launch nearest to its median, and held against the median of
its launches on the other platform. The interval of an application is made of the errors of the
other codes alone (leave one out, in all its sizes). A reason is named where what the measurement
says beside the prediction is as large as a part of the error that matters; where nothing is, that
is said, too. Nothing is corrected with it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bareline.analysis.numbers.records import Records
from bareline.predict.applications import Application, applications
from bareline.predict.base import Base, base_time_s
from bareline.predict.compute import factor_between, same_processor
from bareline.predict.ladder import Ladder, read_ladder
from bareline.predict.prediction import SHORT_S, Form, PredictionCase, predict
from bareline.predict.validation import AGAIN, LEVEL, Lacking, Trial, Validation
from bareline.profile.summary import DISTURBED
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.model import Layout
from bareline.vocabulary.units import format_value

_FEWEST_AGAIN = 4
#: Is told what comes next, at which position of how many.
Note = Callable[[str, int, int], None]


def validate(
    records: Records,
    *,
    max_queued: float = DISTURBED,
    note: Note | None = None,
) -> Validation:
    """Predict every application of a run from every platform to every other one.

    - `max_queued`: launches whose ranks had no core for a larger share of their time are left out.
    - `note`: is told what is predicted next, which of the pairs it is, and how many there are.
    """
    found = applications(records, max_queued=max_queued)
    pairs = _Pairs(records, max_queued)
    trials: list[Trial] = []
    again: list[Trial] = []
    refused: list[tuple[str, str]] = []
    usable_of = {
        name: {key: one for key, one in own.items() if one.launches} for name, own in found.items()
    }
    of = sum(math.perm(len(own), 2) for own in usable_of.values())
    position = itertools.count(1)
    for name, by_platform in found.items():
        usable = usable_of[name]
        for key in by_platform.keys() - usable.keys():
            refused.append((f"{name} on {key}", "every launch had ranks without a core"))
        again += itertools.chain.from_iterable(map(_again, usable.values()))
        for a, b in itertools.permutations(usable, 2):
            if note is not None:
                note(f"{name}: {a} to {b}", next(position), of)
            try:
                trials += _pair(pairs.case(usable[a], usable[b]), usable[a], usable[b])
            except BarelineError as error:
                refused.append((f"{name}, {a} to {b}", str(error)))
    lacking = tuple(
        Lacking(*key, base.lacks) for key, base in pairs.bases.items() if base.is_replayed
    )
    disturbed = sum(one.disturbed for own in found.values() for one in own.values())
    return Validation(
        tuple(_with_intervals(trials)), tuple(refused), disturbed, tuple(again), lacking
    )


@dataclass
class _Pairs:
    """Cases of a run; ladders are read, and bases replayed, once."""

    records: Records
    max_queued: float
    ladders: dict[tuple[str, Layout], Ladder] = field(default_factory=dict)
    bases: dict[tuple[str, str], Base] = field(default_factory=dict)

    def case(self, base: Application, target: Application) -> PredictionCase:
        """Give the case of one application between two platforms."""
        own, ladder = self._base(base), self._ladder(target)
        factor = factor_between(own.ladder, ladder, self.records, program=base.program)
        return PredictionCase(own, ladder, factor)

    def _base(self, one: Application) -> Base:
        key = (one.name, one.platform)
        if key not in self.bases:
            found = one.base(self._ladder(one))
            # A launch that is let in on purpose must not be refused as a base.
            if self.max_queued > DISTURBED:
                ranks = found.profile.rank_table
                quiet = ranks.with_columns(queued_ns=ranks["queued_ns"] * 0)
                found = replace(found, profile=replace(found.profile, rank_table=quiet))
            self.bases[key] = found
        return self.bases[key]

    def _ladder(self, one: Application) -> Ladder:
        key = (one.platform, one.launches[0].layout)
        if key not in self.ladders:
            self.ladders[key] = read_ladder(self.records, *key)
        return self.ladders[key]


def _pair(case: PredictionCase, base: Application, target: Application) -> Iterator[Trial]:
    a, b = case.a, case.b

    def trial(model: str, time_s: float, drawn: float, warnings: tuple[str, ...] = ()) -> Trial:
        return Trial(
            application=base.name,
            base=base.platform,
            platform=target.platform,
            model=model,
            base_s=base.median_s,
            time_s=time_s,
            truth_s=target.median_s,
            truth=tuple(target.times_s),
            drawn=drawn,
            warnings=warnings,
            calibrated=bool(same_processor(a, b)),
        )

    forms: Mapping[str, Form] = {"replay": "ratio", "replay-difference": "difference"}
    for model in ("delta", *forms):
        done = predict(case, model="delta" if model == "delta" else "auto",
                       form=forms.get(model, "ratio"))  # fmt: skip
        if model in forms and done.model != "replay":
            continue
        if done.time_s is not None:
            error = math.log(done.time_s / target.median_s)
            reproduced = done.reproduced if model in forms else None
            why = reasons(case, base, target, error, reproduced)
            one = trial(model, done.time_s, done.ladder, done.warnings)
            yield replace(one, reasons=why)
    yield trial("no-change", base.median_s, 0.0)
    shortest = [one.message("mpi.pingpong", min(2, one.layout.nodes)) for one in (a, b)]
    before, after = shortest
    if before is not None and after is not None:
        computing = case.base.profile.computing_s
        calls = max(0.0, base.median_s - computing)
        yield trial("latency-ratio", computing + calls * after.latency_s / before.latency_s, 0.0)


def _again(application: Application) -> Iterator[Trial]:
    """Hold the typical one of every second launch against the median of the others."""
    if len(application.launches) < _FEWEST_AGAIN:
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


def _with_intervals(trials: Sequence[Trial]) -> Iterator[Trial]:
    """Give each application the interval that the errors of the others make."""
    for trial in trials:
        others = [
            other.unseen
            for other in trials
            if other.model == trial.model
            and other.calibrated == trial.calibrated
            and other.code != trial.code
        ]
        if len(others) < 3:
            yield trial
            continue
        width = math.hypot(float(np.quantile(others, LEVEL)), trial.drawn)
        yield replace(
            trial,
            lo_s=trial.time_s * math.exp(-width),
            hi_s=trial.time_s * math.exp(width),
        )


#: Errors below are none that wants a reason; a reason explains at least such a part of one.
_NOTABLE = 0.03
_PART = 0.3


#: What may have put a prediction off: by how much it could, in ln, and in words.
Reason = tuple[float, str]


def reasons(
    case: PredictionCase,
    base: Application,
    target: Application,
    log_error: float,
    reproduced: float | None,
) -> tuple[str, ...]:
    """Name what is large enough to explain an error, the largest first.

    - `base`, `target`: the application where it was predicted from and where it was measured.
    - `log_error`: ln(predicted/measured).
    - `reproduced`: the replay of the base over its time.
    """
    if abs(log_error) < _NOTABLE:
        return ()
    found = [
        *_computing(case, target, log_error),
        *_launches(base, target),
        *_ladder(case, reproduced),
    ]
    least = _PART * abs(log_error)
    named = [text for size, text in sorted(found, reverse=True) if size >= least]
    if base.median_s < SHORT_S:
        named.append(f"it runs for {format_value(base.median_s, 's')} only")
    if case.a.cores is not None or case.b.cores is not None:
        named.append("ranks share cores: who has one when is the scheduler's choice")
    if not named:
        named.append(
            "no measurement shows it: the calls themselves took another time than modelled"
        )
    return tuple(named)


def _computing(case: PredictionCase, target: Application, log_error: float) -> Iterator[Reason]:
    """Compare the computing that was carried over with the computing that was measured."""
    profile = target.typical.profile
    expected = case.base.profile.computing_s * (case.compute.value or 1.0)
    measured = profile.computing_s
    if expected <= 0 or measured <= 0:
        return
    share = measured / base_time_s(profile)
    moved = -math.log(measured / expected) * share
    # Only in the direction of the error.
    if moved * log_error > 0:
        text = f"computing took {measured / expected:.2f} times what it took on {case.a.platform}"
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


def _ladder(case: PredictionCase, reproduced: float | None) -> Iterator[Reason]:
    yield case.drawn, "the ladders' launches differ"
    if reproduced is not None:
        text = f"the replay gives {reproduced:.2f} of the time on {case.a.platform}"
        yield abs(math.log(reproduced)), text
