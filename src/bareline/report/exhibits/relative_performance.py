"""Performance relative to the baseline at its fewest ranks, log-log, as Magellan draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from bareline.analysis.cell import Cell
from bareline.report.content.anchors import slug
from bareline.report.content.cells import is_number, tidy, varying_beside
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint, points_for
from bareline.report.content.wording import (
    axis_name,
    axis_title,
    caveat_notes,
    metric_name,
    sentence_case,
)
from bareline.report.exhibits.base import Exhibit, select
from bareline.report.exhibits.curve import parameter_axis
from bareline.report.figures.channels import heading, inline
from bareline.report.figures.figure import Chart, Column, DataTable, Field, Figure
from bareline.report.figures.marks import (
    bands,
    diamonds,
    labels,
    lines,
    marks,
    spans,
    stretches,
    x_axis,
    y_axis,
)
from bareline.report.figures.scales import Ticks, log_ticks
from bareline.report.figures.theme import colour, looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import parameter_value
from bareline.vocabulary.units import listing, plain

WIDTH_PX = 300
HEIGHT_PX = 220


class RelativePerformance(Exhibit):
    """Speed as a multiple of the baseline's at its fewest ranks, with the ideal line."""

    kind = "relative-performance"
    summary = "speed against the baseline's at its fewest ranks, log-log, with the ideal line"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one panel per probe and case; only where the baseline has its fewest ranks."""
        x = spec.x or "ranks"
        cells = [
            cell
            for cell in select(document, spec)
            if cell.metric.better in ("lower", "higher")
            and is_number(cell.place.coordinates.get(x))
        ]
        panels: dict[str, list[Cell]] = {}
        names = varying_beside(cells, x)
        for cell in cells:
            title = sentence_case(document.probe_titles.get(cell.place.probe, cell.place.probe))
            metric = "" if cell.headline else metric_name(cell.place.metric)
            title = ", ".join(filter(None, [title, metric, cell.place.told(names)]))
            panels.setdefault(title, []).append(cell)
        lines = {title: speeds(document.baseline, own, x) for title, own in panels.items()}
        lines = {title: own for title, own in lines.items() if len({r for _, r, *_ in own}) > 1}
        return [_figure(document, spec, x, panels, lines)] if lines else []


#: A cell, its ranks, its relative speed and the ends of that.
_Speed = tuple[Cell, float, float, float | None, float | None]


def speeds(baseline: str, cells: Sequence[Cell], x: str) -> list[_Speed]:
    """Divide speeds by the baseline's at its fewest ranks.

    Nothing where that is missing or zero. Simulated speeds are divided by simulated ones, measured
    ones by measured ones, so that neither passes for the other.
    """
    found: list[_Speed] = []
    for cell in cells:
        bases = [
            one
            for one in cells
            if one.platform == baseline and one.median and one.simulated == cell.simulated
        ]
        base = min(bases, key=lambda one: float(one.place.coordinates[x]), default=None)
        if base is None or not base.median or not cell.value:
            continue
        unit = base.median

        def speed(value: float | None, unit: float = unit, cell: Cell = cell) -> float | None:
            if not value:
                return None
            return unit / value if cell.metric.better == "lower" else value / unit

        own = speed(cell.value.value)
        ends = sorted(
            end for end in (speed(cell.value.lo), speed(cell.value.hi)) if end is not None
        )
        low, high = (ends[0], ends[1]) if len(ends) == 2 else (None, None)
        if own:
            found.append((cell, float(cell.place.coordinates[x]), own, low, high))
    return found


def _figure(
    document: Document,
    spec: ExhibitSpec,
    x: str,
    panels: Mapping[str, Sequence[Cell]],
    found: Mapping[str, Sequence[_Speed]],
) -> Figure:
    every = [speed for own in found.values() for speed in own]
    cells = [cell for cell, *_ in every]
    points = points_for(document.published, spec, cells, document.baseline)
    placed = {title: _diamonds(document, own, x, points) for title, own in found.items()}
    printed = [row[key] for rows in placed.values() for row in rows for key in ("lo", "hi")]
    values = [value for _, _, *ends in every for value in ends if value]
    ticks = log_ticks([*values, *printed, 1.0])
    across, _ = parameter_axis(x, {ranks for _, ranks, *_ in every})
    layers = {cell.layer for cell in cells}
    base = f"{document.baseline} at its fewest {axis_name(x)}"
    return Figure(
        id=slug("relative-performance", spec.probe or "", spec.metric or "", spec.title),
        title=spec.title or f"Performance relative to {base}",
        caption=" ".join(
            filter(
                None,
                [
                    spec.caption,
                    f"Above is faster. Dashed: ideal scaling of {base}.",
                    "Diamonds: where the printed loss against the baseline of as many "
                    f"{axis_name(x)} would put a platform; hovering names the source."
                    if printed
                    else "",
                ],
            )
        ),
        layer=cells[0].layer if len(layers) == 1 else "",
        panels=tuple(
            _panel(document, title, x, across, ticks, panels[title], own, placed[title])
            for title, own in found.items()
        ),
        wide=True,
        text_summary=_summary(document, x, found),
        caveats=caveat_notes(cells),
        data_table=_table(x, found),
        data=tidy(cells),
    )


def _diamonds(
    document: Document, found: Sequence[_Speed], x: str, points: Sequence[PublishedPoint]
) -> list[dict[str, Any]]:
    """Place published ratios under the baseline's speed at as many ranks."""
    styles = looks(document.names)
    bases = {ranks: speed for cell, ranks, speed, *_ in found if cell.platform == document.baseline}
    rows = []
    for cell, ranks, *_ in found:
        for point in points:
            told = any(low <= ranks <= high for low, high in point.places(x))
            if ranks in bases and told and point.about(cell):
                ends = [bases[ranks] / (end or point.middle) for end in (point.high, point.low)]
                rows.append(
                    {"x": ranks, "y": bases[ranks] / point.middle, "lo": ends[0], "hi": ends[1],
                     "colour": styles[cell.platform].colour, "tip": point.tip}
                )  # fmt: skip
    return rows


