"""Medians with their intervals and ratios, one row per value and platform."""

from __future__ import annotations

from bareline.report.content.document import Document
from bareline.report.content.published import points_for
from bareline.report.content.wording import metric_name, sentence_case
from bareline.report.exhibits.base import Exhibit, grouped_by, select
from bareline.report.exhibits.columns import cells_table
from bareline.report.figures.figure import Figure
from bareline.vocabulary.exhibit import ExhibitSpec


class Table(Exhibit):
    """The numbers themselves, for whoever wants to check them."""

    kind = "table"
    summary = "medians with intervals, ratios and verdicts, one row per value and platform"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Give one table per probe and unit, so that the unit can stand in the head."""
        groups = grouped_by(
            select(document, spec), lambda cell: (cell.place.probe, cell.metric.unit)
        )
        drawn = []
        for (probe, unit), cells in groups.items():
            metrics = dict.fromkeys(metric_name(cell.place.metric) for cell in cells)
            points = points_for(document.published, spec, cells, document.baseline)
            drawn.append(
                self.figure(
                    spec,
                    probe,
                    unit,
                    title=sentence_case(", ".join(metrics)),
                    cells=cells,
                    probe=probe,
                    table=cells_table(cells, points),
                )
            )
        return drawn


EXHIBIT = Table()
