"""Predictions against what was measured: each application from every platform to every other."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.predict.validation import Score, Trial, Validation
from bareline.report.content.anchors import slug
from bareline.report.content.document import Document
from bareline.report.content.wording import said_again
from bareline.report.exhibits.base import Exhibit, predictions_of
from bareline.report.figures.figure import Column, DataTable, Field, Figure
from bareline.report.figures.predictions import SECTION, predicted_chart
from bareline.report.figures.scales import unit_scale
from bareline.report.figures.theme import looks
from bareline.vocabulary.exhibit import ExhibitSpec

_WORDS = {
    "replay": "the trace replayed",
    "replay-difference": "the trace replayed, its difference added",
    "delta": "the profile alone",
    "no-change": "no change",
    "latency-ratio": "the ratio of the latencies",
}


class Predicted(Exhibit):
    """Predicted over measured times with intervals; how good each model is."""

    kind = "predicted"
    summary = "predictions against measurements with their intervals, and how good each model is"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw the better of the models that have a case, and score all of them."""
        kept = predictions_of(document, spec)
        if kept is None or not kept.validation.trials:
            return []
        scores = [*kept.validation.scores, *kept.validation.calibrated]
        best, floor = scores[0], kept.validation.repeated
        trials = [trial for trial in kept.validation.trials if trial.model == best.model]
        return [
            Figure(
                id=slug("predicted", spec.title),
                title=spec.title or "Predicted against measured",
                caption=" ".join(filter(None, [spec.caption, _CAPTION])),
                layer=SECTION,
                wide=True,
                panels=(predicted_chart(trials, looks(document.names)),),
                text_summary=_summary(best),
                data_table=_cases(trials),
                data=tuple(_flat(trial) for trial in kept.validation.trials),
            ),
            Figure(
                id=slug("predicted-models", spec.title),
                title="How good each way to predict is",
                caption="Errors are |predicted/measured - 1|. Order: pairs of platforms that were "
                "put in the right order, of those whose launches do not overlap. The last three "
                "columns of a good model are high; the last two rows know nothing of the "
                "application's calls." + (f" {said_again(floor)}" if floor else ""),
                layer=SECTION,
                wide=True,
                data_table=_scores(kept.validation),
            ),
        ]


_CAPTION = (
    "Each point is one application, predicted from one platform for another; the mark is that of "
    "the platform predicted for, the dashed line is equality, and the bar is the 90 % interval, "
    "made of the errors of the other applications alone."
)


def _summary(best: Score) -> str:
    holds = "" if best.coverage is None else f"; {best.coverage:.0%} lie in their intervals"
    return (
        f"{best.n} predictions: median error {best.median:.1%}, 90 % within {best.p90:.1%}{holds}."
    )


def _cases(trials: Sequence[Trial]) -> DataTable:
    scale = unit_scale([trial.truth_s for trial in trials], "s")
    columns = (
        Column("application", "text"),
        Column("from", "text"),
        Column("to", "text"),
        Column(scale.titled("predicted")),
        Column("90 %", "light"),
        Column(scale.titled("measured")),
        Column("error"),
    )
    rows = tuple(
        (
            Field(trial.application),
            Field(trial.base, platform=trial.base),
            Field(trial.platform, platform=trial.platform),
            Field(scale.show(trial.time_s), trial.time_s),
            Field(_span(trial, scale.show(trial.lo_s), scale.show(trial.hi_s)), trial.lo_s),
            Field(scale.show(trial.truth_s), trial.truth_s),
            Field(
                f"{trial.error:+.1%}",
                trial.error,
                tone="worse" if trial.has_interval and not trial.inside else "",
            ),
        )
        for trial in sorted(trials, key=lambda one: (one.application, one.base, one.platform))
    )
    return DataTable(columns, rows)


def _span(trial: Trial, low: str, high: str) -> str:
    return f"{low} to {high}" if trial.has_interval else ""


def _flat(trial: Trial) -> dict[str, str | int | float | bool | None]:
    return {
        key: "; ".join(value) if isinstance(value, list) else value
        for key, value in trial.row().items()
    }


def _scores(validation: Validation) -> DataTable:
    every = [(score, "") for score in validation.scores]
    every += [(score, ", other processors") for score in validation.calibrated]
    columns = (
        Column("model", "text"),
        Column("cases"),
        Column("median error"),
        Column("90 % within"),
        Column("worst"),
        Column("within 15 %"),
        Column("right order"),
        Column("interval holds"),
    )
    rows = tuple(
        (
            Field(f"{_WORDS.get(score.model, score.model)}{where}"),
            Field(str(score.n), score.n),
            Field(f"{score.median:.1%}", score.median),
            Field(f"{score.p90:.1%}", score.p90),
            Field(f"{score.worst:.1%}", score.worst),
            Field(f"{score.within_15:.0%}", score.within_15),
            Field(f"{score.order_right} of {score.order_of}", score.order_right),
            Field("" if score.coverage is None else f"{score.coverage:.0%}", score.coverage),
        )
        for score, where in every
    )
    return DataTable(columns, rows)


EXHIBIT = Predicted()
