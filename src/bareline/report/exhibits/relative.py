"""A metric of several probes relative to the baseline along ranks: one small panel per probe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from bareline.analysis.cell import Cell
from bareline.report.content.anchors import slug
from bareline.report.content.cells import is_number, tidy, varying_beside
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint, beside, points_for
from bareline.report.content.wording import (
    axis_name,
    axis_title,
    caveat_notes,
    count,
    metric_name,
    ratio_phrase,
    sentence_case,
)
from bareline.report.exhibits.base import Exhibit, select
from bareline.report.exhibits.curve import DIAMONDS, Axes, published_marks
from bareline.report.exhibits.table import PUBLISHED_COLUMN, published_field, ratio_fields
from bareline.report.figures.channels import heading, inline, raw
from bareline.report.figures.figure import Chart, Column, DataTable, Field, Figure
from bareline.report.figures.marks import (
    bands,
    intervals,
    labels,
    lines,
    marks,
    reference,
    stretches,
    x_axis,
    y_axis,
)
from bareline.report.figures.theme import looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.place import parameter_value
from bareline.vocabulary.units import listing

WIDTH_PX = 300
HEIGHT_PX = 105


class Relative(Exhibit):
    """Ratios to the baseline by ranks, all probes on the same axes."""

    kind = "relative"
    summary = "a metric relative to the baseline by ranks, one small panel per probe"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one figure per layer and metric in which a probe is compared at two places."""
        x = spec.x or "ranks"
        groups: dict[tuple[str, str], list[Cell]] = {}
        for cell in select(document, spec):
            if is_number(cell.place.coordinates.get(x)):
                groups.setdefault((cell.layer, cell.place.metric), []).append(cell)
        return [
            _figure(document, spec, x, cells)
            for cells in groups.values()
            if len({cell.place.coordinates[x] for cell in cells if cell.ratio is not None}) > 1
        ]


def _figure(document: Document, spec: ExhibitSpec, x: str, cells: Sequence[Cell]) -> Figure:
    names = varying_beside(cells, x)
    panels: dict[str, list[Cell]] = {}
    for cell in cells:
        title = document.probe_titles.get(cell.place.probe, cell.place.probe)
        title = ", ".join(filter(None, [sentence_case(title), cell.place.told(names)]))
        panels.setdefault(title, []).append(cell)
    places = {title: {cell.place.coordinates[x] for cell in own} for title, own in panels.items()}
    panels = {
        title: found
        for title, own in panels.items()
        if (found := [cell for cell in own if cell.ratio is not None])
    }
    cells = [cell for own in panels.values() for cell in own]
    published = points_for(document.published, spec, cells, document.baseline)
    axes = Axes.around(cells, x, published=published)
    metric = metric_name(cells[0].place.metric)
    compared = f"{sentence_case(metric)} relative to {document.baseline}, by {axis_name(x)}"
    return Figure(
        id=slug("relative", cells[0].layer, cells[0].place.metric, spec.title),
        title=spec.title or compared,
        caption=" ".join(
            filter(
                None,
                [
                    spec.caption,
                    "Above 1 is worse; bands are 95 % intervals.",
                    DIAMONDS if published else "",
                ],
            )
        ),
        layer=cells[0].layer,
        panels=tuple(
            _panel(document, title, x, axes, own, places[title], published)
            for title, own in panels.items()
        ),
        wide=True,
        text_summary=_summary(document, metric, x, panels),
        caveats=caveat_notes(cells),
        data_table=_table(x, panels, published),
        data=tidy(cells),
    )


def _panel(
    document: Document,
    title: str,
    x: str,
    axes: Axes,
    cells: Sequence[Cell],
    places: Iterable[Scalar],
    published: Sequence[PublishedPoint],
) -> Chart:
    styles = looks(document.names)
    rows: list[dict[str, Any]] = []
    for cell in cells:
        assert cell.ratio is not None
        at = parameter_value(x, cell.place.coordinates[x])
        rows.append(
            {
                "x": axes.place(cell.place.coordinates[x]),
                "y": cell.ratio.value,
                "lo": cell.ratio.lo,
                "hi": cell.ratio.hi,
                "series": cell.platform,
                **styles[cell.platform].ink(hollow=cell.simulated),
                "tip": f"{cell.platform}, {at}: {ratio_phrase(cell)}",
            }
        )
    rows = stretches(rows, (axes.place(place) for place in places))
    across, up = x_axis(axes.x, axis_title(x), labels=True), y_axis(axes.ratio)
    return alt.layer(
        *reference(document.method.margin, axes.ratio, WIDTH_PX),
        bands(rows, across, up),
        _intervals(rows, across, up),
        lines(rows, across, up),
        marks(rows, across, up),
        *published_marks(document.names, published, cells, x, axes, across, up),
        *labels(rows, axes.ratio, WIDTH_PX, HEIGHT_PX),
    ).properties(width=WIDTH_PX, height=HEIGHT_PX, title=heading(title, WIDTH_PX + 100))


def _intervals(rows: Sequence[dict[str, Any]], across: alt.X, up: alt.Y) -> alt.Chart:
    """Draw the interval of each value as a line, too: a band needs a neighbour."""
    held = intervals(rows, up)
    chart: alt.Chart = (
        alt.Chart(inline(held))
        .mark_rule(strokeWidth=1, opacity=0.5, aria=False)
        .encode(x=across, y=up, y2=alt.Y2(field="hi"), stroke=raw(alt.Stroke, "colour"))
    )
    return chart


def _table(x: str, panels: dict[str, list[Cell]], published: Sequence[PublishedPoint]) -> DataTable:
    rows: list[tuple[Field, ...]] = []
    starts: set[int] = set()
    for title, cells in panels.items():
        starts.add(len(rows))
        for cell in sorted(
            cells, key=lambda cell: (float(cell.place.coordinates[x]), cell.platform)
        ):
            ratio, interval, verdict = ratio_fields(cell)
            place = Field(
                parameter_value(x, cell.place.coordinates[x]), float(cell.place.coordinates[x])
            )
            platform = Field(cell.platform, platform=cell.platform)
            trials = Field(str(cell.n), cell.n)
            told = published_field(beside(published, cell))
            row = (Field(title), place, platform, ratio, interval, trials, verdict)
            rows.append((*row, told) if published else row)
    columns = (
        Column("benchmark", "text"),
        Column(axis_name(x)),
        Column("platform", "text"),
        Column("ratio"),
        Column("95 %", "light"),
        Column("n"),
        Column("verdict", "text"),
        *((PUBLISHED_COLUMN,) if published else ()),
    )
    return DataTable(columns, tuple(rows), frozenset(starts - {0}))


def _summary(document: Document, metric: str, x: str, panels: dict[str, list[Cell]]) -> str:
    told = [
        f"{metric} relative to {document.baseline} by {axis_name(x)}, "
        f"{count(len(panels), 'panel')}."
    ]
    for title, cells in panels.items():
        most = max(cell.place.coordinates[x] for cell in cells)
        ends = [
            f"{cell.platform} {ratio_phrase(cell)}"
            for cell in cells
            if cell.place.coordinates[x] == most
        ]
        told.append(f"{title} at {parameter_value(x, most)}: {listing(ends)}.")
    return " ".join(told)


EXHIBIT = Relative()
