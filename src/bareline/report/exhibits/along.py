"""What exhibits along a parameter share: their axes, their strips, published ratios on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from bareline.analysis.cell import Cell, Estimate
from bareline.report.content.cells import is_number, position
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint
from bareline.report.content.wording import (
    axis_title,
    compared_words,
    metric_name,
    sentence_case,
    value_words,
)
from bareline.report.figures.channels import inline, raw
from bareline.report.figures.figure import Chart
from bareline.report.figures.marks import diamonds, reference, spans
from bareline.report.figures.panels import WIDTH_PX, Layers, Strip, nothing, panel
from bareline.report.figures.scales import (
    Scale,
    Ticks,
    count_ticks,
    log_ticks,
    ratio_ticks,
    size_ticks,
    unit_scale,
)
from bareline.report.figures.theme import Look, looks
from bareline.vocabulary.place import parameter_value

Row = dict[str, Any]

VALUE_HEIGHT_PX = 180
RATIO_HEIGHT_PX = 105

#: What a diamond on an axis of ratios means.
DIAMONDS = (
    "Diamonds: published ratios, dashed where they are told for a range; hovering names the source."
)

#: More numbers than these, or numbers that are not whole, have round ticks instead of their own.
MOST_COUNTS = 16


def placed(cells: Iterable[Cell], x: str) -> list[Cell]:
    """Give the cells that have a place on the axis of a parameter."""
    return [cell for cell in cells if is_number(cell.place.coordinates.get(x))]


@dataclass(frozen=True, slots=True)
class Along:
    """The axes that all panels of a figure share, so that they can be compared by eye.

    Attributes
    ----------
    zero
        Where the parameter 0 stands on the logarithmic axis, if it occurs.
    """

    document: Document
    x: str
    across: Ticks
    values: Ticks
    ratios: Ticks
    scale: Scale
    zero: float
    looks: Mapping[str, Look]
    published: Sequence[PublishedPoint]

    @classmethod
    def around(
        cls,
        document: Document,
        x: str,
        cells: Sequence[Cell],
        *,
        others: Iterable[float] = (),
        published: Sequence[PublishedPoint] = (),
    ) -> Along:
        """Lay out axes that hold cells with their intervals, other values, published ratios."""
        scale = unit_scale((cell.median for cell in cells), cells[0].metric.unit)
        across, zero = parameter_axis(x, {position(cell, x) for cell in cells})
        values = [end for cell in cells if cell.value for end in cell.value.known]
        ratios = [end for cell in cells if cell.ratio for end in cell.ratio.known]
        ratios += [v for p in published if p.places(x) for v in (p.low, p.high, p.middle) if v]
        return cls(
            document=document,
            x=x,
            across=across,
            values=log_ticks(value * scale.factor for value in (*values, *others)),
            ratios=ratio_ticks(ratios),
            scale=scale,
            zero=zero,
            looks=looks(document.names),
            published=published,
        )

    def at(self, value: float) -> float:
        """Give the place of a parameter on the axis."""
        return value if value > 0 else self.zero

    def where(self, cell: Cell) -> str:
        """Say a cell's platform and place on the axis."""
        return f"{cell.platform}, {parameter_value(self.x, cell.place.coordinates[self.x])}"

    def mark(self, cell: Cell, shown: Estimate, tip: str, factor: float = 1.0) -> Row:
        """Lay a cell's mark out at a value, with its interval."""
        return {
            "x": self.at(position(cell, self.x)),
            "y": shown.value * factor,
            "lo": shown.lo * factor if shown.lo and shown.lo > 0 else None,
            "hi": shown.hi * factor if shown.hi is not None else None,
            "series": cell.platform,
            **self.looks[cell.platform].ink(hollow=cell.simulated),
            "tip": f"{self.where(cell)}: {tip}",
        }

    def value_strip(
        self,
        cells: Iterable[Cell],
        title: str,
        *,
        under: Layers = nothing,
        told: Callable[[Cell], str] | None = None,
    ) -> Strip:
        """Draw medians, which no logarithmic axis has room for where they are not positive.

        Parameters
        ----------
        title
            Of the whole panel.
        told
            What hovering says of a value; the value and its ratio without it.
        """
        factor, own = self.scale.factor, [cell for cell in cells if cell.value is not None]
        rows = [
            self.mark(
                cell, cell.value, told(cell) if told else value_words(cell, self.scale), factor
            )
            for cell in own
            if cell.value is not None and cell.value.value > 0
        ]
        name = self.scale.titled(metric_name(own[0].place.metric)) if own else ""
        text = sentence_case(f"{title}: {name}" if title else name)
        return Strip(text, rows, self.values, VALUE_HEIGHT_PX, under=under, named=True)

    def ratio_strip(
        self, cells: Sequence[Cell], title: str = "", *, named: bool = False, whiskers: bool = False
    ) -> Strip:
        """Draw ratios to the baseline over the band that counts as equal."""
        baseline, margin = self.document.baseline, self.document.method.margin
        return Strip(
            title or f"Ratio to {baseline} (above 1 is worse)",
            [self.mark(cell, cell.ratio, compared_words(cell)) for cell in cells if cell.ratio],
            self.ratios,
            RATIO_HEIGHT_PX,
            under=lambda _across, _up: reference(margin, self.ratios, WIDTH_PX),
            over=lambda across, up: self._published(cells, across, up),
            named=named,
            whiskers=whiskers,
        )

    def panel(self, strips: Sequence[Strip], places: Iterable[float]) -> Chart:
        """Put the strips of a panel together; no line crosses a place without a value."""
        return panel(strips, self.across, axis_title(self.x), map(self.at, places))

    def _published(self, cells: Sequence[Cell], across: alt.X, up: alt.Y) -> list[alt.Chart]:
        """Draw published ratios as diamonds, with a line over the range that they are told for.

        Only those that speak of a cell of the panel, or of its platform and another place.
        """
        rows = []
        for point in self.published:
            if any(_beside_line(point, cell, self.x) for cell in cells):
                ink = self.looks[point.platform].colour
                rows += [{**row, "colour": ink, "tip": point.tip} for row in self._reaches(point)]
        if not rows:
            return []
        middles = [{**row, "x": row["middle"]} for row in rows]
        return [
            alt.Chart(inline(rows))
            .mark_rule(strokeWidth=1, strokeDash=[3, 2], aria=False)
            .encode(x=across, x2=alt.X2(field="end"), y=up, stroke=raw(alt.Stroke, "colour")),
            spans(middles, across, up),
            diamonds(middles, across, up),
        ]

    def _reaches(self, point: PublishedPoint) -> Iterator[Row]:
        """Lay out each range of the parameter that a published ratio is told for, on the axes."""
        (least, most), (low, high) = self.across.domain, self.ratios.domain
        for begin, end in point.places(self.x):
            if begin > most or end < least:
                continue
            left, right = max(begin, least), min(end, most)
            yield {
                "x": left,
                "end": right,
                "middle": math.sqrt(left * right),
                "y": min(max(point.middle, low), high),
                "lo": min(max(point.low or point.middle, low), high),
                "hi": min(max(point.high or point.middle, low), high),
            }


def _beside_line(point: PublishedPoint, cell: Cell, x: str) -> bool:
    """Tell whether a point belongs on the axes of a cell, wherever it stands on the x axis."""
    conditions = {name: value for name, value in point.ratio.at if name != x}
    return replace(point, ratio=replace(point.ratio, at=tuple(conditions.items()))).about(cell)


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
