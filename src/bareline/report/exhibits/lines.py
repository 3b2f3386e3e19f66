"""Kinds of lines along a parameter: values with their ratios, and ratios of many probes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bareline.analysis.numbers.row import Row
from bareline.report.blocks import Figure, Table
from bareline.report.content.cells import numeric_axis, position, varying_without
from bareline.report.content.document import Document
from bareline.report.content.dots import Dot, Dots, trial_dots
from bareline.report.content.published import PublishedPoint
from bareline.report.content.wording import (
    axis_name,
    compared_words,
    distinct_parts,
    sentence_case,
    summed_up,
    value_words,
)
from bareline.report.exhibits.base import Exhibit, Panel, TableRow, by_metric, select, titled
from bareline.report.exhibits.columns import cells_table, columns
from bareline.report.exhibits.jumps import jumps_note, printed_jumps
from bareline.report.exhibits.shared_axis import (
    ALL_LARGE,
    SharedAxis,
    diamonds_note,
    largest,
    parameter_words,
    placed,
)
from bareline.report.figures.marks import dots
from bareline.report.figures.theme import MarkLook, line_looks
from bareline.report.figures.vega import Channel, Chart, Drawing
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.units import count, listing


def _curves(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for chosen in _chosen_curves(document, spec):
        yield chosen.figure(
            title=f"{sentence_case(chosen.metric)} by {axis_name(chosen.x)}",
            table=cells_table(chosen),
            drawing=_Curves(chosen).drawing(),
            notes=_curve_notes(chosen),
            summary=_curve_words(chosen),
        )


def _chosen_curves(document: Document, spec: ExhibitSpec) -> Iterator[Panel]:
    """Choose a figure for each metric that has a value along the parameter."""
    for subject, cells in by_metric(select(document, spec)):
        x = spec.x or numeric_axis(cells)
        if not x:
            continue
        on_axis = placed(cells, x)
        if any(cell.value is not None for cell in on_axis):
            names = varying_without(on_axis, x)
            rows = [TableRow(cell, cell.place.words_of(names)) for cell in on_axis]
            yield Panel(document, spec, on_axis, rows, x, subject, subject[0])


def _trials(chosen: Panel, rows: Sequence[TableRow]) -> Dots:
    document = chosen.document
    measured = [row.cell for row in rows if row.cell.value is not None]
    most = min(document.dots_per_panel, len(measured) * document.dots_per_value)
    return trial_dots(document, measured, most)


class _Curves:
    """Draws a panel for each group of a figure: its values, and under them its ratios."""

    def __init__(self, chosen: Panel) -> None:
        self.chosen = chosen
        self.trials = {title: _trials(chosen, rows) for title, rows in chosen.groups.items()}
        values: list[float] = []
        for trials in self.trials.values():
            values += [dot.value for dot in trials.dots]
        self.along = SharedAxis(chosen, others=values)

    def drawing(self) -> Drawing:
        panels = [self._panel(title, rows) for title, rows in self.chosen.groups.items()]
        return panels_of(self.chosen, panels)

    def _panel(self, title: str, rows: Sequence[TableRow]) -> Chart:
        cells = [row.cell for row in rows]
        spots = [self._spot(dot) for dot in self.trials[title].dots if dot.value > 0]
        jumps = printed_jumps(self.chosen, self.along)

        def under(x: Channel, y: Channel) -> Iterable[Chart]:
            return [*jumps(x, y), dots(spots, x, y)]

        words = partial(value_words, scale=self.chosen.unit)
        strips = [self.along.value_strip(cells, title, under, words)]
        if any(cell.ratio is not None for cell in cells):
            strips.append(self.along.ratio_strip(cells))
        return self.along.panel(strips, [position(cell, self.chosen.x) for cell in cells])

    def _spot(self, dot: Dot) -> dict[str, Any]:
        scale = self.chosen.unit
        where = self.along.where(dot.cell)
        return {
            "x": self.along.at(position(dot.cell, self.chosen.x)),
            "y": dot.value * scale.factor,
            "colour": self.along.looks[dot.cell.platform].colour,
            "tip": f"{where}, trial {dot.trial}: {scale.show(dot.value)} {scale.unit}",
        }


def panels_of(chosen: Panel, panels: Sequence[Chart]) -> Drawing:
    """Return the panels of a figure's groups, of which a reader may choose the large one."""
    large = largest(chosen.groups, chosen.published)
    return Drawing(panels, chosen.groups, large, wide=len(chosen.groups) > 1)


def _curve_notes(chosen: Panel) -> Iterable[str]:
    notes = (_trials(chosen, rows).note for rows in chosen.groups.values())
    yield next(filter(None, notes), "")
    yield diamonds_note(chosen)
    yield jumps_note(chosen)


def _curve_words(chosen: Panel) -> str:
    names = [name for name in chosen.document.names if name in chosen.planned]
    cells = _in_order(chosen, chosen.rows)
    first = parameter_words(chosen, cells[0])
    last = parameter_words(chosen, cells[-1])
    head = (
        f"{chosen.metric} of {chosen.probe} by {axis_name(chosen.x)} from {first} to {last}, "
        f"{count(len(chosen.groups), 'panel')}, on {listing(names)}."
    )
    ends: dict[str, list[str]] = {}
    for title, rows in chosen.groups.items():
        ordered = _in_order(chosen, rows)
        for name in names:
            if name == chosen.document.baseline:
                continue
            label = f"{name} ({title})" if title else name
            ends[label] = _end_words(chosen, name, ordered)
    return f"{head} {summed_up(ends, 4 * len(names))}" if ends else head


