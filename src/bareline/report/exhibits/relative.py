"""A metric of several probes relative to the baseline along ranks: a line each, on one panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bareline.analysis.cell import Cell
from bareline.report.content.cells import position, varying_beside
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint, points_for
from bareline.report.content.wording import (
    axis_name,
    compared_words,
    metric_name,
    sentence_case,
    summed_up,
    told_apart,
)
from bareline.report.exhibits.along import DIAMONDS, Along, placed
from bareline.report.exhibits.base import Exhibit, grouped_by, select, titled
from bareline.report.exhibits.columns import CellRows
from bareline.report.exhibits.large import ALL_LARGE
from bareline.report.figures.figure import Chart, DataTable, Figure
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import parameter_value
from bareline.vocabulary.units import count


class Relative(Exhibit):
    """Ratios to the baseline by ranks, all probes on one panel for each platform."""

    kind = "relative"
    summary = "a metric relative to the baseline by ranks, one line per probe"

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
        lines = {
            title: found
            for title, own in every.items()
            if (found := [cell for cell in own if cell.ratio is not None])
        }
        cells = [cell for own in lines.values() for cell in own]
        platforms = [
            name for name in document.names if any(cell.platform == name for cell in cells)
        ]
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
            panels=[_panel(along, name, lines, every) for name in platforms],
            names=platforms,
            published=published,
            large=_printed_most(platforms, published),
            summary=f"{what} by {axis_name(x)}, {count(len(lines), 'line')}. {_summary(x, lines)}",
            table=_table(x, lines, published),
        )


def _panel(
    along: Along,
    platform: str,
    lines: Mapping[str, Sequence[Cell]],
    every: Mapping[str, Sequence[Cell]],
) -> Chart:
    """Draw the lines of one platform; none crosses a place where its own probe has no value."""
    shorts = dict(zip(lines, told_apart(list(lines)), strict=True))
    own = {
        shorts[title]: found
        for title, cells in lines.items()
        if (found := [cell for cell in cells if cell.platform == platform])
    }
    places = {shorts[title]: [position(cell, along.x) for cell in every[title]] for title in lines}
    strip = along.lines_strip(f"{platform}, ratio to {along.document.baseline}", own)
    return along.panel([strip], {name: places[name] for name in own})


def _printed_most(platforms: Sequence[str], published: Sequence[PublishedPoint]) -> int | None:
    """Choose the platform that most is published of; None where all have room."""
    if len(platforms) <= ALL_LARGE:
        return None
    told = [sum(point.platform == name for point in published) for name in platforms]
    return told.index(max(told))


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
