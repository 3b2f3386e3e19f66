"""What a scaling exhibit draws: values with an ideal line, parallel efficiency, the ratio."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from bareline.analysis.cell import Cell
from bareline.report.content.cells import varying_beside
from bareline.report.content.document import Document
from bareline.report.content.efficiency import Point, each_rank, efficiencies
from bareline.report.content.published import PublishedPoint, points_for
from bareline.report.content.wording import axis_name, axis_title, metric_name, sentence_case
from bareline.report.exhibits.curve import Axes, published_marks
from bareline.report.figures.channels import heading, inline
from bareline.report.figures.figure import Chart
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
from bareline.report.figures.theme import Look, colour, looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Layer, Scalar, parse_point
from bareline.vocabulary.place import parameter_value

WIDTH_PX = 300
VALUE_HEIGHT_PX = 180
EFFICIENCY_HEIGHT_PX = 105
#: Layers whose probes solve a problem, which more ranks are to solve sooner.
PROGRAMS = (Layer.COMPUTE, Layer.NPB, Layer.APP)


@dataclass(frozen=True, slots=True)
class Curves:
    """What a figure draws: panels of one line for each platform, on axes that they share.

    Attributes
    ----------
    cells, points
        By panel; points also by platform.
    places
        By panel, every place of its axis at which something was to be measured.
    """

    x: str
    weak: bool
    program: bool
    cells: Mapping[str, Sequence[Cell]]
    points: Mapping[str, Mapping[str, Sequence[Point]]]
    places: Mapping[str, Sequence[float]]
    published: Sequence[PublishedPoint]
    axes: Axes
    efficiency: Ticks

    @classmethod
    def of(cls, document: Document, spec: ExhibitSpec, x: str, cells: Sequence[Cell]) -> Curves:
        """Share cells of one metric out to panels."""
        weak = spec.scaling == "weak"
        growing = document.records.growing.get(cells[0].place.probe, ()) if weak else ()
        names = varying_beside([each_rank(cell, growing) for cell in cells], x)
        groups: dict[str, list[Cell]] = {}
        for cell in cells:
            groups.setdefault(each_rank(cell, growing).place.told(names), []).append(cell)
        samples = document.metric_samples.get((cells[0].place.probe, cells[0].place.metric))
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
        known = [cell for cell in cells if cell.value is not None]
        return cls(
            x=x,
            weak=weak,
            program=cells[0].layer in PROGRAMS,
            cells=groups,
            points=points,
            places={
                title: _places(document, own, x, names, growing) for title, own in groups.items()
            },
            published=published,
            axes=Axes.around(known, x, _ideal_ends(points, weak), published),
            efficiency=log_ticks([100.0, *_shares(points)]),
        )


def _ideal_ends(points: Mapping[str, Mapping[str, Sequence[Point]]], weak: bool) -> list[float]:
    """Give where ideal lines end, so that they have room on the axis."""
    return [
        _ideal_value(line[0], line[-1].ranks, weak)
        for own in points.values()
        for line in own.values()
        if len(line) > 1 and line[0].cell.layer in PROGRAMS
    ]


def _ideal_value(first: Point, ranks: float, weak: bool) -> float:
    """Give what the ideal is on so many ranks, in the metric's unit."""
    power = 1.0 if first.cell.metric.better == "higher" else (0.0 if weak else -1.0)
    return float((first.cell.median or 0.0) * (ranks / first.ranks) ** power)


def _shares(points: Mapping[str, Mapping[str, Sequence[Point]]]) -> list[float]:
    return [
        value
        for own in points.values()
        for line in own.values()
        for point in line
        for value in (point.efficiency, point.low, point.high)
        if value
    ]


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
    places = {float(cell.place.coordinates[x]) for cell in cells}
    if x in ("ranks", "nodes", "threads"):
        for row in document.planned.filter(probe=cells[0].place.probe).iter_rows(named=True):
            case = replace(cells[0], place=replace(cells[0].place, **row))
            if row[x] and _line(each_rank(case, growing), names) in there:
                places.add(float(row[x]))
    return sorted(places)


def _line(cell: Cell, names: Collection[str]) -> tuple[object, ...]:
    """Tell the lines of a panel apart, but for what varies inside a trial."""
    inside = parse_point(cell.place.point)
    shown = {name: cell.place.coordinates.get(name) for name in names if name not in inside}
    return (cell.place.params, cell.place.threads, *sorted(shown.items()))


