"""Strip plots: every trial a mark on one axis, a row for each platform, printed ones above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bareline.report.figures.channels import MARK, Style, heading, layer
from bareline.report.figures.figure import Chart
from bareline.report.figures.grammar import alt
from bareline.report.figures.marks import rows_axis
from bareline.report.figures.rows import names_of, value_axis, written
from bareline.report.figures.scales import log_ticks
from bareline.report.figures.theme import PUBLISHED_SHAPE, colour

_PITCH_PX, _NARROW_PITCH_PX = 34.0, 48.0
#: How far printed trials stand above the middle of a row, and own ones under it.
_APART_PX = 7.0
_LETTER_PX = 7.2

#: A trial: its value, and what hovering says.
Mark = tuple[float, str]


@dataclass(frozen=True, slots=True)
class StripRow:
    """A platform: its trials and their median, and those that are printed for it.

    - `ink`: colour, fill and shape of its marks.
    """

    name: str
    ink: dict[str, str]
    own: Sequence[Mark]
    printed: Sequence[Mark]
    median: float | None = None
    printed_median: float | None = None


def strip_plot(rows: Sequence[StripRow], title: str, *, narrow: bool = False) -> Chart:
    """Draw the rows; `narrow` writes their names above them, not at their left."""
    ticks = log_ticks(value for row in rows for value, _ in (*row.own, *row.printed))
    pitch = _NARROW_PITCH_PX if narrow else _PITCH_PX
    labels_px = 0.0 if narrow else _LETTER_PX * max((len(row.name) for row in rows), default=0) + 24
    width_px, height_px = (300.0 if narrow else 560.0), pitch * len(rows)
    up, across = rows_axis(height_px), value_axis(ticks, log=True)
    own: list[dict[str, Any]] = []
    printed: list[dict[str, Any]] = []
    middles: list[dict[str, Any]] = []
    names: list[dict[str, Any]] = []
    for place, row in enumerate(rows):
        middle = (place + 0.5) * pitch + (8 if narrow else 0)
        names.append({"y": middle - 20 if narrow else middle, "text": row.name, **row.ink})
        for found, marks, median, y in (
            (own, row.own, row.median, middle + _APART_PX),
            (printed, row.printed, row.printed_median, middle - _APART_PX),
        ):
            found += [{"x": value, "y": y, "tip": told, **row.ink} for value, told in marks]
            if median:
                middles.append({"x": median, "top": y - 6, "bottom": y + 6, **row.ink})
    small: Style = {"told": True, "strokeWidth": 1.2, "opacity": 0.75}
    there: Style = {"shape": PUBLISHED_SHAPE, "size": 44, "fill": colour("paper")}
    upright: Style = {"y": rows_axis(height_px, "top"), "y2": "bottom"}
    lines: Style = {"color": colour("line"), "strokeWidth": 0.7, "x": -labels_px, "x2": width_px}
    layers = [
        layer("rule", [{"y": place * pitch} for place in range(1, len(rows))], y=up, **lines),
        layer("rule", middles, "stroke", x=across, **upright, strokeWidth=1.6),
        layer("point", printed, "stroke", x=across, y=up, **small, **there),
        layer("point", own, MARK, x=across, y=up, **small, size=30),
        names_of(names, 5 - labels_px, up),
        written(names, 15 - labels_px, up),
    ]
    return alt.layer(*layers).properties(
        width=width_px, height=height_px, title=heading(title, width_px)
    )
