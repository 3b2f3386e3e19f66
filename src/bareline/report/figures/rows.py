"""Rows under each other on one axis of values: names at the left, bars, marks or trials on it.

Places across are px from the left of the plot, so that names are at negative ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from bareline.analysis.numbers.row import Estimate
from bareline.report.figures.marks import PALE, diamonds, dots, rows_axis
from bareline.report.figures.scales import Ticks, log_ticks
from bareline.report.figures.theme import PUBLISHED_SHAPE, MarkLook, colour
from bareline.report.figures.vega import MARK, Channel, Chart, Rows, Style, axis, layer, plot

#: Height of a platform's row, and of the head of a group.
_PITCH_PX = 18
_HEAD_PX = 20
#: Rows of a chart's layers, by the kind of their marks.
_Laid = defaultdict[str, list[dict[str, Any]]]


def value_axis(ticks: Ticks, field: str = "x", *, log: bool = False, **options: Any) -> Channel:
    """Return the channel of the values; `options` are passed to Vega's axis."""
    usual = {"title": None, "labelOverlap": True}
    return axis(field, ticks, log=log, **{**usual, **options})


def written(
    rows: Rows, x: Channel | float, y: Channel | float, field: str = "text", **style: Any
) -> Chart:
    """Write a field of rows, beginning at a place."""
    place = {"align": "left", "baseline": "middle", **style}
    return layer("text", rows, x=x, y=y, text=field, **place)


def written_clear(rows: Rows, x: float, y: Channel, **style: Any) -> list[Chart]:
    """Write over a grid: the ground around the letters is cleared."""
    clear: Style = {"stroke": colour("paper"), "strokeWidth": 5}
    return [written(rows, x, y, **style, **clear), written(rows, x, y, **style)]


def absence(rows: Rows, x: float, y: Channel, **style: Any) -> Chart:
    """Write why a row has no mark."""
    soft: Style = {"fontStyle": "italic", "color": colour("soft"), **style}
    if any("tip" in row for row in rows):
        soft["description"] = {"field": "tip", "type": "nominal"}
    return written(rows, x, y, **soft)


def rule_at(value: float, x: Channel, width_px: float = 1.2) -> Chart:
    """Draw the line that values are compared with, from top to bottom."""
    return layer("rule", [{"x": value}], x=x, color=colour("baseline"), strokeWidth=width_px)


def boxes(rows: Rows, x: Channel, y: Channel, ink: str = "fill", **style: Any) -> Chart:
    """Fill from x to "end" and from y to "bottom"."""
    return layer("rect", rows, ink, x=x, x2="end", y=y, y2="bottom", **style)


def names_of(rows: Rows, x: float, y: Channel, size: float = 42) -> Chart:
    """Draw the platforms' marks before their names."""
    return layer("point", rows, MARK, x=x, y=y, size=size, strokeWidth=1.2, opacity=1)


@dataclass(frozen=True, slots=True)
class Bar:
    """A platform's row in a group, on the axis: its bar, or in `text` why there is none.

    - `dots`, `printed`: trials and published values with tips; these also with their other place.
    - `parts`: the parts of the bar from zero on, each with how strongly it is filled.
    """

    name: str
    text: str
    shown: Estimate | None = None
    tip: str = ""
    hollow: bool = False
    dots: Sequence[tuple[float, str]] = ()
    printed: Sequence[tuple[float, str, str]] = ()
    parts: Sequence[tuple[float, float]] = ()

    @property
    def ends(self) -> list[float]:
        """The values that the axis must have room for."""
        ends = list(self.shown.known) if self.shown else []
        ends += [value for value, _ in self.dots]
        ends += [value for value, _, _ in self.printed]
        return [*ends, sum(part for part, _ in self.parts)]


def bar_chart(
    groups: Mapping[str, Sequence[Bar]], title: str, ticks: Ticks, looks: Mapping[str, MarkLook],
    plot_px: float, labels_px: float,
) -> Chart:  # fmt: skip
    """Draw bars from zero in the platforms' colours, each with its interval and its number."""
    layout = _BarLayout(looks)
    for head, bars in groups.items():
        layout.place(head, bars)
    rows = layout.rows
    x = value_axis(ticks)
    up = rows_axis(layout.height_px)
    top = rows_axis(layout.height_px, "top")
    named = [*rows["drawn"], *rows["empty"]]
    bold: Style = {"fontWeight": 600, "limit": labels_px + plot_px}
    layers: list[Chart] = []
    low, high = ticks.domain
    if low < 0:
        layers.append(rule_at(0.0, x))
    layers += _fills(rows["pieces"], x, top)
    layers.append(dots(rows["trials"], x, up))
    layers += _values(rows["drawn"], ticks, up, top)
    layers += [
        written(rows["drawn"], plot_px + 8, up),
        names_of(named, 5 - labels_px, up, 38),
        written(named, 14 - labels_px, up, "name", limit=labels_px - 20),
    ]
    layers += written_clear(rows["heads"], -labels_px, up, **bold)
    zero_px = plot_px * -low / (high - low)
    layers.append(absence(rows["empty"], zero_px + 5, up))
    layers += _printed(rows["published"], x, up, ticks, plot_px)
    return plot(layers, plot_px, layout.height_px, title)


