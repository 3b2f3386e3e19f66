"""A metric by ranks: a program's with its ideal line and parallel efficiency, and the ratio."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair as alt

from bareline.report.content.anchors import slug
from bareline.report.content.cells import Cell, is_number, tidy, varying_beside
from bareline.report.content.document import Document
from bareline.report.content.efficiency import Point, each_rank, efficiencies
from bareline.report.content.published import PublishedPoint, beside, points_for
from bareline.report.content.wording import (
    axis_title,
    caveat_notes,
    count,
    describe,
    metric_name,
    parameter_name,
    parameter_value,
    sentence_case,
)
from bareline.report.exhibits.base import Exhibit, by_metric, select
from bareline.report.exhibits.curve import DIAMONDS, Axes, published_marks
from bareline.report.exhibits.table import PUBLISHED_COLUMN, published_field, ratio_fields
from bareline.report.figures.channels import heading, inline
from bareline.report.figures.figure import Chart, Column, DataTable, Field, Figure
from bareline.report.figures.marks import (
    bands,
    labels,
    lines,
    marks,
    reference,
    stretches,
    x_axis,
    y_axis,
)
from bareline.report.figures.scales import Ticks, log_ticks
from bareline.report.figures.theme import colour, looks
from bareline.store.header import ExhibitSpec
from bareline.vocabulary.model import Layer, Scalar, parse_point
from bareline.vocabulary.units import listing

WIDTH_PX = 300
VALUE_HEIGHT_PX = 180
EFFICIENCY_HEIGHT_PX = 105
#: Layers whose probes solve a problem, which more ranks are to solve sooner.
PROGRAMS = (Layer.COMPUTE, Layer.NPB, Layer.APP)


class Scaling(Exhibit):
    """Values by ranks; of programs with each platform's ideal line and parallel efficiency.

    An MPI function does more with more ranks: it has no ideal line.
    """

    kind = "scaling"
    summary = "a metric by ranks, a program's with ideal line and efficiency, and the ratio"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one figure per probe and metric that was measured on two numbers of ranks."""
        x = spec.x or "ranks"
        drawn = []
        for _, cells in by_metric(select(document, spec)):
            placed = [
                cell
                for cell in cells
                if cell.better in ("lower", "higher") and is_number(cell.coordinates.get(x))
            ]
            known = {cell.coordinates[x] for cell in placed if cell.value}
            if len(known) > 1:
                drawn.append(_figure(document, spec, x, placed))
        return drawn


def _figure(document: Document, spec: ExhibitSpec, x: str, cells: Sequence[Cell]) -> Figure:
    weak = spec.scaling == "weak"
    growing = document.growing.get(cells[0].probe, ()) if weak else ()
    names = varying_beside([each_rank(cell, growing) for cell in cells], x)
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(describe(each_rank(cell, growing), names), []).append(cell)
    samples = document.metric_samples.get((cells[0].probe, cells[0].metric))
    points = {
        title: {
            name: efficiencies(
                [cell for cell in own if cell.platform == name], x, weak=weak, samples=samples
            )
            for name in document.names
        }
        for title, own in groups.items()
    }
    published = points_for(document.published, spec, cells, document.baseline)
    axes = Axes.around([cell for cell in cells if cell.value is not None], x, published=published)
    program = cells[0].layer in PROGRAMS
    shares = [
        value
        for own in points.values()
        for line in own.values()
        for point in line
        for value in (point.efficiency, point.low, point.high)
        if value
    ]
    ticks = log_ticks([100.0, *shares])
    metric = metric_name(cells[0].metric)
    ideal = "the problem grows with the ranks" if weak else "the same problem on more ranks"
    return Figure(
        id=slug("scaling", cells[0].probe, cells[0].metric, spec.title),
        title=spec.title
        or f"{sentence_case(metric)} by {parameter_name(x)}{', and efficiency' if program else ''}",
        caption=" ".join(
            filter(
                None,
                [
                    spec.caption,
                    f"Dashed: ideal from each platform's own fewest {parameter_name(x)} ({ideal})."
                    if program
                    else "",
                    _starts(x, points) if program else "",
                    DIAMONDS if published else "",
                ],
            )
        ),
        probe=cells[0].probe,
        layer=cells[0].layer,
        panels=tuple(
            _panel(
                document,
                title,
                x,
                axes,
                ticks,
                groups[title],
                own,
                published,
                places=_places(document, groups[title], x, names, growing),
                weak=weak,
            )
            for title, own in points.items()
        ),
        wide=True,
        text_summary=_summary(x, points),
        caveats=caveat_notes(cells),
        data_table=_table(x, axes, points, metric, published, program=program),
        data=tidy(cells),
    )


