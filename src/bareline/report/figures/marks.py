"""Panels along a parameter: strips above each other on one axis, with bands, lines and marks.

Rows are mappings with x, y, lo, hi, series, stretch, colour, fill, shape and tip. A stretch is a
part of a line without a gap (see `stretches`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bareline.analysis.numbers.row import Estimate
from bareline.report.figures.scales import Ticks, dodge
from bareline.report.figures.theme import LABEL_PX, PUBLISHED_SHAPE, colour
from bareline.report.figures.vega import (
    MARK,
    Channel,
    Chart,
    Datum,
    Rows,
    Style,
    axis,
    heading,
    layer,
)

LABEL_GAP_PX = 13
#: Room for a letter of a name at the end of a line: a reader's font may be wider than the font that
#: drawings are measured with.
LETTER_PX = 7.5
#: How strongly a published value is drawn that was measured elsewhere.
PALE = 0.45


def x_axis(ticks: Ticks, title: str, *, labels: bool, log: bool = True) -> Channel:
    """Return the axis of a parameter.

    - `labels`: whether the axis has a title and labels; false if a plot below has them.
    """
    base = 2 if log else None
    shown_title = title if labels else None
    return axis(
        "x",
        ticks,
        log=log,
        base=base,
        labelOverlap="greedy",
        title=shown_title,
        labels=labels,
        labelFlush=False,
    )


def y_axis(ticks: Ticks) -> Channel:
    """Return the logarithmic axis of values or ratios."""
    # As much room for ticks in all strips of a panel: five digits in the widest font.
    room = {"minExtent": 46, "maxExtent": 46}
    return axis("y", ticks, log=True, title=None, labelOverlap=False, **room)


def rows_axis(height_px: float, field: str = "y") -> Channel:
    """Return the vertical channel for rows of bars or dots: px from the top, without an axis."""
    scale = {"domain": [0, height_px], "reverse": True, "nice": False}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": None}


#: Where on an axis something was to be measured: the same for all lines, or by line.
Places = Iterable[float] | Mapping[str, Iterable[float]]


def stretches(rows: Rows, places: Places) -> list[Datum]:
    """Return the rows with their stretches, which are the parts of a line without a gap.

    A line is divided at missing values, and between simulated and measured values.
    """
    if not isinstance(places, Mapping):
        return _divided(rows, places)
    divided: list[Datum] = []
    for series, places_of_line in places.items():
        line = [row for row in rows if row["series"] == series]
        divided += _divided(line, places_of_line)
    return divided


@dataclass(slots=True)
class _LineEnd:
    """The last point of a line up to now, while the line is divided into parts without a gap.

    - `place`: the index of the point's x among all values of x.
    - `is_hollow`: whether the point is simulated.
    - `stretch`: the number of the part to which the point belongs.
    """

    place: int
    is_hollow: bool
    stretch: int

    def continues(self, place: int, *, is_hollow: bool) -> bool:
        """Whether a line has no gap between its last point and a value at the index `place`.

        A change between simulated and measured values also counts as a gap.
        """
        return place <= self.place + 1 and is_hollow == self.is_hollow


def _divided(rows: Rows, places: Iterable[float]) -> list[Datum]:
    """Return the values from left to right, each with the part of its line to which it belongs.

    The field "stretch" names the part. A line is divided where it has no value at one of `places`.
    """
    in_order = sorted(rows, key=lambda row: row["x"])
    drawn_places = [row["x"] for row in in_order]
    order = sorted({*places, *drawn_places})
    index = {place: number for number, place in enumerate(order)}
    ends: dict[str, _LineEnd] = {}
    divided: list[Datum] = []
    for row in in_order:
        series = row["series"]
        place = index[row["x"]]
        is_hollow = row["fill"] != row["colour"]
        end = ends.setdefault(series, _LineEnd(place, is_hollow, 0))
        if not end.continues(place, is_hollow=is_hollow):
            end.stretch += 1
        end.place = place
        end.is_hollow = is_hollow
        divided.append({**row, "stretch": f"{series} {end.stretch}"})
    return divided


def intervals(rows: Rows, y: Channel) -> list[Datum]:
    """Return the intervals of rows; an interval that is open above ends at the end of the axis."""
    _, top = y["scale"]["domain"]
    reaches: list[Datum] = []
    for row in rows:
        low = row["lo"]
        high = row["hi"]
        if low is None:
            continue
        if high is None:
            high = top
        reaches.append({**row, "y": low, "hi": high})
    return reaches


def line_mark(x: float, estimate: Estimate, series: str, ink: Mapping[str, str], tip: str) -> Datum:
    """Return a mark of a line with its interval; a lower end that is not positive is left out."""
    low = estimate.lo
    if low is not None and low <= 0:
        low = None
    return {
        "x": x,
        "y": estimate.value,
        "lo": low,
        "hi": estimate.hi,
        "series": series,
        **ink,
        "tip": tip,
    }


def lines(rows: Rows, x: Channel, y: Channel, **style: Any) -> Chart:
    """Draw the lines that join the values of each platform."""
    if not style:
        style = {"strokeWidth": 1.4, "strokeJoin": "round"}
    return layer("line", rows, "stroke", x=x, y=y, detail="stretch", **style)


def marks(rows: Rows, x: Channel, y: Channel) -> Chart:
    """Draw each value with the mark of its platform."""
    return layer("point", rows, MARK, x=x, y=y, tips=True, size=24, strokeWidth=1.2, opacity=1)


def dots(rows: Rows, x: Channel, y: Channel) -> Chart:
    """Draw single trials as faint dots; rows have x, y, colour and tip."""
    style: Style = {"filled": True, "shape": "circle", "size": 11, "opacity": 0.38}
    return layer("point", rows, "fill", x=x, y=y, tips=True, **style)


def diamonds(rows: Rows, x: Channel, y: Channel, *, size: float = 60, opacity: float = 1) -> Chart:
    """Draw published values as diamonds; rows have x, y, colour and tip."""
    style = {"shape": PUBLISHED_SHAPE, "size": size, "fill": colour("paper"), "strokeWidth": 1.3}
    return layer("point", rows, "stroke", x=x, y=y, tips=True, opacity=opacity, **style)


def spans(rows: Rows, x: Channel, y: Channel, **style: Any) -> Chart:
    """Draw the range of each value as a vertical line from lo to hi."""
    uprights = [{**row, "y": row["lo"]} for row in rows]
    stroke: Style = {"strokeWidth": 1, **style}
    return layer("rule", uprights, "stroke", x=x, y=y, y2="hi", **stroke)


def printed_marks(rows: Rows, x: Channel, y: Channel, turn: float) -> Iterator[Chart]:
    """Draw published values with the range of x to which they apply.

    - `rows`: have the fields that `spans` and `diamonds` need. The range goes from "x" to "end",
      and "middle" is its middle. "pale" is true for a value that was measured elsewhere, and
      "beside" names the place of that measurement.
    - `turn`: the value of x above which the text of a mark is at the left of the mark.
    """
    pale = [row for row in rows if row["pale"]]
    strong = [row for row in rows if not row["pale"]]
    for marks, opacity in ((pale, PALE), (strong, 1.0)):
        if not marks:
            continue
        middles = [{**row, "x": row["middle"]} for row in marks]
        reach: Style = {"x": x, "x2": "end", "strokeWidth": 1, "strokeDash": [3, 2]}
        yield layer("rule", marks, "stroke", y=y, opacity=opacity, **reach)
        yield spans(middles, x, y, opacity=opacity)
        yield diamonds(middles, x, y, opacity=opacity)
        yield from _names_of_places(middles, x, y, turn)


def _names_of_places(rows: Rows, x: Channel, y: Channel, turn: float) -> Iterator[Chart]:
    """Write next to published values where they were measured, if their rows have "beside"."""
    named = [row for row in rows if row.get("beside")]
    before_turn = [row for row in named if row["x"] <= turn]
    beyond_turn = [row for row in named if row["x"] > turn]
    soft: Style = {"dy": -7, "fontSize": LABEL_PX, "color": colour("soft")}
    if before_turn:
        yield layer("text", before_turn, x=x, y=y, text="beside", align="left", dx=7.0, **soft)
    if beyond_turn:
        yield layer("text", beyond_turn, x=x, y=y, text="beside", align="right", dx=-7.0, **soft)


def labels(rows: Rows, ticks: Ticks, width_px: float, height_px: float) -> list[Chart]:
    """Write the name of each platform at the end of its line; names do not overlap."""
    last = {row["series"]: row for row in rows}
    low, high = map(math.log, ticks.domain)
    length = high - low
    wanted_px: dict[str, float] = {}
    for name, row in last.items():
        depth = high - math.log(row["y"])
        wanted_px[name] = depth / length * height_px
    names: list[Datum] = []
    for name, place_px in dodge(wanted_px, LABEL_GAP_PX, 2, height_px - 2).items():
        depth = place_px / height_px * length
        ink = {look: last[name][look] for look in ("colour", "fill", "shape")}
        names.append({"y": math.exp(high - depth), "text": name, **ink})
    y = y_axis(ticks)
    left = width_px + 18
    longest = max(map(len, wanted_px), default=0)
    room = left + LETTER_PX * longest
    return [
        layer("point", names, MARK, x=width_px + 10, y=y, size=42, strokeWidth=1.2, opacity=1),
        layer("text", names, x=left, y=y, text="text", align="left", baseline="middle"),
        layer("point", names, x=room, y=y, size=1, opacity=0),
    ]


def reference(margin: float, ticks: Ticks, width_px: float) -> list[Chart]:
    """Draw the band of ratios that count as equal, and the line at 1."""
    lowest, highest = ticks.domain
    largest_equal = 1 + margin
    band = {"y": max(1 / largest_equal, lowest), "hi": min(largest_equal, highest)}
    y = y_axis(ticks)
    return [
        layer("rect", [band], x=0, x2=width_px, y=y, y2="hi", color=colour("band")),
        layer("rule", [{"y": 1}], y=y, color=colour("baseline"), strokeWidth=1.2),
    ]


WIDTH_PX = 285
#: The layers on the two channels of a strip.
Layers = Callable[[Channel, Channel], Iterable[Chart]]


def _no_layers(_across: Channel, _up: Channel) -> Iterable[Chart]:
    return ()


@dataclass(frozen=True, slots=True)
class AxesStrip:
    """A pair of axes with a line of values for each platform.

    - `rows`: rows with the fields that the docstring of this module lists, except "stretch".
    - `named`: whether the names of the platforms are at the ends of their lines.
    - `whiskers`: whether each interval is also drawn as a vertical line. The band between
      neighbouring points is not visible at a point without a neighbour.
    """

    title: str
    rows: Sequence[Datum]
    ticks: Ticks
    height_px: float
    under: Layers = _no_layers
    over: Layers = _no_layers
    named: bool = False
    whiskers: bool = False
    width_px: float = WIDTH_PX

    def chart(self, across: Channel, places: Places) -> Chart:
        """Return the chart of the strip; lines are interrupted at `places` without a value."""
        rows = stretches(self.rows, places)
        up = y_axis(self.ticks)
        reach = intervals(rows, up)
        band: Style = {"y": up, "y2": "hi", "detail": "stretch", "opacity": 0.18}
        layers = [*self.under(across, up)]
        layers.append(layer("area", reach, "fill", x=across, **band))
        if self.whiskers:
            layers.append(spans(reach, across, up, opacity=0.5))
        layers.append(lines(rows, across, up))
        layers.append(marks(rows, across, up))
        layers += self.over(across, up)
        if self.named:
            layers += labels(rows, self.ticks, self.width_px, self.height_px)
        # Names are at the right of a strip; its title may reach over them.
        title = heading(self.title, self.width_px + 100)
        return {"layer": layers, "width": self.width_px, "height": self.height_px, "title": title}


def panel(strips: Sequence[AxesStrip], axis: Ticks, title: str, places: Places) -> Chart:
    """Return the chart of plots above each other; only the lowest plot has axis labels."""
    if not isinstance(places, Mapping):
        places = list(places)
    charts: list[Chart] = []
    for strip in strips:
        across = x_axis(axis, title, labels=strip is strips[-1])
        charts.append(strip.chart(across, places))
    if len(charts) == 1:
        return charts[0]
    return {"vconcat": charts, "spacing": 8}


def dashes(rows: Rows) -> Layers:
    """Draw dashed lines, e.g. of ideal scaling.

    Rows have x, y, colour and stretch. Rows with the same "stretch" are joined by a line.
    """
    style: Style = {"strokeWidth": 1, "strokeDash": [4, 3], "opacity": 0.8}
    return lambda across, up: [lines(rows, across, up, **style)]
