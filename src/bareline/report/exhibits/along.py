"""What exhibits along a parameter share: their axes, their strips, published ratios on them."""

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
from bareline.report.exhibits.base import Chosen, TableRow
from bareline.report.figures.grammar import Channel, Chart
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
from bareline.vocabulary.place import Place, parameter_value

Mark = dict[str, Any]

#: Axes on which "inside a node" has places.
_LAYOUT = ("ranks", "nodes")

VALUE_HEIGHT_PX, RATIO_HEIGHT_PX = 180, 105

#: What a diamond on an axis of ratios means.
DIAMONDS = (
    "Diamonds: published ratios, dashed where they apply to a range, pale where they were "
    "measured elsewhere than here, which is written beside."
)


def diamonds_note(chosen: Chosen) -> str:
    """Describe diamonds, and the published ratios that have no place on the axis."""
    x = chosen.x
    named = [point for point in chosen.published if x in point.ratio.conditions]
    nowhere = [point for point in named if not point.places(x)]
    notes = [DIAMONDS] if len(nowhere) < len(chosen.published) else []
    if nowhere:
        ranges = "; ".join(
            f"{point.factor} times worse ({conditions({x: point.ratio.conditions[x]})})"
            for point in nowhere
        )
        notes.append(f"Published without numbers on this axis: {ranges}.")
    return " ".join(notes)


def placed(cells: Iterable[Row], x: str) -> list[Row]:
    """Return the cells that have a place on the axis of a parameter."""
    return [cell for cell in cells if is_number(cell.place.coordinates.get(x))]


class Along:
    """The axes that all panels of a figure share, so that they can be compared by eye."""

    def __init__(self, chosen: Chosen, *, others: Iterable[float] = ()) -> None:
        x, cells = chosen.x, [row.cell for row in chosen.rows]
        self.document, self.x, self.published = chosen.document, x, chosen.published
        self.scale = chosen.unit
        #: The parameter's axis, and where 0 stands on it, if it occurs.
        self.across, self.zero = parameter_axis(x, {position(cell, x) for cell in cells})
        values = [end for cell in cells if cell.value for end in cell.value.known]
        self.values = log_ticks(value * self.scale.factor for value in (*values, *others))
        ratios = [end for cell in cells if cell.ratio for end in cell.ratio.known]
        for point in self.published:
            # Without a place on the axis it holds for all of it that a cell is on.
            placeless = x in _LAYOUT and "placement" in point.ratio.conditions
            if point.places(x) or (placeless and any(point.about(cell) for cell in cells)):
                ratios += [end for end in (point.low, point.high, point.middle) if end]
        self.ratios = ratio_ticks(ratios)
        self.looks: Mapping[str, MarkLook] = looks(chosen.document.names)

    def at(self, value: float) -> float:
        """Return the place of a parameter on the axis."""
        return value if value > 0 else self.zero

    def where(self, cell: Row) -> str:
        """Format a cell's platform and place on the axis."""
        return f"{cell.platform}, {parameter_value(self.x, cell.place.coordinates[self.x])}"

    def mark(self, cell: Row, shown: Estimate, tip: str, factor: float = 1.0) -> Mark:
        """Lay a cell's mark out at a value, with its interval."""
        place = self.at(position(cell, self.x))
        ink = self.looks[cell.platform].ink(hollow=cell.simulated)
        tooltip = f"{self.where(cell)}: {tip}"
        return line_mark(place, shown.times(factor), cell.platform, ink, tooltip)

    def value_strip(
        self, cells: Iterable[Row], title: str, under: Layers, tooltip: Callable[[Row], str]
    ) -> AxesStrip:
        """Draw medians, which no logarithmic axis has room for where they are not positive."""
        own = [(cell, cell.value) for cell in cells if cell.value is not None]
        rows = [
            self.mark(cell, value, tooltip(cell), self.scale.factor)
            for cell, value in own
            if value.value > 0
        ]
        name = self.scale.titled(metric_name(own[0][0].place.metric)) if own else ""
        text = sentence_case(f"{title}: {name}" if title else name)
        return AxesStrip(text, rows, self.values, VALUE_HEIGHT_PX, under=under, named=True)

    def ratio_strip(self, cells: Sequence[Row]) -> AxesStrip:
        """Draw each platform's ratio to the baseline over the band that counts as equal."""
        rows = [self.mark(cell, cell.ratio, compared_words(cell)) for cell in cells if cell.ratio]
        baseline = self.document.baseline
        return self._ratios(f"Ratio to {baseline} (above 1 is worse)", rows, cells, RATIO_HEIGHT_PX)

    def lines_strip(
        self, title: str, lines: Mapping[str, Sequence[Row]], styles: Mapping[str, MarkLook]
    ) -> AxesStrip:
        """Draw the ratios of several lines of one platform, each in its look, named at its end."""
        rows = [
            {
                **self.mark(cell, cell.ratio, f"{name} {compared_words(cell)}"),
                "series": name,
                **styles[name].ink(hollow=cell.simulated),
            }
            for name, own in lines.items()
            for cell in own
            if cell.ratio
        ]
        cells = [cell for own in lines.values() for cell in own]
        height = max(230, LABEL_GAP_PX * (len(lines) + 1))
        # Long names leave the lines less room, so that a phone need not shrink them.
        width = max(150.0, WIDTH_PX - LETTER_PX * max(0, max(map(len, lines)) - 9))
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
        if isinstance(places, Mapping):
            places = {name: [*map(self.at, own)] for name, own in places.items()}
        else:
            places = map(self.at, places)
        return panel(strips, self.across, axis_title(self.x), places)

    def _published(self, cells: Sequence[Row], across: Channel, up: Channel) -> Iterable[Chart]:
        """Draw published ratios of the panel's cells, or of its platform elsewhere, with ranges."""
        rows: list[Mark] = []
        places: set[str] = set()
        for point in self.published:
            # Wherever the point stands on the x axis.
            at = tuple((name, value) for name, value in point.ratio.at if name != self.x)
            anywhere = replace(point, ratio=replace(point.ratio, at=at))
            own = [cell for cell in cells if anywhere.about(cell)]
            if not own:
                continue
            # None where the run measured there, too; nothing to be said where the axis does.
            elsewhere: str | None = point.elsewhere(own[0].place)
            if any(point.about(cell) and same_place(point.ratio, cell.place) for cell in own):
                elsewhere = None
            elif self.x == "ranks" and point.places("ranks"):
                elsewhere = ""
            reaches = list(self._reaches(point, own))
            rows += [{**row, "pale": elsewhere is not None} for row in reaches]
            if reaches and elsewhere and elsewhere not in places:
                # Said once in a panel: most of its figures are of one place.
                places.add(elsewhere)
                rows[-len(reaches)]["beside"] = elsewhere
        return printed_marks(rows, across, up, math.sqrt(math.prod(self.across.domain)))

    def _reaches(self, point: PublishedPoint, cells: Sequence[Row]) -> Iterator[Mark]:
        """Lay out each range of the parameter that a published ratio is told for, on the axes."""
        (least, most), (low, high) = self.across.domain, self.ratios.domain
        ranges = point.places(self.x)
        if "placement" in point.ratio.conditions and self.x in _LAYOUT:
            # Inside a node, or between nodes: as far as the run was there.
            there = [position(cell, self.x) for cell in cells]
            within = min(there), max(there)
            ranges = [
                (begin, end) if begin == end else (max(begin, within[0]), min(end, within[1]))
                for begin, end in ranges or [within]
            ]
        middle = point.middle
        y, lo, hi = (min(max(end or middle, low), high) for end in (middle, point.low, point.high))
        known = {"y": y, "lo": lo, "hi": hi, "tip": point.tip}
        ink = {"colour": self.looks[point.platform].colour}
        for begin, end in ranges:
            if begin <= most and end >= least and begin <= end:
                left, right = max(begin, least), min(end, most)
                yield {"x": left, "end": right, "middle": math.sqrt(left * right), **known, **ink}


