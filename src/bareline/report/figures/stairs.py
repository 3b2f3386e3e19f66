"""A staircase: a tread for each step of a ladder, measured and printed, on one axis of values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bareline.report.figures.channels import heading, inline, raw, tip
from bareline.report.figures.figure import Chart
from bareline.report.figures.grammar import alt
from bareline.report.figures.marks import marks, y_axis
from bareline.report.figures.scales import Ticks, log_ticks
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

    Attributes
    ----------
    own
        With "y", "lo", "hi", "text", "tip" and the platform's ink; None where nothing was measured.
    printed
        With "y", "text" and "tip"; None where nothing is printed.
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
    own = [tread.own for tread in treads]
    printed = [tread.printed for tread in treads]
    middles = [{**row, "x": place + 0.5} for place, row in enumerate(own) if row]
    layers = [
        *_treads(printed, across, ticks, strokeDash=[5, 3], color=colour("faint")),
        *_numbers(printed, across, ticks, dy=_NUMBER_PX, color=colour("soft")),
        *_treads(own, across, ticks, color=colour("ink")),
        *_whiskers(middles, across, ticks),
        marks(middles, across, y_axis(ticks)),
        *_numbers(own, across, ticks, dy=-_NUMBER_PX, color=colour("ink"), fontWeight=600),
        _names(treads, across, narrow=narrow),
    ]
    return alt.layer(*layers).properties(
        width=width_px, height=HEIGHT_PX, title=heading(title, width_px)
    )


def _treads(
    rows: Sequence[dict[str, Any] | None], x: alt.X, ticks: Ticks, **style: Any
) -> Iterator[alt.Chart]:
    """Draw treads, and risers between neighbours that both are there."""
    points = [
        {"x": place + side, "y": row["y"], "stretch": stretch, "order": 2 * place + side}
        for stretch, place, row in _stretches(rows)
        for side in (0, 1)
    ]
    if points:
        line = alt.Chart(inline(points)).mark_line(strokeWidth=1.3, aria=False, **style)
        yield line.encode(x=x, y=y_axis(ticks), detail="stretch:N", order="order:Q")


def _stretches(
    rows: Sequence[dict[str, Any] | None],
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Number what stands together without a gap."""
    stretch = 0
    for place, row in enumerate(rows):
        if row is None:
            stretch += 1
        else:
            yield stretch, place, row


def _whiskers(rows: Sequence[dict[str, Any]], x: alt.X, ticks: Ticks) -> Iterator[alt.Chart]:
    held = [{**row, "y": row["lo"]} for row in rows if row.get("lo") and row.get("hi")]
    if held:
        rule = alt.Chart(inline(held)).mark_rule(strokeWidth=1.4, aria=False)
        yield rule.encode(
            x=x, y=y_axis(ticks), y2=alt.Y2(field="hi"), stroke=raw(alt.Stroke, "colour")
        )


def _numbers(
    rows: Sequence[dict[str, Any] | None], x: alt.X, ticks: Ticks, **style: Any
) -> Iterator[alt.Chart]:
    told = [{**row, "x": place + 0.5} for place, row in enumerate(rows) if row]
    if told:
        text = alt.Chart(inline(told)).mark_text(baseline="middle", **style)
        yield text.encode(
            x=x,
            y=y_axis(ticks),
            text=alt.Text(field="text", type="nominal"),
            description=tip(),
        )


def _names(treads: Sequence[Tread], x: alt.X, *, narrow: bool) -> alt.Chart | alt.LayerChart:
    rows = [{"x": place + 0.5, "text": tread.name} for place, tread in enumerate(treads)]
    style: dict[str, Any] = {"align": "right", "angle": 320} if narrow else {"align": "center"}
    text = alt.Chart(inline(rows)).mark_text(baseline="top", aria=False, **style)
    chart: alt.Chart = text.encode(
        x=x, y=alt.value(HEIGHT_PX + 8), text=alt.Text(field="text", type="nominal")
    )
    if not narrow:
        return chart
    depth = HEIGHT_PX + 16 + _CHARACTER_PX * 0.65 * max(len(tread.name) for tread in treads)
    foot = alt.Chart(inline(rows[:1])).mark_point(size=1, opacity=0, aria=False)
    room: alt.LayerChart = chart + foot.encode(x=x, y=alt.value(depth))
    return room
