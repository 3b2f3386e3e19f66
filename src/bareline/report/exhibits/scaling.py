"""A metric by ranks: a program's with its ideal line and parallel efficiency, and the ratio."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from bareline.analysis.cell import Cell, Estimate
from bareline.report.content.cells import position, varying_beside
from bareline.report.content.document import Document
from bareline.report.content.efficiency import Point, each_rank, efficiencies
from bareline.report.content.published import PublishedPoint, points_for
from bareline.report.content.wording import (
    axis_name,
    metric_name,
    sentence_case,
    summed_up,
    value_words,
)
from bareline.report.exhibits.along import DIAMONDS, RATIO_HEIGHT_PX, Along, placed
from bareline.report.exhibits.base import Exhibit, by_metric, grouped_by, select
from bareline.report.exhibits.columns import CellRows
from bareline.report.exhibits.large import largest
from bareline.report.figures.channels import Style, layer
from bareline.report.figures.figure import Chart, DataTable, Figure
from bareline.report.figures.grammar import alt
from bareline.report.figures.panels import Strip, dashes
from bareline.report.figures.scales import Ticks, log_ticks
from bareline.report.figures.theme import colour
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Layer, parse_point
from bareline.vocabulary.units import count, listing

#: Layers whose probes solve a problem, which more ranks are to solve sooner.
PROGRAMS = (Layer.COMPUTE, Layer.NPB, Layer.APP)


class Scaling(Exhibit):
    """Values by ranks; of programs with each platform's ideal line and parallel efficiency.

    An MPI function does more with more ranks: it has no ideal line.
    """

    kind = "scaling"
    summary = "a metric by ranks, a program's with ideal line and efficiency, and the ratio"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one figure per probe and metric that was measured on two numbers of ranks."""
        x = spec.x or "ranks"
        drawn = []
        for _, cells in by_metric(select(document, spec)):
            there = [cell for cell in placed(cells, x) if cell.metric.directed]
            if len({position(cell, x) for cell in there if cell.median}) > 1:
                drawn.append(self._along(spec, _Lines(document, spec, x, there)))
        return drawn

    def _along(self, spec: ExhibitSpec, lines: _Lines) -> Figure:
        place = lines.cells[0].place
        efficiency = ", and efficiency" if lines.program else ""
        metric = metric_name(place.metric)
        return self.figure(
            spec,
            place.probe,
            place.metric,
            title=f"{sentence_case(metric)} by {axis_name(lines.x)}{efficiency}",
            notes=lines.notes(),
            cells=lines.cells,
            probe=place.probe,
            wide=len(lines.groups) > 1,
            panels=[lines.panel(title) for title in lines.groups],
            names=lines.groups,
            published=lines.published,
            large=largest(lines.groups, lines.published),
            summary=_summary(lines, metric),
            table=_table(lines, metric),
        )