#: As few panels stand beside each other at their full size.
ALL_LARGE = 2


def largest(
    groups: Mapping[str, Sequence[TableRow]], published: Sequence[PublishedPoint] = ()
) -> int | None:
    """Choose a panel by its place; None where all have room.

    That is the one at whose ranks and nodes most of the published figures were measured, as the
    publication drew it; without any, the one with the most ranks, where losses are the largest.
    """
    if len(groups) <= ALL_LARGE:
        return None
    layouts = [own[0].cell.place for own in groups.values()]

    def measured(point: PublishedPoint, place: Place) -> bool:
        on_nodes = point.places("nodes")
        return is_within(place.ranks, point.places("ranks")) and (
            not on_nodes or is_within(place.nodes, on_nodes)
        )

    def order(at: int) -> tuple[int, int, int, int]:
        place = layouts[at]
        return sum(measured(point, place) for point in published), place.ranks, place.nodes, -at

    return max(range(len(layouts)), key=order)


def is_within(value: float, ranges: Iterable[tuple[float, float]]) -> bool:
    """Return whether a value lies in one of the ranges that a published ratio is told for."""
    return any(low <= value <= high for low, high in ranges)


def parameter_axis(x: str, positions: Collection[float]) -> tuple[Ticks, float]:
    """Lay out the logarithmic axis of a parameter, and say where 0 stands on it."""
    positive = sorted(value for value in positions if value > 0) or [1.0]
    zero = min(positive) / 2
    shown = [zero, *positive] if any(value <= 0 for value in positions) else positive
    if x.endswith("_bytes"):
        ticks = size_ticks(shown)
    elif len(positive) <= 16 and all(value.is_integer() for value in positive):
        ticks = count_ticks(shown)
    else:
        ticks = log_ticks(shown)
    if shown is positive:
        return ticks, zero
    pairs = [(v, t) for v, t in zip(ticks.values, ticks.labels, strict=True) if v > zero]
    return Ticks(ticks.domain, (zero, *(v for v, _ in pairs)), ("0", *(t for _, t in pairs))), zero
