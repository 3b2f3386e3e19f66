"""Predictions in the terminal: one line that can be repeated, then its basis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bareline.predict.interval import LEVEL_WORDS
from bareline.predict.prediction import Prediction
from bareline.predict.replay.fitness import CallLack
from bareline.predict.shares import LossSplit
from bareline.predict.validation.scores import ModelScore, Trial, Validation
from bareline.report.blocks import Block, Remark, Rows, Table
from bareline.report.content.wording import capital, said_again
from bareline.report.figures.scales import Scale, unit_scale
from bareline.vocabulary.units import format_value, percent_tenths, significant

_WORST = 8
#: Shares of the time: the least error of a call that is named; and the number of named calls.
_OFF, _OFF_SHOWN = 0.005, 3
#: Cases of one reason that are named.
_REFUSED_SHOWN = 3


def prediction_blocks(done: Prediction) -> Iterator[Block]:
    """Describe a prediction: the sentence, its interval, and its limits."""
    span = _span(done.lo_s, done.hi_s)
    if done.model == "delta":
        why = next((one for one in done.warnings if "not replayed" in one), "there is no trace")
        text = f"By calls times curves, which knows no order of calls, because {why}."
        yield Remark(text, "alarm")
    if done.time_s is None:
        takes = f"between {span}: the processors differ, and only bounds of computing are known."
    else:
        takes = (
            f"{format_value(done.time_s, 's')} ({LEVEL_WORDS} interval {span}), "
            f"{significant(done.time_s / done.base_s)} times the {format_value(done.base_s, 's')} "
            f"of {done.base}."
        )
    yield Remark(f"On {done.platform} it will take {takes}", "bold")
    if done.model == "replay":
        yield Remark(
            "Method: the trace is replayed with the measured costs of both platforms.", "muted"
        )
    if done.reproduced is not None:
        yield Remark(
            f"The replay gives {done.reproduced:.1%} of the time measured on "
            f"{done.base}{said_lacks(done.lacks)}."
        )
    yield Remark(f"Computing: {done.compute_from}.")
    if done.start_up_s is not None:
        yield Remark(_start_up(done, done.start_up_s))
    yield Remark(_parts(done), "muted")
    for warning in done.warnings:
        yield Remark(f"The interval is wider because {warning}.", "caution")
    if done.measured_s:
        yield Remark(_measured(done), "bold")


def _start_up(done: Prediction, start_up_s: float) -> str:
    """Describe start-up and connecting, which the predicted time does not include."""
    start_up = f"start-up takes {_change(start_up_s)} on {done.platform}"
    if done.connecting_s is None:
        return f"Not included: {start_up}, and making connections was not measured."
    connections, verb = f"{done.connections} connections", "take"
    if done.connections == 1:
        connections, verb = "one connection", "takes"
    connecting = f"{connections} of a rank {verb} {_change(done.connecting_s)}"
    return f"Not included: {start_up}, and {connecting}."


def _parts(done: Prediction) -> str:
    """Describe the parts of the interval, and how well the machine repeats itself."""
    parts = (
        f"single launches {_width(done.launches)}, the ladders' curves {_width(done.ladder)} "
        f"and the model on unseen programs {_width(done.residual)}"
    )
    if done.repeats is None:
        return f"The interval combines the errors of {parts}."
    repeats = f"launches on {done.base} repeat within {_width(done.repeats)}"
    return f"The interval combines the errors of {parts}; {repeats}."


def _width(log_width: float) -> str:
    return f"±{np.expm1(log_width):.1%}"


def _span(low_s: float, high_s: float) -> str:
    return f"{format_value(low_s, 's')} to {format_value(high_s, 's')}"


def said_lacks(lacks: Sequence[CallLack]) -> str:
    """Name the calls by which a replay is off most: nothing where each is little."""
    off = sorted((one for one in lacks if abs(one.share) >= _OFF), key=lambda one: -abs(one.share))
    return f"; its largest errors are in {', '.join(map(str, off[:_OFF_SHOWN]))}" if off else ""


def _measured(done: Prediction) -> str:
    middle_s = float(np.median(done.measured_s))
    where = "inside" if done.lo_s <= middle_s <= done.hi_s else "OUTSIDE"
    off = ""
    if done.time_s is not None:
        off = f"; the prediction is {error_words(done.time_s, middle_s)}"
    several, span = len(done.measured_s), _span(min(done.measured_s), max(done.measured_s))
    launches = f"median of {several} launches, {span}" if several > 1 else "one launch"
    return (
        f"Measured on {done.platform}: {format_value(middle_s, 's')} ({launches}), {where} the "
        f"interval{off}."
    )


def error_words(predicted_s: float, measured_s: float) -> str:
    """Describe how far a predicted time is from the measured one: ``16% too low``."""
    error = predicted_s / measured_s - 1
    if abs(error) < 0.005:
        return "right within 0.5%"
    return f"{abs(error):.0%} too {'high' if error > 0 else 'low'}"


def _change(time_s: float) -> str:
    return f"{format_value(abs(time_s), 's')} {'longer' if time_s >= 0 else 'less'}"


def loss_blocks(loss: LossSplit, application: str) -> Iterator[Block]:
    """Describe the parts of a loss: a sentence for each share, then the table."""
    yield Remark(
        f"{application} takes {_change(loss.loss_s)} on {loss.platform} "
        f"({format_value(loss.b_s, 's')}) than on {loss.base} ({format_value(loss.a_s, 's')}); "
        f"the parts below add up to {loss.explained:.0%} of that.",
        "bold",
    )
    yield Remark(f"{capital(loss.control)}." if loss.control else "")
    for share in loss.shares:
        if abs(share.share) >= 0.01:
            yield Remark(
                f"{capital(share.title)}: {share.share:.0%} of the loss, "
                f"{format_value(share.time_s, 's')} ({_span(share.lo_s, share.hi_s)})."
            )
    scale = unit_scale([share.time_s for share in loss.shares], "s")
    yield Remark()
    rows = Rows(loss.shares).text("layer", lambda share: share.title)
    rows.figure("share", lambda share: percent_tenths(share.share))
    rows.figure(scale.titled("time"), lambda share: scale.show(share.time_s))
    rows.figure(scale.titled("from"), lambda share: scale.show(share.lo_s), "light")
    rows.figure(scale.titled("to"), lambda share: scale.show(share.hi_s), "light")
    yield rows.table()


def validation_blocks(done: Validation) -> Iterator[Block]:
    """Yield the scores of the models, then the worst cases, then the refused ones."""
    scores = done.scores or done.calibrated
    if scores:
        best = scores[0]
        yield Remark(
            f"{best.n} predictions by {best.model}: median error {best.median:.1%}, 90 % within "
            f"{best.p90:.1%}; {best.order_right} of {best.order_of} pairs of platforms in the "
            "right order.",
            "bold",
        )
        if done.scores:
            yield _score_table(done.scores)
        if done.calibrated:
            yield Remark("Between different processors, calibrated", "bold")
            yield _score_table(done.calibrated)
        yield from _worst_cases(done, best.model)
    if done.repeated is not None:
        yield Remark(said_again(done.repeated))
    if done.disturbed:
        yield Remark(
            f"{done.disturbed} launches left out: their ranks had no core for too long.", "caution"
        )
    for line in said_refused(done.refused):
        yield Remark(line, "caution")


def said_refused(refused: Sequence[tuple[str, str]]) -> list[str]:
    """Describe the refused cases and why: each reason once, with some of the cases."""
    cases: dict[str, list[str]] = {}
    for case, why in refused:
        cases.setdefault(why.splitlines()[0], []).append(case)
    lines = []
    for why, alike in cases.items():
        shown = "; ".join(alike[:_REFUSED_SHOWN])
        more = len(alike) - _REFUSED_SHOWN
        tail = f" and {more} more (--json lists them)" if more > 0 else ""
        lines.append(f"Refused, {len(alike)}: {shown}{tail}: {why}")
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


def _worst_cases(done: Validation, model: str) -> Iterator[Block]:
    trials = sorted(
        (trial for trial in done.trials if trial.model == model), key=lambda one: -one.log_error
    )
    scale = unit_scale([trial.truth_s for trial in trials], "s")
    yield Remark()
    yield Remark(f"Predictions by {model}, the worst first", "bold")
    rows = Rows(trials[:_WORST]).text("application", lambda trial: trial.application)
    rows.text("from", lambda trial: trial.base).text("to", lambda trial: trial.platform)
    rows.figure(scale.titled("predicted"), lambda trial: scale.show(trial.time_s))
    rows.text(f"{LEVEL_WORDS} interval", lambda trial: _interval(trial, scale))
    rows.figure(scale.titled("measured"), lambda trial: scale.show(trial.truth_s))
    yield rows.figure("error", lambda trial: f"{trial.error:+.1%}").table()
    if len(trials) > _WORST:
        yield Remark(f"{len(trials) - _WORST} more are in --json and on the page.", "muted")
    for one in done.lacking:
        if said := said_lacks(one.calls):
            where = f"The replay of {one.application} on {one.platform}"
            yield Remark(f"{where}{said.replace(';', ':', 1)}.", "muted")
    for trial in trials[:_WORST]:
        term = [f"off most in {trial.term}"] if trial.term else []
        if reasons := [*term, *trial.reasons]:
            where = f"{trial.application}, {trial.base} to {trial.platform}"
            yield Remark(f"{where}: {'; '.join(reasons)}.", "muted")


def _interval(trial: Trial, scale: Scale) -> str:
    if trial.lo_s is None or trial.hi_s is None:
        return ""
    span = f"{scale.show(trial.lo_s)} to {scale.show(trial.hi_s)}"
    return span if trial.inside else f"{span}, outside"
