"""A metric along message size or ranks, with its ratio to the baseline underneath."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from bareline.analysis.cell import Cell
from bareline.report.content.anchors import slug
from bareline.report.content.cells import is_number, numeric_axis, tidy, varying_beside
from bareline.report.content.document import Document
from bareline.report.content.dots import Dots, trial_dots
from bareline.report.content.published import PublishedPoint, points_for
from bareline.report.content.wording import (
    axis_name,
    axis_title,
    caveat_notes,
    count,
    metric_name,
    ratio_phrase,
    sentence_case,
)
from bareline.report.exhibits.base import Exhibit, by_metric, select
from bareline.report.exhibits.table import cells_table
from bareline.report.figures.channels import heading, inline, raw, tip
from bareline.report.figures.figure import Chart, Figure
from bareline.report.figures.marks import (
    bands,
    diamonds,
    labels,
    lines,
    marks,
    reference,
    spans,
    stretches,
    x_axis,
    y_axis,
)
from bareline.report.figures.scales import (
    Scale,
    Ticks,
    count_ticks,
    log_ticks,
    ratio_ticks,
    size_ticks,
    unit_scale,
)
from bareline.report.figures.theme import looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.place import parameter_value
from bareline.vocabulary.units import listing

WIDTH_PX = 300
VALUE_HEIGHT_PX = 180
RATIO_HEIGHT_PX = 105

#: What a diamond on an axis of ratios means.
DIAMONDS = (
    "Diamonds: published ratios, dashed where they are told for a range; hovering names the source."
)

#: More numbers than these, or numbers that are not whole, have round ticks instead of their own.
MOST_COUNTS = 16


class Curve(Exhibit):
    """Small multiples: one panel for each number of ranks and each set of parameters."""

    kind = "curve"
    summary = "a metric along message size or ranks, and its ratio to the baseline underneath"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one figure per probe and metric that has a numeric parameter to run along."""
        drawn = []
        for _, cells in by_metric(select(document, spec)):
            x = spec.x or numeric_axis(cells)
            if x is None:
                continue
            placed = [cell for cell in cells if is_number(cell.place.coordinates.get(x))]
            if any(cell.value is not None for cell in placed):
                drawn.append(_figure(document, spec, x, placed))
        return drawn


@dataclass(frozen=True, slots=True)
class Axes:
    """Axes that all panels of a figure share, so that they can be compared by eye.

    `zero` is where the parameter 0 stands on the logarithmic axis, if it occurs.
    """

    x: Ticks
    y: Ticks
    ratio: Ticks
    scale: Scale
    zero: float

    @classmethod
    def around(
        cls,
        cells: Sequence[Cell],
        x: str,
        trials: Iterable[float] = (),
        published: Iterable[PublishedPoint] = (),
    ) -> Axes:
        """Lay out axes that hold cells with their intervals, trials, and published ratios."""
        scale = unit_scale((cell.median for cell in cells), cells[0].metric.unit)
        ticks, zero = parameter_axis(x, {_number(cell.place.coordinates[x]) for cell in cells})
        values = [end * scale.factor for c in cells if c.value for end in c.value.known]
        values += [value * scale.factor for value in trials]
        ratios = [end for c in cells if c.ratio for end in c.ratio.known]
        ratios += [v for p in published if p.places(x) for v in (p.low, p.high, p.middle) if v]
        return cls(ticks, log_ticks(values), ratio_ticks(ratios), scale, zero)

    def place(self, value: Scalar) -> float:
        """Give the position of a parameter on the axis."""
        return _number(value) if _number(value) > 0 else self.zero


def parameter_axis(x: str, positions: Collection[float]) -> tuple[Ticks, float]:
    """Lay out the logarithmic axis of a parameter, and say where 0 stands on it."""
    positive = sorted(value for value in positions if value > 0) or [1.0]
    zero = min(positive) / 2
    shown = [zero, *positive] if any(value <= 0 for value in positions) else positive
    if x.endswith("_bytes"):
        ticks = size_ticks(shown)
    elif len(positive) <= MOST_COUNTS and all(value.is_integer() for value in positive):
        ticks = count_ticks(shown)
    else:
        ticks = log_ticks(shown)
    if shown is positive:
        return ticks, zero
    kept = [(v, t) for v, t in zip(ticks.values, ticks.labels, strict=True) if v > zero]
    return Ticks(ticks.domain, (zero, *(v for v, _ in kept)), ("0", *(t for _, t in kept))), zero


def _number(value: Scalar) -> float:
    return float(value)


