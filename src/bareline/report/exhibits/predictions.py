"""The exhibits on predictions: comparison with measurements, worst cases, upgrades, causes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from statistics import median
from typing import Any

from bareline.analysis.numbers.row import Estimate
from bareline.predict.curves.coverage import CurveCoverage, SizeUsed
from bareline.predict.interval import LEVEL_WORDS
from bareline.predict.questions import UPGRADES, Upgrade
from bareline.predict.shares import LossSplit
from bareline.predict.validation.predictions import Predictions
from bareline.predict.validation.scores import ModelScore, Trial, Validation
from bareline.report.blocks import Field, Figure, Rows, Table, Tone
from bareline.report.content.document import Document
from bareline.report.content.wording import repeatability_sentence, sentence_case
from bareline.report.exhibits.base import Exhibit, figure_of
from bareline.report.figures.predictions import (
    SECTION,
    coverage_chart,
    predicted_chart,
    upgrades_chart,
    waterfall_chart,
)
from bareline.report.figures.scales import unit_scale
from bareline.report.figures.theme import looks
from bareline.report.figures.vega import both_widths
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.units import count, format_size, format_value, percent_tenths, whole

_WORDS = {
    "replay": "the trace replayed",
    "replay-ratio": "the trace replayed, its ratio multiplied",
    "replay-difference": "the trace replayed, its difference added",
    "delta": "the profile alone",
    "no-change": "no change",
    "latency-ratio": "the ratio of the latencies",
}


def _predictions(document: Document, spec: ExhibitSpec) -> Predictions:
    """Return the predictions for the applications that a specification names."""
    predictions = document.predictions or Predictions(0, Validation(()))
    pattern = spec.probe or "*"

    def chosen(rows: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(row for row in rows if fnmatchcase(_program(row.application), pattern))

    validation = predictions.validation
    return replace(
        predictions,
        validation=replace(validation, trials=chosen(validation.trials)),
        losses=chosen(predictions.losses),
        upgrades=chosen(predictions.upgrades),
        strips=chosen(predictions.strips),
    )


def _program(application: str) -> str:
    return application.split(" ", 1)[0]


def _predicted(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    """Yield the figure of the best model that has predictions, and the scores of all models."""
    validation = _predictions(document, spec).validation
    if validation.trials:
        yield _best_model(document, spec, validation)
        yield _models(spec, validation)


def _best_model(document: Document, spec: ExhibitSpec, validation: Validation) -> Figure:
    best = [*validation.scores, *validation.calibrated][0]
    trials = [trial for trial in validation.trials if trial.model == best.model]
    summary = f"{best.n} predictions: median error {best.median:.1%}, 90 % within {best.p90:.1%}"
    if best.coverage is not None:
        summary += f"; {best.coverage:.0%} are in their intervals"
    return figure_of(
        spec,
        title="Predicted against measured",
        notes=[
            "Each point is one application, predicted from one platform for another; the mark is "
            "that of the platform predicted for, the dashed line is equality, and the bar is the "
            f"{LEVEL_WORDS} interval. It is made of the launches' variation, of the ladders' own, "
            "and of the model's error for unseen programs. Off most in: the term that differs most "
            "from the trace there."
        ],
        layer=SECTION,
        drawing=both_widths(predicted_chart, trials, looks(document.names)),
        summary=f"{summary}.",
        table=_predicted_table(trials),
        data=map(_flat, validation.trials),
    )


def _predicted_table(trials: Sequence[Trial]) -> Table:
    def tone(trial: Trial) -> Tone:
        return "worse" if trial.inside is False else ""

    ordered = sorted(trials, key=lambda trial: (trial.application, trial.base, trial.platform))
    rows = _trial_rows(ordered, interval=LEVEL_WORDS)
    rows.number("error", lambda trial: trial.error, "{:+.1%}".format, tone=tone)
    rows.text("off most in", lambda trial: str(trial.term or ""), wrap=True)
    return rows.table()


def _flat(trial: Trial) -> dict[str, Any]:
    """Return a trial as a row of a CSV file, in which lists are texts."""
    row = {name: value for name, value in trial.row().items() if name != "type"}
    for name, value in row.items():
        if isinstance(value, list):
            row[name] = "; ".join(value)
    return row


def _models(spec: ExhibitSpec, validation: Validation) -> Figure:
    repeatability = repeatability_sentence(validation.repeated) if validation.repeated else ""
    return figure_of(
        ExhibitSpec(kind=spec.kind),
        title="How good each way to predict is",
        what=("models",),
        notes=[
            "Errors are |predicted/measured - 1|. Order: pairs of platforms that were put in the "
            "right order, of those whose launches do not overlap. The last three columns of a "
            "good model are high; the last two rows know nothing of the application's calls.",
            repeatability,
        ],
        layer=SECTION,
        table=_scores(validation),
    )


def _trial_rows(trials: Sequence[Trial], interval: str = "") -> Rows[Trial]:
    """Return a table builder with a row for each prediction.

    - `interval`: the head of a column with the intervals; if empty, there is no such column.
    """
    scale = unit_scale([trial.truth_s for trial in trials], "s")

    def time(trial: Trial) -> Estimate:
        return Estimate(trial.time_s, trial.lo_s, trial.hi_s)

    return (
        Rows(trials)
        .text("application", lambda trial: trial.application)
        .platform(lambda trial: trial.base, "from")
        .platform(lambda trial: trial.platform, "to")
        .estimate(scale.titled("predicted"), time, scale.show, interval=interval)
        .number(scale.titled("measured"), lambda trial: trial.truth_s, scale.show)
    )


def _scores(validation: Validation) -> Table:
    scores = [(score, "") for score in validation.scores]
    scores += [(score, ", other processors") for score in validation.calibrated]

    def order(row: tuple[ModelScore, str]) -> Field:
        score, _ = row
        return Field(f"{score.order_right} of {score.order_of}", score.order_right)

    return (
        Rows(scores)
        .text("model", lambda row: f"{_WORDS.get(row[0].model, row[0].model)}{row[1]}")
        .number("cases", lambda row: row[0].n)
        .number("median error", lambda row: row[0].median, percent_tenths)
        .number("90 % within", lambda row: row[0].p90, percent_tenths)
        .number("worst", lambda row: row[0].worst, percent_tenths)
        .number("within 15 %", lambda row: row[0].within_15, "{:.0%}".format)
        .column("right order", order)
        .number("interval holds", lambda row: row[0].coverage, "{:.0%}".format, absent="")
        .table()
    )


def _worst(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    validation = _predictions(document, spec).validation
    if not validation.trials:
        return
    trials = [trial for trial in validation.trials if trial.model == validation.best]
    trials.sort(key=lambda trial: -trial.log_error)

    def reasons(trial: Trial) -> str:
        return sentence_case("; ".join(trial.reasons))

    rows = _trial_rows(trials[:12])
    rows.number("error", lambda trial: trial.error, "{:+.1%}".format)
    rows.text("effects that can explain it", reasons, wrap=True)
    yield figure_of(
        spec,
        title="The worst predictions",
        notes=[
            "A reason is named where the measurement shows something that is at least a third of "
            "the error and points the same way. Nothing was corrected with it."
        ],
        layer=SECTION,
        table=rows.table(),
    )


def _upgrades(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    upgrades = _predictions(document, spec).upgrades
    if not upgrades:
        return
    savings: dict[str, list[float]] = {}
    for upgrade in upgrades:
        savings.setdefault(upgrade.change, []).append(upgrade.saved)
    changes = sorted(savings, key=lambda change: -median(savings[change]))
    parts: list[str] = []
    for change in changes:
        middle = median(savings[change])
        most = max(savings[change])
        parts.append(f"{UPGRADES[change]} saves {middle:.1%}, at most {most:.1%}")
    yield figure_of(
        spec,
        title="Which upgrade helps most",
        notes=[
            "The share of its time that each application would save on a platform if one thing "
            "alone were better there, predicted; the change that saves most in the median of all "
            "cases comes first."
        ],
        layer=SECTION,
        drawing=both_widths(upgrades_chart, upgrades, changes, looks(document.names)),
        summary=f"In the median of all cases {'; '.join(parts)}.",
        table=_upgrades_table(upgrades, changes),
        data=[upgrade.row() for upgrade in upgrades],
    )


def _upgrades_table(upgrades: Sequence[Upgrade], changes: Sequence[str]) -> Table:
    """Return a table with the share of time that each change saves.

    It has a row for each application and platform.
    """
    cases = grouped_by(upgrades, lambda upgrade: (upgrade.application, upgrade.platform))
    rows = Rows(cases.values()).text("application", lambda case: case[0].application)
    rows.platform(lambda case: case[0].platform)
    for change in changes:
        rows.column(f"{UPGRADES[change]} saves", partial(_saved, change))
    rows.text("helps most", _best_title)
    return rows.table()


def _saved(change: str, case: Sequence[Upgrade]) -> Field:
    """Return the share of time that a change saves, coloured if no other change saves more."""
    for upgrade in case:
        if upgrade.change == change:
            tone: Tone = "better" if upgrade is _best(case) else ""
            return Field(percent_tenths(upgrade.saved), upgrade.saved, tone)
    return Field("")


def _best(case: Sequence[Upgrade]) -> Upgrade | None:
    """Return the change that saves most; None if none saves half a per cent."""
    most = max(case, key=lambda upgrade: upgrade.saved)
    return most if most.saved >= 0.005 else None


def _best_title(case: Sequence[Upgrade]) -> str:
    best = _best(case)
    return best.title if best else "none"


def _waterfalls(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for application in _predictions(document, spec).losses:
        loss = application.loss
        parts = [f"{share.title} {share.share:.0%}" for share in loss.shares]
        yield figure_of(
            ExhibitSpec(kind=spec.kind),
            title=f"{application.application}: from {loss.base} to {loss.platform}",
            what=(application.application,),
            notes=[
                f"{loss.explained:.0%} of the loss is explained. Whiskers are the {LEVEL_WORDS} "
                "intervals of the shares."
            ],
            layer=SECTION,
            drawing=both_widths(waterfall_chart, loss, looks(document.names)),
            summary=f"Of a loss of {format_value(loss.loss_s, 's')}: {', '.join(parts)}.",
            table=_waterfall_table(loss),
            data=loss.rows(),
        )


def _waterfall_table(loss: LossSplit) -> Table:
    scale = unit_scale([share.time_s for share in loss.shares], "s")
    rows = Rows(loss.shares).text("layer", lambda share: share.title)
    rows.number("share", lambda share: share.share, percent_tenths).estimate(
        scale.titled("time"),
        lambda share: Estimate(share.time_s, share.lo_s, share.hi_s),
        scale.show,
        interval=LEVEL_WORDS,
    )
    return rows.table()


def _coverage(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    all_strips = _predictions(document, spec).strips
    by_application = grouped_by(all_strips, lambda strip: strip.application)
    for application, strips in by_application.items():
        used = sum(len(strip.used) for strip in strips)
        outside = sum(len(strip.outside) for strip in strips)
        data: list[Mapping[str, Any]] = []
        for strip in strips:
            data += strip.rows()
        where = f"{outside} lie beyond it" if outside else "all are within the measured range"
        yield figure_of(
            ExhibitSpec(kind=spec.kind),
            title=f"{application}: sizes used and sizes measured",
            what=(application,),
            notes=[
                "The bar reaches over the sizes that every platform's ladder has, with a tick at "
                "each measured one; a dot is a size that the application uses, its area the share "
                "of the time in it. A dot beyond the bar would be extrapolated."
            ],
            layer=SECTION,
            drawing=both_widths(coverage_chart, strips, wide=False),
            summary=f"{count(used, 'size')} of {count(len(strips), 'function')}: {where}.",
            table=_coverage_table(strips),
            data=data,
        )


def _coverage_table(strips: Sequence[CurveCoverage]) -> Table:
    def tone(row: tuple[CurveCoverage, SizeUsed]) -> Tone:
        strip, used = row
        return "worse" if used.size_bytes > strip.most else ""

    sizes: list[tuple[CurveCoverage, SizeUsed]] = []
    for strip in strips:
        sizes += [(strip, used) for used in strip.used]
    return (
        Rows(sizes)
        .text("function", lambda row: row[0].probe)
        .number("ranks", lambda row: row[0].ranks)
        .number("size", lambda row: row[1].size_bytes, format_size)
        .number("calls of a rank", lambda row: row[1].calls, lambda calls: whole(round(calls)))
        .number("share of the time", lambda row: row[1].share, percent_tenths)
        .number("measured up to", lambda row: row[0].most, format_size, tone=tone)
        .table()
    )


EXHIBITS = (
    Exhibit(
        "predicted",
        "predictions against measurements with their intervals, and how good each model is",
        _predicted,
    ),
    Exhibit(
        "worst-predictions",
        "the predictions that are furthest off, each with the effects that can explain it",
        _worst,
    ),
    Exhibit(
        "upgrades",
        "which upgrade helps most: the time that each would save each application, ranked",
        _upgrades,
    ),
    Exhibit(
        "waterfall",
        "the loss of each application split into layers, from the baseline to the slowest",
        _waterfalls,
    ),
    Exhibit(
        "coverage",
        "the message sizes that each application uses over those that the ladder has",
        _coverage,
    ),
)
