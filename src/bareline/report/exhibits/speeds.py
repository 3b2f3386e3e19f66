"""The exhibit of speeds over ranks, divided by the baseline's speed on its fewest ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bareline.analysis.numbers.row import Estimate, Row, with_interval
from bareline.published.catalogue import conditions
from bareline.report.blocks import Figure
from bareline.report.content.cells import position, varying_without
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint
from bareline.report.content.wording import axis_name, summed_up
from bareline.report.exhibits.base import Exhibit, Panel, TableRow, cells_of, select, titled
from bareline.report.exhibits.columns import columns
from bareline.report.exhibits.shared_axis import SharedAxis, is_within, parameter_words, placed
from bareline.report.figures.marks import AxesStrip, dashes, diamonds, spans
from bareline.report.figures.scales import log_ticks
from bareline.report.figures.theme import colour, looks
from bareline.report.figures.vega import Channel, Chart, Datum, Drawing
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.units import plain


def _relative_performance(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    chosen = _speeds(document, spec)
    if chosen is None:
        return
    yield chosen.figure(
        title=f"Performance relative to {_fewest(chosen)}",
        table=columns(chosen, "benchmark platforms x speed printed n"),
        drawing=_SpeedPanels(chosen).drawing(),
        notes=_speed_notes(chosen),
        summary=_speed_words(chosen),
    )


def _speeds(document: Document, spec: ExhibitSpec) -> Panel | None:
    """Return one panel of all probes; None if no probe has speeds at two positions."""
    x = spec.x or "ranks"
    cells = [cell for cell in placed(select(document, spec), x) if cell.metric.directed]
    names = varying_without(cells, x)
    panels = grouped_by(cells, lambda cell: titled(document, cell, names))
    rows: list[TableRow] = []
    places: dict[str, list[float]] = {}
    for title, group in panels.items():
        rows += _speed_rows(document.baseline, title, group, x)
        places[title] = [position(cell, x) for cell in group]
    if not rows:
        return None
    subject = (spec.probe or "", spec.metric or "")
    return Panel(document, spec, cells_of(rows), rows, x, subject, places=places)


def _speed_rows(baseline: str, title: str, cells: Sequence[Row], x: str) -> list[TableRow]:
    """Return the speeds of a panel; none if all of them are at one position."""
    relative = speeds(baseline, cells, x)
    places = {position(cell, x) for cell, _ in relative}
    if len(places) < 2:
        return []
    return [TableRow(cell, title, speed) for cell, speed in relative]


def speeds(baseline: str, cells: Sequence[Row], x: str) -> list[tuple[Row, Estimate]]:
    """Return the speed of each cell divided by the baseline's speed on its fewest ranks.

    The list is empty if the baseline has no value. Simulated speeds are divided only by simulated
    speeds, because the two kinds must not be confused.
    """
    measured = [cell for cell in cells if cell.platform == baseline and cell.median]
    measured.sort(key=lambda cell: position(cell, x))
    bases: dict[bool, Row] = {}
    for cell in measured:
        bases.setdefault(cell.simulated, cell)
    divided = []
    for cell in cells:
        base = bases.get(cell.simulated)
        speed = _speed(cell, base)
        if speed is not None:
            divided.append((cell, speed))
    return divided


def _speed(cell: Row, base: Row | None) -> Estimate | None:
    """Return the speed of a cell divided by the speed of the base; None if a value is missing."""
    value = cell.value
    if base is None or value is None:
        return None
    worse = cell.metric.worse
    speed = worse(base.median, value.value)
    if not speed:
        return None
    low = worse(base.median, value.lo)
    high = worse(base.median, value.hi)
    if not low or not high:
        return Estimate(speed)
    if cell.rate:
        return Estimate(speed, low, high)
    return Estimate(speed, high, low)


def _printed_speeds(chosen: Panel, rows: Sequence[TableRow]) -> Iterator[Datum]:
    """Yield the baseline's speed divided by each published ratio, as marks of published speeds."""
    styles = looks(chosen.document.names)
    bases: dict[float, float] = {}
    for row in rows:
        if row.shown and row.platform == chosen.baseline:
            bases[chosen.at(row.cell)] = row.shown.value
    for row in rows:
        x = chosen.at(row.cell)
        base = bases.get(x)
        if base is None or not row.shown:
            continue
        for point in chosen.published:
            if is_within(x, point.places(chosen.x)) and point.about(row.cell):
                ink = styles[row.platform].colour
                yield {"x": x, **_printed_speed(point, base, ink)}


def _printed_speed(point: PublishedPoint, base: float, ink: str) -> Datum:
    """Return a published speed and its range: the baseline's speed divided by a published ratio."""
    middle = point.middle
    return {
        "y": base / middle,
        "lo": base / (point.high or middle),
        "hi": base / (point.low or middle),
        "colour": ink,
        "tip": point.tip,
        "bound": None in (point.low, point.high),
    }