def _figure(document: Document, spec: ExhibitSpec, x: str, cells: Sequence[Cell]) -> Figure:
    probe, metric = cells[0].place.probe, cells[0].place.metric
    names = varying_beside(cells, x)
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.place.told(names), []).append(cell)
    drawn = [_dots(document, group) for group in groups.values()]
    published = points_for(document.published, spec, cells, document.baseline)
    trials = (dot.value for dots in drawn for dot in dots.dots)
    axes = Axes.around(cells, x, trials, published)
    panels = [
        _Panel(document, title, x, axes, group, dots, published)
        for (title, group), dots in zip(groups.items(), drawn, strict=True)
    ]
    note = next((dots.note for dots in drawn if dots.note), "")
    return Figure(
        id=slug("curve", probe, metric, spec.title),
        title=spec.title or f"{sentence_case(metric_name(metric))} by {axis_name(x)}",
        caption=" ".join(filter(None, [spec.caption, note, DIAMONDS if published else ""])),
        probe=probe,
        layer=cells[0].layer,
        panels=tuple(panel.chart() for panel in panels),
        wide=len(panels) > 1,
        text_summary=_summary(document, x, groups),
        caveats=caveat_notes(cells),
        data_table=cells_table(cells, published),
        data=tidy(cells),
    )


def _dots(document: Document, cells: Sequence[Cell]) -> Dots:
    measured = [cell for cell in cells if cell.value is not None]
    most = min(document.dots_per_panel, len(measured) * document.dots_per_value)
    return trial_dots(document, measured, most)


def published_marks(
    names: Sequence[str],
    published: Sequence[PublishedPoint],
    cells: Sequence[Cell],
    x: str,
    axes: Axes,
    across: alt.X,
    up: alt.Y,
) -> list[alt.Chart]:
    """Draw published ratios as diamonds, with a line over the range that they are told for.

    Only those that speak of a cell of the panel, or of its platform and another place on the axis.
    """
    low, high = axes.ratio.domain
    styles = looks(names)
    rows = []
    for point in published:
        own = [cell for cell in cells if cell.platform == point.platform]
        if not any(_beside_line(point, cell, x) for cell in own):
            continue
        for begin, end in point.places(x):
            left, right = (min(max(place, axes.x.domain[0]), axes.x.domain[1])
                           for place in (begin, end))  # fmt: skip
            if begin > axes.x.domain[1] or end < axes.x.domain[0]:
                continue
            rows.append(
                {"x": left, "end": right, "middle": math.sqrt(left * right),
                 "y": min(max(point.middle, low), high),
                 "lo": min(max(point.low or point.middle, low), high),
                 "hi": min(max(point.high or point.middle, low), high), "tip": point.tip,
                 "colour": styles[point.platform].colour}
            )  # fmt: skip
    if not rows:
        return []
    base = alt.Chart(inline(rows))
    middles = [{**row, "x": row["middle"]} for row in rows]
    return [
        base.mark_rule(strokeWidth=1, strokeDash=[3, 2], aria=False).encode(
            x=across, x2=alt.X2(field="end"), y=up, stroke=raw(alt.Stroke, "colour")
        ),
        spans(middles, across, up),
        diamonds(middles, across, up),
    ]


def _beside_line(point: PublishedPoint, cell: Cell, x: str) -> bool:
    """Tell whether a point belongs on the axes of a cell, wherever it stands on the x axis."""
    conditions = {name: value for name, value in point.ratio.at if name != x}
    return replace(point, ratio=replace(point.ratio, at=tuple(conditions.items()))).about(cell)


