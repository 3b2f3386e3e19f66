"""The sizes that applications use over the sizes that the ladder has."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.predict.coverage import Strip
from bareline.report.content.anchors import slug
from bareline.report.content.document import Document
from bareline.report.content.wording import count
from bareline.report.exhibits.base import Exhibit, predictions_of
from bareline.report.figures.figure import Column, DataTable, Field, Figure
from bareline.report.figures.predictions import SECTION, coverage_chart
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.units import format_size


class Coverage(Exhibit):
    """A strip for each function: the sizes that an application uses, over the measured ones."""

    kind = "coverage"
    summary = "the message sizes that each application uses over those that the ladder has"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw a figure for each application."""
        kept = predictions_of(document, spec)
        if kept is None:
            return []
        by_application: dict[str, list[Strip]] = {}
        for strip in kept.strips:
            by_application.setdefault(strip.application, []).append(strip)
        return [
            Figure(
                id=slug("coverage", application),
                title=f"{application}: sizes used and sizes measured",
                caption=_CAPTION,
                layer=SECTION,
                panels=(coverage_chart(own),),
                text_summary=_summary(own),
                data_table=_table(own),
                data=tuple(row for strip in own for row in strip.rows()),
            )
            for application, own in by_application.items()
        ]


_CAPTION = (
    "The bar reaches over the sizes that every platform's ladder has, with a tick at each measured "
    "one; a dot is a size that the application uses, its area the share of the time in it. A dot "
    "beyond the bar would be extrapolated."
)


def _summary(strips: Sequence[Strip]) -> str:
    used = sum(len(strip.used) for strip in strips)
    outside = sum(len(strip.outside) for strip in strips)
    where = "all lie within what was measured" if not outside else f"{outside} lie beyond it"
    return f"{count(used, 'size')} of {count(len(strips), 'function')}: {where}."


def _table(strips: Sequence[Strip]) -> DataTable:
    columns = (
        Column("function", "text"),
        Column("ranks"),
        Column("size"),
        Column("calls of a rank"),
        Column("share of the time"),
        Column("measured up to"),
    )
    rows = tuple(
        (
            Field(strip.probe),
            Field(str(strip.ranks), strip.ranks),
            Field(format_size(int(one.size_bytes)), one.size_bytes),
            Field(f"{one.calls:.0f}", one.calls),
            Field(f"{one.share:.1%}", one.share),
            Field(
                format_size(int(strip.most)),
                strip.most,
                tone="worse" if one.size_bytes > strip.most else "",
            ),
        )
        for strip in strips
        for one in strip.used
    )
    return DataTable(columns, rows)


EXHIBIT = Coverage()
