"""Common parts of exhibits along a parameter: axes, plots on these axes, and published ratios."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.content.cells import is_number, position
from bareline.report.content.published import PublishedPoint, same_place
from bareline.report.content.wording import axis_title, compared_words, metric_name, sentence_case
from bareline.report.exhibits.base import Panel, TableRow, cells_of
from bareline.report.figures.marks import (
    LABEL_GAP_PX,
    LETTER_PX,
    WIDTH_PX,
    AxesStrip,
    Layers,
    Places,
    line_mark,
    panel,
    printed_marks,
    reference,
)
from bareline.report.figures.scales import Ticks, count_ticks, log_ticks, ratio_ticks, size_ticks
from bareline.report.figures.theme import MarkLook, looks
from bareline.report.figures.vega import Channel, Chart, Datum
from bareline.vocabulary.place import Place, parameter_value

#: Stretches of an axis, each from its low to its high end.
_Ranges = Iterable[tuple[float, float]]

#: Axes on which "inside a node" is a range of positions.
_LAYOUT = ("ranks", "nodes")

VALUE_HEIGHT_PX = 180
RATIO_HEIGHT_PX = 105


def placed(cells: Iterable[Row], x: str) -> list[Row]:
    """Return the cells that have a value of the parameter `x`."""
    return [cell for cell in cells if is_number(cell.place.coordinates.get(x))]


def parameter_words(chosen: Panel, cell: Row) -> str:
    """Format the value of the axis parameter of a cell, e.g. ``4 KiB``."""
    return _parameter_words(chosen.x, cell)


def _parameter_words(x: str, cell: Row) -> str:
    return parameter_value(x, cell.place.coordinates[x])


class SharedAxis:
    """The axes that all panels of a figure share, so that a reader can compare the panels."""

    def __init__(self, chosen: Panel, *, others: Iterable[float] = ()) -> None:
        self.chosen = chosen
        self.x = chosen.x
        self.scale = chosen.unit
        cells = cells_of(chosen.rows)
        positions = set(map(chosen.at, cells))
        #: The parameter's axis, and the position of the value 0 on it.
        self.across, self.zero = parameter_axis(self.x, positions)
        values = list(others)
        ratios = list(self._printed_ends(cells))
        for cell in cells:
            if cell.value:
                values += cell.value.known
            if cell.ratio:
                ratios += cell.ratio.known
        self.values = log_ticks(value * self.scale.factor for value in values)
        self.ratios = ratio_ticks(ratios)
        self.looks: Mapping[str, MarkLook] = looks(chosen.document.names)

    def _printed_ends(self, cells: Sequence[Row]) -> Iterator[float]:
        """Yield the ends of the published ratios that have a position on the axis."""
        for point in self.chosen.published:
            if point.places(self.x) or self._is_placeless(point, cells):
                ends = (point.low, point.high, point.middle)
                yield from filter(None, ends)

    def _is_placeless(self, point: PublishedPoint, cells: Sequence[Row]) -> bool:
        """Whether a ratio is printed "within a node" or "between nodes", and applies to a cell."""
        return self.has_placement(point) and any(map(point.about, cells))

    def has_placement(self, point: PublishedPoint) -> bool:
        """Whether the axis shows ranks or nodes, and the ratio is printed for a placement of ranks.

        A placement is "within a node" or "between nodes".
        """
        return self.x in _LAYOUT and "placement" in point.ratio.conditions

    def at(self, value: float) -> float:
        """Return the position of a parameter value on the axis."""
        return value if value > 0 else self.zero

    def place_of(self, cell: Row) -> float:
        """Return the position of a cell on the axis."""
        return self.at(self.chosen.at(cell))

    def where(self, cell: Row) -> str:
        """Format the platform of a cell and its position on the axis."""
        return f"{cell.platform}, {_parameter_words(self.x, cell)}"

    def mark(self, cell: Row, estimate: Estimate, tip: str, factor: float = 1.0) -> Datum:
        """Return the mark of a cell at an estimate, with the interval of the estimate."""
        ink = self.looks[cell.platform].ink(hollow=cell.simulated)
        tooltip = f"{self.where(cell)}: {tip}"
        drawn = estimate.times(factor)
        return line_mark(self.place_of(cell), drawn, cell.platform, ink, tooltip)

    def value_strip(
        self, cells: Iterable[Row], title: str, under: Layers, tooltip: Callable[[Row], str]
    ) -> AxesStrip:
        """Return the plot of medians; a median that is not positive is left out of the log axis."""
        marks = []
        name = ""
        for cell in cells:
            value = cell.value
            if value is None:
                continue
            if not name:
                name = self.scale.titled(metric_name(cell.place.metric))
            if value.value > 0:
                marks.append(self.mark(cell, value, tooltip(cell), self.scale.factor))
        if title:
            name = f"{title}: {name}"
        return AxesStrip(
            sentence_case(name),
            marks,
            self.values,
            VALUE_HEIGHT_PX,
            under=under,
            named=True,
        )

    def ratio_strip(self, cells: Sequence[Row]) -> AxesStrip:
        """Return the plot of platforms' ratios to the baseline, with the band of equal ratios."""
        marks = []
        for cell in cells:
            if cell.ratio:
                marks.append(self.mark(cell, cell.ratio, compared_words(cell)))
        title = f"Ratio to {self.chosen.baseline} (above 1 is worse)"
        strip = AxesStrip(title, marks, self.ratios, RATIO_HEIGHT_PX)
        return self._with_references(strip, cells)

    def lines_strip(
        self, title: str, lines: Mapping[str, Sequence[Row]], styles: Mapping[str, MarkLook]
    ) -> AxesStrip:
        """Return the plot of the ratios of one platform: a line for each name in `lines`.

        - `styles`: the colour and the mark of each line.
        """
        marks = []
        cells: list[Row] = []
        for name, line in lines.items():
            cells += line
            for cell in line:
                if not cell.ratio:
                    continue
                mark = self.mark(cell, cell.ratio, f"{name} {compared_words(cell)}")
                ink = styles[name].ink(hollow=cell.simulated)
                marks.append({**mark, "series": name, **ink})
        # Long names leave less room for lines; otherwise a phone would have to shrink the strip.
        excess = max(map(len, lines)) - 9
        narrower = WIDTH_PX - LETTER_PX * max(0, excess)
        strip = AxesStrip(
            title,
            marks,
            self.ratios,
            height_px=max(230, LABEL_GAP_PX * (len(lines) + 1)),
            width_px=max(150.0, narrower),
            named=True,
            whiskers=True,
        )
        return self._with_references(strip, cells)

    def _with_references(self, strip: AxesStrip, cells: Sequence[Row]) -> AxesStrip:
        """Return a plot of ratios, with published ratios and the band of equal ratios added."""
        margin = self.chosen.document.margin
        printed = _PrintedRatios(self, cells)

        def under(_across: Channel, _up: Channel) -> Iterable[Chart]:
            return reference(margin, strip.ticks, strip.width_px)

        return replace(strip, under=under, over=printed.layers)

    def panel(self, strips: Sequence[AxesStrip], places: Places) -> Chart:
        """Return the chart of a panel's plots; a line is interrupted where a value is missing."""
        on_axis: Places
        if isinstance(places, Mapping):
            on_axis = {name: list(map(self.at, line)) for name, line in places.items()}
        else:
            on_axis = map(self.at, places)
        return panel(strips, self.across, axis_title(self.x), on_axis)