def _places(
    document: Document,
    cells: Sequence[Cell],
    x: str,
    names: Collection[str],
    growing: Collection[str],
) -> list[float]:
    """Give every place of the axis at which a panel's cases were to be measured.

    A case that failed everywhere, or fits nowhere, has no cell and still is a gap.
    """
    there = {_line(each_rank(cell, growing), names) for cell in cells}
    places = {float(cell.coordinates[x]) for cell in cells}
    if x in ("ranks", "nodes", "threads"):
        for row in document.planned.filter(probe=cells[0].probe).iter_rows(named=True):
            case = replace(cells[0], **row)
            if row[x] and _line(each_rank(case, growing), names) in there:
                places.add(float(row[x]))
    return sorted(places)


def _line(cell: Cell, names: Collection[str]) -> tuple[object, ...]:
    """Tell the lines of a panel apart, but for what varies inside a trial."""
    inside = parse_point(cell.point)
    shown = {name: cell.coordinates.get(name) for name in names if name not in inside}
    return (cell.params, cell.threads, *sorted(shown.items()))


def _starts(x: str, points: Mapping[str, Mapping[str, Sequence[Point]]]) -> str:
    """Say where efficiency begins on each platform, where that is not the same everywhere."""
    starts = {
        (name, line[0].ranks) for own in points.values() for name, line in own.items() if line
    }
    if len({ranks for _, ranks in starts}) < 2:
        return ""
    told = [f"{name} {_whole(x, ranks)}" for name, ranks in sorted(starts)]
    return f"Efficiency is 100 % at different places: {listing(told)}."


def _panel(
    document: Document,
    title: str,
    x: str,
    axes: Axes,
    efficiency: Ticks,
    cells: Sequence[Cell],
    points: Mapping[str, Sequence[Point]],
    published: Sequence[PublishedPoint],
    *,
    places: Sequence[float],
    weak: bool,
) -> Chart:
    styles = looks(document.names)
    values: list[dict[str, Any]] = []
    shares: list[dict[str, Any]] = []
    ideals: list[dict[str, Any]] = []
    ratios: list[dict[str, Any]] = []
    program = cells[0].layer in PROGRAMS
    for name, line in points.items():
        for point in line:
            cell, look = point.cell, styles[name]
            base = {
                "x": axes.place(cell.coordinates[x]),
                "series": name,
                "colour": look.colour,
                "fill": colour("paper") if cell.simulated else look.colour,
                "shape": look.shape,
                "tip": _tip(axes, x, point, program=program),
            }
            factor = axes.scale.factor
            assert cell.value is not None
            values.append(
                {
                    **base,
                    "y": cell.value * factor,
                    "lo": cell.lo * factor if cell.lo else None,
                    "hi": cell.hi * factor if cell.hi else None,
                }
            )
            if cell.ratio is not None:
                ratios.append({**base, "y": cell.ratio, "lo": cell.ratio_lo, "hi": cell.ratio_hi})
            if point.efficiency and program:
                shares.append(
                    {**base, "y": point.efficiency, "lo": point.low, "hi": point.high}
                )  # fmt: skip
        if program:
            ideals += _ideal(axes, line, styles[name].colour, name, weak=weak)
    name = axes.scale.titled(metric_name(cells[0].metric))
    rows, parts = stretches(values, places), stretches(shares, places)
    across, up = x_axis(axes.x, axis_title(x), labels=False), y_axis(axes.y)
    upper = alt.layer(
        _dashes(ideals, across, up),
        bands(rows, across, up),
        lines(rows, across, up),
        marks(rows, across, up),
        *labels(rows, axes.y, WIDTH_PX, VALUE_HEIGHT_PX),
    ).properties(
        width=WIDTH_PX,
        height=VALUE_HEIGHT_PX,
        title=heading(sentence_case(f"{title}: {name}" if title else name), WIDTH_PX + 100),
    )
    below, share = x_axis(axes.x, axis_title(x), labels=not ratios), y_axis(efficiency)
    lower = alt.layer(
        alt.Chart(inline([{"y": 100}]))
        .mark_rule(color=colour("baseline"), strokeDash=[4, 3], aria=False)
        .encode(y=share),
        bands(parts, below, share),
        lines(parts, below, share),
        marks(parts, below, share),
    ).properties(
        width=WIDTH_PX,
        height=EFFICIENCY_HEIGHT_PX,
        title=heading("Parallel efficiency (%)", WIDTH_PX + 100),
    )
    drawn: list[Chart] = [upper, *([lower] if program else [])]
    if ratios or not program:
        drawn.append(_ratio_panel(document, x, axes, cells, stretches(ratios, places), published))
    return alt.vconcat(*drawn, spacing=8)