def _values(bars: Rows, ticks: Ticks, up: Channel, top: Channel) -> list[Chart]:
    """Draw the interval of each bar, and an upright line at its value."""
    reach: Style = {"x": value_axis(ticks, "lo"), "x2": "hi", "strokeWidth": 1.6}
    value: Style = {"x": value_axis(ticks), "y": top, "y2": "bottom", "strokeWidth": 2}
    return [
        layer("rule", bars, **reach, y=up, color=colour("ink")),
        layer("rule", bars, "stroke", tips=True, **value),
    ]


class _BarLayout:
    """A panel of bars from the top: the rows of the chart's layers, and its height."""

    def __init__(self, looks: Mapping[str, MarkLook]) -> None:
        self.looks = looks
        self.rows: _Laid = _Laid(list)
        self.height_px = 0.0

    def place(self, head: str, bars: Sequence[Bar]) -> None:
        """Add a group of bars under its head."""
        if head:
            self.rows["heads"].append({"y": self.height_px + _HEAD_PX / 2 + 2, "text": head})
            self.height_px += _HEAD_PX
        for bar in bars:
            self._place_bar(bar, self.height_px + _PITCH_PX / 2)
            self.height_px += _PITCH_PX

    def _place_bar(self, bar: Bar, y: float) -> None:
        look = self.looks[bar.name]
        row = _bar_row(bar, y, look)
        kind = "drawn" if "x" in row else "empty"
        self.rows[kind].append(row)
        self.rows["pieces"] += _pieces(bar, row)
        for index, (x, tip) in enumerate(bar.dots):
            # The golden ratio spreads neighbours without any pattern or chance.
            offset = ((index * 0.618034) % 1 - 0.5) * 9
            trial = {"x": x, "y": y + offset, "colour": look.colour, "tip": tip}
            self.rows["trials"].append(trial)
        for x, tip, where in bar.printed:
            mark = {"x": x, "y": y, "colour": look.colour, "tip": tip}
            self.rows["published"].append({**mark, "beside": where, "bar": row.get("x")})


def _bar_row(bar: Bar, y: float, look: MarkLook) -> dict[str, Any]:
    """Return the row of a bar; without a value, only its name and why there is none."""
    row = {"y": y, "name": bar.name, **look.ink(hollow=bar.hollow), "text": bar.text}
    estimate = bar.shown
    if estimate is None:
        return row
    ends = estimate.known
    return {
        **row,
        "top": y - 5,
        "bottom": y + 5,
        "x": estimate.value,
        "lo": min(ends),
        "hi": max(ends),
        "tip": bar.tip,
    }