class _Lines:
    """Panels of one line for each platform, on axes that they share.

    Attributes
    ----------
    groups, points
        By panel; points also by platform.
    """

    def __init__(
        self, document: Document, spec: ExhibitSpec, x: str, cells: Sequence[Cell]
    ) -> None:
        self.document = document
        self.x = x
        self.cells = cells
        self.weak = spec.scaling == "weak"
        self.program = cells[0].layer in PROGRAMS
        probe = cells[0].place.probe
        self.growing = document.records.growing.get(probe, ()) if self.weak else ()
        self.names = varying_beside([each_rank(cell, self.growing) for cell in cells], x)
        self.groups = grouped_by(
            cells, lambda cell: each_rank(cell, self.growing).place.told(self.names)
        )
        samples = document.metric_samples.get((probe, cells[0].place.metric))
        self.points: Mapping[str, Mapping[str, Sequence[Point]]] = {
            title: {
                name: efficiencies(
                    [cell for cell in own if cell.platform == name],
                    x,
                    weak=self.weak,
                    samples=samples,
                )
                for name in document.names
            }
            for title, own in self.groups.items()
        }
        self.published: Sequence[PublishedPoint] = points_for(
            document.published, spec, cells, document.baseline
        )
        known = [cell for cell in cells if cell.value is not None]
        self.axes = Along.around(
            document, x, known, others=self._ideal_ends(), published=self.published
        )

    def every(self) -> Iterator[tuple[str, str, Sequence[Point]]]:
        """Give every line with its panel and platform."""
        for title, own in self.points.items():
            for name, line in own.items():
                yield title, name, line

    @cached_property
    def shares(self) -> Ticks:
        """The axis of efficiencies."""
        points = (point for *_, line in self.every() for point in line)
        return log_ticks([100.0, *(end for point in points for end in point.efficiency.known)])

    def _ideal_ends(self) -> list[float]:
        """Give where ideal lines end, so that they have room on the axis."""
        lines = [line for *_, line in self.every() if self.program and len(line) > 1]
        return [self._ideal_value(line[0], line[-1].ranks) for line in lines]

    def _ideal_value(self, first: Point, ranks: float) -> float:
        """Give what the ideal is on so many ranks, in the metric's unit."""
        power = 1.0 if first.cell.rate else (0.0 if self.weak else -1.0)
        return float((first.cell.median or 0.0) * (ranks / first.ranks) ** power)

    def notes(self) -> list[str]:
        """Say what the dashed line means, where efficiency begins, and what diamonds are."""
        diamonds = DIAMONDS if self.published else ""
        if not self.program:
            return [diamonds]
        ideal = (
            "the problem grows with the ranks" if self.weak else "the same problem on more ranks"
        )
        fewest = f"each platform's own fewest {axis_name(self.x)}"
        return [f"Dashed: ideal from {fewest} ({ideal}).", self._starts(), diamonds]

    def _starts(self) -> str:
        """Say where efficiency begins on each platform, where that is not the same everywhere."""
        starts = {(name, line[0].ranks) for _, name, line in self.every() if line}
        if len({ranks for _, ranks in starts}) < 2:
            return ""
        told = [f"{name} {self.whole(ranks)}" for name, ranks in sorted(starts)]
        return f"Efficiency is 100 % at different places: {listing(told)}."

    def whole(self, ranks: float) -> str:
        """Write a place of the axis, e.g. "8 ranks"."""
        return count(math.floor(ranks), axis_name(self.x).removesuffix("s"))

    def panel(self, title: str) -> Chart:
        """Draw a panel; a program without ratios ends with its efficiency."""
        own, lines = self.groups[title], self.points[title]
        shares = {point.cell: point.efficiency for line in lines.values() for point in line}

        def told(cell: Cell) -> str:
            share = f"; efficiency {shares[cell].value:.0f} %" if self.program else ""
            return f"{value_words(cell, self.axes.scale)}{share}"

        ideal = [row for name, line in lines.items() for row in self._ideal(name, line)]
        cells = [point.cell for line in lines.values() for point in line]
        strips = [self.axes.value_strip(cells, title, under=dashes(ideal), told=told)]
        if self.program:
            strips.append(self._efficiency([p for line in lines.values() for p in line], told))
        if any(cell.ratio is not None for cell in own) or not self.program:
            strips.append(self.axes.ratio_strip(own))
        return self.axes.panel(strips, self._places(own))

    def _ideal(self, name: str, line: Sequence[Point]) -> list[dict[str, Any]]:
        """Lay out the ideal line from the first point to the last, within the axes."""
        if len(line) < 2 or not self.program:
            return []
        first, last = line[0], line[-1]
        low, high = self.axes.values.domain
        rows = []
        for step in range(21):
            ranks = first.ranks * (last.ranks / first.ranks) ** (step / 20)
            value = self._ideal_value(first, ranks) * self.axes.scale.factor
            if low <= value <= high:
                ink = self.axes.looks[name].colour
                rows.append({"x": ranks, "y": value, "colour": ink, "stretch": name})
        return rows

    def _efficiency(self, points: Sequence[Point], told: Callable[[Cell], str]) -> Strip:
        rows = []
        for point in points:
            share = point.efficiency
            if share.value == 100:
                # Where it begins it is 100 % for certain; a band needs that end, too.
                share = Estimate(100.0, share.lo or 100.0, share.hi or 100.0)
            if share.value > 0:
                rows.append(self.axes.mark(point.cell, share, told(point.cell)))

        def whole(_: alt.X, up: alt.Y) -> Iterator[alt.Chart]:
            style: Style = {"color": colour("baseline"), "strokeDash": [4, 3]}
            yield layer("rule", [{"y": 100}], y=up, **style)

        title = "Parallel efficiency (%)"
        return Strip(title, rows, self.shares, RATIO_HEIGHT_PX, under=whole)

    def _places(self, cells: Sequence[Cell]) -> list[float]:
        """Give every place of the axis at which a panel's cases were to be measured.

        A case that failed everywhere, or fits nowhere, has no cell and still is a gap.
        """
        there = {self._line(cell) for cell in cells}
        places = {position(cell, self.x) for cell in cells}
        if self.x in ("ranks", "nodes", "threads"):
            planned = self.document.planned.filter(probe=cells[0].place.probe)
            for row in planned.iter_rows(named=True):
                case = replace(cells[0], place=replace(cells[0].place, **row))
                if row[self.x] and self._line(case) in there:
                    places.add(float(row[self.x]))
        return sorted(places)

    def _line(self, cell: Cell) -> tuple[object, ...]:
        """Tell the lines of a panel apart, but for what varies inside a trial."""
        place = each_rank(cell, self.growing).place
        known, inside = place.coordinates, parse_point(place.point)
        shown = {name: known.get(name) for name in self.names if name not in inside}
        return (place.params, place.threads, *sorted(shown.items()))


def _table(lines: _Lines, metric: str) -> DataTable:
    rows = CellRows(
        [(title, point) for title, _, line in lines.every() for point in line],
        lambda row: row[1].cell,
    )
    if len(lines.groups) > 1:
        rows.text("case", lambda row: row[0])
    scale = lines.axes.scale
    rows.platforms().parameter(lines.x).ratio().published(lines.published)
    rows.value(scale.titled(f"median {metric}"), lambda row: row[1].cell.median, scale.show)
    if lines.program:
        rows.number("efficiency (%)", lambda row: row[1].efficiency.value, "{:.0f}".format)
        rows.interval(lambda row: row[1].efficiency, "{:.0f}".format)
    return rows.launches().table()


def _summary(lines: _Lines, metric: str) -> str:
    """Say where each platform's line ends: its efficiency, or its value where it has none."""
    scale = lines.axes.scale
    told: dict[str, list[str]] = {}
    for title, name, line in lines.every():
        if len(line) > 1:
            last = line[-1]
            value = f"{scale.show(last.cell.median)} {scale.unit}"
            value = f"{last.efficiency.value:.0f} %" if lines.program else value
            told.setdefault(title, []).append(f"{name} {value} at {lines.whole(last.ranks)}")
        else:
            told.setdefault(title, [])
    every = {title: own or ["one place only"] for title, own in told.items()}
    what = "Parallel efficiency" if lines.program else sentence_case(metric)
    return f"{what} by {axis_name(lines.x)}. {summed_up(every, len(every))}"


EXHIBIT = Scaling()
