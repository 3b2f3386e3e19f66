"""A kind of exhibit: how many points and trials stand behind each metric."""

from __future__ import annotations

from bareline.report.content.document import Document
from bareline.report.exhibits.base import Exhibit, by_metric, select
from bareline.report.figures.figure import Column, DataTable, Field, Figure
from bareline.vocabulary.exhibit import ExhibitSpec


class Points(Exhibit):
    """A table with a row per metric."""

    kind = "points"
    summary = "how many points of each metric there are"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Give one table, or none."""
        rows = tuple(
            (Field(f"{probe} {metric}"), Field(str(len(cells)), order=float(len(cells))))
            for (probe, metric), cells in by_metric(select(document, spec))
        )
        if not rows:
            return []
        columns = (Column("metric", "text"), Column("points"))
        title = spec.title or "Points of each metric"
        return [
            Figure(
                id="points",
                title=title,
                probe=spec.probe or "",
                data_table=DataTable(columns=columns, rows=rows),
            )
        ]


EXHIBIT = Points()
