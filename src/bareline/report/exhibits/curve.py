"""A metric along message size or ranks, with its ratio to the baseline underneath."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from bareline.model import Scalar
from bareline.report.cells import Cell, is_number, numeric_axis, varying
from bareline.report.document import Document, ExhibitSpec, sentence_case, slug
from bareline.report.dots import Dots, trial_dots
from bareline.report.exhibits.base import (
    Chart,
    Exhibit,
    Figure,
    by_metric,
    heading,
    inline,
    raw,
    select,
    tip,
)
from bareline.report.exhibits.marks import bands, labels, lines, marks, reference, x_axis, y_axis
from bareline.report.exhibits.table import cells_table
from bareline.report.scales import (
    Scale,
    Ticks,
    count_ticks,
    log_ticks,
    ratio_ticks,
    size_ticks,
    unit_scale,
)
from bareline.report.theme import PUBLISHED_SHAPE, colour, looks
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
VALUE_HEIGHT_PX = 180
RATIO_HEIGHT_PX = 105

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
            placed = [cell for cell in cells if is_number(cell.coordinates.get(x))]
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
    def around(cls, cells: Sequence[Cell], x: str, trials: Iterable[float] = ()) -> Axes:
        """Lay out axes that hold every cell with its interval, and the values of trials."""
        scale = unit_scale((cell.value for cell in cells), cells[0].unit)
        ticks, zero = parameter_axis(x, {_number(cell.coordinates[x]) for cell in cells})
        values = [v * scale.factor for c in cells for v in (c.value, c.lo, c.hi) if v is not None]
        values += [value * scale.factor for value in trials]
        ratios = [v for c in cells for v in (c.ratio, c.ratio_lo, c.ratio_hi) if v is not None]
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
    probe, metric = cells[0].probe, cells[0].metric
    names = [name for name in varying(cells) if name != x]
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(describe(cell, names), []).append(cell)
    drawn = [_dots(document, group) for group in groups.values()]
    axes = Axes.around(cells, x, (dot.value for dots in drawn for dot in dots.dots))
    panels = [
        _Panel(document, title, x, axes, group, dots)
        for (title, group), dots in zip(groups.items(), drawn, strict=True)
    ]
    note = next((dots.note for dots in drawn if dots.note), "")
    return Figure(
        id=slug("curve", probe, metric, spec.title),
        title=spec.title or f"{sentence_case(metric_name(metric))} by {parameter_name(x)}",
        caption=" ".join(filter(None, [spec.caption, note])),
        probe=probe,
        layer=cells[0].layer,
        panels=tuple(panel.chart() for panel in panels),
        wide=len(panels) > 1,
        text_summary=_summary(document, x, groups),
        caveats=caveat_notes(cells),
        data_table=cells_table(cells),
    )


def _dots(document: Document, cells: Sequence[Cell]) -> Dots:
    measured = [cell for cell in cells if cell.value is not None]
    return trial_dots(document, measured, document.dots_per_panel)


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
    ) -> None:
        self.document = document
        self.title = title
        self.x = x
        self.axes = axes
        self.cells = sorted(
            (cell for cell in cells if cell.value is not None),
            key=lambda cell: axes.place(cell.coordinates[x]),
        )
        self.looks = looks(document.names)
        self.dots = dots

    def chart(self) -> Chart:
        """Draw the panel; the ratio part only where something is compared."""
        axes = self.axes
        compared = any(cell.ratio is not None for cell in self.cells)
        name = axes.scale.titled(metric_name(self.cells[0].metric)) if self.cells else ""
        text = f"{self.title}: {name}" if self.title else name
        rows = self._rows(ratio=False)
        across = self._x(not compared)
        upper = alt.layer(
            self._trials(across),
            bands(rows, across, y_axis(axes.y)),
            lines(rows, across, y_axis(axes.y)),
            marks(rows, across, y_axis(axes.y)),
            *self._published(across),
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
            value, lo, hi = (
                (cell.ratio, cell.ratio_lo, cell.ratio_hi)
                if ratio
                else (cell.value, cell.lo, cell.hi)
            )
            if value is None or value <= 0:
                continue
            look = self.looks[cell.platform]
            rows.append(
                {
                    "x": self.axes.place(cell.coordinates[self.x]),
                    "y": value * factor,
                    "lo": lo * factor if lo is not None and lo > 0 else None,
                    "hi": hi * factor if hi is not None else None,
                    "series": cell.platform,
                    "colour": look.colour,
                    "fill": colour("paper") if cell.simulated else look.colour,
                    "shape": look.shape,
                    "tip": self._tip(cell),
                }
            )
        return rows

    def _tip(self, cell: Cell) -> str:
        scale = self.axes.scale
        text = f"{cell.platform}, {parameter_value(self.x, cell.coordinates[self.x])}: "
        text += f"{scale.show(cell.value)} {scale.unit}"
        if cell.lo is not None and cell.hi is not None:
            text += f" [{scale.show(cell.lo)}, {scale.show(cell.hi)}]"
        text += f", n = {cell.n}"
        return f"{text}; {ratio_phrase(cell)}" if cell.ratio is not None else text

    def _x(self, labels: bool) -> alt.X:
        return x_axis(self.axes.x, axis_title(self.x), labels=labels)

    def _trials(self, across: alt.X) -> alt.Chart:
        scale = self.axes.scale
        rows = [
            {
                "x": self.axes.place(dot.cell.coordinates[self.x]),
                "y": dot.value * scale.factor,
                "colour": self.looks[dot.cell.platform].colour,
                "tip": f"{dot.cell.platform}, "
                f"{parameter_value(self.x, dot.cell.coordinates[self.x])}, trial {dot.trial}: "
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

    def _published(self, across: alt.X) -> list[alt.Chart]:
        if not self.cells:
            return []
        scale = self.axes.scale
        rows = [
            {
                "x": self.axes.place(point.coordinates[self.x]),
                "y": point.value * scale.factor,
                "tip": f"published: {point.label}, {scale.show(point.value)} {scale.unit} "
                f"({point.source})",
            }
            for point in self.document.published
            if point.probe == self.cells[0].probe
            and point.metric == self.cells[0].metric
            and is_number(point.coordinates.get(self.x))
        ]
        if not rows:
            return []
        return [
            alt.Chart(inline(rows))
            .mark_point(
                shape=PUBLISHED_SHAPE,
                size=60,
                fill=colour("paper"),
                stroke=colour("ink"),
                strokeWidth=1.3,
                opacity=1,
            )
            .encode(x=across, y=y_axis(self.axes.y), description=tip())
        ]


def _summary(document: Document, x: str, groups: dict[str, list[Cell]]) -> str:
    cells = [cell for group in groups.values() for cell in group]
    ordered = sorted(cells, key=lambda cell: _number(cell.coordinates[x]))
    first, last = (parameter_value(x, cell.coordinates[x]) for cell in (ordered[0], ordered[-1]))
    text = (
        f"{metric_name(cells[0].metric)} of {cells[0].probe} by {parameter_name(x)} from {first} "
        f"to {last}, {count(len(groups), 'panel')}, on {listing(document.names)}."
    )
    for title, group in list(groups.items())[:4]:
        for name in document.names[1:]:
            own = [cell for cell in group if cell.platform == name and cell.ratio is not None]
            own.sort(key=lambda cell: _number(cell.coordinates[x]))
            ends = own if len(own) < 2 else [own[0], own[-1]]
            parts = [f"{ratio_phrase(c)} at {parameter_value(x, c.coordinates[x])}" for c in ends]
            where = f" ({title})" if title else ""
            text += f" {name}{where}: {', '.join(parts) or 'nothing to compare'}."
    return text


EXHIBIT = Curve()
