"""The worst predictions, each with what is large enough to explain it."""

from __future__ import annotations

from bareline.report.content.anchors import slug
from bareline.report.content.document import Document
from bareline.report.content.wording import sentence_case
from bareline.report.exhibits.base import Exhibit, predictions_of
from bareline.report.figures.figure import Column, DataTable, Field, Figure
from bareline.report.figures.predictions import SECTION
from bareline.report.figures.scales import unit_scale
from bareline.vocabulary.exhibit import ExhibitSpec

_WORST = 12


class WorstPredictions(Exhibit):
    """The cases that are furthest off, and why."""

    kind = "worst-predictions"
    summary = "the predictions that are furthest off, each with what is large enough to explain it"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Give the table; none without a prediction."""
        kept = predictions_of(document, spec)
        if kept is None or not kept.validation.trials:
            return []
        model = kept.validation.best
        trials = sorted(
            (trial for trial in kept.validation.trials if trial.model == model),
            key=lambda trial: -trial.log_error,
        )[:_WORST]
        scale = unit_scale([trial.truth_s for trial in trials], "s")
        rows = tuple(
            (
                Field(trial.application),
                Field(trial.base, platform=trial.base),
                Field(trial.platform, platform=trial.platform),
                Field(scale.show(trial.time_s), trial.time_s),
                Field(scale.show(trial.truth_s), trial.truth_s),
                Field(f"{trial.error:+.1%}", trial.error),
                Field(sentence_case("; ".join(trial.reasons)), wrap=True),
            )
            for trial in trials
        )
        columns = (
            Column("application", "text"),
            Column("from", "text"),
            Column("to", "text"),
            Column(scale.titled("predicted")),
            Column(scale.titled("measured")),
            Column("error"),
            Column("what is large enough to explain it", "text"),
        )
        return [
            Figure(
                id=slug("worst-predictions", spec.title),
                title=spec.title or "The worst predictions",
                caption=" ".join(filter(None, [spec.caption, _CAPTION])),
                layer=SECTION,
                wide=True,
                data_table=DataTable(columns, rows),
            )
        ]


_CAPTION = (
    "A reason is named where the measurement shows something that is at least a third of the error "
    "and points the same way. Nothing was corrected with it."
)

EXHIBIT = WorstPredictions()
