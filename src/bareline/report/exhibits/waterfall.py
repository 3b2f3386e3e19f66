"""Which layer costs an application what, as a waterfall from the baseline to a platform."""

from __future__ import annotations

from bareline.analysis.cell import Estimate
from bareline.predict.shares import Loss
from bareline.report.content.document import Document
from bareline.report.content.wording import percent
from bareline.report.exhibits.base import Exhibit, predictions_of
from bareline.report.figures.figure import DataTable, Figure
from bareline.report.figures.predictions import SECTION, waterfall_chart
from bareline.report.figures.scales import unit_scale
from bareline.report.figures.tables import Rows
from bareline.report.figures.theme import looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.units import format_value


class Waterfall(Exhibit):
    """A waterfall for each application whose loss is clear."""

    kind = "waterfall"
    summary = "the loss of each application split into layers, from the baseline to the slowest"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one for each application."""
        kept = predictions_of(document, spec)
        return [
            self.figure(
                ExhibitSpec(kind=self.kind),
                one.application,
                title=f"{one.application}: from {one.loss.base} to {one.loss.platform}",
                notes=[
                    f"{one.loss.explained:.0%} of the loss is explained. Whiskers are the 90 % "
                    "intervals of the shares."
                ],
                layer=SECTION,
                panels=[waterfall_chart(one.loss, looks(document.names))],
                summary=_summary(one.loss),
                table=_table(one.loss),
                data=one.loss.rows(),
            )
            for one in (kept.losses if kept else ())
        ]


def _summary(loss: Loss) -> str:
    parts = [f"{share.title} {share.share:.0%}" for share in loss.shares]
    return f"Of a loss of {format_value(loss.loss_s, 's')}: {', '.join(parts)}."


def _table(loss: Loss) -> DataTable:
    scale = unit_scale([share.time_s for share in loss.shares], "s")
    return (
        Rows(loss.shares)
        .text("layer", lambda share: share.title)
        .number("share", lambda share: share.share, percent)
        .number(scale.titled("time"), lambda share: share.time_s, scale.show)
        .interval(
            lambda share: Estimate(share.time_s, share.lo_s, share.hi_s), scale.show, title="90 %"
        )
        .table()
    )


EXHIBIT = Waterfall()
