"""Rows under each other on one axis of values: names at the left, bars or marks on the axis.

Places across are px from the left of the plot, so that names stand at negative ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bareline.analysis.cell import Estimate
from bareline.report.figures.channels import (
    MARK,
    Rows,
    Style,
    axis,
    heading,
    layer,
    raw,
    tip,
)
from bareline.report.figures.figure import Chart
from bareline.report.figures.grammar import alt
from bareline.report.figures.marks import PALE, diamonds, dots, rows_axis
from bareline.report.figures.scales import Ticks
from bareline.report.figures.theme import Look, colour

#: Height of a platform's row, and of the head of a group.
_PITCH_PX, _HEAD_PX = 18, 20
#: Half the height of a bar.
_HALF_PX = 5
#: How strongly a bar is filled.
_FILL = 0.2


def value_axis(ticks: Ticks, field: str = "x", *, log: bool = False, **how: Any) -> alt.X:
    """Give the channel of the values."""
    x: alt.X = axis(alt.X, field, ticks, log=log, **{"title": None, "labelOverlap": True, **how})
    return x


def written(
    rows: Rows, x: alt.X | float, y: alt.Y | float, field: str = "text", **style: Any
) -> alt.Chart:
    """Write a field of rows, beginning at a place."""
    place = {"align": "left", "baseline": "middle", **style}
    return layer("text", rows, x=x, y=y, text=field, **place)


def written_clear(rows: Rows, x: float, y: alt.Y, **style: Any) -> list[alt.Chart]:
    """Write over a grid: the ground around the letters is cleared."""
    clear: Style = {"stroke": colour("paper"), "strokeWidth": 5}
    return [written(rows, x, y, **style, **clear), written(rows, x, y, **style)]


def told_instead(rows: Rows, x: float, y: alt.Y, **style: Any) -> alt.Chart:
    """Write why a row has no mark."""
    soft = {"fontStyle": "italic", "color": colour("soft"), **style}
    chart = written(rows, x, y, **soft)
    return chart.encode(description=tip()) if any("tip" in row for row in rows) else chart


def rule_at(value: float, x: alt.X, width_px: float = 1.2) -> alt.Chart:
    """Draw the line that values are seen against, from top to bottom."""
    style: Style = {"color": colour("baseline"), "strokeWidth": width_px}
    return layer("rule", [{"x": value}], x=x, **style)


def boxes(rows: Rows, x: alt.X, y: alt.Y, **style: Any) -> alt.Chart:
    """Fill from x to "end" and from y to "bottom"."""
    return layer("rect", rows, "fill", x=x, x2="end", y=y, y2="bottom", **style)


def names_of(rows: Rows, x: float, y: alt.Y, size: float = 42) -> alt.Chart:
    """Draw the platforms' marks before their names."""
    return layer("point", rows, MARK, x=x, y=y, size=size, strokeWidth=1.2, opacity=1)


