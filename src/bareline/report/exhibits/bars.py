"""Single numbers as bars from zero, with every trial visible."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.analysis.cell import Cell
from bareline.report.content.document import Document
from bareline.report.content.published import points_for
from bareline.report.content.wording import sentence_case, summed_up, verdict_word
from bareline.report.exhibits.barpanel import BarExhibit, Bars
from bareline.report.exhibits.columns import cells_table
from bareline.report.figures.figure import Figure
from bareline.vocabulary.exhibit import ExhibitSpec


class BarsOfTrials(BarExhibit):
    """One bar per platform, grouped by metric and parameters of the same unit."""

    kind = "bars"
    summary = "single numbers as bars from zero, with every trial as a dot"

    def draw(self, document: Document, spec: ExhibitSpec, cells: Sequence[Cell]) -> Figure:
        """Draw the medians, and beside each its trials."""
        published = points_for(document.published, spec, cells, document.baseline)
        bars = Bars.around(document, cells, published=published)
        probe = cells[0].place.probe
        return self.figure(
            spec,
            probe,
            *bars.metrics[:1],
            title=sentence_case(bars.names),
            notes=bars.notes,
            cells=cells,
            probe=probe,
            panels=bars.panels(),
            published=published,
            summary=f"{probe}, medians. {_summary(bars)}",
            table=cells_table(cells, published),
        )


def _summary(bars: Bars) -> str:
    scale = bars.scale

    def told(cell: Cell) -> str:
        if cell.value is None:
            return f"{cell.platform} {verdict_word(cell.verdict) or 'missing'}"
        return f"{cell.platform} {scale.show(cell.median)} {scale.unit}"

    return summed_up({label: map(told, cells) for label, cells in bars.groups})


EXHIBIT = BarsOfTrials()