class _SpeedPanels:
    """A painter of the panels of a figure's groups, all with the same two axes."""

    def __init__(self, chosen: Panel) -> None:
        self.chosen = chosen
        self.along = SharedAxis(chosen)
        self.printed: dict[str, list[Datum]] = {}
        ends = [1.0]
        for title, rows in chosen.groups.items():
            marks = list(_printed_speeds(chosen, rows))
            self.printed[title] = marks
            for mark in marks:
                ends += [mark["lo"], mark["hi"]]
            for row in rows:
                if row.shown:
                    ends += row.shown.known
        self.ticks = log_ticks(ends)

    def drawing(self) -> Drawing:
        panels: list[Chart] = []
        for title, rows in self.chosen.groups.items():
            strip = self._strip(title, rows)
            panels.append(self.along.panel([strip], self.chosen.places[title]))
        return Drawing(panels)

    def _strip(self, title: str, rows: Sequence[TableRow]) -> AxesStrip:
        printed = self.printed[title]

        def over(x: Channel, y: Channel) -> Iterator[Chart]:
            if printed:
                yield spans(printed, x, y)
                yield diamonds(printed, x, y)

        ideal = list(self._ideal(cells_of(rows)))
        return AxesStrip(
            title,
            list(self._marks(rows)),
            self.ticks,
            220,
            under=dashes(ideal),
            over=over,
            named=True,
        )

    def _marks(self, rows: Sequence[TableRow]) -> Iterator[Datum]:
        for row in rows:
            if row.shown:
                speed = with_interval(row.shown)
                tip = f"{speed} times the baseline's fewest, n = {row.cell.n}"
                yield self.along.mark(row.cell, row.shown, tip)

    def _ideal(self, cells: Sequence[Row]) -> Iterator[Datum]:
        """Yield the ends of the line of ideal scaling, as far as the axis has room."""
        chosen = self.chosen
        starts = [chosen.at(cell) for cell in cells if cell.platform == chosen.baseline]
        if not starts:
            return
        start = min(starts)
        low, high = self.ticks.domain
        most = max(map(chosen.at, cells))
        for x in (start, min(most, start * high)):
            growth = x / start
            if low <= growth <= high:
                yield {"x": x, "y": growth, "colour": colour("baseline"), "stretch": "ideal"}


def _fewest(chosen: Panel) -> str:
    return f"{chosen.baseline} at its fewest {axis_name(chosen.x)}"


def _speed_notes(chosen: Panel) -> Iterable[str]:
    yield f"Above is faster. Dashed: ideal scaling of {_fewest(chosen)}."
    marks: list[Datum] = []
    for rows in chosen.groups.values():
        marks += _printed_speeds(chosen, rows)
    if marks:
        where = f"the printed loss against the baseline of as many {axis_name(chosen.x)}"
        yield f"Diamonds: where {where} would put a platform."
    if any(mark["bound"] for mark in marks):
        yield 'Of a bound, such as "at least 1.35 times worse", the diamond is at its end.'
    yield _beyond_note(chosen)


def _beyond_note(chosen: Panel) -> str:
    """Name the published ratios without a mark: nothing was measured at their positions."""
    places = set(map(chosen.at, chosen.cells))
    texts: dict[str, None] = {}
    for point in chosen.published:
        ranges = point.places(chosen.x)
        if not any(is_within(place, ranges) for place in places):
            texts[_placed_words(chosen, point)] = None
    if not texts:
        return ""
    return f"Published where nothing was measured here: {'; '.join(texts)}."


def _placed_words(chosen: Panel, point: PublishedPoint) -> str:
    """Format a published ratio and its position on the axis."""
    x = chosen.x
    where = f"no {axis_name(x)} printed"
    printed = point.ratio.conditions
    if x in printed:
        where = conditions({x: printed[x]})
    return f"{point.platform} {point.factor} times worse ({where})"


def _speed_words(chosen: Panel) -> str:
    ends: dict[str, list[str]] = {}
    for title, rows in chosen.groups.items():
        lines = grouped_by(rows, lambda row: row.platform)
        names = [name for name in chosen.document.names if name in lines]
        ends[title] = [_last_speed(chosen, lines[name]) for name in names]
    head = f"Performance relative to {chosen.baseline}."
    return f"{head} {summed_up(ends, len(ends))}"


def _last_speed(chosen: Panel, rows: Sequence[TableRow]) -> str:
    last = max(rows, key=lambda row: chosen.at(row.cell))
    speed = ""
    if last.shown:
        speed = plain(last.shown.value)
    return f"{last.platform} {speed} at {parameter_words(chosen, last.cell)}"


EXHIBIT = Exhibit(
    "relative-performance",
    "speed against the baseline's at its fewest ranks, log-log, with the ideal line",
    _relative_performance,
)