def _in_order(chosen: Panel, rows: Iterable[TableRow]) -> list[Row]:
    return sorted((row.cell for row in rows), key=lambda cell: position(cell, chosen.x))


def _end_words(chosen: Panel, platform: str, cells: Sequence[Row]) -> list[str]:
    """Describe how a platform compares at the first and at the last place."""
    compared = [cell for cell in cells if cell.platform == platform and cell.ratio]
    if not compared:
        return ["nothing to compare"]
    ends = compared if len(compared) == 1 else [compared[0], compared[-1]]
    return [f"{compared_words(cell)} at {parameter_words(chosen, cell)}" for cell in ends]


def _relatives(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for chosen in _chosen_relatives(document, spec):
        title = _relative_title(chosen)
        yield chosen.figure(
            title=f"{sentence_case(title)}, by {axis_name(chosen.x)}",
            table=_relative_columns(chosen),
            drawing=_relative_panels(chosen),
            notes=("Above 1 is worse; bands are 95 % intervals.", diamonds_note(chosen)),
            summary=_relative_words(chosen),
        )


def _chosen_relatives(document: Document, spec: ExhibitSpec) -> Iterator[Panel]:
    """Choose a figure per layer and metric in which a probe is compared at two places."""
    x = spec.x or "ranks"
    cells = placed(select(document, spec), x)
    groups = grouped_by(cells, lambda cell: (cell.layer, cell.place.metric))
    for subject, group in groups.items():
        compared_at = {position(cell, x) for cell in group if cell.ratio is not None}
        if len(compared_at) < 2:
            continue
        lines = _named_lines(document, group, x)
        rows: list[TableRow] = []
        for line in lines.values():
            rows += [row for row in line if row.cell.ratio]
        cells_of_rows = [row.cell for row in rows]
        places = _places(lines, x)
        yield Panel(document, spec, cells_of_rows, rows, x, subject, places=places)


def _named_lines(document: Document, cells: Sequence[Row], x: str) -> dict[str, list[TableRow]]:
    """Return the cells of each line by its title: the probe and the parameters that differ."""
    names = varying_without(cells, x)
    rows = [TableRow(cell, titled(document, cell, names, metric=False)) for cell in cells]
    return grouped_by(rows, lambda row: row.title)


def _places(lines: Mapping[str, Sequence[TableRow]], x: str) -> dict[str, list[float]]:
    """Return where each line was to be measured."""
    places: dict[str, list[float]] = {}
    for title, line in lines.items():
        places[title] = [position(row.cell, x) for row in line]
    return places


def _relative_panels(chosen: Panel) -> Drawing:
    """Draw a panel for each platform; no line crosses a place where its probe has no value."""
    along = SharedAxis(chosen)
    measured = {cell.platform for cell in chosen.cells}
    platforms = [name for name in chosen.document.names if name in measured]
    shorts = dict(zip(chosen.groups, distinct_parts(list(chosen.groups)), strict=True))
    styles = line_looks(sorted(shorts.values()))
    # Colours are the lines': published values of the platform have none of them.
    along.looks = dict.fromkeys(along.looks, MarkLook("soft", "circle"))

    def panel(platform: str) -> Chart:
        rows = [row for row in chosen.rows if row.cell.platform == platform]
        lines: dict[str, list[Row]] = {}
        places: dict[str, Sequence[float]] = {}
        for title, line in grouped_by(rows, lambda row: row.title).items():
            lines[shorts[title]] = [row.cell for row in line]
            places[shorts[title]] = chosen.places[title]
        title = f"{platform}, ratio to {chosen.document.baseline}"
        return along.panel([along.lines_strip(title, lines, styles)], places)

    panels = [panel(platform) for platform in platforms]
    return Drawing(panels, platforms, _most_published(chosen.published, platforms))


def _most_published(published: Sequence[PublishedPoint], platforms: Sequence[str]) -> int | None:
    """Return the place of the platform that most is published of; None where all have room."""
    if len(platforms) <= ALL_LARGE:
        return None
    counts = Counter(point.platform for point in published)
    most = max(platforms, key=lambda name: counts[name])
    return platforms.index(most)


def _relative_title(chosen: Panel) -> str:
    return f"{chosen.metric} relative to {chosen.document.baseline}"


def _relative_words(chosen: Panel) -> str:
    ratios = {}
    for title, rows in chosen.groups.items():
        places = grouped_by((row.cell for row in rows), lambda cell: position(cell, chosen.x))
        last = places[max(places)]
        words = [f"{cell.platform} {compared_words(cell)}" for cell in last]
        ratios[f"{title} at {parameter_words(chosen, last[0])}"] = words
    lines = count(len(chosen.groups), "line")
    head = f"{_relative_title(chosen)} by {axis_name(chosen.x)}, {lines}."
    return f"{head} {summed_up(ratios, len(ratios))}"


def _relative_columns(chosen: Panel) -> Table:
    titles = list(chosen.groups)

    def order(row: TableRow) -> tuple[int, float, str]:
        return titles.index(row.title), position(row.cell, chosen.x), row.cell.platform

    ordered = replace(chosen, rows=sorted(chosen.rows, key=order))
    return columns(ordered, "benchmark x platforms ratio printed n", lambda row: row.title)


EXHIBITS = (
    Exhibit(
        "curve",
        "a metric along message size or ranks, and its ratio to the baseline underneath",
        _curves,
    ),
    Exhibit(
        "relative",
        "a metric relative to the baseline by ranks, one line per probe",
        _relatives,
    ),
)
