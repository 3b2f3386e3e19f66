"""Predictions in the terminal: a line that a user can quote, then the method and the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from bareline.analysis.words.parts import capital
from bareline.predict.interval import LEVEL_WORDS
from bareline.predict.prediction import Prediction
from bareline.predict.replay.validity import CallLack
from bareline.predict.shares import InputShare, LossSplit
from bareline.predict.validation.scores import ModelScore, Trial, Validation
from bareline.report.blocks import Block, Remark, Rows, Table
from bareline.report.content.wording import repeatability_sentence
from bareline.report.figures.scales import Scale, unit_scale
from bareline.vocabulary.units import format_value, percent_tenths, significant

_WORST = 8
#: The least share of a loss that is named in a sentence.
_LEAST_SHARE = 0.01
#: The least error of a named call, as a share of the time, and the largest number of named calls.
_LEAST_LACK = 0.005
_NAMED_LACKS = 3
#: The largest number of cases that are named for one reason.
_REFUSED_SHOWN = 3


#: Blocks one after the other.
_Blocks: TypeAlias = Iterator[Block]


def prediction_blocks(prediction: Prediction) -> _Blocks:
    """Yield the blocks of a prediction: predicted time, method, warnings, and measured time."""
    if prediction.model == "delta":
        yield Remark(_why_not_replayed(prediction), "alarm")
    yield Remark(f"On {prediction.platform} it will take {_time_words(prediction)}", "bold")
    yield from _method(prediction)
    for warning in prediction.warnings:
        yield Remark(f"The interval is wider because {warning}.", "caution")
    if prediction.measured_s:
        yield Remark(_measured(prediction), "bold")


def _why_not_replayed(prediction: Prediction) -> str:
    reasons = [warning for warning in prediction.warnings if "not replayed" in warning]
    reason = reasons[0] if reasons else "there is no trace"
    return f"By calls times curves, which knows no order of calls, because {reason}."


def _time_words(prediction: Prediction) -> str:
    """Describe the predicted time and its interval; if only bounds are known, the bounds."""
    span = _span(prediction.lo_s, prediction.hi_s)
    if prediction.time_s is None:
        return f"between {span}: the processors differ, and only bounds of computing are known."
    ratio = prediction.time_s / prediction.base_s
    time = _seconds(prediction.time_s)
    base_time = _seconds(prediction.base_s)
    interval = f"({LEVEL_WORDS} interval {span})"
    return f"{time} {interval}, {significant(ratio)} times the {base_time} of {prediction.base}."


def _method(prediction: Prediction) -> _Blocks:
    """Yield the method of a prediction, its source of computing times, and the interval's parts."""
    if prediction.model == "replay":
        method = "Method: the trace is replayed with the measured costs of both platforms."
        yield Remark(method, "muted")
    if prediction.reproduced is not None:
        lacks = said_lacks(prediction.lacks)
        share = f"{prediction.reproduced:.1%} of the time measured on {prediction.base}"
        yield Remark(f"The replay gives {share}{lacks}.")
    yield Remark(f"Computing: {prediction.compute_from}.")
    if prediction.start_up_s is not None:
        yield Remark(_start_up(prediction, prediction.start_up_s))
    yield Remark(_parts(prediction), "muted")


def _start_up(prediction: Prediction, start_up_s: float) -> str:
    """Describe the times of start-up and of connecting, which the prediction does not include."""
    start_up = f"start-up takes {_change(start_up_s)} on {prediction.platform}"
    if prediction.connecting_s is None:
        return f"Not included: {start_up}, and making connections was not measured."
    change = _change(prediction.connecting_s)
    if prediction.connections == 1:
        connecting = f"one connection of a rank takes {change}"
    else:
        connecting = f"{prediction.connections} connections of a rank take {change}"
    return f"Not included: {start_up}, and {connecting}."


def _parts(prediction: Prediction) -> str:
    """Describe the parts of the interval, and how well launches on the base platform repeat."""
    launches = _width(prediction.launches)
    curves = _width(prediction.ladder)
    model = _width(prediction.residual)
    parts = (
        f"single launches {launches}, the ladders' curves {curves} "
        f"and the model on unseen programs {model}"
    )
    if prediction.repeats is None:
        return f"The interval combines the errors of {parts}."
    width = _width(prediction.repeats)
    repeats = f"launches on {prediction.base} repeat within {width}"
    return f"The interval combines the errors of {parts}; {repeats}."