def _pieces(bar: Bar, row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the pieces of a bar; a bar without parts is one piece."""
    if bar.shown is None:
        return
    silent = {name: value for name, value in row.items() if name != "tip"}
    is_divided = bool(bar.parts)
    parts = bar.parts or [(bar.shown.value, 0.2)]
    start = 0.0
    for part, strength in parts:
        end = start + part
        look = {"strength": strength, "hollow": bar.hollow, "divided": is_divided}
        yield {**silent, "x": start, "end": end, **look}
        start = end


def _fills(pieces: Rows, x: Channel, y: Channel) -> Iterator[Chart]:
    """Fill the bars, part by part; simulated ones are outlined only."""
    by_look: dict[tuple[float, bool], list[Mapping[str, Any]]] = defaultdict(list)
    for piece in pieces:
        by_look[piece["strength"], piece["hollow"]].append(piece)
    for (strength, is_hollow), rows in by_look.items():
        if is_hollow:
            outline: Style = {"fillOpacity": 0, "strokeOpacity": 0.7, "strokeDash": [3, 2]}
            yield boxes(rows, x, y, "fill stroke", **outline)
            continue
        style: Style = {"fillOpacity": strength, "strokeOpacity": 0.7}
        if rows[0]["divided"]:
            style["stroke"] = colour("paper")
        yield boxes(rows, x, y, **style)


#: Width of a letter next to a published value.
_LETTER_PX = 6.2


def _printed(rows: Rows, x: Channel, y: Channel, ticks: Ticks, plot_px: float) -> Iterator[Chart]:
    """Draw published values, pale where they were measured elsewhere, and name the places."""
    here = [row for row in rows if not row["beside"]]
    elsewhere = [row for row in rows if row["beside"]]
    if here:
        yield diamonds(here, x, y)
    if elsewhere:
        yield diamonds(elsewhere, x, y, opacity=PALE)
    # Written once in a panel: most are of one place.
    for words in dict.fromkeys(row["beside"] for row in elsewhere):
        places = [row for row in elsewhere if row["beside"] == words]
        yield _named_place(places, len(words), x, y, ticks, plot_px)


def _named_place(
    rows: Rows, letters: int, x: Channel, y: Channel, ticks: Ticks, plot_px: float
) -> Chart:
    """Write a place next to one of its marks, where no bar ends under the words if possible.

    The words are left of their mark if the numbers begin before their end.
    """
    low, high = ticks.domain
    px = plot_px / (high - low)
    length_px = _LETTER_PX * letters + 7
    first_mark_px = (rows[0]["x"] - low) * px
    side: Style
    if first_mark_px + length_px > plot_px:
        first = -length_px / px
        last = 0.0
        side = {"align": "right", "dx": -7}
    else:
        first = 0.0
        last = length_px / px
        side = {"dx": 7}

    def is_free(row: Mapping[str, Any]) -> bool:
        return row["bar"] is None or not first <= row["bar"] - row["x"] <= last

    mark = next(filter(is_free, rows), rows[0])
    return written([mark], x, y, "beside", color=colour("soft"), **side)


#: A trial: its value, and its tip.
Mark = tuple[float, str]


@dataclass(frozen=True, slots=True)
class StripRow:
    """A platform: its trials, and those that are printed for it."""

    name: str
    ink: dict[str, str]
    measured: Sequence[Mark]
    printed: Sequence[Mark]


@dataclass(frozen=True, slots=True)
class _StripSizes:
    """Lengths of a strip plot in px; narrow ones have names above the rows, not at their left."""

    pitch: float
    width: float
    labels: float
    name_up: float
    marks_down: float

    @classmethod
    def of(cls, rows: Sequence[StripRow], *, narrow: bool) -> _StripSizes:
        if narrow:
            return cls(pitch=48.0, width=300.0, labels=0.0, name_up=20, marks_down=8)
        longest = max((len(row.name) for row in rows), default=0)
        return cls(pitch=34.0, width=560.0, labels=7.2 * longest + 24, name_up=0, marks_down=0)


def strip_plot(rows: Sequence[StripRow], title: str, *, narrow: bool = False) -> Chart:
    """Draw the rows with their medians; `narrow` writes names above them, not at their left."""
    sizes = _StripSizes.of(rows, narrow=narrow)
    height_px = sizes.pitch * len(rows)
    marks = _strip_marks(rows, sizes)
    values: list[float] = []
    for row in rows:
        values += [value for value, _ in row.measured]
        values += [value for value, _ in row.printed]
    up = rows_axis(height_px)
    across = value_axis(log_ticks(values), log=True)
    left = -sizes.labels
    between = [{"y": place * sizes.pitch} for place in range(1, len(rows))]
    lines: Style = {"color": colour("line"), "strokeWidth": 0.7, "x": left, "x2": sizes.width}
    upright: Style = {"y": rows_axis(height_px, "top"), "y2": "bottom", "strokeWidth": 1.6}
    small: Style = {"x": across, "y": up, "tips": True, "strokeWidth": 1.2, "opacity": 0.75}
    printed: Style = {"shape": PUBLISHED_SHAPE, "size": 44, "fill": colour("paper")}
    layers = [
        layer("rule", between, y=up, **lines),
        layer("rule", marks["medians"], "stroke", x=across, **upright),
        layer("point", marks["printed"], "stroke", **small, **printed),
        layer("point", marks["measured"], MARK, **small, size=30),
        names_of(marks["names"], left + 5, up),
        written(marks["names"], left + 15, up),
    ]
    return plot(layers, sizes.width, height_px, title)


def _strip_marks(rows: Sequence[StripRow], sizes: _StripSizes) -> _Laid:
    """Place the names, the trials, the printed values and the medians of all rows."""
    marks = _Laid(list)
    for place, row in enumerate(rows):
        y = (place + 0.5) * sizes.pitch + sizes.marks_down
        marks["names"].append({"y": y - sizes.name_up, "text": row.name, **row.ink})
        _place_marks(marks, "measured", row.measured, y + 7, row.ink)
        _place_marks(marks, "printed", row.printed, y - 7, row.ink)
    return marks


def _place_marks(
    laid: _Laid, name: str, marks: Sequence[Mark], y: float, ink: Mapping[str, str]
) -> None:
    """Add trials at a height, with their median."""
    laid[name] += [{"x": value, "y": y, "tip": tip, **ink} for value, tip in marks]
    if not marks:
        return
    middle = median(value for value, _ in marks)
    if middle:
        laid["medians"].append({"x": middle, "top": y - 6, "bottom": y + 6, **ink})