class RowPanel:
    """Bars from zero in the platforms' colours, each with its interval and its number.

    Parameters
    ----------
    plot_px, labels_px
        Width of the plot, and of the names at its left.
    """

    def __init__(
        self,
        ticks: Ticks,
        looks: Mapping[str, Look],
        *,
        plot_px: float,
        labels_px: float,
    ) -> None:
        self.ticks = ticks
        self.looks = looks
        self.plot_px = plot_px
        self.labels_px = labels_px
        self.height_px = 0.0
        self._heads: list[dict[str, Any]] = []
        self._bars: list[dict[str, Any]] = []
        self._pieces: list[dict[str, Any]] = []
        self._empty: list[dict[str, Any]] = []
        self._dots: list[dict[str, Any]] = []
        self._diamonds: list[dict[str, Any]] = []

    def head(self, text: str) -> None:
        """Begin a group."""
        if text:
            self._heads.append({"y": self.height_px + _HEAD_PX / 2 + 2, "text": text})
            self.height_px += _HEAD_PX

    def empty(self, name: str, text: str) -> float:
        """Add a platform's row that says why it has no bar; give the height of its middle."""
        ink = self.looks[name].ink(hollow=False)
        y = self._next()
        self._empty.append({"y": y, "name": name, **ink, "text": text})
        return y

    def bar(
        self,
        name: str,
        shown: Estimate,
        *,
        text: str,
        tip: str,
        hollow: bool = False,
        parts: Sequence[tuple[float, float]] = (),
    ) -> float:
        """Add a platform's bar; give the height of its middle.

        Parameters
        ----------
        parts
            What the bar is divided into from zero on, each with how strongly it is filled; it is
            one piece without.
        """
        y, start = self._next(), 0.0
        row = {
            "y": y,
            "top": y - _HALF_PX,
            "bottom": y + _HALF_PX,
            "name": name,
            **self.looks[name].ink(hollow=hollow),
            "x": shown.value,
            "lo": min(shown.known),
            "hi": max(shown.known),
            "text": text,
            "tip": tip,
        }
        self._bars.append(row)
        plain = {key: value for key, value in row.items() if key != "tip"}
        for part, strength in parts or [(shown.value, _FILL)]:
            piece = {"x": start, "end": start + part, "strength": strength, "hollow": hollow}
            self._pieces.append({**plain, **piece, "divided": bool(parts)})
            start += part
        return y

    def dot(self, name: str, x: float, y: float, tip: str) -> None:
        """Add a single trial."""
        self._dots.append({"x": x, "y": y, "colour": self.looks[name].colour, "tip": tip})

    def diamond(self, name: str, x: float, y: float, tip: str, *, elsewhere: str = "") -> None:
        """Add a published value; pale where it was measured elsewhere."""
        ink = self.looks[name].colour
        self._diamonds.append({"x": x, "y": y, "colour": ink, "tip": tip, "beside": elsewhere})

    def _next(self) -> float:
        self.height_px += _PITCH_PX
        return self.height_px - _PITCH_PX / 2

    def chart(self, title: str) -> Chart:
        """Draw the panel."""
        layers = [
            *([rule_at(0.0, self._x())] if self.ticks.domain[0] < 0 else ()),
            *self._fills(),
            dots(self._dots, self._x(), self._y()),
            *self._medians(),
            *self._names(),
            *self._printed(),
        ]
        return alt.layer(*layers).properties(
            width=self.plot_px, height=self.height_px, title=heading(title, self.plot_px)
        )

    def _x(self, field: str = "x") -> alt.X:
        return value_axis(self.ticks, field)

    def _y(self, field: str = "y") -> alt.Y:
        return rows_axis(self.height_px, field)

    def _fills(self) -> list[alt.Chart]:
        """Fill the bars, part by part; simulated ones are outlined only."""
        drawn = []
        for strength, hollow in dict.fromkeys((p["strength"], p["hollow"]) for p in self._pieces):
            rows = [p for p in self._pieces if (p["strength"], p["hollow"]) == (strength, hollow)]
            divided = rows[0]["divided"]
            style: Style = {"fillOpacity": 0 if hollow else strength, "strokeOpacity": 0.7}
            chart = boxes(rows, self._x(), self._y("top"), **style)
            if hollow:
                chart.mark.strokeDash = [3, 2]
                chart = chart.encode(stroke=raw(alt.Stroke, "colour"))
            elif divided:
                chart = chart.encode(stroke=alt.value(colour("paper")))
            drawn.append(chart)
        return drawn

    def _printed(self) -> list[alt.Chart]:
        """Draw published values; pale ones with where they were measured."""
        pale = [row for row in self._diamonds if row["beside"]]
        full = [row for row in self._diamonds if not row["beside"]]
        drawn = [diamonds(full, self._x(), self._y())] if full else []
        if pale:
            words = {"dx": 7, "fontSize": 10, "color": colour("soft")}
            drawn += [
                diamonds(pale, self._x(), self._y(), opacity=PALE),
                written(pale, self._x(), self._y(), "beside", **words),
            ]
        return drawn

    def _medians(self) -> list[alt.Chart]:
        told: Style = {"told": True, "strokeWidth": 2}
        lo, at, y, top = self._x("lo"), self._x(), self._y(), self._y("top")
        return [
            layer("rule", self._bars, x=lo, x2="hi", y=y, strokeWidth=1.6, color=colour("ink")),
            layer("rule", self._bars, "stroke", x=at, y=top, y2="bottom", **told),
            written(self._bars, self.plot_px + 8, y),
        ]

    def _names(self) -> list[alt.Chart]:
        """Write platforms and groups at the left, and why a bar is not there."""
        left, rows, y = -self.labels_px, [*self._bars, *self._empty], self._y()
        low, high = self.ticks.domain
        zero_px = self.plot_px * -low / (high - low)
        style: Style = {"fontWeight": 600, "limit": self.labels_px + self.plot_px}
        return [
            names_of(rows, left + 5, y, 38),
            written(rows, left + 14, y, "name", limit=self.labels_px - 20),
            *written_clear(self._heads, left, y, **style),
            told_instead(self._empty, zero_px + 5, y),
        ]
