"""Predictions in the terminal: one line that can be repeated, then what it stands on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.text import Text

from bareline.predict.fitness import CallLack
from bareline.predict.prediction import Prediction
from bareline.predict.shares import LossSplit
from bareline.predict.validation import ModelScore, Validation
from bareline.report.blocks import Rows
from bareline.report.content.wording import percent, said_again
from bareline.report.figures.scales import unit_scale
from bareline.report.writers.terminal import print_blocks
from bareline.vocabulary.units import format_value, significant

_WORST = 8
#: Of the time: what a call is off by before it is named; and so many are.
_OFF, _OFF_SHOWN = 0.005, 3
#: Cases of one reason that are named.
_REFUSED_SHOWN = 3


def print_prediction(done: Prediction, console: Console) -> None:
    """Print a prediction: the sentence, its interval, and what limits it."""
    span = f"{format_value(done.lo_s, 's')} to {format_value(done.hi_s, 's')}"
    if done.model == "delta":
        why = next((one for one in done.warnings if "not replayed" in one), "there is no trace")
        text = f"By calls times curves, which knows no order of calls, because {why}."
        console.print(Text(text, style="bold yellow"))
    if done.time_s is None:
        console.print(
            Text(
                f"On {done.platform} it will take between {span}: the processors differ, and only "
                "bounds of computing are known.",
                style="bold",
            )
        )
    else:
        console.print(
            Text(
                f"On {done.platform} it will take {format_value(done.time_s, 's')} "
                f"(90 % interval {span}), {significant(done.time_s / done.base_s)} times the "
                f"{format_value(done.base_s, 's')} of {done.base}.",
                style="bold",
            )
        )
    if done.model == "replay":
        console.print(Text("By the trace replayed on the curves of both platforms.", style="dim"))
    if done.reproduced is not None:
        console.print(
            Text(
                f"Replaying the trace reproduces {done.reproduced:.1%} of the time measured on "
                f"{done.base}{said_lacks(done.lacks)}."
            )
        )
    console.print(Text(f"Computing: {done.compute_from}."))
    if done.start_up_s is not None:
        console.print(Text(_start_up(done, done.start_up_s)))
    for warning in done.warnings:
        console.print(Text(f"Wider: {warning}.", style="yellow"))
    if done.measured_s:
        console.print(Text(_measured(done), style="bold"))


def said_lacks(lacks: Sequence[CallLack]) -> str:
    """Name the calls by which a replay is off most: nothing where each is little."""
    off = sorted((one for one in lacks if abs(one.share) >= _OFF), key=lambda one: -abs(one.share))
    return f"; it is off most in {', '.join(map(str, off[:_OFF_SHOWN]))}" if off else ""


def _measured(done: Prediction) -> str:
    """Hold a prediction against what was measured."""
    middle_s = float(np.median(done.measured_s))
    span = f"{format_value(min(done.measured_s), 's')} to {format_value(max(done.measured_s), 's')}"
    where = "inside" if done.lo_s <= middle_s <= done.hi_s else "OUTSIDE"
    off = ""
    if done.time_s is not None:
        ratio = done.time_s / middle_s
        off = f"; the prediction is {abs(ratio - 1):.0%} too {'high' if ratio > 1 else 'low'}"
    several = len(done.measured_s)
    launches = f"median of {several} launches, {span}" if several > 1 else "one launch"
    return (
        f"Measured on {done.platform}: {format_value(middle_s, 's')} ({launches}), {where} the "
        f"interval{off}."
    )


def _start_up(start: Prediction, time_s: float) -> str:
    word = "longer" if time_s >= 0 else "less"
    text = f"Start-up takes {format_value(abs(time_s), 's')} {word}, not included"
    if start.connecting_s is None:
        return f"{text}; making connections was not measured."
    times = "one connection" if start.connections == 1 else f"{start.connections} connections"
    takes = "takes" if start.connections == 1 else "take"
    word = "longer" if start.connecting_s >= 0 else "less"
    took = format_value(abs(start.connecting_s), "s")
    return f"{text}; {times} of a rank {takes} {took} {word}."


def print_loss(loss: LossSplit, application: str, console: Console) -> None:
    """Print what a loss is made of: a sentence for each share, then the table."""
    word = "longer" if loss.loss_s > 0 else "less"
    console.print(
        Text(
            f"{application} takes {format_value(abs(loss.loss_s), 's')} {word} on {loss.platform} "
            f"({format_value(loss.b_s, 's')}) than on {loss.base} ({format_value(loss.a_s, 's')}); "
            f"{loss.explained:.0%} of that is explained.",
            style="bold",
        )
    )
    console.print(Text(f"{loss.control[0].upper()}{loss.control[1:]}." if loss.control else ""))
    for share in loss.shares:
        if abs(share.share) < 0.01:
            continue
        span = f"{format_value(share.lo_s, 's')} to {format_value(share.hi_s, 's')}"
        console.print(
            Text(
                f"{share.title[0].upper()}{share.title[1:]}: {share.share:.0%} of the loss, "
                f"{format_value(share.time_s, 's')} ({span})."
            )
        )
    scale = unit_scale([share.time_s for share in loss.shares], "s")
    console.print()
    print_blocks(
        [
            Rows(loss.shares)
            .text("layer", lambda share: share.title)
            .figure("share", lambda share: percent(share.share))
            .figure(scale.titled("time"), lambda share: scale.show(share.time_s))
            .figure(scale.titled("from"), lambda share: scale.show(share.lo_s), "light")
            .figure(scale.titled("to"), lambda share: scale.show(share.hi_s), "light")
            .table()
        ],
        console,
    )


def print_validation(done: Validation, console: Console) -> None:
    """Print the scores of the models, then the worst cases, then what was refused."""
    scores = done.scores or done.calibrated
    if scores:
        best = scores[0]
        console.print(
            Text(
                f"{best.n} predictions by {best.model}: median error {best.median:.1%}, 90 % "
                f"within {best.p90:.1%}; {best.order_right} of {best.order_of} pairs of platforms "
                "in the right order.",
                style="bold",
            )
        )
        _print_scores(done.scores, console)
        if done.calibrated:
            console.print(Text("Between different processors, calibrated", style="bold"))
            _print_scores(done.calibrated, console)
        _print_trials(done, best.model, console)
    if done.repeated is not None:
        console.print(Text(said_again(done.repeated)))
    if done.disturbed:
        console.print(
            Text(
                f"{done.disturbed} launches left out: their ranks had no core for too long.",
                style="yellow",
            )
        )
    for line in said_refused(done.refused):
        console.print(Text(line, style="yellow"))


def said_refused(refused: Sequence[tuple[str, str]]) -> list[str]:
    """Say what was refused and why: each reason once, with some of the cases."""
    cases: dict[str, list[str]] = {}
    for case, why in refused:
        cases.setdefault(why.splitlines()[0], []).append(case)
    told = []
    for why, alike in cases.items():
        shown = "; ".join(alike[:_REFUSED_SHOWN])
        more = len(alike) - _REFUSED_SHOWN
        tail = f" and {more} more (--json lists them)" if more > 0 else ""
        told.append(f"Refused, {len(alike)}: {shown}{tail}: {why}")
    return told


def _print_scores(scores: Sequence[ModelScore], console: Console) -> None:
    if not scores:
        return
    print_blocks(
        [
            Rows(scores)
            .text("model", lambda score: score.model)
            .figure("n", lambda score: str(score.n))
            .figure("signed", lambda score: f"{score.signed:+.1%}")
            .figure("median", lambda score: f"{score.median:.1%}")
            .figure("90 % within", lambda score: f"{score.p90:.1%}")
            .figure("worst", lambda score: f"{score.worst:.1%}")
            .figure("≤ 15 %", lambda score: f"{score.within_15:.0%}")
            .figure("order", lambda score: f"{score.order_right}/{score.order_of}")
            .figure(
                "interval holds",
                lambda score: "" if score.coverage is None else f"{score.coverage:.0%}",
            )
            .table()
        ],
        console,
    )


def _print_trials(done: Validation, model: str, console: Console) -> None:
    trials = sorted(
        (trial for trial in done.trials if trial.model == model), key=lambda one: -one.log_error
    )
    scale = unit_scale([trial.truth_s for trial in trials], "s")
    console.print()
    console.print(Text(f"Worst cases of {model}", style="bold"))
    print_blocks(
        [
            Rows(trials[:_WORST])
            .text("application", lambda trial: trial.application)
            .text("from", lambda trial: trial.base)
            .text("to", lambda trial: trial.platform)
            .figure(scale.titled("predicted"), lambda trial: scale.show(trial.time_s))
            .figure(scale.titled("measured"), lambda trial: scale.show(trial.truth_s))
            .figure("error", lambda trial: f"{trial.error:+.1%}")
            .table()
        ],
        console,
    )
    for one in done.lacking:
        if said := said_lacks(one.calls):
            where = f"The replay of {one.application} on {one.platform}"
            console.print(Text(f"{where}{said.replace(';', ':', 1)}.", style="dim"))
    for trial in trials[:_WORST]:
        if trial.reasons:
            where = f"{trial.application}, {trial.base} to {trial.platform}"
            console.print(Text(f"{where}: {'; '.join(trial.reasons)}.", style="dim"))
