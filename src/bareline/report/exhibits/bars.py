"""Single numbers as bars from zero, with every trial visible."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.analysis.cell import Cell
from bareline.report.content.anchors import slug
from bareline.report.content.cells import tidy
from bareline.report.content.document import Document
from bareline.report.content.published import points_for
from bareline.report.content.wording import caveat_notes, sentence_case, verdict_word
from bareline.report.exhibits.barpanel import DIAMONDS, BarExhibit, BarPanel, Bars, Group
from bareline.report.exhibits.table import cells_table
from bareline.report.figures.figure import Figure
from bareline.report.figures.scales import Scale
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.units import listing


class BarsOfTrials(BarExhibit):
    """One bar per platform, grouped by metric and parameters of the same unit."""

    kind = "bars"
    summary = "single numbers as bars from zero, with every trial as a dot"

    def figure(self, document: Document, spec: ExhibitSpec, cells: Sequence[Cell]) -> Figure:
        """Draw the medians, and beside each its trials."""
        published = points_for(document.published, spec, cells, document.baseline)
        bars = Bars.around(document, cells, published=published)
        note = DIAMONDS if bars.published else ""
        return Figure(
            id=slug("bars", cells[0].place.probe, *bars.metrics[:1], spec.title),
            title=spec.title or sentence_case(bars.names),
            caption=" ".join(filter(None, [spec.caption, bars.note, note])),
            probe=cells[0].place.probe,
            layer=cells[0].layer,
            panels=tuple(
                BarPanel(document, bars, chunk).chart()
                for chunk in bars.chunks(len(document.names))
            ),
            wide=True,
            text_summary=_summary(bars.groups, bars.scale),
            caveats=caveat_notes(cells),
            data_table=cells_table(cells, bars.published),
            data=tidy(cells),
        )


def _summary(groups: Sequence[Group], scale: Scale) -> str:
    parts = []
    for label, cells in groups[:6]:
        values = [
            f"{cell.platform} {scale.show(cell.median)} {scale.unit}"
            if cell.value is not None
            else f"{cell.platform} {verdict_word(cell.verdict) or 'missing'}"
            for cell in cells
        ]
        parts.append(f"{label + ': ' if label else ''}{listing(values)}")
    rest = f" And {len(groups) - 6} more groups." if len(groups) > 6 else ""
    return f"{groups[0][1][0].place.probe}, medians. {'; '.join(parts)}.{rest}"


EXHIBIT = BarsOfTrials()