class _Panel:
    """One pair of axes: values above, ratios below."""

    def __init__(
        self,
        document: Document,
        title: str,
        x: str,
        axes: Axes,
        cells: Sequence[Cell],
        dots: Dots,
        published: Sequence[PublishedPoint] = (),
    ) -> None:
        self.document = document
        self.title = title
        self.x = x
        self.axes = axes
        self.places = {axes.place(cell.place.coordinates[x]) for cell in cells}
        self.cells = sorted(
            (cell for cell in cells if cell.value is not None),
            key=lambda cell: axes.place(cell.place.coordinates[x]),
        )
        self.looks = looks(document.names)
        self.dots = dots
        self.published = published

    def chart(self) -> Chart:
        """Draw the panel; the ratio part only where something is compared."""
        axes = self.axes
        compared = any(cell.ratio is not None for cell in self.cells)
        name = axes.scale.titled(metric_name(self.cells[0].place.metric)) if self.cells else ""
        text = f"{self.title}: {name}" if self.title else name
        rows = self._rows(ratio=False)
        across = self._x(not compared)
        upper = alt.layer(
            self._trials(across),
            bands(rows, across, y_axis(axes.y)),
            lines(rows, across, y_axis(axes.y)),
            marks(rows, across, y_axis(axes.y)),
            *labels(rows, axes.y, WIDTH_PX, VALUE_HEIGHT_PX),
        ).properties(
            width=WIDTH_PX,
            height=VALUE_HEIGHT_PX,
            title=heading(sentence_case(text), WIDTH_PX + 100),
        )
        if not compared:
            return upper
        rows = self._rows(ratio=True)
        lower = alt.layer(
            *reference(self.document.method.margin, axes.ratio, WIDTH_PX),
            bands(rows, self._x(True), y_axis(axes.ratio)),
            lines(rows, self._x(True), y_axis(axes.ratio)),
            marks(rows, self._x(True), y_axis(axes.ratio)),
            *published_marks(
                self.document.names,
                self.published,
                self.cells,
                self.x,
                axes,
                self._x(True),
                y_axis(axes.ratio),
            ),
        ).properties(
            width=WIDTH_PX,
            height=RATIO_HEIGHT_PX,
            title=heading(f"Ratio to {self.document.baseline} (above 1 is worse)", WIDTH_PX + 100),
        )
        return alt.vconcat(upper, lower, spacing=8)

    def _rows(self, *, ratio: bool) -> list[dict[str, Any]]:
        factor = 1.0 if ratio else self.axes.scale.factor
        rows = []
        for cell in self.cells:
            shown = cell.ratio if ratio else cell.value
            if shown is None or shown.value <= 0:
                continue
            rows.append(
                {
                    "x": self.axes.place(cell.place.coordinates[self.x]),
                    "y": shown.value * factor,
                    "lo": shown.lo * factor if shown.lo and shown.lo > 0 else None,
                    "hi": shown.hi * factor if shown.hi is not None else None,
                    "series": cell.platform,
                    **self.looks[cell.platform].ink(hollow=cell.simulated),
                    "tip": self._ratio_tip(cell) if ratio else self._tip(cell),
                }
            )
        return stretches(rows, self.places)

    def _tip(self, cell: Cell) -> str:
        scale = self.axes.scale
        text = f"{self._where(cell)}: {scale.show(cell.median)} {scale.unit}"
        if cell.value is not None and cell.value.bounded:
            text += f" [{scale.show(cell.value.lo)}, {scale.show(cell.value.hi)}]"
        text += f", n = {cell.n}"
        return f"{text}; {ratio_phrase(cell)}" if cell.ratio is not None else text

    def _ratio_tip(self, cell: Cell) -> str:
        return f"{self._where(cell)}: {ratio_phrase(cell)}"

    def _where(self, cell: Cell) -> str:
        return f"{cell.platform}, {parameter_value(self.x, cell.place.coordinates[self.x])}"

    def _x(self, labels: bool) -> alt.X:
        return x_axis(self.axes.x, axis_title(self.x), labels=labels)

    def _trials(self, across: alt.X) -> alt.Chart:
        scale = self.axes.scale
        rows = [
            {
                "x": self.axes.place(dot.cell.place.coordinates[self.x]),
                "y": dot.value * scale.factor,
                "colour": self.looks[dot.cell.platform].colour,
                "tip": f"{self._where(dot.cell)}, trial {dot.trial}: "
                f"{scale.show(dot.value)} {scale.unit}",
            }
            for dot in self.dots.dots
            if dot.value > 0
        ]
        chart: alt.Chart = (
            alt.Chart(inline(rows))
            .mark_point(filled=True, shape="circle", size=11, opacity=0.35, clip=True)
            .encode(
                x=across,
                y=y_axis(self.axes.y),
                fill=raw(alt.Fill, "colour"),
                description=tip(),
            )
        )
        return chart


def _summary(document: Document, x: str, groups: dict[str, list[Cell]]) -> str:
    cells = [cell for group in groups.values() for cell in group]
    ordered = sorted(cells, key=lambda cell: _number(cell.place.coordinates[x]))
    first, last = (
        parameter_value(x, cell.place.coordinates[x]) for cell in (ordered[0], ordered[-1])
    )
    text = (
        f"{metric_name(cells[0].place.metric)} of {cells[0].place.probe} by {axis_name(x)} "
        f"from {first} to {last}, {count(len(groups), 'panel')}, on {listing(document.names)}."
    )
    for title, group in list(groups.items())[:4]:
        for name in document.names[1:]:
            own = [cell for cell in group if cell.platform == name and cell.ratio is not None]
            own.sort(key=lambda cell: _number(cell.place.coordinates[x]))
            ends = own if len(own) < 2 else [own[0], own[-1]]
            parts = [
                f"{ratio_phrase(c)} at {parameter_value(x, c.place.coordinates[x])}" for c in ends
            ]
            where = f" ({title})" if title else ""
            text += f" {name}{where}: {', '.join(parts) or 'nothing to compare'}."
    return text


EXHIBIT = Curve()
