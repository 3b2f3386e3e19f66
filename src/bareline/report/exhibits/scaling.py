"""A metric by ranks: a program's with its ideal line and parallel efficiency, and the ratio."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

from bareline.analysis.numbers.cell import Cell, Estimate
from bareline.report.content.cells import position, varying_beside
from bareline.report.content.document import Document
from bareline.report.content.efficiency import Point, each_rank, efficiencies
from bareline.report.content.wording import axis_name, sentence_case, summed_up, value_words
from bareline.report.exhibits.along import DIAMONDS, RATIO_HEIGHT_PX, Along, placed
from bareline.report.exhibits.base import Chosen, Declared, Row, by_metric, grouped_by, select
from bareline.report.exhibits.columns import columns
from bareline.report.exhibits.lines import panels_of
from bareline.report.figures.grammar import Chart, Drawing, Style, alt, layer
from bareline.report.figures.marks import Strip, dashes
from bareline.report.figures.scales import log_ticks
from bareline.report.figures.theme import colour
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Layer, parse_point
from bareline.vocabulary.units import count, listing

#: Layers whose probes solve a problem, which more ranks are to solve sooner.
PROGRAMS = (Layer.COMPUTE, Layer.NPB, Layer.APP)

#: Points of one line for each platform, by platform.
_Lines = Mapping[str, Sequence[Point]]


@dataclass(frozen=True)
class _Scaled(Chosen):
    """Panels of one line for each platform; those without a point, and cells without a value, too.

    An MPI function does more with more ranks: it has no ideal line.
    """

    panels: Mapping[str, Sequence[Cell]] = field(default_factory=dict)
    lines: Mapping[str, _Lines] = field(default_factory=dict)

    @property
    def program(self) -> bool:
        """Whether it solves a problem."""
        return self.cells[0].layer in PROGRAMS

    @property
    def every(self) -> Iterator[tuple[str, str, Sequence[Point]]]:
        """Every line with its panel and platform."""
        for title, own in self.lines.items():
            for name, line in own.items():
                yield title, name, line

    def ideal(self, first: Point, ranks: float) -> float:
        """Give what the ideal is on so many ranks, in the metric's unit."""
        weak = self.spec.scaling == "weak"
        power = 1.0 if first.cell.rate else (0.0 if weak else -1.0)
        return float((first.cell.median or 0.0) * (ranks / first.ranks) ** power)

    def whole(self, ranks: float) -> str:
        """Write a place of the axis, e.g. "8 ranks"."""
        return count(math.floor(ranks), axis_name(self.x).removesuffix("s"))


def _scaled(document: Document, spec: ExhibitSpec) -> Iterator[_Scaled]:
    """Choose a figure per probe and metric that was measured on two numbers of ranks."""
    x = spec.x or "ranks"
    for what, every in by_metric(select(document, spec)):
        cells = [cell for cell in placed(every, x) if cell.metric.directed]
        if len({position(cell, x) for cell in cells if cell.median}) < 2:
            continue
        weak = spec.scaling == "weak"
        growing = document.records.growing.get(what[0], ()) if weak else ()
        names = varying_beside([each_rank(cell, growing) for cell in cells], x)
        titles = (each_rank(cell, growing).place.told(names) for cell in cells)
        panels = {
            title: [cell for _, cell in own]
            for title, own in grouped_by(zip(titles, cells, strict=True), itemgetter(0)).items()
        }
        samples = document.metric_samples.get(what)
        lines = {
            title: {
                name: efficiencies(
                    [cell for cell in own if cell.platform == name], x, weak=weak, samples=samples
                )
                for name in document.names
            }
            for title, own in panels.items()
        }
        places = {title: _places(document, own, x, names, growing) for title, own in panels.items()}
        rows = [
            Row(point.cell, title, point.efficiency)
            for title, own in lines.items()
            for line in own.values()
            for point in line
        ]
        yield _Scaled(
            document, spec, cells, rows, x, what, what[0],
            places=places, panels=panels, lines=lines,
        )  # fmt: skip


def _places(
    document: Document,
    cells: Sequence[Cell],
    x: str,
    names: Sequence[str],
    growing: Collection[str],
) -> list[float]:
    """Give every place of the axis at which a panel's cases were to be measured.

    A case that failed everywhere, or fits nowhere, has no cell and still is a gap.
    """

    def line(cell: Cell) -> tuple[object, ...]:
        # What tells the lines of a panel apart, but for what varies inside a trial.
        place = each_rank(cell, growing).place
        known, inside = place.coordinates, parse_point(place.point)
        shown = {name: known.get(name) for name in names if name not in inside}
        return (place.params, place.threads, *sorted(shown.items()))

    there, places = {line(cell) for cell in cells}, {position(cell, x) for cell in cells}
    if x in ("ranks", "nodes", "threads"):
        planned = document.planned.filter(probe=cells[0].place.probe)
        for row in planned.iter_rows(named=True):
            case = replace(cells[0], place=replace(cells[0].place, **row))
            if row[x] and line(case) in there:
                places.add(float(row[x]))
    return sorted(places)


