"""Predictions for every ordered pair of a run's platforms, compared with the measured times.

Each application is predicted from the launch nearest to its median, and compared with the median of
its launches on the other platform. Its interval is the same as that of `bareline predict`: it
contains no error of this run. Reasons of an error are named: other measurements that are as large
as a part of the error that matters; without any, that the calls took another time than modelled.
Reasons correct nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np
import polars as pl

from bareline.analysis.numbers.records import Records
from bareline.predict.applications import Application, applications
from bareline.predict.curves.compute import factor_between, same_processor
from bareline.predict.curves.ladder import Ladder, read_ladder
from bareline.predict.prediction import SHORT_S, Form, Model, PredictionCase, predict
from bareline.predict.replay.base import Base, base_time_s
from bareline.predict.validation.scores import AGAIN, Lacking, Trial, Validation
from bareline.predict.validation.wrong import wrong_term
from bareline.profile.summary import DISTURBED
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.units import format_value

#: A function that is called with the next step, its position, and the number of steps.
Note = Callable[[str, int, int], None]


def validate(
    records: Records, *, max_queued: float = DISTURBED, note: Note | None = None
) -> Validation:
    """Predict every application of a run from every platform to every other one.

    - `max_queued`: launches whose ranks had no core for a larger share of their time are left out.
    - `note`: is called before each pair, with its name, its position and the number of pairs.
    """
    found = applications(records, max_queued=max_queued)
    ladder_of = cache(partial(read_ladder, records))
    bases: dict[tuple[str, str], Base] = {}

    def case(base: Application, target: Application) -> PredictionCase:
        key = (base.name, base.platform)
        if key not in bases:
            ladder = ladder_of(base.platform, base.launches[0].layout)
            bases[key] = _base(base, ladder, disturbed=max_queued > DISTURBED)
        a, b = bases[key], ladder_of(target.platform, target.launches[0].layout)
        return PredictionCase(a, b, factor_between(a.ladder, b, records, program=base.program))

    trials: list[Trial] = []
    refused: list[tuple[str, str]] = []
    usable = {
        name: {key: one for key, one in own.items() if one.launches} for name, own in found.items()
    }
    of = sum(math.perm(len(own), 2) for own in usable.values())
    position = itertools.count(1)
    for name, own in usable.items():
        for key in found[name].keys() - own.keys():
            refused.append((f"{name} on {key}", "every launch had ranks without a core"))
        for a, b in itertools.permutations(own, 2):
            if note is not None:
                note(f"{name}: {a} to {b}", next(position), of)
            try:
                trials += _pair(case(own[a], own[b]), own[a], own[b])
            except BarelineError as error:
                refused.append((f"{name}, {a} to {b}", str(error)))
    return Validation(
        tuple(trials),
        tuple(refused),
        sum(one.disturbed for own in found.values() for one in own.values()),
        tuple(trial for own in usable.values() for one in own.values() for trial in _again(one)),
        tuple(Lacking(*key, base.lacks) for key, base in bases.items() if base.is_replayed),
    )


def _base(one: Application, ladder: Ladder, *, disturbed: bool) -> Base:
    """Return the base of predictions; disturbed launches are let in on purpose, not refused."""
    found = one.base(ladder)
    if not disturbed:
        return found
    quiet = found.profile.rank_table.with_columns(queued_ns=pl.col("queued_ns") * 0)
    return replace(found, profile=replace(found.profile, rank_table=quiet))


#: The models of a case: their names here, and model and form as `predict` takes them.
_MODELS: tuple[tuple[str, Model, Form], ...] = (
    ("delta", "delta", "ratio"),
    ("replay", "auto", "carried"),
    ("replay-ratio", "auto", "ratio"),
    ("replay-difference", "auto", "difference"),
)


def _pair(case: PredictionCase, base: Application, target: Application) -> Iterator[Trial]:
    a, b = case.a, case.b
    naive = Trial(
        application=base.name,
        base=base.platform,
        platform=target.platform,
        model="no-change",
        base_s=base.median_s,
        time_s=base.median_s,
        truth_s=target.median_s,
        truth=tuple(target.times_s),
        calibrated=bool(same_processor(a, b)),
    )
    for name, model, form in _MODELS:
        done = predict(case, model=model, form=form)
        if done.time_s is None or (name != "delta" and done.model == "delta"):
            continue
        term = wrong_term(case, target) if name == "replay" else None
        error = math.log(done.time_s / target.median_s)
        reproduced = None if name == "delta" else done.reproduced
        yield replace(
            naive,
            model=name,
            time_s=done.time_s,
            lo_s=done.lo_s,
            hi_s=done.hi_s,
            launches=done.launches,
            ladder=done.ladder,
            residual=done.residual,
            term=term,
            warnings=done.warnings,
            reasons=reasons(case, base, target, error, reproduced),
        )
    yield naive
    before, after = (one.message("mpi.pingpong", min(2, one.layout.nodes)) for one in (a, b))
    if before is not None and after is not None:
        computing = case.base.profile.computing_s
        calls = max(0.0, base.median_s - computing)
        time_s = computing + calls * after.latency_s / before.latency_s
        yield replace(naive, model="latency-ratio", time_s=time_s)


def _again(application: Application) -> Iterator[Trial]:
    """Compare the typical launch of one half with the median of the other half."""
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

    - `base`, `target`: the application where it was predicted from and where it was measured.
    - `log_error`: ln(predicted/measured); `reproduced`: the replay of the base over its time.
    """
    if abs(log_error) < _NOTABLE:
        return ()
    found = [
        *_computing(case, target, log_error),
        *_launches(base, target),
        (case.drawn, "the ladders' launches differ"),
    ]
    if reproduced is not None:
        text = f"the replay gives {reproduced:.2f} of the time on {case.a.platform}"
        found.append((abs(math.log(reproduced)), text))
    least = 0.3 * abs(log_error)  # the part of an error that a reason explains
    named = [text for size, text in sorted(found, reverse=True) if size >= least]
    if base.median_s < SHORT_S:
        named.append(f"it runs for {format_value(base.median_s, 's')} only")
    if case.a.cores is not None or case.b.cores is not None:
        named.append("ranks share cores: who has one when is the scheduler's choice")
    nothing = "no measurement shows it: the calls themselves took another time than modelled"
    return tuple(named or [nothing])


def _computing(case: PredictionCase, target: Application, log_error: float) -> Iterator[Reason]:
    """Yield the difference of the computing that was carried over and that was measured."""
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
