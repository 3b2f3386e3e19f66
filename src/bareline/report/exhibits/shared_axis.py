"""Parts of exhibits along a parameter: their axes, their strips, published ratios on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bareline.analysis.numbers.row import Estimate, Row
from bareline.published.catalogue import conditions
from bareline.report.content.cells import is_number, position
from bareline.report.content.published import PublishedPoint, same_place
from bareline.report.content.wording import axis_title, compared_words, metric_name, sentence_case
from bareline.report.exhibits.base import Panel, TableRow
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
from bareline.report.figures.vega import Channel, Chart
from bareline.vocabulary.place import Place, parameter_value
from bareline.vocabulary.units import listing

Mark = dict[str, Any]

#: Axes on which "inside a node" has places.
_LAYOUT = ("ranks", "nodes")

VALUE_HEIGHT_PX = 180
RATIO_HEIGHT_PX = 105

#: The meaning of a diamond on an axis of ratios.
DIAMONDS = (
    "Diamonds: published ratios, dashed where they apply to a range, pale where they were "
    "measured elsewhere than here, which is written beside."
)


def diamonds_note(chosen: Panel) -> str:
    """Describe the diamonds, the values they leave out, and the ratios that have no place."""
    nowhere = []
    for point in chosen.published:
        if chosen.x in point.ratio.conditions and not point.places(chosen.x):
            nowhere.append(point)
    notes = []
    placed_points = [point for point in chosen.published if point not in nowhere]
    if any(point.about(cell) for point in placed_points for cell in chosen.cells):
        notes.append(DIAMONDS)
    elif placed_points:
        notes.append(_of_others(placed_points))
    notes += dict.fromkeys(filter(None, map(_left_out, chosen.published)))
    if nowhere:
        ranges = []
        for point in nowhere:
            place = conditions({chosen.x: point.ratio.conditions[chosen.x]})
            ranges.append(f"{point.factor} times worse ({place})")
        notes.append(f"Published without numbers on this axis: {'; '.join(ranges)}.")
    return " ".join(notes)


def _of_others(points: Iterable[PublishedPoint]) -> str:
    """Print ratios of other cases than all of a figure, e.g. of files of another size."""
    texts = dict.fromkeys(
        f"{point.ratio.text} ({conditions(point.ratio.conditions)})" for point in points
    )
    return f"Published of other cases, and not drawn: {'; '.join(texts)}."


def _left_out(point: PublishedPoint) -> str:
    """Name the benchmarks that a published range leaves out; empty without any."""
    names = point.ratio.excludes
    return f"{point.label} leaves out {listing(names)}." if names else ""


def placed(cells: Iterable[Row], x: str) -> list[Row]:
    """Return the cells that have a place on the axis of a parameter."""
    return [cell for cell in cells if is_number(cell.place.coordinates.get(x))]


def parameter_words(chosen: Panel, cell: Row) -> str:
    """Format the parameter of a cell that the axis shows, e.g. ``4 KiB``."""
    return parameter_value(chosen.x, cell.place.coordinates[chosen.x])


class SharedAxis:
    """The axes that all panels of a figure share, so that they can be compared by eye."""

    def __init__(self, chosen: Panel, *, others: Iterable[float] = ()) -> None:
        cells = [row.cell for row in chosen.rows]
        self.document = chosen.document
        self.x = chosen.x
        self.published = chosen.published
        self.scale = chosen.unit
        #: The parameter's axis, and where 0 is on it, if it occurs.
        self.across, self.zero = parameter_axis(self.x, {position(cell, self.x) for cell in cells})
        values = list(others)
        for cell in cells:
            if cell.value:
                values += cell.value.known
        self.values = log_ticks(value * self.scale.factor for value in values)
        self.ratios = ratio_ticks([*_ratio_ends(cells), *self._printed_ends(cells)])
        self.looks: Mapping[str, MarkLook] = looks(chosen.document.names)

    def _printed_ends(self, cells: Sequence[Row]) -> Iterator[float]:
        """Yield the ends of the published ratios that have a place on the axis."""
        for point in self.published:
            if point.places(self.x) or self._is_placeless(point, cells):
                ends = (point.low, point.high, point.middle)
                yield from (end for end in ends if end)

    def _is_placeless(self, point: PublishedPoint, cells: Sequence[Row]) -> bool:
        """Return whether a ratio without a place applies to all of the axis that a cell is on."""
        if self.x not in _LAYOUT or "placement" not in point.ratio.conditions:
            return False
        return any(point.about(cell) for cell in cells)

    def at(self, value: float) -> float:
        """Return the place of a parameter on the axis."""
        return value if value > 0 else self.zero

    def where(self, cell: Row) -> str:
        """Format a cell's platform and place on the axis."""
        return f"{cell.platform}, {parameter_value(self.x, cell.place.coordinates[self.x])}"

    def mark(self, cell: Row, estimate: Estimate, tip: str, factor: float = 1.0) -> Mark:
        """Return a cell's mark at a value, with its interval."""
        place = self.at(position(cell, self.x))
        ink = self.looks[cell.platform].ink(hollow=cell.simulated)
        tooltip = f"{self.where(cell)}: {tip}"
        return line_mark(place, estimate.times(factor), cell.platform, ink, tooltip)

    def value_strip(
        self, cells: Iterable[Row], title: str, under: Layers, tooltip: Callable[[Row], str]
    ) -> AxesStrip:
        """Draw medians, which no logarithmic axis has room for where they are not positive."""
        rows = []
        name = ""
        for cell in cells:
            if cell.value is None:
                continue
            name = name or self.scale.titled(metric_name(cell.place.metric))
            if cell.value.value > 0:
                rows.append(self.mark(cell, cell.value, tooltip(cell), self.scale.factor))
        if title:
            name = f"{title}: {name}"
        text = sentence_case(name)
        return AxesStrip(text, rows, self.values, VALUE_HEIGHT_PX, under=under, named=True)

    def ratio_strip(self, cells: Sequence[Row]) -> AxesStrip:
        """Draw each platform's ratio to the baseline over the band that counts as equal."""
        rows = [self.mark(cell, cell.ratio, compared_words(cell)) for cell in cells if cell.ratio]
        title = f"Ratio to {self.document.baseline} (above 1 is worse)"
        return self._ratios(title, rows, cells, RATIO_HEIGHT_PX)

    def lines_strip(
        self, title: str, lines: Mapping[str, Sequence[Row]], styles: Mapping[str, MarkLook]
    ) -> AxesStrip:
        """Draw the ratios of several lines of one platform, each in its look, named at its end."""
        rows = []
        cells: list[Row] = []
        for name, line in lines.items():
            cells += line
            for cell in line:
                if cell.ratio:
                    mark = self.mark(cell, cell.ratio, f"{name} {compared_words(cell)}")
                    ink = styles[name].ink(hollow=cell.simulated)
                    rows.append({**mark, "series": name, **ink})
        height = max(230, LABEL_GAP_PX * (len(lines) + 1))
        # Long names leave the lines less room, so that a phone need not shrink them.
        excess = max(0, max(map(len, lines)) - 9)
        width = max(150.0, WIDTH_PX - LETTER_PX * excess)
        strip = self._ratios(title, rows, cells, height, width)
        return replace(strip, named=True, whiskers=True)

    def _ratios(
        self, title: str, rows: Sequence[Mark], cells: Sequence[Row], height_px: float,
        width_px: float = WIDTH_PX,
    ) -> AxesStrip:  # fmt: skip
        margin = self.document.margin
        return AxesStrip(
            title,
            rows,
            self.ratios,
            height_px,
            under=lambda _across, _up: reference(margin, self.ratios, width_px),
            over=lambda across, up: self._published(cells, across, up),
            width_px=width_px,
        )

    def panel(self, strips: Sequence[AxesStrip], places: Places) -> Chart:
        """Put the strips of a panel together; no line crosses a place without a value."""
        on_axis: Places
        if isinstance(places, Mapping):
            on_axis = {name: list(map(self.at, line)) for name, line in places.items()}
        else:
            on_axis = map(self.at, places)
        return panel(strips, self.across, axis_title(self.x), on_axis)

    def _published(self, cells: Sequence[Row], across: Channel, up: Channel) -> Iterable[Chart]:
        """Draw published ratios of the panel's cells, or of its platform elsewhere, with ranges."""
        rows: list[Mark] = []
        named: set[str] = set()
        for point in self.published:
            about = self._cells_of(point, cells)
            if not about:
                continue
            elsewhere = self._elsewhere(point, cells, about[0])
            marks = list(self._reaches(point, about))
            rows += [{**mark, "pale": elsewhere is not None} for mark in marks]
            if marks and elsewhere and elsewhere not in named:
                # Written once in a panel: most of its figures are of one place.
                named.add(elsewhere)
                rows[-len(marks)]["beside"] = elsewhere
        return printed_marks(rows, across, up, math.sqrt(math.prod(self.across.domain)))

    def _cells_of(self, point: PublishedPoint, cells: Sequence[Row]) -> list[Row]:
        """Return the cells that a published ratio is about, wherever it is on the axis."""
        conditions = tuple(item for item in point.ratio.at if item[0] != self.x)
        anywhere = replace(point, ratio=replace(point.ratio, at=conditions))
        return [cell for cell in cells if anywhere.about(cell)]

    def _elsewhere(self, point: PublishedPoint, cells: Sequence[Row], first: Row) -> str | None:
        """Describe where a ratio was measured; None where the run also measured there.

        Empty where the axis shows the place.
        """
        if any(point.about(cell) and same_place(point.ratio, cell.place) for cell in cells):
            return None
        if self.x == "ranks" and point.places("ranks"):
            return ""
        return point.elsewhere(first.place)

    def _reaches(self, point: PublishedPoint, cells: Sequence[Row]) -> Iterator[Mark]:
        """Yield a mark for each range of the parameter to which a published ratio applies."""
        least, most = self.across.domain
        mark = {
            "y": self._on_ratios(point.middle),
            "lo": self._on_ratios(point.low or point.middle),
            "hi": self._on_ratios(point.high or point.middle),
            "tip": point.tip,
            "colour": self.looks[point.platform].colour,
        }
        for begin, end in self._ranges(point, cells):
            if begin <= most and end >= least and begin <= end:
                left = max(begin, least)
                right = min(end, most)
                yield {"x": left, "end": right, "middle": math.sqrt(left * right), **mark}

    def _on_ratios(self, ratio: float) -> float:
        """Return a ratio, or the nearer end of the axis."""
        low, high = self.ratios.domain
        return min(max(ratio, low), high)

    def _ranges(self, point: PublishedPoint, cells: Sequence[Row]) -> list[tuple[float, float]]:
        """Return where on the axis a ratio applies.

        Inside a node, or between nodes, that is as far as the run was there.
        """
        ranges = point.places(self.x)
        if "placement" not in point.ratio.conditions or self.x not in _LAYOUT:
            return ranges
        places = [position(cell, self.x) for cell in cells]
        least = min(places)
        most = max(places)
        within: list[tuple[float, float]] = []
        for begin, end in ranges or [(least, most)]:
            if begin == end:
                within.append((begin, end))
            else:
                within.append((max(begin, least), min(end, most)))
        return within


