"""A staircase: a tread for each step of a ladder, measured and printed, on one axis of values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from bareline.report.figures.grammar import Chart, Rows, Style, alt, heading, layer
from bareline.report.figures.marks import marks, spans, y_axis
from bareline.report.figures.scales import log_ticks
from bareline.report.figures.theme import colour

HEIGHT_PX = 230
#: Width of a tread with its name under it, and without room for that.
_WIDE_PX, _NARROW_PX = 100.0, 52.0
_CHARACTER_PX = 6.6
#: From a tread to the number over or under it.
_NUMBER_PX = 11


@dataclass(frozen=True, slots=True)
class Tread:
    """A step: its name, what was measured, as a row of `figures.marks`, and what was printed.

    - `own`: with "y", "lo", "hi", "text", "tip" and the platform's ink; None where nothing was
      measured.
    - `printed`: with "y", "text" and "tip"; None where nothing is printed.
    """

    name: str
    own: dict[str, Any] | None
    printed: dict[str, Any] | None


def staircase(treads: Sequence[Tread], title: str, *, narrow: bool = False) -> Chart:
    """Draw the steps from left to right; `narrow` writes their names aslant."""
    longest = max(len(tread.name) for tread in treads) * _CHARACTER_PX + 12
    step_px = _NARROW_PX if narrow else max(_WIDE_PX, longest)
    width_px = step_px * len(treads)
    known = [row for tread in treads for row in (tread.own, tread.printed) if row]
    ends = [row[name] for row in known for name in ("y", "lo", "hi") if row.get(name)]
    ticks = log_ticks(ends, pad=0.1)
    across = alt.X(
        field="x",
        type="quantitative",
        scale=alt.Scale(domain=[0, len(treads)], nice=False),
        axis=None,
    )
    up = y_axis(ticks)
    own = [{**row, "x": at + 0.5} for at, tread in enumerate(treads) if (row := tread.own)]
    printed = [{**row, "x": at + 0.5} for at, tread in enumerate(treads) if (row := tread.printed)]
    number: Style = {"text": "text", "told": True, "baseline": "middle"}
    dashed: Style = {"strokeDash": [5, 3], "color": colour("faint")}
    held = [row for row in own if row.get("lo") and row.get("hi")]
    layers = [
        *_steps([tread.printed for tread in treads], across, up, **dashed),
        *_filled("text", printed, across, up, dy=_NUMBER_PX, color=colour("soft"), **number),
        *_steps([tread.own for tread in treads], across, up, color=colour("ink")),
        *([spans(held, across, up, strokeWidth=1.4)] if held else ()),
        marks(own, across, up),
        *_filled(
            "text", own, across, up, dy=-_NUMBER_PX, color=colour("ink"), fontWeight=600, **number
        ),
        _names(treads, across, narrow=narrow),
    ]
    return alt.layer(*layers).properties(
        width=width_px, height=HEIGHT_PX, title=heading(title, width_px)
    )


def _filled(mark: str, rows: Rows, x: alt.X, y: alt.Y, **how: Any) -> list[alt.Chart]:
    return [layer(mark, rows, x=x, y=y, **how)] if rows else []


def _steps(
    rows: Sequence[dict[str, Any] | None], x: alt.X, y: alt.Y, **style: Any
) -> Iterator[alt.Chart]:
    """Draw treads, and risers between neighbours that both are there."""
    gaps = [*accumulate(int(row is None) for row in rows)]
    points = [
        {"x": at + side, "y": row["y"], "stretch": gaps[at], "order": 2 * at + side}
        for at, row in enumerate(rows)
        if row
        for side in (0, 1)
    ]
    for line in _filled("line", points, x, y, detail="stretch", strokeWidth=1.3, **style):
        yield line.encode(order="order:Q")


def _names(treads: Sequence[Tread], x: alt.X, *, narrow: bool) -> Chart:
    rows = [{"x": place + 0.5, "text": tread.name} for place, tread in enumerate(treads)]
    style: Style = {"align": "right", "angle": 320} if narrow else {"align": "center"}
    text = layer("text", rows, x=x, y=HEIGHT_PX + 8, text="text", baseline="top", **style)
    if not narrow:
        return text
    depth = HEIGHT_PX + 16 + _CHARACTER_PX * 0.65 * max(len(tread.name) for tread in treads)
    foot = layer("point", rows[:1], x=x, y=depth, size=1, opacity=0)
    both: Chart = alt.layer(text, foot)
    return both
