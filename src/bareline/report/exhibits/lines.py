"""Kinds of lines along a parameter: values with their ratios, ratios of many probes, speeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bareline.analysis.numbers.row import Estimate, Row, with_interval
from bareline.report.blocks import Table
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
from bareline.report.exhibits.along import (
    ALL_LARGE,
    Along,
    diamonds_note,
    is_within,
    largest,
    placed,
)
from bareline.report.exhibits.base import (
    Chosen,
    Declared,
    TableRow,
    by_metric,
    grouped_by,
    select,
    titled,
)
from bareline.report.exhibits.columns import cells_table, columns
from bareline.report.figures.grammar import Chart, Drawing
from bareline.report.figures.marks import AxesStrip, dashes, diamonds, dots, spans
from bareline.report.figures.scales import Ticks, log_ticks
from bareline.report.figures.theme import MarkLook, colour, line_looks, looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import parameter_value
from bareline.vocabulary.units import count, listing, plain


def _at(chosen: Chosen, cell: Row) -> str:
    return parameter_value(chosen.x, cell.place.coordinates[chosen.x])


def _curves(document: Document, spec: ExhibitSpec) -> Iterator[Chosen]:
    for what, cells in by_metric(select(document, spec)):
        x = spec.x or numeric_axis(cells)
        there = placed(cells, x) if x else []
        if x and any(cell.value is not None for cell in there):
            names = varying_without(there, x)
            rows = [TableRow(cell, cell.place.words_of(names)) for cell in there]
            yield Chosen(document, spec, there, rows, x, what, what[0])


def _trials(chosen: Chosen, rows: Sequence[TableRow]) -> Dots:
    document = chosen.document
    measured = [row.cell for row in rows if row.cell.value is not None]
    most = min(document.dots_per_panel, len(measured) * document.dots_per_value)
    return trial_dots(document, measured, most)


def _curve_panels(chosen: Chosen) -> Drawing:
    trials = {title: _trials(chosen, rows) for title, rows in chosen.groups.items()}
    every = [dot.value for found in trials.values() for dot in found.dots]
    along, scale = Along(chosen, others=every), chosen.unit
    words = partial(value_words, scale=scale)

    def spot(dot: Dot) -> dict[str, Any]:
        place = {"x": along.at(position(dot.cell, chosen.x)), "y": dot.value * scale.factor}
        tip = f"{along.where(dot.cell)}, trial {dot.trial}: {scale.show(dot.value)} {scale.unit}"
        return {**place, "colour": along.looks[dot.cell.platform].colour, "tip": tip}

    def panel(title: str, rows: Sequence[TableRow]) -> Chart:
        cells = [row.cell for row in rows]
        spots = [spot(dot) for dot in trials[title].dots if dot.value > 0]
        strips = [along.value_strip(cells, title, lambda x, y: [dots(spots, x, y)], words)]
        if any(cell.ratio is not None for cell in cells):
            strips.append(along.ratio_strip(cells))
        return along.panel(strips, [position(cell, chosen.x) for cell in cells])

    return panels_of(chosen, [panel(*group) for group in chosen.groups.items()])


def panels_of(chosen: Chosen, panels: Sequence[Chart]) -> Drawing:
    """Return the panels of a figure's groups, of which a reader may choose the large one."""
    large = largest(chosen.groups, chosen.published)
    return Drawing(panels, chosen.groups, large, wide=len(chosen.groups) > 1)


def _curve_notes(chosen: Chosen) -> Iterable[str]:
    notes = (_trials(chosen, rows).note for rows in chosen.groups.values())
    return next(filter(None, notes), ""), diamonds_note(chosen)


def _curve_words(chosen: Chosen) -> str:
    document = chosen.document

    def in_order(rows: Iterable[TableRow]) -> list[Row]:
        return sorted((row.cell for row in rows), key=lambda cell: position(cell, chosen.x))

    ends = {}
    for title, rows in chosen.groups.items():
        for name in document.names[1:]:
            own = [cell for cell in in_order(rows) if cell.platform == name and cell.ratio]
            ends[f"{name} ({title})" if title else name] = [
                f"{compared_words(one)} at {_at(chosen, one)}"
                for one in (own if len(own) < 2 else (own[0], own[-1]))
            ] or ["nothing to compare"]
    at = [_at(chosen, cell) for cell in in_order(chosen.rows)]
    head = (
        f"{chosen.metric} of {chosen.probe} by {axis_name(chosen.x)} from {at[0]} to {at[-1]}, "
        f"{count(len(chosen.groups), 'panel')}, on {listing(document.names)}."
    )
    return f"{head} {summed_up(ends, 4 * len(document.names))}" if ends else head


