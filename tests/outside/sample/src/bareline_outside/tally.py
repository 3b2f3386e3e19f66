"""A kind of exhibit: how many points stand behind each metric."""

from __future__ import annotations

from collections.abc import Iterator

from bareline.report.blocks import Figure, Rows
from bareline.report.content.document import Document
from bareline.report.exhibits.base import Exhibit, by_metric, figure_of, select
from bareline.vocabulary.exhibit import ExhibitSpec


def tally(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    """Yield one table with a row per metric, or none."""
    groups = list(by_metric(select(document, spec)))
    if groups:
        rows = Rows(groups)
        rows.text("metric", lambda group: " ".join(group[0]))
        rows.number("points", lambda group: len(group[1]))
        title = "Points of each metric"
        yield figure_of(spec, title=title, probe=spec.probe or "", table=rows.table())


EXHIBIT = Exhibit("tally", "how many points of each metric there are", tally)
