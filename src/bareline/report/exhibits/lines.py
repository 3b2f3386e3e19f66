"""The kinds of exhibits with lines over a parameter: values and ratios, or only ratios."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from bareline.analysis.numbers.row import Row
from bareline.report.blocks import Figure, Table
from bareline.report.content.cells import numeric_axis, position, varying_without
from bareline.report.content.document import Document
from bareline.report.content.dots import Dot, Dots, trial_dots
from bareline.report.content.wording import (
    axis_name,
    compared_words,
    distinct_parts,
    sentence_case,
    summed_up,
    value_words,
)
from bareline.report.exhibits.base import (
    Exhibit,
    Panel,
    TableRow,
    by_metric,
    cells_of,
    select,
    titled,
)
from bareline.report.exhibits.columns import cells_table, columns
from bareline.report.exhibits.diamonds import diamonds_note
from bareline.report.exhibits.jumps import jumps_note, printed_jumps
from bareline.report.exhibits.shared_axis import (
    ALL_LARGE,
    SharedAxis,
    largest,
    parameter_words,
    placed,
)
from bareline.report.figures.marks import dots
from bareline.report.figures.theme import MarkLook, line_looks
from bareline.report.figures.vega import Channel, Chart, Datum, Drawing
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.units import count, listing

_Rows = Sequence[TableRow]


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
    """Yield a panel for each metric that has a value along the parameter."""
    for subject, cells in by_metric(select(document, spec)):
        x = spec.x or numeric_axis(cells)
        if not x:
            continue
        on_axis = placed(cells, x)
        if all(cell.value is None for cell in on_axis):
            continue
        probe, _ = subject
        names = varying_without(on_axis, x)
        rows = [TableRow(cell, cell.place.words_of(names)) for cell in on_axis]
        yield Panel(document, spec, on_axis, rows, x, subject, probe)


def _trials(chosen: Panel, rows: _Rows) -> Dots:
    document = chosen.document
    measured = [cell for cell in cells_of(rows) if cell.value is not None]
    most = document.dots_per_value * len(measured)
    return trial_dots(document, measured, min(document.dots_per_panel, most))


class _Curves:
    """A painter of panels: each has curves of values and, below them, of ratios to the baseline."""

    def __init__(self, chosen: Panel) -> None:
        self.chosen = chosen
        self.trials: dict[str, Sequence[Dot]] = {}
        values: list[float] = []
        for title, rows in chosen.groups.items():
            trials = _trials(chosen, rows).dots
            self.trials[title] = trials
            values += [dot.value for dot in trials]
        self.along = SharedAxis(chosen, others=values)

    def drawing(self) -> Drawing:
        panels = []
        for title, rows in self.chosen.groups.items():
            panels.append(self._panel(title, cells_of(rows)))
        return panels_of(self.chosen, panels)

    def _panel(self, title: str, cells: Sequence[Row]) -> Chart:
        spots = [self._spot(dot) for dot in self.trials[title] if dot.value > 0]
        jumps = printed_jumps(self.chosen, self.along)

        def under(x: Channel, y: Channel) -> Iterable[Chart]:
            yield from jumps(x, y)
            yield dots(spots, x, y)

        words = partial(value_words, scale=self.chosen.unit)
        strips = [self.along.value_strip(cells, title, under, words)]
        if any(cell.ratio is not None for cell in cells):
            strips.append(self.along.ratio_strip(cells))
        places = map(self.chosen.at, cells)
        return self.along.panel(strips, list(places))

    def _spot(self, dot: Dot) -> Datum:
        along = self.along
        scale = self.chosen.unit
        where = along.where(dot.cell)
        amount = f"{scale.show(dot.value)} {scale.unit}"
        return {
            "x": along.place_of(dot.cell),
            "y": dot.value * scale.factor,
            "colour": along.looks[dot.cell.platform].colour,
            "tip": f"{where}, trial {dot.trial}: {amount}",
        }


def panels_of(chosen: Panel, panels: Sequence[Chart]) -> Drawing:
    """Return a drawing of panels; if there are many, the reader chooses which panel is large."""
    titles = chosen.groups
    large = largest(titles, chosen.published)
    return Drawing(panels, titles, large, wide=len(titles) > 1)


def _curve_notes(chosen: Panel) -> Iterable[str]:
    notes = (_trials(chosen, rows).note for rows in chosen.groups.values())
    yield next(filter(None, notes), "")
    yield diamonds_note(chosen)
    yield jumps_note(chosen)


def _curve_words(chosen: Panel) -> str:
    cells = _in_order(chosen, chosen.rows)
    first = parameter_words(chosen, cells[0])
    last = parameter_words(chosen, cells[-1])
    panels = count(len(chosen.groups), "panel")
    names = [name for name in chosen.document.names if name in chosen.planned]
    head = (
        f"{chosen.metric} of {chosen.probe} by {axis_name(chosen.x)} from {first} to {last}, "
        f"{panels}, on {listing(names)}."
    )
    others = [name for name in names if name != chosen.baseline]
    if not others:
        return head
    ends: dict[str, list[str]] = {}
    for title, rows in chosen.groups.items():
        ordered = _in_order(chosen, rows)
        for name in others:
            label = f"{name} ({title})" if title else name
            ends[label] = _end_words(chosen, name, ordered)
    return f"{head} {summed_up(ends, 4 * len(names))}"


def _in_order(chosen: Panel, rows: _Rows) -> list[Row]:
    return sorted(cells_of(rows), key=chosen.at)


def _end_words(chosen: Panel, platform: str, cells: Sequence[Row]) -> list[str]:
    """Describe the comparison of a platform at the first and at the last position."""
    compared = [cell for cell in cells if cell.platform == platform and cell.ratio]
    if not compared:
        return ["nothing to compare"]
    ends = compared[:1]
    if len(compared) > 1:
        ends.append(compared[-1])
    return [_words_at(chosen, cell) for cell in ends]


def _words_at(chosen: Panel, cell: Row) -> str:
    return f"{compared_words(cell)} at {parameter_words(chosen, cell)}"


def _relatives(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for chosen in _chosen_relatives(document, spec):
        title = sentence_case(_relative_title(chosen))
        yield chosen.figure(
            title=f"{title}, by {axis_name(chosen.x)}",
            table=_relative_columns(chosen),
            drawing=_relative_panels(chosen),
            notes=("Above 1 is worse; bands are 95 % intervals.", diamonds_note(chosen)),
            summary=_relative_words(chosen),
        )


def _chosen_relatives(document: Document, spec: ExhibitSpec) -> Iterator[Panel]:
    """Yield a panel per layer and metric in which a probe is compared at two or more positions."""
    x = spec.x or "ranks"
    cells = placed(select(document, spec), x)
    groups = grouped_by(cells, lambda cell: (cell.layer, cell.place.metric))
    for subject, group in groups.items():
        compared_at = {position(cell, x) for cell in group if cell.ratio is not None}
        if len(compared_at) >= 2:
            planned = Panel(document, spec, group, x=x, what=subject)
            yield _with_lines(planned)


def _with_lines(planned: Panel) -> Panel:
    """Return the panel with a line for each probe and each combination of differing parameters.

    The rows of the returned panel are the cells that have a ratio to the baseline. A line is
    interrupted where its probe has no value.
    """
    names = varying_without(planned.cells, planned.x)
    rows = []
    places: dict[str, list[float]] = {}
    for cell in planned.cells:
        title = titled(planned.document, cell, names, metric=False)
        places.setdefault(title, []).append(planned.at(cell))
        if cell.ratio:
            rows.append(TableRow(cell, title))
    titles = list(places)
    rows.sort(key=lambda row: titles.index(row.title))
    return replace(planned, cells=cells_of(rows), rows=rows, places=places)


def _relative_panels(chosen: Panel) -> Drawing:
    """Draw a panel for each platform."""
    measured = {cell.platform for cell in chosen.cells}
    platforms = [name for name in chosen.document.names if name in measured]
    relatives = _Relatives(chosen)
    panels = [relatives.panel(platform) for platform in platforms]
    return Drawing(panels, platforms, _most_published(chosen, platforms))


class _Relatives:
    """A painter of the lines of a platform: each has a short name, and its own colour and mark."""

    def __init__(self, chosen: Panel) -> None:
        self.chosen = chosen
        self.along = SharedAxis(chosen)
        # Colours distinguish lines, so that published values of the platform have a neutral colour.
        self.along.looks = dict.fromkeys(self.along.looks, MarkLook("soft", "circle"))
        titles = list(chosen.groups)
        self.names = dict(zip(titles, distinct_parts(titles), strict=True))
        self.looks = line_looks(sorted(self.names.values()))

    def panel(self, platform: str) -> Chart:
        """Draw the lines of a platform; a line is interrupted where its probe has no value."""
        rows = [row for row in self.chosen.rows if row.platform == platform]
        lines: dict[str, list[Row]] = {}
        places: dict[str, Sequence[float]] = {}
        for title, line in grouped_by(rows, lambda row: row.title).items():
            name = self.names[title]
            lines[name] = cells_of(line)
            places[name] = self.chosen.places[title]
        head = f"{platform}, ratio to {self.chosen.baseline}"
        strip = self.along.lines_strip(head, lines, self.looks)
        return self.along.panel([strip], places)


def _most_published(chosen: Panel, platforms: Sequence[str]) -> int | None:
    """Return the index of the platform with most published ratios.

    None if there are so few platforms that all panels are drawn large.
    """
    if len(platforms) <= ALL_LARGE:
        return None
    counts = Counter(point.platform for point in chosen.published)
    most = max(platforms, key=lambda name: counts[name])
    return platforms.index(most)


def _relative_title(chosen: Panel) -> str:
    return f"{chosen.metric} relative to {chosen.baseline}"


def _relative_words(chosen: Panel) -> str:
    ratios = {}
    for title, rows in chosen.groups.items():
        places = grouped_by(cells_of(rows), chosen.at)
        last = places[max(places)]
        place = parameter_words(chosen, last[0])
        ratios[f"{title} at {place}"] = [f"{cell.platform} {compared_words(cell)}" for cell in last]
    lines = count(len(chosen.groups), "line")
    head = f"{_relative_title(chosen)} by {axis_name(chosen.x)}, {lines}."
    return f"{head} {summed_up(ratios, len(ratios))}"


def _relative_columns(chosen: Panel) -> Table:
    titles = list(chosen.groups)

    def order(row: TableRow) -> tuple[int, float, str]:
        return titles.index(row.title), chosen.at(row.cell), row.platform

    rows = sorted(chosen.rows, key=order)
    ordered = replace(chosen, rows=rows)
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
