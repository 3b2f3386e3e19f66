"""A cluster at a glance: a cell for every node, darker the worse it is; below, the deviations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from bareline.analysis.judgements.survey import NodeMap, Survey, survey
from bareline.analysis.numbers.fleet import fleets
from bareline.analysis.words.remarks import survey_gaps
from bareline.report.blocks import Figure, Rows
from bareline.report.content.document import Document
from bareline.report.content.fleet import (
    deviates,
    measure_words,
    method_words,
    node_rows,
    remedy,
    rows_of_nodes,
    survey_lines,
    unit_words,
)
from bareline.report.content.wording import sentence_case
from bareline.report.exhibits.base import Exhibit, figure_of
from bareline.report.figures.grammar import Chart, Style, both_widths, layer, plot, raw
from bareline.report.figures.marks import rows_axis
from bareline.report.figures.rows import written
from bareline.report.figures.theme import colour
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.units import count, plain

_PITCH_PX, _CELL_PX, _LABEL_PX, _NAME_PX = 17.0, 15.0, 230.0, 15.0


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    untitled = ExhibitSpec(kind=spec.kind, caption=spec.caption)
    for fleet in fleets(document.records):
        found = survey(fleet, document.margin)
        yield _list(found, untitled)
        for node_map in found.maps:
            yield _map(found, node_map, untitled)


def _list(found: Survey, spec: ExhibitSpec) -> Figure:
    head, *lines = survey_lines(found)
    notes = [*(f"{sentence_case(line)}." for line in survey_gaps(found)), f"{method_words(found)}."]
    return figure_of(
        spec,
        title=f"What deviates: {head}",
        what=(found.fleet.platform, "list"),
        notes=[*notes, f"{sentence_case(remedy(found))}." if remedy(found) else ""],
        layer="",
        summary=" ".join(f"{line}." for line in lines),
        table=Rows(found.deviating)
        .text("what", unit_words)
        .text("measured", lambda one: measure_words(one.measured))
        .number("times worse", lambda one: one.ratio.value, plain, tone=lambda _: "worse")
        .number("at least", lambda one: one.ratio.lo, plain, kind="light")
        .number("at most", lambda one: one.ratio.hi, plain, kind="light")
        .number("n", lambda one: one.n)
        .table(),
        data=node_rows(found),
    )


def _map(found: Survey, one: NodeMap, spec: ExhibitSpec) -> Figure:
    measured, what = one.measured, measure_words(one.measured)
    known = one.ratios[~np.isnan(one.ratios)]
    worst = float(known.max()) if len(known) else math.nan
    return figure_of(
        spec,
        title=f"{sentence_case(what)} of every node of {found.fleet.platform}",
        what=(found.fleet.platform, measured.probe, measured.metric, measured.params),
        notes=[
            ""
            if spec.caption
            else "A cell is a node, darker the worse it is than the median of the others; a frame "
            "says that it deviates certainly. Healthy nodes differ by up to "
            f"{plain(one.fence)} times."
        ],
        layer="",
        drawing=both_widths(_draw, found, one),
        summary=(
            f"{count(len(known), 'node')}; the worst is {plain(worst)} times worse than the "
            "median of the others."
        ),
        data=(),
    )


def _draw(found: Survey, one: NodeMap, *, narrow: bool) -> Chart:
    per_row = 16 if narrow else 32  # a row of the wide drawing fills the page
    cells: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    y = 0.0
    for title, nodes in rows_of_nodes(found.fleet, per_row):
        labels.append({"y": y + _NAME_PX / 2, "text": title})
        y += _NAME_PX if narrow else 0.0
        for column, node in enumerate(nodes):
            x, looks = column * _PITCH_PX, _cell(found, one, node)
            cells.append({"x": x, "y": y, "x2": x + _CELL_PX, "y2": y + _CELL_PX, **looks})
        y += _PITCH_PX
    width = per_row * _PITCH_PX
    across = {"field": "x", "type": "quantitative", "scale": {"domain": [0, width]}, "axis": None}
    dark = raw("opacity", "quantitative")
    box: Style = {"x": across, "x2": "x2", "y": rows_axis(y), "y2": "y2"}
    frame: Style = {"fillOpacity": 0, "stroke": colour("ink"), "strokeWidth": 1.6}
    left = 0.0 if narrow else -_LABEL_PX
    layers = (
        layer("rect", cells, **box, color=colour("line")),
        layer("rect", cells, "fill", **box, tips=True, opacity=dark),
        layer("rect", [cell for cell in cells if cell["bad"]], **box, **frame),
        written(labels, left, rows_axis(y), limit=width if narrow else _LABEL_PX - 12),
    )
    return plot(layers, width, y)


def _cell(found: Survey, one: NodeMap, node: int) -> dict[str, Any]:
    name, ratio = found.fleet.nodes[node], float(one.ratios[node])
    if math.isnan(ratio):
        tip = f"{name}: not enough launches"
        return {"colour": colour("paper"), "opacity": 1.0, "bad": False, "tip": tip}
    # As dark as it gets at twice as bad.
    share = min(1.0, abs(math.log(ratio)) / math.log(2))
    word = "worse" if ratio > 1 else "better"
    ends = f"[{plain(float(one.lo[node]))}, {plain(float(one.hi[node]))}]"
    return {
        "colour": colour(word),
        "opacity": round(share**0.7, 3),
        "bad": deviates(found, one, name),
        "tip": f"{name}: {plain(ratio)} times the others, above 1 is worse {ends}",
    }


EXHIBIT = Exhibit(
    "fleet",
    "every node of a cluster a cell, by switch: how much worse it is than the others",
    _shown,
)