def _width(log_width: float) -> str:
    return f"±{np.expm1(log_width):.1%}"


def _seconds(time_s: float) -> str:
    return format_value(time_s, "s")


def _span(low_s: float, high_s: float) -> str:
    return f"{_seconds(low_s)} to {_seconds(high_s)}"


def said_lacks(lacks: Sequence[CallLack]) -> str:
    """Name the calls whose replayed and traced times differ most; "" if all differ little."""
    large = [lack for lack in lacks if abs(lack.share) >= _LEAST_LACK]
    if not large:
        return ""
    large.sort(key=lambda lack: -abs(lack.share))
    names = ", ".join(map(str, large[:_NAMED_LACKS]))
    return f"; its largest errors are in {names}"


def _measured(prediction: Prediction) -> str:
    """Compare the measured time with the interval and, if there is one, with the predicted time."""
    times_s = prediction.measured_s
    middle_s = float(np.median(times_s))
    launches = "one launch"
    if len(times_s) > 1:
        span = _span(min(times_s), max(times_s))
        launches = f"median of {len(times_s)} launches, {span}"
    measured = f"Measured on {prediction.platform}: {_seconds(middle_s)} ({launches})"
    is_inside = prediction.lo_s <= middle_s <= prediction.hi_s
    where = "inside" if is_inside else "OUTSIDE"
    if prediction.time_s is None:
        return f"{measured}, {where} the interval."
    error = error_words(prediction.time_s, middle_s)
    return f"{measured}, {where} the interval; the prediction is {error}."


def error_words(predicted_s: float, measured_s: float) -> str:
    """Describe the error of a predicted time, e.g. ``16% too low``."""
    error = predicted_s / measured_s - 1
    if abs(error) < 0.005:
        return "right within 0.5%"
    way = "high" if error > 0 else "low"
    return f"{abs(error):.0%} too {way}"


def _change(time_s: float) -> str:
    way = "longer" if time_s >= 0 else "less"
    return f"{_seconds(abs(time_s))} {way}"


def loss_blocks(loss: LossSplit, application: str) -> _Blocks:
    """Yield the parts of a loss: a sentence for each large part, then the table of all parts."""
    platform = f"{loss.platform} ({_seconds(loss.b_s)})"
    base = f"{loss.base} ({_seconds(loss.a_s)})"
    change = f"{application} takes {_change(loss.loss_s)} on {platform} than on {base}"
    parts = f"the parts below add up to {loss.explained:.0%} of that"
    yield Remark(f"{change}; {parts}.", "bold")
    control = f"{capital(loss.control)}." if loss.control else ""
    yield Remark(control)
    for share in loss.shares:
        if abs(share.share) >= _LEAST_SHARE:
            yield Remark(_share_words(share))
    yield Remark()
    yield _share_table(loss.shares)


def _share_words(share: InputShare) -> str:
    """Describe a part of a loss: ``Network: 47% of the loss, 1.2 s (1.1 s to 1.3 s).``."""
    time = _seconds(share.time_s)
    span = _span(share.lo_s, share.hi_s)
    return f"{capital(share.title)}: {share.share:.0%} of the loss, {time} ({span})."


def _share_table(shares: Sequence[InputShare]) -> Table:
    scale = unit_scale([share.time_s for share in shares], "s")
    rows = Rows(shares).text("layer", lambda share: share.title)
    rows.figure("share", lambda share: percent_tenths(share.share))
    rows.figure(scale.titled("time"), lambda share: scale.show(share.time_s))
    rows.figure(scale.titled("from"), lambda share: scale.show(share.lo_s), "light")
    rows.figure(scale.titled("to"), lambda share: scale.show(share.hi_s), "light")
    return rows.table()


def validation_blocks(validation: Validation) -> _Blocks:
    """Yield the scores of the models, then the worst cases, then the refused cases."""
    scores = validation.scores or validation.calibrated
    if scores:
        yield Remark(_score_words(scores[0]), "bold")
        if validation.scores:
            yield _score_table(validation.scores)
        if validation.calibrated:
            yield Remark("Between different processors, calibrated", "bold")
            yield _score_table(validation.calibrated)
        yield from _worst_cases(validation, scores[0].model)
    if validation.repeated is not None:
        yield Remark(repeatability_sentence(validation.repeated))
    if validation.disturbed:
        yield Remark(
            f"{validation.disturbed} launches left out: their ranks had no core for too long.",
            "caution",
        )
    for line in said_refused(validation.refused):
        yield Remark(line, "caution")


