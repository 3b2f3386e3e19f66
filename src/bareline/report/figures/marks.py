"""Panels along a parameter: axes, bands, lines and marks, in strips above each other on one axis.

Rows are mappings with x, y, lo, hi, series, stretch (see `stretches`), colour, fill, shape and tip.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bareline.analysis.numbers.row import Estimate
from bareline.report.figures.grammar import MARK, Channel, Chart, Rows, Style, axis, heading, layer
from bareline.report.figures.scales import Ticks, dodge
from bareline.report.figures.theme import LABEL_PX, PUBLISHED_SHAPE, colour

LABEL_GAP_PX = 13
#: Room for a letter of a name at the end of a line: a reader's font may be wider than the font that
#: drawings are measured with.
LETTER_PX = 7.5
#: How strongly a published value is drawn that was measured elsewhere.
PALE = 0.45


def x_axis(ticks: Ticks, title: str, *, labels: bool, log: bool = True) -> Channel:
    """Return the axis of a parameter; without labels where another panel has them."""
    how = {"title": title if labels else None, "labels": labels, "labelFlush": False}
    return axis("x", ticks, log=log, base=2 if log else None, labelOverlap="greedy", **how)


def y_axis(ticks: Ticks) -> Channel:
    """Return the logarithmic axis of values or ratios."""
    # As much room for ticks in all strips of a panel: five digits in the widest font.
    room = {"minExtent": 46, "maxExtent": 46}
    return axis("y", ticks, log=True, title=None, labelOverlap=False, **room)


def rows_axis(height_px: float, field: str = "y") -> Channel:
    """Return the channel of rows of bars or dots under each other: px from the top, no axis."""
    scale = {"domain": [0, height_px], "reverse": True, "nice": False}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": None}


#: Where on an axis something was to be measured: the same for all lines, or by line.
Places = Iterable[float] | Mapping[str, Iterable[float]]


def stretches(rows: Rows, places: Places) -> list[dict[str, Any]]:
    """Divide lines where a value is missing, and where simulated values meet measured ones."""
    if isinstance(places, Mapping):
        return [
            row
            for series, own in places.items()
            for row in stretches([row for row in rows if row["series"] == series], own)
        ]
    order = sorted({*places, *(row["x"] for row in rows)})
    index = {place: number for number, place in enumerate(order)}
    found: list[dict[str, Any]] = []
    last: dict[str, tuple[int, Any, int]] = {}
    for row in sorted(rows, key=lambda row: row["x"]):
        place, filled, stretch = last.get(row["series"], (-1, None, 0))
        hollow = row["fill"] != row["colour"]
        if filled is not None and (index[row["x"]] > place + 1 or hollow != filled):
            stretch += 1
        last[row["series"]] = (index[row["x"]], hollow, stretch)
        found.append({**row, "stretch": f"{row['series']} {stretch}"})
    return found


def intervals(rows: Rows, y: Channel) -> list[dict[str, Any]]:
    """Return the intervals from "y" to "hi"; one that is open above reaches to the axis's end."""
    top = y["scale"]["domain"][1]
    return [
        {**row, "y": row["lo"], "hi": top if row["hi"] is None else row["hi"]}
        for row in rows
        if row["lo"] is not None
    ]


def line_mark(
    x: float, shown: Estimate, series: str, ink: Mapping[str, str], tip: str
) -> dict[str, Any]:
    """Return a mark of a line with its interval; a lower end must be positive to have a place."""
    ends = {"lo": shown.lo if shown.lo and shown.lo > 0 else None, "hi": shown.hi}
    return {"x": x, "y": shown.value, **ends, "series": series, **ink, "tip": tip}


def lines(rows: Rows, x: Channel, y: Channel, **style: Any) -> Chart:
    """Join the values of a platform."""
    usual = {"strokeWidth": 1.4, "strokeJoin": "round"}
    return layer("line", rows, "stroke", x=x, y=y, detail="stretch", **(style or usual))


def marks(rows: Rows, x: Channel, y: Channel) -> Chart:
    """Draw the values in their platforms' marks."""
    return layer("point", rows, MARK, x=x, y=y, tips=True, size=24, strokeWidth=1.2, opacity=1)


def dots(rows: Rows, x: Channel, y: Channel) -> Chart:
    """Draw single trials, faintly: x, y, colour and tip."""
    style: Style = {"filled": True, "shape": "circle", "size": 11, "opacity": 0.38}
    return layer("point", rows, "fill", x=x, y=y, tips=True, **style)


def diamonds(rows: Rows, x: Channel, y: Channel, *, size: float = 60, opacity: float = 1) -> Chart:
    """Draw published values: x, y, colour and tip."""
    style = {"shape": PUBLISHED_SHAPE, "size": size, "fill": colour("paper"), "strokeWidth": 1.3}
    return layer("point", rows, "stroke", x=x, y=y, tips=True, opacity=opacity, **style)


def spans(rows: Rows, x: Channel, y: Channel, **style: Any) -> Chart:
    """Draw the range of each value as an upright line from lo to hi."""
    uprights = [{**row, "y": row["lo"]} for row in rows]
    return layer("rule", uprights, "stroke", x=x, y=y, y2="hi", **{"strokeWidth": 1, **style})


