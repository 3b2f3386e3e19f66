"""A metric along message size or ranks, with its ratio to the baseline underneath."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bareline.analysis.cell import Cell
from bareline.report.content.cells import numeric_axis, position, varying_beside
from bareline.report.content.document import Document
from bareline.report.content.dots import Dots, trial_dots
from bareline.report.content.published import points_for
from bareline.report.content.wording import (
    axis_name,
    compared_words,
    metric_name,
    sentence_case,
    summed_up,
)
from bareline.report.exhibits.along import DIAMONDS, Along, placed
from bareline.report.exhibits.base import Exhibit, by_metric, grouped_by, select
from bareline.report.exhibits.columns import cells_table
from bareline.report.exhibits.large import largest
from bareline.report.figures.figure import Chart, Figure
from bareline.report.figures.marks import dots
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import parameter_value
from bareline.vocabulary.units import count, listing


class Curve(Exhibit):
    """Small multiples: one panel for each number of ranks and each set of parameters."""

    kind = "curve"
    summary = "a metric along message size or ranks, and its ratio to the baseline underneath"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one figure per probe and metric that has a numeric parameter to run along."""
        drawn = []
        for _, cells in by_metric(select(document, spec)):
            x = spec.x or numeric_axis(cells)
            there = placed(cells, x) if x else []
            if x and any(cell.value is not None for cell in there):
                drawn.append(self._along(document, spec, x, there))
        return drawn

    def _along(
        self, document: Document, spec: ExhibitSpec, x: str, cells: Sequence[Cell]
    ) -> Figure:
        place, names = cells[0].place, varying_beside(cells, x)
        groups = grouped_by(cells, lambda cell: cell.place.told(names))
        trials = {title: _trials(document, own) for title, own in groups.items()}
        published = points_for(document.published, spec, cells, document.baseline)
        every = [dot.value for drawn in trials.values() for dot in drawn.dots]
        along = Along.around(document, x, cells, others=every, published=published)
        return self.figure(
            spec,
            place.probe,
            place.metric,
            title=f"{sentence_case(metric_name(place.metric))} by {axis_name(x)}",
            notes=[
                next((drawn.note for drawn in trials.values() if drawn.note), ""),
                DIAMONDS if published else "",
            ],
            cells=cells,
            probe=place.probe,
            wide=len(groups) > 1,
            panels=[_panel(along, title, own, trials[title]) for title, own in groups.items()],
            names=groups,
            published=published,
            large=largest(groups, published),
            summary=_summary(document, x, groups),
            table=cells_table(cells, published),
        )


def _trials(document: Document, cells: Sequence[Cell]) -> Dots:
    measured = [cell for cell in cells if cell.value is not None]
    most = min(document.dots_per_panel, len(measured) * document.dots_per_value)
    return trial_dots(document, measured, most)


def _panel(along: Along, title: str, cells: Sequence[Cell], trials: Dots) -> Chart:
    """Draw values above, ratios below: these only where something is compared."""
    scale = along.scale
    rows: list[dict[str, Any]] = [
        {
            "x": along.at(position(dot.cell, along.x)),
            "y": dot.value * scale.factor,
            "colour": along.looks[dot.cell.platform].colour,
            "tip": f"{along.where(dot.cell)}, trial {dot.trial}: "
            f"{scale.show(dot.value)} {scale.unit}",
        }
        for dot in trials.dots
        if dot.value > 0
    ]
    strips = [along.value_strip(cells, title, under=lambda x, y: [dots(rows, x, y)])]
    if any(cell.ratio is not None for cell in cells):
        strips.append(along.ratio_strip(cells))
    return along.panel(strips, [position(cell, along.x) for cell in cells])


def _summary(document: Document, x: str, groups: Mapping[str, Sequence[Cell]]) -> str:
    cells = sorted((c for own in groups.values() for c in own), key=lambda cell: position(cell, x))
    first, last = (parameter_value(x, c.place.coordinates[x]) for c in (cells[0], cells[-1]))
    told = {}
    for title, own in groups.items():
        for name in document.names[1:]:
            compared = [cell for cell in own if cell.platform == name and cell.ratio is not None]
            compared.sort(key=lambda cell: position(cell, x))
            ends = compared if len(compared) < 2 else [compared[0], compared[-1]]
            told[f"{name} ({title})" if title else name] = [
                f"{compared_words(one)} at {parameter_value(x, one.place.coordinates[x])}"
                for one in ends
            ] or ["nothing to compare"]
    place = cells[0].place
    head = (
        f"{metric_name(place.metric)} of {place.probe} by {axis_name(x)} from {first} to {last}, "
        f"{count(len(groups), 'panel')}, on {listing(document.names)}."
    )
    return f"{head} {summed_up(told, 4 * len(document.names))}" if told else head


EXHIBIT = Curve()
