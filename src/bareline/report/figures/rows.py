"""Rows above each other on one axis of values: names at the left, then bars, marks or trials.

Horizontal positions are px from the left of the plot, so that names have negative positions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from bareline.analysis.numbers.row import Estimate
from bareline.report.figures.marks import PALE, diamonds, dots, rows_axis
from bareline.report.figures.scales import Ticks, log_ticks
from bareline.report.figures.theme import PUBLISHED_SHAPE, MarkLook, colour
from bareline.report.figures.vega import MARK, Channel, Chart, Datum, Rows, Style, axis, layer, plot
from bareline.vocabulary.grouping import grouped_by

#: Height of a platform's row, and of the head of a group.
_PITCH_PX = 18
_HEAD_PX = 20
#: Rows of a chart's layers, by the kind of their marks.
_Laid = defaultdict[str, list[Datum]]


def value_axis(ticks: Ticks, field: str = "x", *, log: bool = False, **options: Any) -> Channel:
    """Return the channel of the values; `options` are passed to Vega's axis."""
    usual = {"title": None, "labelOverlap": True}
    return axis(field, ticks, log=log, **{**usual, **options})


def written(
    rows: Rows, x: Channel | float, y: Channel | float, field: str = "text", **style: Any
) -> Chart:
    """Write the text of each row, from its field `field`; the text begins at `x`."""
    place = {"align": "left", "baseline": "middle", **style}
    return layer("text", rows, x=x, y=y, text=field, **place)


def written_clear(rows: Rows, x: float, y: Channel, **style: Any) -> list[Chart]:
    """Write text over a grid; around the letters the grid is not visible."""
    clear: Style = {"stroke": colour("paper"), "strokeWidth": 5}
    ground = written(rows, x, y, **style, **clear)
    words = written(rows, x, y, **style)
    return [ground, words]


def absence(rows: Rows, x: float, y: Channel, **style: Any) -> Chart:
    """Write the reason in rows that have no mark."""
    soft: Style = {"fontStyle": "italic", "color": colour("soft"), **style}
    if any("tip" in row for row in rows):
        soft["description"] = {"field": "tip", "type": "nominal"}
    return written(rows, x, y, **soft)


def rule_at(value: float, x: Channel, width_px: float = 1.2) -> Chart:
    """Draw a vertical line at the value with which other values are compared."""
    return layer("rule", [{"x": value}], x=x, color=colour("baseline"), strokeWidth=width_px)


def boxes(rows: Rows, x: Channel, y: Channel, ink: str = "fill", **style: Any) -> Chart:
    """Draw boxes from x to "end" and from y to "bottom"."""
    return layer("rect", rows, ink, x=x, x2="end", y=y, y2="bottom", **style)


def names_of(rows: Rows, x: float, y: Channel, size: float = 42) -> Chart:
    """Draw the platforms' marks before their names."""
    return layer("point", rows, MARK, x=x, y=y, size=size, strokeWidth=1.2, opacity=1)


#: A trial: its value, and its tip.
Mark = tuple[float, str]
#: A part of a bar, and how strongly it is filled.
Part = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PrintedMark:
    """A published value and its tooltip.

    - `elsewhere`: where the value was measured, if the run measured on different ranks or nodes;
      else "".
    """

    value: float
    tip: str
    elsewhere: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A platform's row in a group: its bar, or the reason why it has none.

    - `text`: the number at the end of the bar; without a bar, the reason.
    - `dots`: the trials.
    - `printed`: the published values.
    - `parts`: the lengths of the parts of the bar, beginning at zero.
    """

    name: str
    text: str
    shown: Estimate | None = None
    tip: str = ""
    hollow: bool = False
    dots: Sequence[Mark] = ()
    printed: Sequence[PrintedMark] = ()
    parts: Sequence[Part] = ()

    @property
    def ends(self) -> list[float]:
        """The values for which the axis must have room."""
        ends: list[float] = []
        if self.shown:
            ends += self.shown.known
        ends += [value for value, _ in self.dots]
        ends += [mark.value for mark in self.printed]
        ends.append(sum(part for part, _ in self.parts))
        return ends


#: The bars of each group under its head.
Groups = Mapping[str, Sequence[Bar]]
Looks = Mapping[str, MarkLook]


def bar_chart(
    groups: Groups, title: str, ticks: Ticks, looks: Looks, plot_px: float, labels_px: float
) -> Chart:
    """Draw bars from zero in the platforms' colours, with their intervals and numbers."""
    layout = _BarLayout(looks)
    for head, bars in groups.items():
        layout.place(head, bars)
    layers = _BarLayers(layout, ticks, plot_px, labels_px)
    return plot(layers.all(), plot_px, layout.height_px, title)


