"""The exhibit of a metric over the number of ranks, with ratios to the baseline.

For programs it also shows the parallel efficiency.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.blocks import Figure
from bareline.report.content.cells import position, varying_without
from bareline.report.content.document import Document
from bareline.report.content.wording import axis_name, sentence_case, summed_up, value_words
from bareline.report.exhibits.base import Exhibit, Panel, Subject, TableRow, by_metric, select
from bareline.report.exhibits.columns import columns
from bareline.report.exhibits.diamonds import diamonds_note
from bareline.report.exhibits.efficiency import (
    EfficiencyPoint,
    Line,
    each_rank,
    efficiencies,
)
from bareline.report.exhibits.lines import panels_of
from bareline.report.exhibits.shared_axis import RATIO_HEIGHT_PX, SharedAxis, placed
from bareline.report.figures.marks import AxesStrip, dashes
from bareline.report.figures.scales import log_ticks
from bareline.report.figures.theme import colour
from bareline.report.figures.vega import Channel, Chart, Datum, Drawing, layer
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import Layer, parse_point
from bareline.vocabulary.place import Place
from bareline.vocabulary.units import count, listing

#: Layers whose probes solve a problem that more ranks should solve sooner.
PROGRAMS = (Layer.COMPUTE, Layer.NPB, Layer.APP)


@dataclass(frozen=True)
class _Scaled(Panel):
    """The lines of one figure by panel and platform.

    Only programs have a line of ideal scaling. MPI functions have none, because they do more work
    on more ranks.
    """

    panels: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    lines: Mapping[str, Mapping[str, Line]] = field(default_factory=dict)

    @property
    def is_program(self) -> bool:
        return self.cells[0].layer in PROGRAMS

    @property
    def is_weak(self) -> bool:
        return self.spec.scaling == "weak"

    @property
    def all_lines(self) -> Iterator[tuple[str, Line]]:
        """Yield the lines of all panels, each with its platform."""
        for panel in self.lines.values():
            yield from panel.items()

    def ideal(self, first: EfficiencyPoint, ranks: float) -> float:
        """Return the value on `ranks` ranks if a line scaled ideally from its first point."""
        power = -1.0
        if first.cell.rate:
            power = 1.0
        elif self.is_weak:
            power = 0.0
        value = first.cell.median or 0.0
        growth = ranks / first.ranks
        return float(value * growth**power)

    def whole(self, ranks: float) -> str:
        name = axis_name(self.x)
        return count(math.floor(ranks), name.removesuffix("s"))


def _figures(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for chosen in _scaled(document, spec):
        efficiency = "efficiency" if chosen.is_program else ""
        yield chosen.figure(
            title=_title(chosen),
            table=columns(chosen, f"case platforms x ratio printed medians {efficiency} n"),
            drawing=_Panels(chosen).drawing(),
            notes=_notes(chosen),
            summary=_words(chosen),
        )


def _scaled(document: Document, spec: ExhibitSpec) -> Iterator[_Scaled]:
    x = spec.x or "ranks"
    for subject, group in by_metric(select(document, spec)):
        cells = [cell for cell in placed(group, x) if cell.metric.directed]
        measured_at = {position(cell, x) for cell in cells if cell.median}
        if len(measured_at) >= 2:
            yield _Chooser(document, spec, subject, cells).chosen()


class _Chooser:
    """A division of the cells of one metric into panels and lines."""

    def __init__(
        self, document: Document, spec: ExhibitSpec, subject: Subject, cells: Sequence[Row]
    ) -> None:
        self.document = document
        self.spec = spec
        self.subject = subject
        self.cells = cells
        self.x = spec.x or "ranks"
        self.is_weak = spec.scaling == "weak"
        self.growing: Collection[str] = ()
        if self.is_weak:
            probe, _ = subject
            self.growing = document.records.growing.get(probe, ())
        shares = [replace(cell, place=each_rank(cell.place, self.growing)) for cell in cells]
        #: The parameters by which panels differ.
        self.names = varying_without(shares, self.x)

    def chosen(self) -> _Scaled:
        lines: dict[str, dict[str, Line]] = {}
        places: dict[str, list[float]] = {}
        rows: list[TableRow] = []
        panels = grouped_by(self.cells, self._title)
        for title, panel in panels.items():
            lines[title] = self._lines(panel)
            places[title] = self._places(panel)
            for line in lines[title].values():
                rows += [TableRow(point.cell, title, point.efficiency) for point in line]
        probe, _ = self.subject
        return _Scaled(
            self.document,
            self.spec,
            self.cells,
            rows,
            self.x,
            self.subject,
            probe,
            places=places,
            panels=panels,
            lines=lines,
        )

    def _title(self, cell: Row) -> str:
        return each_rank(cell.place, self.growing).words_of(self.names)

    def _lines(self, panel: Sequence[Row]) -> dict[str, Line]:
        """Return the line of each platform."""
        samples = self.document.metric_samples.get(self.subject)
        lines: dict[str, Line] = {}
        for name in self.document.names:
            cells = [cell for cell in panel if cell.platform == name]
            lines[name] = efficiencies(cells, self.x, weak=self.is_weak, samples=samples)
        return lines

    def _places(self, panel: Sequence[Row]) -> list[float]:
        """Return all planned positions of a panel on the axis.

        A failed case also has a position, so that the line has a gap there.
        """
        places = {position(cell, self.x) for cell in panel}
        if self.x not in ("ranks", "nodes", "threads"):
            return sorted(places)
        cases = {self._case(cell.place) for cell in panel}
        first = panel[0].place
        planned = self.document.planned.filter(probe=first.probe)
        for row in planned.iter_rows(named=True):
            place = replace(first, **row)
            if row[self.x] and self._case(place) in cases:
                places.add(float(row[self.x]))
        return sorted(places)

    def _case(self, place: Place) -> tuple[object, ...]:
        """Return the values that distinguish panels, without values that vary inside a trial."""
        share = each_rank(place, self.growing)
        coordinates = share.coordinates
        inside = parse_point(share.point)
        outside = [coordinates.get(name) for name in self.names if name not in inside]
        return (share.params, share.threads, *outside)


class _Panels:
    """A painter of panels: plots of values, of efficiencies (only of programs) and of ratios."""

    def __init__(self, chosen: _Scaled) -> None:
        self.chosen = chosen
        ideals = []
        shares = [100.0]
        self.efficiency: dict[Row, Estimate] = {}
        for _, line in chosen.all_lines:
            if chosen.is_program and len(line) > 1:
                ideals.append(chosen.ideal(line[0], line[-1].ranks))
            for point in line:
                self.efficiency[point.cell] = point.efficiency
                shares += point.efficiency.known
        self.along = SharedAxis(chosen, others=ideals)
        self.shares = log_ticks(shares)

    def drawing(self) -> Drawing:
        panels = [self._panel(title, cells) for title, cells in self.chosen.panels.items()]
        return panels_of(self.chosen, panels)

    def _panel(self, title: str, cells: Sequence[Row]) -> Chart:
        drawn: list[Row] = []
        ideal: list[Datum] = []
        for name, line in self.chosen.lines[title].items():
            drawn += [point.cell for point in line]
            ideal += self._ideal(name, line)
        is_program = self.chosen.is_program
        strips = [self.along.value_strip(drawn, title, dashes(ideal), self._tooltip)]
        if is_program:
            strips.append(self._efficiency_strip(drawn))
        if not is_program or any(cell.ratio is not None for cell in cells):
            strips.append(self.along.ratio_strip(cells))
        return self.along.panel(strips, self.chosen.places[title])

    def _tooltip(self, cell: Row) -> str:
        text = value_words(cell, self.along.scale)
        if not self.chosen.is_program:
            return text
        return f"{text}; efficiency {self.efficiency[cell].value:.0f} %"

    def _efficiency_strip(self, cells: Sequence[Row]) -> AxesStrip:
        marks = []
        for cell in cells:
            share = self.efficiency[cell]
            if share.value > 0:
                marks.append(self.along.mark(cell, _closed(share), self._tooltip(cell)))

        def whole(_: Channel, up: Channel) -> list[Chart]:
            return [layer("rule", [{"y": 100}], y=up, color=colour("baseline"), strokeDash=[4, 3])]

        name = "Parallel efficiency (%)"
        return AxesStrip(name, marks, self.shares, RATIO_HEIGHT_PX, under=whole)

    def _ideal(self, name: str, line: Line) -> Iterator[Datum]:
        """Yield the ends of the dashed ideal line of a platform, as far as the axis reaches."""
        if len(line) < 2 or not self.chosen.is_program:
            return
        low, high = self.along.values.domain
        ink = self.along.looks[name].colour
        first = line[0]
        growth = line[-1].ranks / first.ranks
        for step in range(_IDEAL_STEPS + 1):
            ranks = first.ranks * growth ** (step / _IDEAL_STEPS)
            value = self.chosen.ideal(first, ranks) * self.along.scale.factor
            if low <= value <= high:
                yield {"x": ranks, "y": value, "colour": ink, "stretch": name}


#: Pieces of a dashed line.
_IDEAL_STEPS = 20


def _closed(share: Estimate) -> Estimate:
    """Return an efficiency; without an interval, 100 % gets an interval of zero width.

    At the fewest ranks the efficiency is 100 % by definition and has no interval, but the drawn
    band needs two ends there.
    """
    if share.value != 100:
        return share
    return Estimate(100.0, share.lo or 100.0, share.hi or 100.0)


def _notes(chosen: _Scaled) -> Iterable[str]:
    if chosen.is_program:
        ideal = "the same problem on more ranks"
        if chosen.is_weak:
            ideal = "the problem grows with the ranks"
        yield f"Dashed: ideal from each platform's own fewest {axis_name(chosen.x)} ({ideal})."
        yield _starts_note(chosen)
    yield diamonds_note(chosen)


def _starts_note(chosen: _Scaled) -> str:
    """Name the fewest ranks of each platform; "" if they are the same on all platforms."""
    starts = {(name, line[0].ranks) for name, line in chosen.all_lines if line}
    different = {ranks for _, ranks in starts}
    if len(different) < 2:
        return ""
    places = [f"{name} {chosen.whole(ranks)}" for name, ranks in sorted(starts)]
    return f"Efficiency is 100 % at different places: {listing(places)}."


def _words(chosen: _Scaled) -> str:
    ends = {}
    for title, lines in chosen.lines.items():
        words = []
        for name, line in lines.items():
            if len(line) > 1:
                words.append(_end_words(chosen, name, line[-1]))
        ends[title] = words or ["one place only"]
    metric = sentence_case(chosen.metric)
    if chosen.is_program:
        metric = "Parallel efficiency"
    return f"{metric} by {axis_name(chosen.x)}. {summed_up(ends, len(ends))}"


def _end_words(chosen: _Scaled, name: str, last: EfficiencyPoint) -> str:
    value = f"{chosen.unit.show(last.cell.median)} {chosen.unit.unit}"
    if chosen.is_program:
        value = f"{last.efficiency.value:.0f} %"
    return f"{name} {value} at {chosen.whole(last.ranks)}"


def _title(chosen: _Scaled) -> str:
    efficiency = ", and efficiency" if chosen.is_program else ""
    return f"{sentence_case(chosen.metric)} by {axis_name(chosen.x)}{efficiency}"


EXHIBIT = Exhibit(
    "scaling",
    "a metric by ranks, a program's with ideal line and efficiency, and the ratio",
    _figures,
)
