"""Predictions in the terminal: one line that can be repeated, then its basis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bareline.predict.interval import LEVEL_WORDS
from bareline.predict.prediction import Prediction
from bareline.predict.replay.validity import CallLack
from bareline.predict.shares import LossSplit
from bareline.predict.validation.scores import ModelScore, Trial, Validation
from bareline.report.blocks import Block, Remark, Rows, Table
from bareline.report.content.wording import capital, repeatability_sentence
from bareline.report.figures.scales import Scale, unit_scale
from bareline.vocabulary.units import format_value, percent_tenths, significant

_WORST = 8
#: The least error of a call that is named, as a share of the time; and the number of named calls.
_LEAST_LACK = 0.005
_NAMED_LACKS = 3
#: Cases of one reason that are named.
_REFUSED_SHOWN = 3


def prediction_blocks(prediction: Prediction) -> Iterator[Block]:
    """Describe a prediction: the sentence, its interval, and its limits."""
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
    """Describe the predicted time and its interval, or only the bounds of computing."""
    span = _span(prediction.lo_s, prediction.hi_s)
    if prediction.time_s is None:
        return f"between {span}: the processors differ, and only bounds of computing are known."
    time = format_value(prediction.time_s, "s")
    times = significant(prediction.time_s / prediction.base_s)
    base_time = format_value(prediction.base_s, "s")
    interval = f"({LEVEL_WORDS} interval {span})"
    return f"{time} {interval}, {times} times the {base_time} of {prediction.base}."


def _method(prediction: Prediction) -> Iterator[Block]:
    """Describe the basis of a prediction, and the parts of its interval."""
    if prediction.model == "replay":
        yield Remark(
            "Method: the trace is replayed with the measured costs of both platforms.", "muted"
        )
    if prediction.reproduced is not None:
        yield Remark(
            f"The replay gives {prediction.reproduced:.1%} of the time measured on "
            f"{prediction.base}{said_lacks(prediction.lacks)}."
        )
    yield Remark(f"Computing: {prediction.compute_from}.")
    if prediction.start_up_s is not None:
        yield Remark(_start_up(prediction, prediction.start_up_s))
    yield Remark(_parts(prediction), "muted")


def _start_up(prediction: Prediction, start_up_s: float) -> str:
    """Describe start-up and connecting, which the predicted time does not include."""
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
    """Describe the parts of the interval, and how well the machine repeats itself."""
    launches = _width(prediction.launches)
    curves = _width(prediction.ladder)
    model = _width(prediction.residual)
    parts = (
        f"single launches {launches}, the ladders' curves {curves} "
        f"and the model on unseen programs {model}"
    )
    if prediction.repeats is None:
        return f"The interval combines the errors of {parts}."
    repeats = f"launches on {prediction.base} repeat within {_width(prediction.repeats)}"
    return f"The interval combines the errors of {parts}; {repeats}."


def _width(log_width: float) -> str:
    return f"±{np.expm1(log_width):.1%}"


def _span(low_s: float, high_s: float) -> str:
    return f"{format_value(low_s, 's')} to {format_value(high_s, 's')}"


def said_lacks(lacks: Sequence[CallLack]) -> str:
    """Name the calls by which a replay is off most: nothing where each is little."""
    large = [lack for lack in lacks if abs(lack.share) >= _LEAST_LACK]
    if not large:
        return ""
    large.sort(key=lambda lack: -abs(lack.share))
    names = ", ".join(map(str, large[:_NAMED_LACKS]))
    return f"; its largest errors are in {names}"


def _measured(prediction: Prediction) -> str:
    """Compare the measured time with the interval, and with the predicted time if there is one."""
    middle_s = float(np.median(prediction.measured_s))
    is_inside = prediction.lo_s <= middle_s <= prediction.hi_s
    where = "inside" if is_inside else "OUTSIDE"
    error = ""
    if prediction.time_s is not None:
        error = f"; the prediction is {error_words(prediction.time_s, middle_s)}"
    launches = "one launch"
    if len(prediction.measured_s) > 1:
        span = _span(min(prediction.measured_s), max(prediction.measured_s))
        launches = f"median of {len(prediction.measured_s)} launches, {span}"
    measured = f"Measured on {prediction.platform}: {format_value(middle_s, 's')} ({launches})"
    return f"{measured}, {where} the interval{error}."


def error_words(predicted_s: float, measured_s: float) -> str:
    """Describe how far a predicted time is from the measured one: ``16% too low``."""
    error = predicted_s / measured_s - 1
    if abs(error) < 0.005:
        return "right within 0.5%"
    way = "high" if error > 0 else "low"
    return f"{abs(error):.0%} too {way}"


def _change(time_s: float) -> str:
    way = "longer" if time_s >= 0 else "less"
    return f"{format_value(abs(time_s), 's')} {way}"


def loss_blocks(loss: LossSplit, application: str) -> Iterator[Block]:
    """Describe the parts of a loss: a sentence for each share, then the table."""
    platform = f"{loss.platform} ({format_value(loss.b_s, 's')})"
    base = f"{loss.base} ({format_value(loss.a_s, 's')})"
    yield Remark(
        f"{application} takes {_change(loss.loss_s)} on {platform} than on {base}; "
        f"the parts below add up to {loss.explained:.0%} of that.",
        "bold",
    )
    yield Remark(f"{capital(loss.control)}." if loss.control else "")
    for share in loss.shares:
        if abs(share.share) >= 0.01:
            span = _span(share.lo_s, share.hi_s)
            yield Remark(
                f"{capital(share.title)}: {share.share:.0%} of the loss, "
                f"{format_value(share.time_s, 's')} ({span})."
            )
    scale = unit_scale([share.time_s for share in loss.shares], "s")
    yield Remark()
    rows = Rows(loss.shares).text("layer", lambda share: share.title)
    rows.figure("share", lambda share: percent_tenths(share.share))
    rows.figure(scale.titled("time"), lambda share: scale.show(share.time_s))
    rows.figure(scale.titled("from"), lambda share: scale.show(share.lo_s), "light")
    rows.figure(scale.titled("to"), lambda share: scale.show(share.hi_s), "light")
    yield rows.table()


def validation_blocks(validation: Validation) -> Iterator[Block]:
    """Yield the scores of the models, then the worst cases, then the refused ones."""
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
    """Describe the refused cases and why: each reason once, with some of the cases."""
    by_reason: dict[str, list[str]] = {}
    for case, reason in refused:
        first_line = reason.splitlines()[0]
        by_reason.setdefault(first_line, []).append(case)
    lines: list[str] = []
    for reason, cases in by_reason.items():
        named = "; ".join(cases[:_REFUSED_SHOWN])
        more = len(cases) - _REFUSED_SHOWN
        tail = f" and {more} more (--json lists them)" if more > 0 else ""
        lines.append(f"Refused, {len(cases)}: {named}{tail}: {reason}")
    return lines


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


def _worst_cases(validation: Validation, model: str) -> Iterator[Block]:
    """Yield the cases with the largest errors, and their likely reasons."""
    trials = [trial for trial in validation.trials if trial.model == model]
    trials.sort(key=lambda trial: -trial.log_error)
    worst = trials[:_WORST]
    yield Remark()
    yield Remark(f"Predictions by {model}, the worst first", "bold")
    yield _trial_table(worst, unit_scale([trial.truth_s for trial in trials], "s"))
    if len(trials) > _WORST:
        yield Remark(f"{len(trials) - _WORST} more are in --json and on the page.", "muted")
    for lacking in validation.lacking:
        lacks = said_lacks(lacking.calls)
        if lacks:
            replay = f"The replay of {lacking.application} on {lacking.platform}"
            yield Remark(f"{replay}{lacks.replace(';', ':', 1)}.", "muted")
    for trial in worst:
        reasons = [*trial.reasons]
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
    span = f"{scale.show(trial.lo_s)} to {scale.show(trial.hi_s)}"
    return span if trial.inside else f"{span}, outside"