def printed_marks(rows: Rows, x: Channel, y: Channel, turn: float) -> Iterator[Chart]:
    """Draw published values with the range of x to which they apply.

    - `rows`: as of `spans` and `diamonds`; "x" to "end" is the range of x, "middle" its middle.
      "pale" marks a value that was measured elsewhere, "beside" names the place.
    - `turn`: where on the axis words are left of their mark, not right of it.
    """
    soft: Style = {"dy": -7, "fontSize": LABEL_PX, "color": colour("soft")}
    for pale in (True, False):
        own, opacity = [row for row in rows if row["pale"] is pale], PALE if pale else 1.0
        if not own:
            continue
        middles = [{**row, "x": row["middle"]} for row in own]
        reach: Style = {"x": x, "x2": "end", "strokeWidth": 1, "strokeDash": [3, 2]}
        yield layer("rule", own, "stroke", y=y, opacity=opacity, **reach)
        yield spans(middles, x, y, opacity=opacity)
        yield diamonds(middles, x, y, opacity=opacity)
        for beyond, align, dx in ((False, "left", 7.0), (True, "right", -7.0)):
            words = [r for r in middles if r.get("beside") and (r["x"] > turn) is beyond]
            if words:
                yield layer("text", words, x=x, y=y, text="beside", align=align, dx=dx, **soft)


def labels(rows: Rows, ticks: Ticks, width_px: float, height_px: float) -> list[Chart]:
    """Write each platform's name at the end of its line, moved apart where they collide."""
    last = {row["series"]: row for row in rows}
    low, high = (math.log(bound) for bound in ticks.domain)
    wanted = {
        name: (high - math.log(row["y"])) / (high - low) * height_px for name, row in last.items()
    }
    placed = [
        {
            "y": math.exp(high - place / height_px * (high - low)),
            "text": name,
            **{look: last[name][look] for look in ("colour", "fill", "shape")},
        }
        for name, place in dodge(wanted, LABEL_GAP_PX, 2, height_px - 2).items()
    ]
    y, beside = y_axis(ticks), width_px + 18
    room = beside + LETTER_PX * max(map(len, wanted), default=0)
    return [
        layer("point", placed, MARK, x=width_px + 10, y=y, size=42, strokeWidth=1.2, opacity=1),
        layer("text", placed, x=beside, y=y, text="text", align="left", baseline="middle"),
        layer("point", placed, x=room, y=y, size=1, opacity=0),
    ]


def reference(margin: float, ticks: Ticks, width_px: float) -> list[Chart]:
    """Draw the equivalence band and the line at 1."""
    row = {"y": max(1 / (1 + margin), ticks.domain[0]), "hi": min(1 + margin, ticks.domain[1])}
    y = y_axis(ticks)
    return [
        layer("rect", [row], x=0, x2=width_px, y=y, y2="hi", color=colour("band")),
        layer("rule", [{"y": 1}], y=y, color=colour("baseline"), strokeWidth=1.2),
    ]


WIDTH_PX = 285
#: The layers on the two channels of a strip.
Layers = Callable[[Channel, Channel], Iterable[Chart]]


@dataclass(frozen=True, slots=True)
class AxesStrip:
    """One pair of axes: a line of values for each platform.

    - `rows`: as of `bareline.report.figures.marks`, without their stretches.
    - `named`: whether the platforms' names are at the ends of their lines.
    - `whiskers`: whether each interval is also a line: a band needs a neighbour.
    """

    title: str
    rows: Sequence[dict[str, Any]]
    ticks: Ticks
    height_px: float
    under: Layers = lambda _across, _up: ()
    over: Layers = lambda _across, _up: ()
    named: bool = False
    whiskers: bool = False
    width_px: float = WIDTH_PX

    def chart(self, across: Channel, places: Places) -> Chart:
        """Draw it; no line crosses one of the `places` at which it has no value."""
        rows, up = stretches(self.rows, places), y_axis(self.ticks)
        reach = intervals(rows, up)
        band: Style = {"y": up, "y2": "hi", "detail": "stretch", "opacity": 0.18}
        layers = [
            *self.under(across, up),
            layer("area", reach, "fill", x=across, **band),
            *([spans(reach, across, up, opacity=0.5)] if self.whiskers else ()),
            lines(rows, across, up),
            marks(rows, across, up),
            *self.over(across, up),
            *(labels(rows, self.ticks, self.width_px, self.height_px) if self.named else ()),
        ]
        # Names are at the right of a strip; its title may reach over them.
        title = heading(self.title, self.width_px + 100)
        return {"layer": layers, "width": self.width_px, "height": self.height_px, "title": title}


def panel(strips: Sequence[AxesStrip], axis: Ticks, title: str, places: Places) -> Chart:
    """Draw strips above each other; the axis has its labels under the last one."""
    places = places if isinstance(places, Mapping) else list(places)
    drawn = [
        strip.chart(x_axis(axis, title, labels=strip is strips[-1]), places) for strip in strips
    ]
    return drawn[0] if len(drawn) == 1 else {"vconcat": drawn, "spacing": 8}


def dashes(rows: Sequence[dict[str, Any]]) -> Layers:
    """Draw dashed lines, e.g. of the ideal: x, y, colour, and stretch to distinguish them."""
    style: Style = {"strokeWidth": 1, "strokeDash": [4, 3], "opacity": 0.8}
    return lambda across, up: [lines(rows, across, up, **style)]