def _ratio_ends(cells: Iterable[Row]) -> Iterator[float]:
    for cell in cells:
        if cell.ratio:
            yield from cell.ratio.known


#: So few panels are drawn next to each other at their full size.
ALL_LARGE = 2


def largest(
    groups: Mapping[str, Sequence[TableRow]], published: Sequence[PublishedPoint] = ()
) -> int | None:
    """Choose a panel by its place; None where all have room.

    It is the panel at whose ranks and nodes most of the published figures were measured, as the
    publication drew it; without any, the one with the most ranks, where losses are the largest.
    """
    if len(groups) <= ALL_LARGE:
        return None
    layouts = [rows[0].cell.place for rows in groups.values()]

    def order(index: int) -> tuple[int, int, int, int]:
        place = layouts[index]
        count = sum(_is_measured_at(point, place) for point in published)
        return count, place.ranks, place.nodes, -index

    return max(range(len(layouts)), key=order)


def _is_measured_at(point: PublishedPoint, place: Place) -> bool:
    """Return whether a published ratio is of the ranks of a place, and of its nodes if any."""
    if not is_within(place.ranks, point.places("ranks")):
        return False
    nodes = point.places("nodes")
    return not nodes or is_within(place.nodes, nodes)


def is_within(value: float, ranges: Iterable[tuple[float, float]]) -> bool:
    """Return whether a value is in one of the ranges to which a published ratio applies."""
    return any(low <= value <= high for low, high in ranges)


def parameter_axis(x: str, positions: Collection[float]) -> tuple[Ticks, float]:
    """Return the logarithmic axis of a parameter, and the place of 0 on it."""
    positive = sorted(value for value in positions if value > 0) or [1.0]
    zero = min(positive) / 2
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


#: So many different counts have a tick each.
_MOST_COUNTS = 16


def _ticks_of(x: str, positive: Sequence[float], places: Sequence[float]) -> Ticks:
    if x.endswith("_bytes"):
        return size_ticks(places)
    if len(positive) <= _MOST_COUNTS and all(value.is_integer() for value in positive):
        return count_ticks(places)
    return log_ticks(places)