class _BarLayout:
    """The layout of a panel of bars from top to bottom: rows by kind of mark, and the height."""

    def __init__(self, looks: Looks) -> None:
        self.looks = looks
        self.rows: _Laid = _Laid(list)
        self.height_px = 0.0

    def place(self, head: str, bars: Sequence[Bar]) -> None:
        """Add a group of bars below its head."""
        if head:
            middle = self.height_px + _HEAD_PX / 2
            self.rows["heads"].append({"y": middle + 2, "text": head})
            self.height_px += _HEAD_PX
        for bar in bars:
            middle = self.height_px + _PITCH_PX / 2
            self._place_bar(bar, middle)
            self.height_px += _PITCH_PX

    def _place_bar(self, bar: Bar, y: float) -> None:
        look = self.looks[bar.name]
        row = _bar_row(bar, y, look)
        kind = "drawn" if "x" in row else "empty"
        self.rows[kind].append(row)
        self.rows["pieces"] += _pieces(bar, row)
        for index, (x, tip) in enumerate(bar.dots):
            # Multiples of the golden ratio spread neighbouring dots without a visible pattern.
            share = (index * 0.618034) % 1
            height = y + (share - 0.5) * 9
            self.rows["trials"].append({"x": x, "y": height, "colour": look.colour, "tip": tip})
        for printed in bar.printed:
            mark = {
                "x": printed.value,
                "y": y,
                "colour": look.colour,
                "tip": printed.tip,
                "beside": printed.elsewhere,
                "bar": row.get("x"),
            }
            self.rows["published"].append(mark)


def _bar_row(bar: Bar, y: float, look: MarkLook) -> Datum:
    """Return the row of a bar; without a value, the name and the reason why there is no bar."""
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


def _pieces(bar: Bar, row: Datum) -> Iterator[Datum]:
    """Yield the pieces of a bar: its parts, or one piece if it has no parts."""
    if bar.shown is None:
        return
    silent = dict(row)
    del silent["tip"]
    is_divided = bool(bar.parts)
    start = 0.0
    for part, strength in bar.parts or [(bar.shown.value, 0.2)]:
        end = start + part
        look = {"strength": strength, "hollow": bar.hollow, "divided": is_divided}
        yield {**silent, "x": start, "end": end, **look}
        start = end


#: Width of a letter next to a published value.
_LETTER_PX = 6.2