def _score_words(score: ModelScore) -> str:
    return (
        f"{score.n} predictions by {score.model}: median error {score.median:.1%}, 90 % within "
        f"{score.p90:.1%}; {score.order_right} of {score.order_of} pairs of platforms in the "
        "right order."
    )


def said_refused(refused: Sequence[tuple[str, str]]) -> list[str]:
    """Return the reasons of refused cases: each reason once, with some of its cases."""
    by_reason: dict[str, list[str]] = {}
    for case, reason in refused:
        first_line = reason.splitlines()[0]
        by_reason.setdefault(first_line, []).append(case)
    return [_refused_line(reason, cases) for reason, cases in by_reason.items()]


def _refused_line(reason: str, cases: Sequence[str]) -> str:
    named = "; ".join(cases[:_REFUSED_SHOWN])
    more = len(cases) - _REFUSED_SHOWN
    if more > 0:
        named += f" and {more} more (--json lists them)"
    return f"Refused, {len(cases)}: {named}: {reason}"


def _score_table(scores: Sequence[ModelScore]) -> Table:
    return (
        Rows(scores)
        .text("model", lambda score: score.model)
        .figure("n", lambda score: str(score.n))
        .figure("signed", lambda score: f"{score.signed:+.1%}")
        .figure("median", lambda score: f"{score.median:.1%}")
        .figure("90 % within", lambda score: f"{score.p90:.1%}")
        .figure("worst", lambda score: f"{score.worst:.1%}")
        .figure("≤ 15 %", lambda score: f"{score.within_15:.0%}")
        .figure("order", lambda score: f"{score.order_right}/{score.order_of}")
        .number("interval holds", lambda score: score.coverage, "{:.0%}".format, absent="")
        .table()
    )


def _worst_cases(validation: Validation, model: str) -> _Blocks:
    """Yield the cases with the largest errors, and the likely reasons of the errors."""
    trials = [trial for trial in validation.trials if trial.model == model]
    trials.sort(key=lambda trial: -trial.log_error)
    scale = unit_scale([trial.truth_s for trial in trials], "s")
    worst = trials[:_WORST]
    yield Remark()
    yield Remark(f"Predictions by {model}, the worst first", "bold")
    yield _trial_table(worst, scale)
    more = len(trials) - len(worst)
    if more:
        yield Remark(f"{more} more are in --json and on the page.", "muted")
    for lacking in validation.lacking:
        lacks = said_lacks(lacking.calls)
        if lacks:
            errors = lacks.replace(";", ":", 1)
            replay = f"The replay of {lacking.application} on {lacking.platform}"
            yield Remark(f"{replay}{errors}.", "muted")
    for trial in worst:
        yield from _reasons(trial)


def _reasons(trial: Trial) -> _Blocks:
    """Yield the likely reasons of the error of a case, if any are known."""
    reasons = list(trial.reasons)
    if trial.term:
        reasons.insert(0, f"off most in {trial.term}")
    if reasons:
        case = f"{trial.application}, {trial.base} to {trial.platform}"
        yield Remark(f"{case}: {'; '.join(reasons)}.", "muted")


def _trial_table(trials: Sequence[Trial], scale: Scale) -> Table:
    rows = Rows(trials).text("application", lambda trial: trial.application)
    rows.text("from", lambda trial: trial.base)
    rows.text("to", lambda trial: trial.platform)
    rows.figure(scale.titled("predicted"), lambda trial: scale.show(trial.time_s))
    rows.text(f"{LEVEL_WORDS} interval", lambda trial: _interval(trial, scale))
    rows.figure(scale.titled("measured"), lambda trial: scale.show(trial.truth_s))
    rows.figure("error", lambda trial: f"{trial.error:+.1%}")
    return rows.table()


def _interval(trial: Trial, scale: Scale) -> str:
    if trial.lo_s is None or trial.hi_s is None:
        return ""
    low = scale.show(trial.lo_s)
    high = scale.show(trial.hi_s)
    if trial.inside:
        return f"{low} to {high}"
    return f"{low} to {high}, outside"
