"""Speeds along the ranks, relative to the baseline's at its fewest, with the ideal line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bareline.analysis.numbers.row import Estimate, Row, with_interval
from bareline.published.catalogue import conditions
from bareline.report.blocks import Figure
from bareline.report.content.cells import position, varying_without
from bareline.report.content.document import Document
from bareline.report.content.wording import axis_name, summed_up
from bareline.report.exhibits.base import Exhibit, Panel, TableRow, select, titled
from bareline.report.exhibits.columns import columns
from bareline.report.exhibits.shared_axis import SharedAxis, is_within, parameter_words, placed
from bareline.report.figures.marks import AxesStrip, dashes, diamonds, spans
from bareline.report.figures.scales import Ticks, log_ticks
from bareline.report.figures.theme import colour, looks
from bareline.report.figures.vega import Channel, Chart, Drawing
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
        drawing=_speed_panels(chosen),
        notes=_speed_notes(chosen),
        summary=_speed_words(chosen),
    )


def _speeds(document: Document, spec: ExhibitSpec) -> Panel | None:
    """Choose one figure of all probes; only where the baseline has its fewest ranks."""
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
    compared = [row.cell for row in rows]
    subject = (spec.probe or "", spec.metric or "")
    return Panel(document, spec, compared, rows, x, subject, places=places)


def _speed_rows(baseline: str, title: str, cells: Sequence[Row], x: str) -> list[TableRow]:
    """Return the speeds of a panel; none where they are all at one place."""
    relative = speeds(baseline, cells, x)
    if len({position(cell, x) for cell, _ in relative}) < 2:
        return []
    return [TableRow(cell, title, speed) for cell, speed in relative]


def speeds(baseline: str, cells: Sequence[Row], x: str) -> list[tuple[Row, Estimate]]:
    """Divide speeds by the baseline's at its fewest ranks; nothing where that is missing or zero.

    Simulated speeds are divided by simulated ones alone, so that neither passes for the other.
    """
    bases = [cell for cell in cells if cell.platform == baseline and cell.median]
    divided = []
    for cell in cells:
        comparable = [base for base in bases if base.simulated == cell.simulated]
        base = min(comparable, key=lambda base: position(base, x), default=None)
        speed = None if base is None else _speed(cell, base)
        if speed is not None:
            divided.append((cell, speed))
    return divided


def _speed(cell: Row, base: Row) -> Estimate | None:
    """Return how many times as fast a cell is as the base; None where nothing is known."""
    if cell.value is None:
        return None
    speed = cell.metric.worse(base.median, cell.value.value)
    if not speed:
        return None
    low = cell.metric.worse(base.median, cell.value.lo)
    high = cell.metric.worse(base.median, cell.value.hi)
    if not low or not high:
        return Estimate(speed, None, None)
    return Estimate(speed, low, high) if cell.rate else Estimate(speed, high, low)


@dataclass(frozen=True, slots=True)
class _Speed:
    """A row's place on the axis, and how fast it is."""

    cell: Row
    x: float
    speed: float


def _printed_speeds(chosen: Panel, rows: Sequence[TableRow]) -> Iterator[dict[str, Any]]:
    """Yield where the printed loss against the baseline of as many ranks would put a platform."""
    styles = looks(chosen.document.names)
    drawn = [
        _Speed(row.cell, position(row.cell, chosen.x), row.shown.value) for row in rows if row.shown
    ]
    baseline = chosen.document.baseline
    bases = {mark.x: mark.speed for mark in drawn if mark.cell.platform == baseline}
    for mark in drawn:
        base = bases.get(mark.x)
        if base is None:
            continue
        for point in chosen.published:
            if is_within(mark.x, point.places(chosen.x)) and point.about(mark.cell):
                yield {
                    "x": mark.x,
                    "y": base / point.middle,
                    "lo": base / (point.high or point.middle),
                    "hi": base / (point.low or point.middle),
                    "colour": styles[mark.cell.platform].colour,
                    "tip": point.tip,
                    "bound": None in (point.low, point.high),
                }