class _PrintedRatios:
    """A painter of the published ratios that apply to the cells of a panel, with their ranges."""

    def __init__(self, along: SharedAxis, cells: Sequence[Row]) -> None:
        self.along = along
        self.x = along.x
        self.cells = cells

    def layers(self, across: Channel, up: Channel) -> Iterable[Chart]:
        """Yield the charts of the ratios.

        In the right half of the axis, the text of a ratio is at the left of its mark.
        """
        least, most = self.along.across.domain
        return printed_marks(self._marks(), across, up, turn=math.sqrt(least * most))

    def _marks(self) -> list[Datum]:
        marks: list[Datum] = []
        named: set[str] = set()
        for point in self.along.chosen.published:
            cells = self._cells_of(point)
            if not cells:
                continue
            elsewhere = self._elsewhere(point, cells[0])
            is_pale = elsewhere is not None
            of_point = [{**mark, "pale": is_pale} for mark in self._reaches(point, cells)]
            if of_point and elsewhere and elsewhere not in named:
                # A place is written once in a panel, because most of its figures have the same
                # place.
                named.add(elsewhere)
                of_point[0]["beside"] = elsewhere
            marks += of_point
        return marks

    def _cells_of(self, point: PublishedPoint) -> list[Row]:
        """Return the cells that a published ratio applies to, whatever its position on the axis."""
        conditions = [(name, value) for name, value in point.ratio.at if name != self.x]
        ratio = replace(point.ratio, at=tuple(conditions))
        anywhere = replace(point, ratio=ratio)
        return list(filter(anywhere.about, self.cells))

    def _elsewhere(self, point: PublishedPoint, first: Row) -> str | None:
        """Describe where a ratio was measured; None if the run measured at the same place.

        The description is empty if the position of the ratio on the axis shows it.
        """
        for cell in self.cells:
            if point.about(cell) and same_place(point.ratio, cell.place):
                return None
        if self.x == "ranks" and point.places("ranks"):
            return ""
        return point.elsewhere(first.place)

    def _reaches(self, point: PublishedPoint, cells: Sequence[Row]) -> Iterator[Datum]:
        """Yield a mark for each range of the axis parameter to which a published ratio applies."""
        least, most = self.along.across.domain
        middle = point.middle
        mark = {
            "y": self._on_axis(middle),
            "lo": self._on_axis(point.low or middle),
            "hi": self._on_axis(point.high or middle),
            "tip": point.tip,
            "colour": self.along.looks[point.platform].colour,
        }
        for begin, end in self._ranges(point, cells):
            if begin <= most and end >= least and begin <= end:
                left = max(begin, least)
                right = min(end, most)
                yield {"x": left, "end": right, "middle": math.sqrt(left * right), **mark}

    def _on_axis(self, ratio: float) -> float:
        """Return a ratio; if it is not on the axis, return the nearer end of the axis."""
        low, high = self.along.ratios.domain
        return min(max(ratio, low), high)

    def _ranges(self, point: PublishedPoint, cells: Sequence[Row]) -> _Ranges:
        """Yield the ranges of the axis to which a ratio applies.

        The range of a ratio that is printed for "within a node" or "between nodes" is limited to
        the positions at which the run has cells with this placement.
        """
        ranges = point.places(self.x)
        if not self.along.has_placement(point):
            yield from ranges
            return
        places = [position(cell, self.x) for cell in cells]
        least = min(places)
        most = max(places)
        for begin, end in ranges or [(least, most)]:
            if begin == end:
                yield begin, end
            else:
                yield max(begin, least), min(end, most)