def _ratio_panel(
    document: Document,
    x: str,
    axes: Axes,
    cells: Sequence[Cell],
    rows: Sequence[dict[str, Any]],
    published: Sequence[PublishedPoint],
) -> Chart:
    across, up = x_axis(axes.x, axis_title(x), labels=True), y_axis(axes.ratio)
    return alt.layer(
        *reference(document.method.margin, axes.ratio, WIDTH_PX),
        bands(rows, across, up),
        lines(rows, across, up),
        marks(rows, across, up),
        *published_marks(document.names, published, cells, x, axes, across, up),
    ).properties(
        width=WIDTH_PX,
        height=EFFICIENCY_HEIGHT_PX,
        title=heading(f"Ratio to {document.baseline} (above 1 is worse)", WIDTH_PX + 100),
    )


def _ideal(
    axes: Axes, line: Sequence[Point], ink: str, name: str, *, weak: bool
) -> list[dict[str, Any]]:
    """Lay out the ideal line from the first point to the last, within the axes."""
    if len(line) < 2 or line[0].cell.value is None:
        return []
    first, last = line[0], line[-1]
    start = line[0].cell.value * axes.scale.factor
    power = 1.0 if first.cell.better == "higher" else (0.0 if weak else -1.0)
    low, high = axes.y.domain
    rows = []
    for step in range(21):
        ranks = first.ranks * (last.ranks / first.ranks) ** (step / 20)
        value = start * (ranks / first.ranks) ** power
        if low <= value <= high:
            rows.append({"x": ranks, "y": value, "colour": ink, "stretch": name})
    return rows


def _dashes(rows: Sequence[dict[str, Any]], x: alt.X, y: alt.Y) -> alt.Chart:
    chart: alt.Chart = (
        alt.Chart(inline(rows))
        .mark_line(strokeWidth=1, strokeDash=[4, 3], opacity=0.8, aria=False)
        .encode(
            x=x,
            y=y,
            stroke=alt.Stroke(field="colour", type="nominal", scale=None, legend=None),
            detail="stretch:N",
        )
    )
    return chart


def _tip(axes: Axes, x: str, point: Point, *, program: bool) -> str:
    cell = point.cell
    at: Scalar = cell.coordinates[x]
    text = f"{cell.platform}, {parameter_value(x, at)} {parameter_name(x)}: "
    text += f"{axes.scale.show(cell.value)} {axes.scale.unit}, n = {cell.n}"
    told = program and point.efficiency
    return text + (f"; efficiency {told:.0f} %" if told else "")


def _table(
    x: str,
    axes: Axes,
    points: Mapping[str, Mapping[str, Sequence[Point]]],
    metric: str,
    published: Sequence[PublishedPoint],
    *,
    program: bool,
) -> DataTable:
    several = len(points) > 1
    rows = []
    for title, own in points.items():
        for name, line in own.items():
            for point in line:
                cell = point.cell
                bounds = "" if point.low is None else f"{point.low:.0f}–{point.high:.0f}"
                share = "–" if point.efficiency is None else f"{point.efficiency:.0f}"
                efficiency = (Field(share, point.efficiency), Field(bounds, point.low))
                rows.append(
                    (
                        *([Field(title)] if several else []),
                        Field(name, platform=name),
                        Field(parameter_value(x, cell.coordinates[x]), point.ranks),
                        Field(axes.scale.show(cell.value), cell.value, caveats=cell.caveats),
                        *(efficiency if program else ()),
                        Field(str(cell.n), cell.n),
                        *ratio_fields(cell),
                        *([published_field(beside(published, cell))] if published else []),
                    )
                )
    columns = (
        *([Column("case", "text")] if several else []),
        Column("platform", "text"),
        Column(parameter_name(x)),
        Column(axes.scale.titled(f"median {metric}")),
        *((Column("efficiency (%)"), Column("95 %", "light")) if program else ()),
        Column("n"),
        Column("ratio"),
        Column("95 %", "light"),
        Column("verdict", "text"),
        *((PUBLISHED_COLUMN,) if published else ()),
    )
    return DataTable(columns, tuple(rows))


def _summary(x: str, points: Mapping[str, Mapping[str, Sequence[Point]]]) -> str:
    told = []
    for title, own in points.items():
        ends = [
            f"{name} {line[-1].efficiency:.0f} % at {_whole(x, line[-1].ranks)}"
            for name, line in own.items()
            if len(line) > 1 and line[-1].efficiency
        ]
        told.append(f"{title + ': ' if title else ''}{listing(ends) or 'one number of ranks only'}")
    return f"Parallel efficiency by {parameter_name(x)}. {'; '.join(told)}."


def _whole(x: str, ranks: float) -> str:
    """Write a place of the axis, e.g. "8 ranks"."""
    return count(math.floor(ranks), parameter_name(x).removesuffix("s"))


EXHIBIT = Scaling()