def _panels(chosen: _Scaled) -> Drawing:
    """Draw the panels; a program without ratios ends with its efficiency."""
    ends = [
        chosen.ideal(line[0], line[-1].ranks)
        for *_, line in chosen.every
        if chosen.program and len(line) > 1
    ]
    along = Along.around(chosen, others=ends)
    shares = log_ticks(
        [100.0, *(end for row in chosen.rows if row.shown for end in row.shown.known)]
    )

    def panel(title: str, own: Sequence[Cell]) -> Chart:
        lines = chosen.lines[title]
        points = {point.cell: point.efficiency for line in lines.values() for point in line}

        def told(cell: Cell) -> str:
            share = f"; efficiency {points[cell].value:.0f} %" if chosen.program else ""
            return f"{value_words(cell, along.scale)}{share}"

        ideal = [row for name, line in lines.items() for row in _ideal(chosen, along, name, line)]
        strips = [along.value_strip(points, title, under=dashes(ideal), told=told)]
        if chosen.program:
            rows = [
                along.mark(cell, _certain(share), told(cell))
                for cell, share in points.items()
                if share.value > 0
            ]
            name = "Parallel efficiency (%)"
            strips.append(Strip(name, rows, shares, RATIO_HEIGHT_PX, under=_whole))
        if any(cell.ratio is not None for cell in own) or not chosen.program:
            strips.append(along.ratio_strip(own))
        return along.panel(strips, chosen.places[title])

    return panels_of(chosen, [panel(*item) for item in chosen.panels.items()])


def _certain(share: Estimate) -> Estimate:
    """Close the interval where efficiency begins: it is 100 % there; a band needs that end, too."""
    return Estimate(100.0, share.lo or 100.0, share.hi or 100.0) if share.value == 100 else share


def _whole(_: alt.X, up: alt.Y) -> Iterator[alt.Chart]:
    style: Style = {"color": colour("baseline"), "strokeDash": [4, 3]}
    yield layer("rule", [{"y": 100}], y=up, **style)


def _ideal(
    chosen: _Scaled, along: Along, name: str, line: Sequence[Point]
) -> Iterator[dict[str, Any]]:
    """Lay out the ideal line from the first point to the last, within the axes."""
    (low, high), ink = along.values.domain, along.looks[name].colour
    for step in range(21) if len(line) > 1 and chosen.program else ():
        first, last = line[0], line[-1]
        ranks = first.ranks * (last.ranks / first.ranks) ** (step / 20)
        value = chosen.ideal(first, ranks) * along.scale.factor
        if low <= value <= high:
            yield {"x": ranks, "y": value, "colour": ink, "stretch": name}


def _notes(chosen: _Scaled) -> Iterable[str]:
    """Say what the dashed line means, where efficiency begins, and what diamonds are."""
    if chosen.program:
        weak = chosen.spec.scaling == "weak"
        ideal = "the problem grows with the ranks" if weak else "the same problem on more ranks"
        yield f"Dashed: ideal from each platform's own fewest {axis_name(chosen.x)} ({ideal})."
        starts = {(name, line[0].ranks) for _, name, line in chosen.every if line}
        if len({ranks for _, ranks in starts}) > 1:
            told = [f"{name} {chosen.whole(ranks)}" for name, ranks in sorted(starts)]
            yield f"Efficiency is 100 % at different places: {listing(told)}."
    yield DIAMONDS if chosen.published else ""


def _words(chosen: _Scaled) -> str:
    """Say where each platform's line ends: its efficiency, or its value where it has none."""
    told: dict[str, list[str]] = {title: [] for title in chosen.lines}
    for title, name, line in chosen.every:
        if len(line) > 1:
            last, unit = line[-1], chosen.unit
            value = f"{unit.show(last.cell.median)} {unit.unit}"
            value = f"{last.efficiency.value:.0f} %" if chosen.program else value
            told[title].append(f"{name} {value} at {chosen.whole(last.ranks)}")
    every = {title: own or ["one place only"] for title, own in told.items()}
    what = "Parallel efficiency" if chosen.program else sentence_case(chosen.metric)
    return f"{what} by {axis_name(chosen.x)}. {summed_up(every, len(every))}"


def _title(chosen: _Scaled) -> str:
    efficiency = ", and efficiency" if chosen.program else ""
    return f"{sentence_case(chosen.metric)} by {axis_name(chosen.x)}{efficiency}"


EXHIBIT = Declared(
    kind="scaling",
    summary="a metric by ranks, a program's with ideal line and efficiency, and the ratio",
    query=_scaled,
    columns=lambda chosen: columns(
        chosen,
        f"case platforms x ratio printed medians {'efficiency' if chosen.program else ''} n",
    ),
    title=_title,
    mark=_panels,
    notes=_notes,
    words=_words,
)