def _relative(document: Document, spec: ExhibitSpec) -> Iterator[Chosen]:
    """Choose a figure per layer and metric in which a probe is compared at two places."""
    x = spec.x or "ranks"
    cells = placed(select(document, spec), x)
    for what, own in grouped_by(cells, lambda cell: (cell.layer, cell.place.metric)).items():
        if len({position(cell, x) for cell in own if cell.ratio is not None}) < 2:
            continue
        names = varying_without(own, x)
        titles = [TableRow(cell, titled(document, cell, names, metric=False)) for cell in own]
        every = grouped_by(titles, lambda row: row.title)
        rows = [row for line in every.values() for row in line if row.cell.ratio]
        places = {title: [position(row.cell, x) for row in line] for title, line in every.items()}
        yield Chosen(document, spec, [r.cell for r in rows], rows, x, what, places=places)


def _relative_panels(chosen: Chosen) -> Drawing:
    """Draw a panel for each platform; no line crosses a place where its probe has no value."""
    along, there = Along(chosen), {cell.platform for cell in chosen.cells}
    platforms = [name for name in chosen.document.names if name in there]
    shorts = dict(zip(chosen.groups, distinct_parts(list(chosen.groups)), strict=True))
    styles = line_looks(sorted(shorts.values()))
    # Colours are the lines': what is published of the platform has none of them.
    along.looks = dict.fromkeys(along.looks, MarkLook("soft", "circle"))

    def panel(platform: str) -> Chart:
        own = grouped_by(
            [row for row in chosen.rows if row.cell.platform == platform], lambda row: row.title
        )
        lines = {shorts[title]: [row.cell for row in rows] for title, rows in own.items()}
        title = f"{platform}, ratio to {chosen.document.baseline}"
        strip = along.lines_strip(title, lines, styles)
        return along.panel([strip], {shorts[title]: chosen.places[title] for title in own})

    counts = [sum(point.platform == name for point in chosen.published) for name in platforms]
    # The platform that most is published of.
    large = counts.index(max(counts)) if len(platforms) > ALL_LARGE else None
    return Drawing([*map(panel, platforms)], platforms, large)


def _relative_title(chosen: Chosen) -> str:
    return f"{chosen.metric} relative to {chosen.document.baseline}"


def _relative_words(chosen: Chosen) -> str:
    ratios = {}
    for title, rows in chosen.groups.items():
        places = grouped_by((row.cell for row in rows), lambda cell: position(cell, chosen.x))
        last = places[max(places)]
        words = [f"{cell.platform} {compared_words(cell)}" for cell in last]
        ratios[f"{title} at {_at(chosen, last[0])}"] = words
    what, lines = _relative_title(chosen), count(len(chosen.groups), "line")
    return f"{what} by {axis_name(chosen.x)}, {lines}. {summed_up(ratios, len(ratios))}"


def _relative_columns(chosen: Chosen) -> Table:
    titles = [*chosen.groups]

    def order(row: TableRow) -> tuple[int, float, str]:
        return titles.index(row.title), position(row.cell, chosen.x), row.cell.platform

    chosen = replace(chosen, rows=sorted(chosen.rows, key=order))
    return columns(chosen, "benchmark x platforms ratio printed n", lambda row: row.title)


def _speeds(document: Document, spec: ExhibitSpec) -> Iterator[Chosen]:
    """Choose one figure of all probes; only where the baseline has its fewest ranks."""
    x = spec.x or "ranks"
    cells = [cell for cell in placed(select(document, spec), x) if cell.metric.directed]
    names = varying_without(cells, x)
    panels = grouped_by(cells, lambda cell: titled(document, cell, names))
    rows: list[TableRow] = []
    for title, own in panels.items():
        found = speeds(document.baseline, own, x)
        if len({position(cell, x) for cell, _ in found}) > 1:
            rows += (TableRow(cell, title, speed) for cell, speed in found)
    if rows:
        what = (spec.probe or "", spec.metric or "")
        places = {title: [position(cell, x) for cell in own] for title, own in panels.items()}
        yield Chosen(document, spec, [r.cell for r in rows], rows, x, what, places=places)


def speeds(baseline: str, cells: Sequence[Row], x: str) -> list[tuple[Row, Estimate]]:
    """Divide speeds by the baseline's at its fewest ranks; nothing where that is missing or zero.

    Simulated speeds are divided by simulated ones alone, so that neither passes for the other.
    """
    found = []
    own_cells = [one for one in cells if one.platform == baseline and one.median]
    for cell in cells:
        bases = [one for one in own_cells if one.simulated == cell.simulated]
        base = min(bases, key=lambda one: position(one, x), default=None)
        if base is None or cell.value is None:
            continue
        own, *ends = (
            cell.metric.worse(base.median, end)
            for end in (cell.value.value, cell.value.lo, cell.value.hi)
        )
        if own:
            low, high = ends if cell.rate else reversed(ends)
            bounds = (low, high) if low and high else (None, None)
            found.append((cell, Estimate(own, *bounds)))
    return found


