"""A kind of exhibit: how many points stand behind each metric."""

from __future__ import annotations

from bareline.report.blocks import Figure, Rows
from bareline.report.content.document import Document
from bareline.report.exhibits.base import Exhibit, by_metric, select
from bareline.vocabulary.exhibit import ExhibitSpec


class Tally(Exhibit):
    """A table with a row per metric."""

    kind = "tally"
    summary = "how many points of each metric there are"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Return one table, or none."""
        rows = list(by_metric(select(document, spec)))
        table = (
            Rows(rows)
            .text("metric", lambda row: " ".join(row[0]))
            .number("points", lambda row: len(row[1]))
            .table()
        )
        title = "Points of each metric"
        return [self.figure(spec, title=title, probe=spec.probe or "", table=table)] if rows else []


EXHIBIT = Tally()
