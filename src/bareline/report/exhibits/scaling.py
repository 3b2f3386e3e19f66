"""A metric by ranks: a program's with its ideal line and parallel efficiency, and the ratio.

With a problem of fixed size (strong scaling) efficiency is speed-up over growth of ranks; with one
that grows with them (weak scaling) it is what is left of the speed per rank. 100 % is the case with
the fewest ranks that the platform measured.

References
----------
G. M. Amdahl, "Validity of the single processor approach to achieving large scale computing
capabilities", AFIPS 1967, doi:10.1145/1465482.1465560.
J. L. Gustafson, "Reevaluating Amdahl's law", Communications of the ACM 31(5), 1988,
doi:10.1145/42411.42415.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.content.cells import position, varying_without
from bareline.report.content.document import Document
from bareline.report.content.wording import axis_name, sentence_case, summed_up, value_words
from bareline.report.exhibits.along import RATIO_HEIGHT_PX, Along, diamonds_note, placed
from bareline.report.exhibits.base import Chosen, Declared, TableRow, by_metric, grouped_by, select
from bareline.report.exhibits.columns import columns
from bareline.report.exhibits.lines import panels_of
from bareline.report.figures.grammar import Channel, Chart, Drawing, layer
from bareline.report.figures.marks import AxesStrip, dashes
from bareline.report.figures.scales import log_ticks
from bareline.report.figures.theme import colour
from bareline.stats import paired_ratio
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Layer, Scalar, format_point, parse_point
from bareline.vocabulary.units import count, listing

#: Layers whose probes solve a problem, which more ranks are to solve sooner.
PROGRAMS = (Layer.COMPUTE, Layer.NPB, Layer.APP)

#: A launch of one block, by its case: what the same block measured elsewhere is paired with.
Launches = Mapping[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class EfficiencyPoint:
    """A cell by ranks.

    - `efficiency`: against the fewest ranks of the same platform, in %: from medians. Its 95 %
      interval is that of the ratio of both within blocks; none below six common blocks, for
      simulated times, which have no noise, and at the fewest ranks, where it is 100 % by
      definition.
    """

    cell: Row
    ranks: float
    efficiency: Estimate


def efficiencies(
    cells: Sequence[Row], x: str, *, weak: bool, samples: pl.DataFrame | None = None
) -> list[EfficiencyPoint]:
    """Return the parallel efficiencies of one platform's cells, 100 % at the fewest ranks.

    Simulated and wall times are never divided by each other.

    - `samples`: of the cells' metric, as of `Records`; no intervals without.
    """
    known = sorted((c for c in cells if c.median), key=lambda cell: position(cell, x))
    bases: dict[bool, Row] = {}
    for cell in known:
        bases.setdefault(cell.simulated, cell)
    launches = {cell.place: _launches(cell, samples) for cell in known}
    points = []
    for cell in known:
        base, ranks = bases[cell.simulated], position(cell, x)
        # A time measures the work that was done only if that is the same; a rate counts it itself.
        counted = weak and cell.metric.better == "lower"
        ideal = 1.0 if counted else ranks / position(base, x)
        slower = cell.metric.worse(cell.median, base.median)
        assert slower is not None
        ends: Sequence[float | None] = (None, None)
        if cell is not base and not cell.simulated:
            found = _slower(launches[cell.place], launches[base.place], cell.rate)
            ends = [100 / (end * ideal) for end in reversed(found)] or ends
        points.append(EfficiencyPoint(cell, ranks, Estimate(100 / (slower * ideal), *ends)))
    return points


def _slower(own: Launches, base: Launches, rate: bool) -> list[float]:
    """Return the interval of how many times slower a cell is than the base, from common blocks."""
    shared = sorted(own.keys() & base.keys())
    values, bases = (np.array([side[block] for block in shared]) for side in (own, base))
    if not shared or (values <= 0).any() or (bases <= 0).any():
        return []
    found = paired_ratio(bases, values) if rate else paired_ratio(values, bases)
    ends = [float(found.lo), float(found.hi)]
    return ends if np.isfinite(ends).all() else []


def _launches(cell: Row, samples: pl.DataFrame | None) -> Launches:
    if samples is None:
        return {}
    place = cell.place
    rows = samples.filter(
        platform=cell.platform, params=place.params, ranks=place.ranks, threads=place.threads,
        nodes=place.nodes, point=place.point,
    )  # fmt: skip
    return {
        (int(run), int(block)): float(value)
        for run, block, value in rows.select("run", "block", "value").iter_rows()
    }


def each_rank(cell: Row, growing: Collection[str]) -> Row:
    """Divide a cell's growing parameters by its ranks: weak scaling's cases belong on one line."""
    if not growing:
        return cell
    shares: dict[str, Scalar] = {}
    for name, value in parse_point(cell.place.params).items():
        if name in growing and isinstance(value, int | float) and not isinstance(value, bool):
            shares[f"{name}_per_rank"] = value / cell.place.ranks
        else:
            shares[name] = value
    return replace(cell, place=replace(cell.place, params=format_point(shares)))


@dataclass(frozen=True)
class _Scaled(Chosen):
    """Lines by panel and platform; MPI functions do more on more ranks: they have no ideal line."""

    panels: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    lines: Mapping[str, Mapping[str, Sequence[EfficiencyPoint]]] = field(default_factory=dict)

    @property
    def program(self) -> bool:
        return self.cells[0].layer in PROGRAMS

    @property
    def every(self) -> Iterator[tuple[str, str, Sequence[EfficiencyPoint]]]:
        for title, own in self.lines.items():
            for name, line in own.items():
                yield title, name, line

    def ideal(self, first: EfficiencyPoint, ranks: float) -> float:
        weak = self.spec.scaling == "weak"
        power = 1.0 if first.cell.rate else (0.0 if weak else -1.0)
        return float((first.cell.median or 0.0) * (ranks / first.ranks) ** power)

    def whole(self, ranks: float) -> str:
        return count(math.floor(ranks), axis_name(self.x).removesuffix("s"))


def _scaled(document: Document, spec: ExhibitSpec) -> Iterator[_Scaled]:
    x = spec.x or "ranks"
    for what, every in by_metric(select(document, spec)):
        cells = [cell for cell in placed(every, x) if cell.metric.directed]
        if len({position(cell, x) for cell in cells if cell.median}) < 2:
            continue
        weak = spec.scaling == "weak"
        growing = document.records.growing.get(what[0], ()) if weak else ()
        names = varying_without([each_rank(cell, growing) for cell in cells], x)
        titles = {cell: each_rank(cell, growing).place.words_of(names) for cell in cells}
        panels = grouped_by(cells, titles.__getitem__)
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
            TableRow(point.cell, title, point.efficiency)
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
    cells: Sequence[Row],
    x: str,
    names: Sequence[str],
    growing: Collection[str],
) -> list[float]:
    """Return all places of a panel on the axis: a case that failed everywhere is a gap."""

    def line(cell: Row) -> tuple[object, ...]:
        # What tells the lines of a panel apart, but for what varies inside a trial.
        place = each_rank(cell, growing).place
        known, inside = place.coordinates, parse_point(place.point)
        shown = ((name, known.get(name)) for name in names if name not in inside)
        return (place.params, place.threads, *shown)

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
    long = [line for *_, line in chosen.every if chosen.program and len(line) > 1]
    along = Along(chosen, others=[chosen.ideal(line[0], line[-1].ranks) for line in long])
    known = (end for row in chosen.rows if row.shown for end in row.shown.known)
    shares = log_ticks([100.0, *known])

    def whole(_: Channel, up: Channel) -> list[Chart]:
        return [layer("rule", [{"y": 100}], y=up, color=colour("baseline"), strokeDash=[4, 3])]

    def panel(title: str, own: Sequence[Row]) -> Chart:
        lines = chosen.lines[title]
        points = {point.cell: point.efficiency for line in lines.values() for point in line}

        def tooltip(cell: Row) -> str:
            share = f"; efficiency {points[cell].value:.0f} %" if chosen.program else ""
            return f"{value_words(cell, along.scale)}{share}"

        ideal = [row for name, line in lines.items() for row in _ideal(chosen, along, name, line)]
        strips = [along.value_strip(points, title, dashes(ideal), tooltip)]
        if chosen.program:
            rows = [
                along.mark(cell, _certain(share), tooltip(cell))
                for cell, share in points.items()
                if share.value > 0
            ]
            name = "Parallel efficiency (%)"
            strips.append(AxesStrip(name, rows, shares, RATIO_HEIGHT_PX, under=whole))
        if any(cell.ratio is not None for cell in own) or not chosen.program:
            strips.append(along.ratio_strip(own))
        return along.panel(strips, chosen.places[title])

    return panels_of(chosen, [panel(*item) for item in chosen.panels.items()])


def _certain(share: Estimate) -> Estimate:
    """Close the interval where efficiency begins: it is 100 % there; a band needs that end, too."""
    return Estimate(100.0, share.lo or 100.0, share.hi or 100.0) if share.value == 100 else share


def _ideal(
    chosen: _Scaled, along: Along, name: str, line: Sequence[EfficiencyPoint]
) -> Iterator[dict[str, Any]]:
    (low, high), ink = along.values.domain, along.looks[name].colour
    for step in range(21) if len(line) > 1 and chosen.program else ():
        ranks = line[0].ranks * (line[-1].ranks / line[0].ranks) ** (step / 20)
        value = chosen.ideal(line[0], ranks) * along.scale.factor
        if low <= value <= high:
            yield {"x": ranks, "y": value, "colour": ink, "stretch": name}


def _notes(chosen: _Scaled) -> Iterable[str]:
    if chosen.program:
        weak = chosen.spec.scaling == "weak"
        ideal = "the problem grows with the ranks" if weak else "the same problem on more ranks"
        yield f"Dashed: ideal from each platform's own fewest {axis_name(chosen.x)} ({ideal})."
        starts = sorted({(name, line[0].ranks) for _, name, line in chosen.every if line})
        if len({ranks for _, ranks in starts}) > 1:
            places = [f"{name} {chosen.whole(ranks)}" for name, ranks in starts]
            yield f"Efficiency is 100 % at different places: {listing(places)}."
    yield diamonds_note(chosen)


def _words(chosen: _Scaled) -> str:
    unit = chosen.unit

    def end(name: str, last: EfficiencyPoint) -> str:
        value = f"{unit.show(last.cell.median)} {unit.unit}"
        value = f"{last.efficiency.value:.0f} %" if chosen.program else value
        return f"{name} {value} at {chosen.whole(last.ranks)}"

    every = {
        title: [end(name, line[-1]) for name, line in own.items() if len(line) > 1]
        or ["one place only"]
        for title, own in chosen.lines.items()
    }
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
