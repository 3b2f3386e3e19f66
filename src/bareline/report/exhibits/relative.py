"""A metric of several probes relative to the baseline along ranks: one small panel per probe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bareline.analysis.cell import Cell
from bareline.report.content.cells import position, varying_beside
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint, points_for
from bareline.report.content.wording import (
    axis_name,
    compared_words,
    count,
    metric_name,
    sentence_case,
    summed_up,
)
from bareline.report.exhibits.along import DIAMONDS, Along, placed
from bareline.report.exhibits.base import Exhibit, grouped_by, select, titled
from bareline.report.exhibits.columns import CellRows
from bareline.report.figures.figure import DataTable, Figure
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import parameter_value


class Relative(Exhibit):
    """Ratios to the baseline by ranks, all probes on the same axes."""

    kind = "relative"
    summary = "a metric relative to the baseline by ranks, one small panel per probe"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one figure per layer and metric in which a probe is compared at two places."""
        x = spec.x or "ranks"
        cells = placed(select(document, spec), x)
        groups = grouped_by(cells, lambda cell: (cell.layer, cell.place.metric))
        return [
            self._along(document, spec, x, own)
            for own in groups.values()
            if len({position(cell, x) for cell in own if cell.ratio is not None}) > 1
        ]

    def _along(
        self, document: Document, spec: ExhibitSpec, x: str, cells: Sequence[Cell]
    ) -> Figure:
        names = varying_beside(cells, x)
        every = grouped_by(cells, lambda cell: titled(document, cell, names, metric=False))
        panels = {
            title: found
            for title, own in every.items()
            if (found := [cell for cell in own if cell.ratio is not None])
        }
        cells = [cell for own in panels.values() for cell in own]
        published = points_for(document.published, spec, cells, document.baseline)
        along = Along.around(document, x, cells, published=published)
        metric = metric_name(cells[0].place.metric)
        what = f"{metric} relative to {document.baseline}"
        return self.figure(
            spec,
            cells[0].layer,
            cells[0].place.metric,
            title=f"{sentence_case(what)}, by {axis_name(x)}",
            notes=[
                "Above 1 is worse; bands are 95 % intervals.",
                DIAMONDS if published else "",
            ],
            cells=cells,
            panels=[
                along.panel(
                    [along.ratio_strip(own, title, named=True, whiskers=True)],
                    [position(cell, x) for cell in every[title]],
                )
                for title, own in panels.items()
            ],
            summary=f"{what} by {axis_name(x)}, {count(len(panels), 'panel')}. "
            + _summary(x, panels),
            table=_table(x, panels, published),
        )


def _table(
    x: str, panels: Mapping[str, Sequence[Cell]], published: Sequence[PublishedPoint]
) -> DataTable:
    rows = [
        (title, cell)
        for title, cells in panels.items()
        for cell in sorted(cells, key=lambda cell: (position(cell, x), cell.platform))
    ]
    return (
        CellRows(rows, lambda row: row[1], lambda row: row[0])
        .text("benchmark", lambda row: row[0])
        .parameter(x)
        .platforms()
        .ratio()
        .published(published)
        .launches()
        .table()
    )


def _summary(x: str, panels: Mapping[str, Sequence[Cell]]) -> str:
    """Say the ratios at the far end of the axis."""
    told = {}
    for title, cells in panels.items():
        most = max(cells, key=lambda cell: position(cell, x))
        at = parameter_value(x, most.place.coordinates[x])
        told[f"{title} at {at}"] = [
            f"{cell.platform} {compared_words(cell)}"
            for cell in cells
            if position(cell, x) == position(most, x)
        ]
    return summed_up(told, len(told))


EXHIBIT = Relative()
