"""Panels along a parameter: strips of lines with their intervals above each other, on one axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bareline.report.figures.channels import Style, heading
from bareline.report.figures.figure import Chart
from bareline.report.figures.grammar import alt
from bareline.report.figures.marks import (
    Places,
    bands,
    intervals,
    labels,
    lines,
    marks,
    spans,
    stretches,
    x_axis,
    y_axis,
)
from bareline.report.figures.scales import Ticks

WIDTH_PX = 285
#: Names stand at the right of a strip; its title may reach over them.
_NAMES_PX = 100

#: What is drawn on the two channels of a strip.
Layers = Callable[[alt.X, alt.Y], Iterable[alt.Chart]]


def nothing(_across: alt.X, _up: alt.Y) -> Iterable[alt.Chart]:
    """Draw nothing."""
    return ()


@dataclass(frozen=True, slots=True)
class Strip:
    """One pair of axes: a line of values for each platform.

    - `rows`: as of `bareline.report.figures.marks`, without their stretches.
    - `ticks`: of the values.
    - `under`, `over`: what is drawn below and above the lines.
    - `named`: whether the platforms' names stand at the ends of their lines.
    - `whiskers`: whether each interval is a line, too: a band needs a neighbour.
    """

    title: str
    rows: Sequence[dict[str, Any]]
    ticks: Ticks
    height_px: float
    under: Layers = nothing
    over: Layers = nothing
    named: bool = False
    whiskers: bool = False
    width_px: float = WIDTH_PX

    def chart(self, across: alt.X, places: Places) -> Chart:
        """Draw it; no line crosses one of the `places` at which it has no value."""
        rows, up = stretches(self.rows, places), y_axis(self.ticks)
        named = labels(rows, self.ticks, self.width_px, self.height_px) if self.named else ()
        return alt.layer(
            *self.under(across, up),
            bands(rows, across, up),
            *([spans(intervals(rows, up), across, up, opacity=0.5)] if self.whiskers else ()),
            lines(rows, across, up),
            marks(rows, across, up),
            *self.over(across, up),
            *named,
        ).properties(
            width=self.width_px,
            height=self.height_px,
            title=heading(self.title, self.width_px + _NAMES_PX),
        )


def panel(strips: Sequence[Strip], axis: Ticks, title: str, places: Places) -> Chart:
    """Draw strips above each other; the axis has its labels under the last one."""
    places = places if isinstance(places, Mapping) else list(places)
    drawn = [
        strip.chart(x_axis(axis, title, labels=strip is strips[-1]), places) for strip in strips
    ]
    return drawn[0] if len(drawn) == 1 else alt.vconcat(*drawn, spacing=8)


def dashes(rows: Sequence[dict[str, Any]]) -> Layers:
    """Draw dashed lines, e.g. what would be ideal: x, y, colour, and stretch to tell them apart."""
    style: Style = {"strokeWidth": 1, "strokeDash": [4, 3], "opacity": 0.8}
    return lambda across, up: [lines(rows, across, up, **style)]
