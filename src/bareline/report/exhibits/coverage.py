"""The sizes that applications use over the sizes that the ladder has."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.predict.coverage import SizeUsed, Strip
from bareline.report.content.document import Document
from bareline.report.content.wording import percent
from bareline.report.exhibits.base import Exhibit, grouped_by, predictions_of
from bareline.report.figures.figure import DataTable, Figure, Tone
from bareline.report.figures.predictions import SECTION, coverage_chart
from bareline.report.figures.tables import Rows
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.units import count, format_size, whole

_CAPTION = (
    "The bar reaches over the sizes that every platform's ladder has, with a tick at each measured "
    "one; a dot is a size that the application uses, its area the share of the time in it. A dot "
    "beyond the bar would be extrapolated."
)


class Coverage(Exhibit):
    """A strip for each function: the sizes that an application uses, over the measured ones."""

    kind = "coverage"
    summary = "the message sizes that each application uses over those that the ladder has"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw a figure for each application."""
        kept = predictions_of(document, spec)
        strips = grouped_by(kept.strips if kept else (), lambda strip: strip.application)
        return [
            self.figure(
                ExhibitSpec(kind=self.kind),
                application,
                title=f"{application}: sizes used and sizes measured",
                notes=[_CAPTION],
                layer=SECTION,
                wide=False,
                panels=[coverage_chart(own)],
                summary=_summary(own),
                table=_table(own),
                data=[row for strip in own for row in strip.rows()],
            )
            for application, own in strips.items()
        ]


def _summary(strips: Sequence[Strip]) -> str:
    used = sum(len(strip.used) for strip in strips)
    outside = sum(len(strip.outside) for strip in strips)
    where = "all lie within what was measured" if not outside else f"{outside} lie beyond it"
    return f"{count(used, 'size')} of {count(len(strips), 'function')}: {where}."


def _table(strips: Sequence[Strip]) -> DataTable:
    def tone(row: tuple[Strip, SizeUsed]) -> Tone:
        strip, one = row
        return "worse" if one.size_bytes > strip.most else ""

    return (
        Rows([(strip, one) for strip in strips for one in strip.used])
        .text("function", lambda row: row[0].probe)
        .number("ranks", lambda row: row[0].ranks)
        .number("size", lambda row: row[1].size_bytes, format_size)
        .number("calls of a rank", lambda row: row[1].calls, lambda calls: whole(round(calls)))
        .number("share of the time", lambda row: row[1].share, percent)
        .number("measured up to", lambda row: row[0].most, format_size, tone=tone)
        .table()
    )


EXHIBIT = Coverage()
