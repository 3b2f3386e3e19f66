"""The worst predictions, each with what is large enough to explain it."""

from __future__ import annotations

from bareline.report.content.document import Document
from bareline.report.content.wording import sentence_case
from bareline.report.exhibits.base import Exhibit, predictions_of
from bareline.report.figures.figure import Figure
from bareline.report.figures.predictions import SECTION
from bareline.report.figures.scales import unit_scale
from bareline.report.figures.tables import Rows
from bareline.vocabulary.exhibit import ExhibitSpec

_WORST = 12
_CAPTION = (
    "A reason is named where the measurement shows something that is at least a third of the error "
    "and points the same way. Nothing was corrected with it."
)


class WorstPredictions(Exhibit):
    """The cases that are furthest off, and why."""

    kind = "worst-predictions"
    summary = "the predictions that are furthest off, each with what is large enough to explain it"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Give the table; none without a prediction."""
        kept = predictions_of(document, spec)
        if kept is None or not kept.validation.trials:
            return []
        trials = [one for one in kept.validation.trials if one.model == kept.validation.best]
        trials = sorted(trials, key=lambda trial: -trial.log_error)[:_WORST]
        scale = unit_scale([trial.truth_s for trial in trials], "s")
        table = (
            Rows(trials)
            .text("application", lambda trial: trial.application)
            .platform(lambda trial: trial.base, "from")
            .platform(lambda trial: trial.platform, "to")
            .number(scale.titled("predicted"), lambda trial: trial.time_s, scale.show)
            .number(scale.titled("measured"), lambda trial: trial.truth_s, scale.show)
            .number("error", lambda trial: trial.error, "{:+.1%}".format)
            .text(
                "what is large enough to explain it",
                lambda trial: sentence_case("; ".join(trial.reasons)),
                wrap=True,
            )
            .table()
        )
        title = "The worst predictions"
        return [self.figure(spec, title=title, notes=[_CAPTION], layer=SECTION, table=table)]


EXHIBIT = WorstPredictions()