#: At most this many panels are drawn next to each other at their full size.
ALL_LARGE = 2


def largest(
    groups: Mapping[str, Sequence[TableRow]], published: Sequence[PublishedPoint] = ()
) -> int | None:
    """Return the index of the panel to draw large; None if all panels have room.

    If there are published figures, it is the panel for whose ranks and nodes most of them are
    printed. Otherwise it is the panel with the most ranks, because losses are largest there.
    """
    if len(groups) <= ALL_LARGE:
        return None
    layouts = [rows[0].cell.place for rows in groups.values()]

    def order(index: int) -> tuple[int, int, int, int]:
        place = layouts[index]
        measured = [point for point in published if _is_measured_at(point, place)]
        return len(measured), place.ranks, place.nodes, -index

    return max(range(len(layouts)), key=order)


def _is_measured_at(point: PublishedPoint, place: Place) -> bool:
    """Whether a ratio is for the ranks of a measured case and, if it names nodes, its nodes."""
    if not is_within(place.ranks, point.places("ranks")):
        return False
    nodes = point.places("nodes")
    return not nodes or is_within(place.nodes, nodes)


def is_within(value: float, ranges: _Ranges) -> bool:
    """Whether a value is in one of the ranges to which a published ratio applies."""
    return any(low <= value <= high for low, high in ranges)


def parameter_axis(x: str, positions: Collection[float]) -> tuple[Ticks, float]:
    """Return the logarithmic axis of a parameter, and the position of 0 on it."""
    positive = sorted(value for value in positions if value > 0)
    if not positive:
        positive = [1.0]
    zero = positive[0] / 2
    if all(value > 0 for value in positions):
        return _ticks_of(x, positive, positive), zero
    ticks = _ticks_of(x, positive, [zero, *positive])
    values = [zero]
    labels = ["0"]
    for value, label in zip(ticks.values, ticks.labels, strict=True):
        if value > zero:
            values.append(value)
            labels.append(label)
    return Ticks(ticks.domain, tuple(values), tuple(labels)), zero


#: With at most this many different counts, each count has a tick.
_MOST_COUNTS = 16


def _ticks_of(x: str, positive: Sequence[float], places: Sequence[float]) -> Ticks:
    if x.endswith("_bytes"):
        return size_ticks(places)
    has_few_counts = len(positive) <= _MOST_COUNTS
    if has_few_counts and all(value.is_integer() for value in positive):
        return count_ticks(places)
    return log_ticks(places)