def _speed_panels(chosen: Panel) -> Drawing:
    along = SharedAxis(chosen)
    printed = {title: [*_printed_speeds(chosen, rows)] for title, rows in chosen.groups.items()}
    ends = [1.0]
    for marks in printed.values():
        for mark in marks:
            ends += [mark["lo"], mark["hi"]]
    for row in chosen.rows:
        if row.shown:
            ends += row.shown.known
    ticks = log_ticks(ends)
    panels: list[Chart] = []
    for title in chosen.groups:
        strip = _speed_strip(chosen, along, title, ticks, printed[title])
        panels.append(along.panel([strip], chosen.places[title]))
    return Drawing(panels)


def _speed_strip(
    chosen: Panel, along: SharedAxis, title: str, ticks: Ticks, printed: Sequence[dict[str, Any]]
) -> AxesStrip:
    rows = chosen.groups[title]

    def mark(cell: Row, speed: Estimate) -> dict[str, Any]:
        tip = f"{with_interval(speed)} times the baseline's fewest, n = {cell.n}"
        return along.mark(cell, speed, tip)

    def over(x: Channel, y: Channel) -> Iterable[Chart]:
        return [spans(printed, x, y), diamonds(printed, x, y)] if printed else []

    return AxesStrip(
        title,
        [mark(row.cell, row.shown) for row in rows if row.shown],
        ticks,
        220,
        under=dashes([*_ideal(chosen, rows, ticks)]),
        over=over,
        named=True,
    )


def _ideal(chosen: Panel, rows: Sequence[TableRow], ticks: Ticks) -> Iterator[dict[str, Any]]:
    """Yield the ends of the line of ideal scaling, as far as the axis has room."""
    baseline = chosen.document.baseline
    cells = [row.cell for row in rows]
    starts = [position(cell, chosen.x) for cell in cells if cell.platform == baseline]
    if not starts:
        return
    start = min(starts)
    low, high = ticks.domain
    most = max(position(cell, chosen.x) for cell in cells)
    for x in (start, min(most, start * high)):
        if low <= x / start <= high:
            yield {"x": x, "y": x / start, "colour": colour("baseline"), "stretch": "ideal"}


def _fewest(chosen: Panel) -> str:
    return f"{chosen.document.baseline} at its fewest {axis_name(chosen.x)}"


def _speed_notes(chosen: Panel) -> Iterable[str]:
    yield f"Above is faster. Dashed: ideal scaling of {_fewest(chosen)}."
    marks: list[dict[str, Any]] = []
    for rows in chosen.groups.values():
        marks += _printed_speeds(chosen, rows)
    if marks:
        where = f"the printed loss against the baseline of as many {axis_name(chosen.x)}"
        yield f"Diamonds: where {where} would put a platform."
    if any(mark["bound"] for mark in marks):
        yield 'Of a bound, such as "at least 1.35 times worse", the diamond is at its end.'
    yield _beyond_note(chosen)


def _beyond_note(chosen: Panel) -> str:
    """Name the published ratios at places where nothing was measured: they have no mark."""
    places = [position(cell, chosen.x) for cell in chosen.cells]
    beyond = []
    for point in chosen.published:
        if any(is_within(place, point.places(chosen.x)) for place in places):
            continue
        where = f"no {axis_name(chosen.x)} printed"
        if chosen.x in point.ratio.conditions:
            where = conditions({chosen.x: point.ratio.conditions[chosen.x]})
        beyond.append(f"{point.platform} {point.factor} times worse ({where})")
    texts = dict.fromkeys(beyond)
    return f"Published where nothing was measured here: {'; '.join(texts)}." if texts else ""


def _speed_words(chosen: Panel) -> str:
    ends: dict[str, list[str]] = {}
    for title, rows in chosen.groups.items():
        lines = grouped_by(rows, lambda row: row.cell.platform)
        names = [name for name in chosen.document.names if name in lines]
        ends[title] = [_last_speed(chosen, name, lines[name]) for name in names]
    head = f"Performance relative to {chosen.document.baseline}."
    return f"{head} {summed_up(ends, len(ends))}"


def _last_speed(chosen: Panel, platform: str, rows: Sequence[TableRow]) -> str:
    last = max(rows, key=lambda row: position(row.cell, chosen.x))
    speed = plain(last.shown.value) if last.shown else ""
    return f"{platform} {speed} at {parameter_words(chosen, last.cell)}"


EXHIBIT = Exhibit(
    "relative-performance",
    "speed against the baseline's at its fewest ranks, log-log, with the ideal line",
    _relative_performance,
)
