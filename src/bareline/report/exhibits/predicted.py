"""Predictions against what was measured: each application from every platform to every other."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.analysis.cell import Estimate
from bareline.predict.validation import Score, Trial, Validation
from bareline.report.content.document import Document
from bareline.report.content.wording import percent, said_again
from bareline.report.exhibits.base import Exhibit, predictions_of
from bareline.report.figures.figure import DataTable, Field, Figure, Tone
from bareline.report.figures.predictions import SECTION, predicted_chart
from bareline.report.figures.scales import unit_scale
from bareline.report.figures.tables import Rows
from bareline.report.figures.theme import looks
from bareline.vocabulary.exhibit import ExhibitSpec

_WORDS = {
    "replay": "the trace replayed",
    "replay-difference": "the trace replayed, its difference added",
    "delta": "the profile alone",
    "no-change": "no change",
    "latency-ratio": "the ratio of the latencies",
}
_CASES = (
    "Each point is one application, predicted from one platform for another; the mark is that of "
    "the platform predicted for, the dashed line is equality, and the bar is the 90 % interval, "
    "made of the errors of the other applications alone."
)
_SCORES = (
    "Errors are |predicted/measured - 1|. Order: pairs of platforms that were put in the right "
    "order, of those whose launches do not overlap. The last three columns of a good model are "
    "high; the last two rows know nothing of the application's calls."
)


class Predicted(Exhibit):
    """Predicted over measured times with intervals; how good each model is."""

    kind = "predicted"
    summary = "predictions against measurements with their intervals, and how good each model is"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw the better of the models that have a case, and score all of them."""
        kept = predictions_of(document, spec)
        if kept is None or not kept.validation.trials:
            return []
        done = kept.validation
        best = [*done.scores, *done.calibrated][0]
        trials = [trial for trial in done.trials if trial.model == best.model]
        return [
            self.figure(
                spec,
                title="Predicted against measured",
                notes=[_CASES],
                layer=SECTION,
                panels=[predicted_chart(trials, looks(document.names))],
                summary=_summary(best),
                table=_cases(trials),
                data=map(_flat, done.trials),
            ),
            self.figure(
                ExhibitSpec(kind=self.kind),
                "models",
                title="How good each way to predict is",
                notes=[_SCORES, said_again(done.repeated) if done.repeated else ""],
                layer=SECTION,
                table=_scores(done),
            ),
        ]


def _summary(best: Score) -> str:
    holds = "" if best.coverage is None else f"; {best.coverage:.0%} lie in their intervals"
    return (
        f"{best.n} predictions: median error {best.median:.1%}, 90 % within {best.p90:.1%}{holds}."
    )


def _cases(trials: Sequence[Trial]) -> DataTable:
    scale = unit_scale([trial.truth_s for trial in trials], "s")

    def held(trial: Trial) -> Estimate | None:
        return Estimate(trial.time_s, trial.lo_s, trial.hi_s) if trial.has_interval else None

    def tone(trial: Trial) -> Tone:
        return "worse" if trial.has_interval and not trial.inside else ""

    return (
        Rows(sorted(trials, key=lambda one: (one.application, one.base, one.platform)))
        .text("application", lambda trial: trial.application)
        .platform(lambda trial: trial.base, "from")
        .platform(lambda trial: trial.platform, "to")
        .number(scale.titled("predicted"), lambda trial: trial.time_s, scale.show)
        .interval(held, scale.show, title="90 %")
        .number(scale.titled("measured"), lambda trial: trial.truth_s, scale.show)
        .number("error", lambda trial: trial.error, "{:+.1%}".format, tone=tone)
        .table()
    )


def _flat(trial: Trial) -> dict[str, str | int | float | bool | None]:
    return {
        key: "; ".join(value) if isinstance(value, list) else value
        for key, value in trial.row().items()
    }


def _scores(validation: Validation) -> DataTable:
    every = [(score, "") for score in validation.scores]
    every += [(score, ", other processors") for score in validation.calibrated]

    def order(row: tuple[Score, str]) -> Field:
        score, _ = row
        return Field(f"{score.order_right} of {score.order_of}", score.order_right)

    return (
        Rows(every)
        .text("model", lambda row: f"{_WORDS.get(row[0].model, row[0].model)}{row[1]}")
        .number("cases", lambda row: row[0].n)
        .number("median error", lambda row: row[0].median, percent)
        .number("90 % within", lambda row: row[0].p90, percent)
        .number("worst", lambda row: row[0].worst, percent)
        .number("within 15 %", lambda row: row[0].within_15, "{:.0%}".format)
        .column("right order", order)
        .number("interval holds", lambda row: row[0].coverage, "{:.0%}".format, absent="")
        .table()
    )


EXHIBIT = Predicted()
