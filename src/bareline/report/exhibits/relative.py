"""A metric of several probes relative to the baseline along ranks: one small panel per probe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from bareline.report.cells import Cell, is_number, varying
from bareline.report.document import Document, ExhibitSpec, sentence_case, slug
from bareline.report.exhibits.base import (
    Chart,
    Column,
    DataTable,
    Exhibit,
    Field,
    Figure,
    heading,
    inline,
    raw,
    select,
)
from bareline.report.exhibits.curve import Axes
from bareline.report.exhibits.marks import bands, labels, lines, marks, reference, x_axis, y_axis
from bareline.report.exhibits.table import ratio_fields
from bareline.report.theme import colour, looks
from bareline.report.wording import (
    axis_title,
    caveat_notes,
    count,
    describe,
    metric_name,
    parameter_name,
    parameter_value,
    ratio_phrase,
)
from bareline.units import listing

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
            if cell.ratio is not None and is_number(cell.coordinates.get(x)):
                groups.setdefault((cell.layer, cell.metric), []).append(cell)
        return [
            _figure(document, spec, x, cells)
            for cells in groups.values()
            if len({cell.coordinates[x] for cell in cells}) > 1
        ]


def _figure(document: Document, spec: ExhibitSpec, x: str, cells: Sequence[Cell]) -> Figure:
    names = [name for name in varying(cells) if name != x]
    panels: dict[str, list[Cell]] = {}
    for cell in cells:
        title = document.probe_titles.get(cell.probe, cell.probe)
        title = ", ".join(filter(None, [sentence_case(title), describe(cell, names)]))
        panels.setdefault(title, []).append(cell)
    axes = Axes.around(cells, x)
    metric = metric_name(cells[0].metric)
    compared = f"{sentence_case(metric)} relative to {document.baseline}, by {parameter_name(x)}"
    return Figure(
        id=slug("relative", cells[0].layer, cells[0].metric, spec.title),
        title=spec.title or compared,
        caption=" ".join(
            filter(None, [spec.caption, "Above 1 is worse; bands are 95 % intervals."])
        ),
        layer=cells[0].layer,
        panels=tuple(_panel(document, title, x, axes, own) for title, own in panels.items()),
        wide=True,
        text_summary=_summary(document, metric, x, panels),
        caveats=caveat_notes(cells),
        data_table=_table(x, panels),
    )


def _panel(document: Document, title: str, x: str, axes: Axes, cells: Sequence[Cell]) -> Chart:
    styles = looks(document.names)
    rows: list[dict[str, Any]] = []
    for cell in cells:
        look = styles[cell.platform]
        at = parameter_value(x, cell.coordinates[x])
        rows.append(
            {
                "x": axes.place(cell.coordinates[x]),
                "y": cell.ratio,
                "lo": cell.ratio_lo,
                "hi": cell.ratio_hi,
                "series": cell.platform,
                "colour": look.colour,
                "fill": colour("paper") if cell.simulated else look.colour,
                "shape": look.shape,
                "tip": f"{cell.platform}, {at}: {ratio_phrase(cell)}",
            }
        )
    across, up = x_axis(axes.x, axis_title(x), labels=True), y_axis(axes.ratio)
    return alt.layer(
        *reference(document.method.margin, axes.ratio, WIDTH_PX),
        bands(rows, across, up),
        _intervals(rows, across, up),
        lines(rows, across, up),
        marks(rows, across, up),
        *labels(rows, axes.ratio, WIDTH_PX, HEIGHT_PX),
    ).properties(width=WIDTH_PX, height=HEIGHT_PX, title=heading(title, WIDTH_PX + 100))


def _intervals(rows: Sequence[dict[str, Any]], across: alt.X, up: alt.Y) -> alt.Chart:
    """Draw the interval of each value as a line, too: a band needs a neighbour."""
    held = [{**row, "y": row["lo"]} for row in rows if row["lo"] is not None]
    chart: alt.Chart = (
        alt.Chart(inline(held))
        .mark_rule(strokeWidth=1, opacity=0.5, aria=False)
        .encode(x=across, y=up, y2=alt.Y2(field="hi"), stroke=raw(alt.Stroke, "colour"))
    )
    return chart


def _table(x: str, panels: dict[str, list[Cell]]) -> DataTable:
    rows: list[tuple[Field, ...]] = []
    starts: set[int] = set()
    for title, cells in panels.items():
        starts.add(len(rows))
        for cell in sorted(cells, key=lambda cell: (float(cell.coordinates[x]), cell.platform)):
            ratio, interval, verdict = ratio_fields(cell)
            place = Field(parameter_value(x, cell.coordinates[x]), float(cell.coordinates[x]))
            platform = Field(cell.platform, platform=cell.platform)
            trials = Field(str(cell.n), cell.n)
            rows.append((Field(title), place, platform, ratio, interval, trials, verdict))
    columns = (
        Column("benchmark", "text"),
        Column(parameter_name(x)),
        Column("platform", "text"),
        Column("ratio"),
        Column("95 %", "light"),
        Column("n"),
        Column("verdict", "text"),
    )
    return DataTable(columns, tuple(rows), frozenset(starts - {0}))


def _summary(document: Document, metric: str, x: str, panels: dict[str, list[Cell]]) -> str:
    told = [
        f"{metric} relative to {document.baseline} by {parameter_name(x)}, "
        f"{count(len(panels), 'panel')}."
    ]
    for title, cells in panels.items():
        most = max(cell.coordinates[x] for cell in cells)
        ends = [
            f"{cell.platform} {ratio_phrase(cell)}" for cell in cells if cell.coordinates[x] == most
        ]
        told.append(f"{title} at {parameter_value(x, most)}: {listing(ends)}.")
    return " ".join(told)


EXHIBIT = Relative()
