"""Which layer costs an application what, as a waterfall from the baseline to a platform."""

from __future__ import annotations

from bareline.predict.shares import Loss
from bareline.report.content.anchors import slug
from bareline.report.content.document import Document
from bareline.report.exhibits.base import Exhibit, predictions_of
from bareline.report.figures.figure import Column, DataTable, Field, Figure
from bareline.report.figures.predictions import SECTION, waterfall_chart
from bareline.report.figures.scales import unit_scale
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
        if kept is None:
            return []
        shown = looks(document.names)
        return [
            Figure(
                id=slug("waterfall", one.application),
                title=f"{one.application}: from {one.loss.base} to {one.loss.platform}",
                caption=f"{one.loss.explained:.0%} of the loss is explained. Whiskers are the 90 % "
                "intervals of the shares.",
                layer=SECTION,
                wide=True,
                panels=(waterfall_chart(one.loss, shown),),
                text_summary=_summary(one.loss),
                data_table=_table(one.loss),
                data=tuple(one.loss.rows()),
            )
            for one in kept.losses
        ]


def _summary(loss: Loss) -> str:
    parts = [f"{share.title} {share.share:.0%}" for share in loss.shares]
    return f"Of a loss of {format_value(loss.loss_s, 's')}: {', '.join(parts)}."


def _table(loss: Loss) -> DataTable:
    scale = unit_scale([share.time_s for share in loss.shares], "s")
    columns = (
        Column("layer", "text"),
        Column("share"),
        Column(scale.titled("time")),
        Column("90 %", "light"),
    )
    rows = tuple(
        (
            Field(share.title),
            Field(f"{100 * share.share:.1f} %", share.share),
            Field(scale.show(share.time_s), share.time_s),
            Field(f"{scale.show(share.lo_s)} to {scale.show(share.hi_s)}", share.lo_s),
        )
        for share in loss.shares
    )
    return DataTable(columns, rows)


EXHIBIT = Waterfall()