class Panel:
    """One panel: values with the ideal line, efficiency, and the ratio, on one axis of ranks."""

    def __init__(self, document: Document, curves: Curves, title: str) -> None:
        self.document = document
        self.curves = curves
        self.title = title
        self.cells = curves.cells[title]
        self.places = [curves.axes.place(place) for place in curves.places[title]]
        self.values: list[dict[str, Any]] = []
        self.shares: list[dict[str, Any]] = []
        self.ratios: list[dict[str, Any]] = []
        self.ideals: list[dict[str, Any]] = []
        styles = looks(document.names)
        for name, line in curves.points[title].items():
            for point in line:
                self._place(point, styles[name])
            if curves.program:
                self.ideals += _ideal(curves.axes, line, styles[name].colour, name, curves.weak)

    def _place(self, point: Point, look: Look) -> None:
        """Lay a point out: its value, its efficiency and its ratio."""
        cell, axes = point.cell, self.curves.axes
        factor = axes.scale.factor
        base = {
            "x": axes.place(cell.place.coordinates[self.curves.x]),
            "series": cell.platform,
            **look.ink(hollow=cell.simulated),
            "tip": _tip(self.curves, point),
        }
        assert cell.value is not None
        ends = {name: end * factor if end else None for name, end in
                (("lo", cell.value.lo), ("hi", cell.value.hi))}  # fmt: skip
        self.values.append({**base, "y": cell.value.value * factor, **ends})
        if cell.ratio is not None:
            ratio = cell.ratio
            self.ratios.append({**base, "y": ratio.value, "lo": ratio.lo, "hi": ratio.hi})
        if point.efficiency and self.curves.program:
            # Where it begins it is 100 % for certain; a band needs that end, too.
            certain = 100.0 if point.efficiency == 100 else None
            low = certain if point.low is None else point.low
            high = certain if point.high is None else point.high
            self.shares.append({**base, "y": point.efficiency, "lo": low, "hi": high})

    def chart(self) -> Chart:
        """Draw the panel; a program without ratios ends with its efficiency."""
        drawn: list[Chart] = [self._upper()]
        if self.curves.program:
            drawn.append(self._efficiency())
        if self.ratios or not self.curves.program:
            drawn.append(self._ratio())
        return alt.vconcat(*drawn, spacing=8)

    def _upper(self) -> Chart:
        axes = self.curves.axes
        rows = stretches(self.values, self.places)
        across, up = x_axis(axes.x, axis_title(self.curves.x), labels=False), y_axis(axes.y)
        name = axes.scale.titled(metric_name(self.cells[0].place.metric))
        text = sentence_case(f"{self.title}: {name}" if self.title else name)
        return alt.layer(
            _dashes(self.ideals, across, up),
            bands(rows, across, up),
            lines(rows, across, up),
            marks(rows, across, up),
            *labels(rows, axes.y, WIDTH_PX, VALUE_HEIGHT_PX),
        ).properties(width=WIDTH_PX, height=VALUE_HEIGHT_PX, title=heading(text, WIDTH_PX + 100))

    def _efficiency(self) -> Chart:
        rows = stretches(self.shares, self.places)
        across = x_axis(self.curves.axes.x, axis_title(self.curves.x), labels=not self.ratios)
        up = y_axis(self.curves.efficiency)
        return alt.layer(
            alt.Chart(inline([{"y": 100}]))
            .mark_rule(color=colour("baseline"), strokeDash=[4, 3], aria=False)
            .encode(y=up),
            bands(rows, across, up),
            lines(rows, across, up),
            marks(rows, across, up),
        ).properties(
            width=WIDTH_PX,
            height=EFFICIENCY_HEIGHT_PX,
            title=heading("Parallel efficiency (%)", WIDTH_PX + 100),
        )

    def _ratio(self) -> Chart:
        document, curves = self.document, self.curves
        rows = stretches(self.ratios, self.places)
        across = x_axis(curves.axes.x, axis_title(curves.x), labels=True)
        up = y_axis(curves.axes.ratio)
        return alt.layer(
            *reference(document.method.margin, curves.axes.ratio, WIDTH_PX),
            bands(rows, across, up),
            lines(rows, across, up),
            marks(rows, across, up),
            *published_marks(
                document.names, curves.published, self.cells, curves.x, curves.axes, across, up
            ),
        ).properties(
            width=WIDTH_PX,
            height=EFFICIENCY_HEIGHT_PX,
            title=heading(f"Ratio to {document.baseline} (above 1 is worse)", WIDTH_PX + 100),
        )


def _ideal(
    axes: Axes, line: Sequence[Point], ink: str, name: str, weak: bool
) -> list[dict[str, Any]]:
    """Lay out the ideal line from the first point to the last, within the axes."""
    if len(line) < 2 or line[0].cell.value is None:
        return []
    first, last = line[0], line[-1]
    factor = axes.scale.factor
    low, high = axes.y.domain
    rows = []
    for step in range(21):
        ranks = first.ranks * (last.ranks / first.ranks) ** (step / 20)
        value = _ideal_value(first, ranks, weak) * factor
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


def _tip(curves: Curves, point: Point) -> str:
    cell, scale = point.cell, curves.axes.scale
    at: Scalar = cell.place.coordinates[curves.x]
    text = f"{cell.platform}, {parameter_value(curves.x, at)} {axis_name(curves.x)}: "
    text += f"{scale.show(cell.median)} {scale.unit}, n = {cell.n}"
    told = curves.program and point.efficiency
    return text + (f"; efficiency {told:.0f} %" if told else "")