def _panel(
    document: Document,
    title: str,
    x: str,
    across_ticks: Ticks,
    ticks: Ticks,
    cells: Sequence[Cell],
    found: Sequence[_Speed],
    printed: Sequence[dict[str, Any]],
) -> Chart:
    styles = looks(document.names)
    rows: list[dict[str, Any]] = []
    for cell, ranks, speed, low, high in found:
        rows.append(
            {
                "x": ranks,
                "y": speed,
                "lo": low,
                "hi": high,
                "series": cell.platform,
                **styles[cell.platform].ink(hollow=cell.simulated),
                "tip": f"{cell.platform}, {parameter_value(x, ranks)} {axis_name(x)}: "
                f"{plain(speed)} times the baseline's fewest, n = {cell.n}",
            }
        )
    rows = stretches(rows, [float(cell.place.coordinates[x]) for cell in cells])
    start = min(
        (ranks for cell, ranks, *_ in found if cell.platform == document.baseline), default=None
    )
    low, high = ticks.domain
    ideal = []
    if start is not None:
        end = min(max(row["x"] for row in rows), start * high)
        ideal = [{"x": start, "y": 1.0}, {"x": end, "y": end / start}]
    across, up = x_axis(across_ticks, axis_title(x), labels=True), y_axis(ticks)
    return alt.layer(
        alt.Chart(inline([row for row in ideal if low <= row["y"] <= high]))
        .mark_line(color=colour("baseline"), strokeDash=[4, 3], strokeWidth=1, aria=False)
        .encode(x=across, y=up),
        bands(rows, across, up),
        lines(rows, across, up),
        marks(rows, across, up),
        *((spans(printed, across, up), diamonds(printed, across, up)) if printed else ()),
        *labels(rows, ticks, WIDTH_PX, HEIGHT_PX),
    ).properties(width=WIDTH_PX, height=HEIGHT_PX, title=heading(title, WIDTH_PX + 100))


def _table(x: str, found: Mapping[str, Sequence[_Speed]]) -> DataTable:
    rows = []
    for title, own in found.items():
        for cell, ranks, speed, low, high in own:
            bounds = "" if low is None or high is None else f"{plain(low)}–{plain(high)}"
            rows.append(
                (
                    Field(title),
                    Field(cell.platform, platform=cell.platform),
                    Field(parameter_value(x, ranks), ranks),
                    Field(plain(speed), speed, caveats=cell.caveats),
                    Field(bounds, low),
                    Field(str(cell.n), cell.n),
                )
            )
    columns = (
        Column("benchmark", "text"),
        Column("platform", "text"),
        Column(axis_name(x)),
        Column("relative performance"),
        Column("95 %", "light"),
        Column("n"),
    )
    return DataTable(columns, tuple(rows))


def _summary(document: Document, x: str, found: Mapping[str, Sequence[_Speed]]) -> str:
    told = []
    for title, own in found.items():
        ends = []
        for name in document.names:
            line = sorted((row for row in own if row[0].platform == name), key=lambda row: row[1])
            if line:
                ends.append(f"{name} {plain(line[-1][2])} at {parameter_value(x, line[-1][1])}")
        told.append(f"{title}: {listing(ends)}")
    return f"Performance relative to {document.baseline}. {'; '.join(told)}."


EXHIBIT = RelativePerformance()