def _printed_speeds(chosen: Chosen, rows: Sequence[TableRow]) -> Iterator[dict[str, Any]]:
    baseline, styles = chosen.document.baseline, looks(chosen.document.names)
    known = [(row, position(row.cell, chosen.x), row.shown.value) for row in rows if row.shown]
    bases = {ranks: speed for row, ranks, speed in known if row.cell.platform == baseline}
    for row, ranks, _ in known:
        for point in chosen.published:
            here = ranks in bases and is_within(ranks, point.places(chosen.x))
            if here and point.about(row.cell):
                lo, hi = (bases[ranks] / (end or point.middle) for end in (point.high, point.low))
                place = {"x": ranks, "y": bases[ranks] / point.middle, "lo": lo, "hi": hi}
                yield {**place, "colour": styles[row.cell.platform].colour, "tip": point.tip}


def _speed_panels(chosen: Chosen) -> Drawing:
    along = Along(chosen)
    printed = {title: [*_printed_speeds(chosen, rows)] for title, rows in chosen.groups.items()}
    ends = [row[end] for rows in printed.values() for row in rows for end in ("lo", "hi")]
    ends += [end for row in chosen.rows if row.shown for end in row.shown.known]
    ticks = log_ticks([1.0, *ends])

    def panel(title: str, rows: Sequence[TableRow]) -> Chart:
        words, there = "times the baseline's fewest, n =", printed[title]
        marks = [
            along.mark(row.cell, row.shown, f"{with_interval(row.shown)} {words} {row.cell.n}")
            for row in rows
            if row.shown
        ]
        strip = AxesStrip(
            title,
            marks,
            ticks,
            220,
            under=dashes([*_ideal(chosen, rows, ticks)]),
            over=lambda x, y: (spans(there, x, y), diamonds(there, x, y)) if there else (),
            named=True,
        )
        return along.panel([strip], chosen.places[title])

    return Drawing([panel(*group) for group in chosen.groups.items()])


def _ideal(chosen: Chosen, rows: Sequence[TableRow], ticks: Ticks) -> Iterator[dict[str, Any]]:
    (low, high), baseline = ticks.domain, chosen.document.baseline
    starts = [position(r.cell, chosen.x) for r in rows if r.cell.platform == baseline]
    start, most = min(starts, default=0.0), max(position(row.cell, chosen.x) for row in rows)
    ink = {"colour": colour("baseline"), "stretch": "ideal"}
    for x in (start, min(most, start * high)) if starts else ():
        if low <= x / start <= high:
            yield {"x": x, "y": x / start, **ink}


def _fewest(chosen: Chosen) -> str:
    return f"{chosen.document.baseline} at its fewest {axis_name(chosen.x)}"


def _speed_notes(chosen: Chosen) -> Iterable[str]:
    yield f"Above is faster. Dashed: ideal scaling of {_fewest(chosen)}."
    if any([*_printed_speeds(chosen, rows)] for rows in chosen.groups.values()):
        where = f"the printed loss against the baseline of as many {axis_name(chosen.x)}"
        yield f"Diamonds: where {where} would put a platform."


def _speed_words(chosen: Chosen) -> str:
    ends: dict[str, list[str]] = {}
    for title, rows in chosen.groups.items():
        lines = grouped_by(rows, lambda row: row.cell.platform)
        for name in (name for name in chosen.document.names if name in lines):
            last = max(lines[name], key=lambda row: position(row.cell, chosen.x))
            speed = plain(last.shown.value) if last.shown else ""
            ends.setdefault(title, []).append(f"{name} {speed} at {_at(chosen, last.cell)}")
    head = f"Performance relative to {chosen.document.baseline}."
    return f"{head} {summed_up(ends, len(ends))}"


EXHIBITS = (
    Declared(
        kind="curve",
        summary="a metric along message size or ranks, and its ratio to the baseline underneath",
        query=_curves,
        columns=cells_table,
        title=lambda chosen: f"{sentence_case(chosen.metric)} by {axis_name(chosen.x)}",
        mark=_curve_panels,
        notes=_curve_notes,
        words=_curve_words,
    ),
    Declared(
        kind="relative",
        summary="a metric relative to the baseline by ranks, one line per probe",
        query=_relative,
        columns=_relative_columns,
        title=lambda c: f"{sentence_case(_relative_title(c))}, by {axis_name(c.x)}",
        mark=_relative_panels,
        notes=lambda chosen: (
            "Above 1 is worse; bands are 95 % intervals.",
            diamonds_note(chosen),
        ),
        words=_relative_words,
    ),
    Declared(
        kind="relative-performance",
        summary="speed against the baseline's at its fewest ranks, log-log, with the ideal line",
        query=_speeds,
        columns=lambda chosen: columns(chosen, "benchmark platforms x speed printed n"),
        title=lambda chosen: f"Performance relative to {_fewest(chosen)}",
        mark=_speed_panels,
        notes=_speed_notes,
        words=_speed_words,
    ),
)