class _BarLayers:
    """The layers of a panel of bars, from the lowest to the highest."""

    def __init__(self, layout: _BarLayout, ticks: Ticks, plot_px: float, labels_px: float) -> None:
        self.rows = layout.rows
        self.ticks = ticks
        self.plot_px = plot_px
        self.labels_px = labels_px
        self.x = value_axis(ticks)
        self.up = rows_axis(layout.height_px)
        self.top = rows_axis(layout.height_px, "top")

    def all(self) -> Iterator[Chart]:
        low, high = self.ticks.domain
        if low < 0:
            yield rule_at(0.0, self.x)
        yield from self._fills()
        yield dots(self.rows["trials"], self.x, self.up)
        yield from self._values()
        yield from self._names()
        zero_px = self.plot_px * -low / (high - low)
        yield absence(self.rows["empty"], zero_px + 5, self.up)
        yield from self._printed()

    def _fills(self) -> Iterator[Chart]:
        """Yield the filled bars, part by part; simulated bars have only an outline."""
        by_look = grouped_by(self.rows["pieces"], lambda row: (row["strength"], row["hollow"]))
        for (strength, is_hollow), pieces in by_look.items():
            if is_hollow:
                outline: Style = {"fillOpacity": 0, "strokeOpacity": 0.7, "strokeDash": [3, 2]}
                yield boxes(pieces, self.x, self.top, "fill stroke", **outline)
                continue
            style: Style = {"fillOpacity": strength, "strokeOpacity": 0.7}
            if pieces[0]["divided"]:
                style["stroke"] = colour("paper")
            yield boxes(pieces, self.x, self.top, **style)

    def _values(self) -> Iterator[Chart]:
        """Yield the interval of each bar, a line at its value, and the number at its right."""
        bars = self.rows["drawn"]
        reach: Style = {"x": value_axis(self.ticks, "lo"), "x2": "hi", "strokeWidth": 1.6}
        yield layer("rule", bars, **reach, y=self.up, color=colour("ink"))
        upright: Style = {"x": self.x, "y": self.top, "y2": "bottom", "strokeWidth": 2}
        yield layer("rule", bars, "stroke", tips=True, **upright)
        yield written(bars, self.plot_px + 8, self.up)

    def _names(self) -> Iterator[Chart]:
        """Yield the names of the bars and the heads of the groups."""
        named = [*self.rows["drawn"], *self.rows["empty"]]
        left = -self.labels_px
        yield names_of(named, left + 5, self.up, 38)
        yield written(named, left + 14, self.up, "name", limit=self.labels_px - 20)
        bold: Style = {"fontWeight": 600, "limit": self.labels_px + self.plot_px}
        yield from written_clear(self.rows["heads"], left, self.up, **bold)

    def _printed(self) -> Iterator[Chart]:
        """Yield the published values and the places where they were measured.

        A value is pale if it was measured on other ranks or nodes than the run's.
        """
        places = grouped_by(self.rows["published"], lambda row: row["beside"])
        here = places.pop("", None)
        if here:
            yield diamonds(here, self.x, self.up)
        if places:
            elsewhere = [row for row in self.rows["published"] if row["beside"]]
            yield diamonds(elsewhere, self.x, self.up, opacity=PALE)
        # A place is written once in a panel, because most values are from the same place.
        for words, rows in places.items():
            yield self._named_place(rows, len(words))

    def _named_place(self, rows: Rows, letters: int) -> Chart:
        """Write the place of measurement next to one of its published values.

        If possible, the text is where no bar is below. If there is no room at the right of the
        value's mark, the text is at its left.
        """
        low, high = self.ticks.domain
        px = self.plot_px / (high - low)
        length_px = _LETTER_PX * letters + 7
        length = length_px / px
        first_mark_px = (rows[0]["x"] - low) * px
        first = 0.0
        last = length
        side: Style = {"dx": 7}
        if first_mark_px + length_px > self.plot_px:
            first = -length
            last = 0.0
            side = {"align": "right", "dx": -7}

        def is_free(row: Mapping[str, Any]) -> bool:
            bar = row["bar"]
            return bar is None or not first <= bar - row["x"] <= last

        mark = next(filter(is_free, rows), rows[0])
        return written([mark], self.x, self.up, "beside", color=colour("soft"), **side)


@dataclass(frozen=True, slots=True)
class StripRow:
    """The row of a platform: its measured trials, and the published trials."""

    name: str
    ink: dict[str, str]
    measured: Sequence[Mark]
    printed: Sequence[Mark]


@dataclass(frozen=True, slots=True)
class _StripSizes:
    """The lengths of a strip plot in px; in a narrow plot, names are above the rows."""

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
    """Draw the rows with their medians; if `narrow`, names are above the rows."""
    sizes = _StripSizes.of(rows, narrow=narrow)
    height_px = sizes.pitch * len(rows)
    marks = _strip_marks(rows, sizes)
    values = [mark["x"] for mark in (*marks["measured"], *marks["printed"])]
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
    """Return the positions of names, trials, printed values and medians of all rows."""
    marks = _Laid(list)
    for place, row in enumerate(rows):
        y = (place + 0.5) * sizes.pitch + sizes.marks_down
        marks["names"].append({"y": y - sizes.name_up, "text": row.name, **row.ink})
        measured = _marks_at(y + 7, row.measured, row.ink)
        printed = _marks_at(y - 7, row.printed, row.ink)
        marks["measured"] += measured
        marks["printed"] += printed
        marks["medians"] += [*_median(measured), *_median(printed)]
    return marks


def _marks_at(y: float, marks: Iterable[Mark], ink: Mapping[str, str]) -> list[Datum]:
    """Return the marks of trials at the height `y`."""
    return [{"x": value, "y": y, "tip": tip, **ink} for value, tip in marks]


def _median(marks: Rows) -> Iterator[Datum]:
    """Yield a vertical line at the median of marks; none without marks, or for a median of zero."""
    if not marks:
        return
    middle = median(mark["x"] for mark in marks)
    if middle:
        y = marks[0]["y"]
        ink = {look: marks[0][look] for look in ("colour", "fill", "shape")}
        yield {"x": middle, "top": y - 6, "bottom": y + 6, **ink}
