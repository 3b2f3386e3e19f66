"""The exhibit on a cluster: a map, on which worse nodes are darker, and a list of deviations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from bareline.analysis.judgements.survey import NodeMap, Survey, survey
from bareline.analysis.numbers.fleet import fleets
from bareline.analysis.words.remarks import survey_gaps
from bareline.report.blocks import Figure, Rows, Table
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
from bareline.report.figures.marks import rows_axis
from bareline.report.figures.rows import written
from bareline.report.figures.theme import colour
from bareline.report.figures.vega import Chart, Style, both_widths, layer, plot, raw
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.units import count, plain

_PITCH_PX = 17.0
_CELL_PX = 15.0
_LABEL_PX = 230.0
_NAME_PX = 15.0


def _figures(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    untitled = ExhibitSpec(kind=spec.kind, caption=spec.caption)
    for fleet in fleets(document.records):
        fleet_survey = survey(fleet, document.margin)
        yield _list(fleet_survey, untitled)
        for node_map in fleet_survey.maps:
            yield _map(fleet_survey, node_map, untitled)


def _list(fleet_survey: Survey, spec: ExhibitSpec) -> Figure:
    """Return the list of deviations, worst first, with the survey's method and missing nodes."""
    head, *lines = survey_lines(fleet_survey)
    notes = [f"{sentence_case(line)}." for line in survey_gaps(fleet_survey)]
    notes.append(f"{method_words(fleet_survey)}.")
    step = remedy(fleet_survey)
    if step:
        notes.append(f"{sentence_case(step)}.")
    return figure_of(
        spec,
        title=f"What deviates: {head}",
        what=(fleet_survey.fleet.platform, "list"),
        notes=notes,
        layer="",
        summary=" ".join(f"{line}." for line in lines),
        table=_table(fleet_survey),
        data=node_rows(fleet_survey),
    )


def _table(fleet_survey: Survey) -> Table:
    rows = Rows(fleet_survey.deviating).text("what", unit_words)
    rows.text("measured", lambda unit: measure_words(unit.measured))
    rows.number("times worse", lambda unit: unit.ratio.value, plain, tone=lambda _: "worse")
    rows.number("at least", lambda unit: unit.ratio.lo, plain, kind="light")
    rows.number("at most", lambda unit: unit.ratio.hi, plain, kind="light")
    rows.number("n", lambda unit: unit.n)
    return rows.table()


def _map(fleet_survey: Survey, node_map: NodeMap, spec: ExhibitSpec) -> Figure:
    """Return the map of how much worse each node is by one metric."""
    measured = node_map.measured
    platform = fleet_survey.fleet.platform
    ratios = node_map.ratios[~np.isnan(node_map.ratios)]
    worst = float(ratios.max()) if len(ratios) else math.nan
    note = ""
    if not spec.caption:
        note = (
            "A cell is a node, darker the worse it is than the median of the other nodes; a "
            "frame marks a certain deviation. Healthy nodes differ by up to "
            f"{plain(node_map.fence)} times."
        )
    return figure_of(
        spec,
        title=f"{sentence_case(measure_words(measured))} of every node of {platform}",
        what=(platform, measured.probe, measured.metric, measured.params),
        notes=[note],
        layer="",
        drawing=both_widths(_draw, fleet_survey, node_map),
        summary=(
            f"{count(len(ratios), 'node')}; the worst is {plain(worst)} times worse than the "
            "median of the other nodes."
        ),
        data=(),
    )


def _draw(fleet_survey: Survey, node_map: NodeMap, *, narrow: bool) -> Chart:
    """Draw the nodes in rows; if `narrow`, names are above the rows, else at their left."""
    per_row = 16 if narrow else 32  # a row of the wide drawing fills the page
    cells: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    y = 0.0
    for title, nodes in rows_of_nodes(fleet_survey.fleet, per_row):
        labels.append({"y": y + _NAME_PX / 2, "text": title})
        if narrow:
            y += _NAME_PX
        for column, node in enumerate(nodes):
            x = column * _PITCH_PX
            box = {"x": x, "y": y, "x2": x + _CELL_PX, "y2": y + _CELL_PX}
            cells.append({**box, **_cell(fleet_survey, node_map, node)})
        y += _PITCH_PX
    width = per_row * _PITCH_PX
    across = {"field": "x", "type": "quantitative", "scale": {"domain": [0, width]}, "axis": None}
    dark = raw("opacity", "quantitative")
    place: Style = {"x": across, "x2": "x2", "y": rows_axis(y), "y2": "y2"}
    frame: Style = {"fillOpacity": 0, "stroke": colour("ink"), "strokeWidth": 1.6}
    deviating = [cell for cell in cells if cell["bad"]]
    left = 0.0 if narrow else -_LABEL_PX
    limit = width if narrow else _LABEL_PX - 12
    layers = (
        layer("rect", cells, **place, color=colour("line")),
        layer("rect", cells, "fill", **place, tips=True, opacity=dark),
        layer("rect", deviating, **place, **frame),
        written(labels, left, rows_axis(y), limit=limit),
    )
    return plot(layers, width, y)


def _cell(fleet_survey: Survey, node_map: NodeMap, node: int) -> dict[str, Any]:
    """Return the look of a node; its colour is darker the more it differs from the other nodes."""
    name = fleet_survey.fleet.nodes[node]
    ratio = float(node_map.ratios[node])
    if math.isnan(ratio):
        tip = f"{name}: not enough launches"
        return {"colour": colour("paper"), "opacity": 1.0, "bad": False, "tip": tip}
    # A ratio of 2 has the darkest colour.
    share = min(1.0, abs(math.log(ratio)) / math.log(2))
    word = "worse" if ratio > 1 else "better"
    low = plain(float(node_map.lo[node]))
    high = plain(float(node_map.hi[node]))
    return {
        "colour": colour(word),
        "opacity": round(share**0.7, 3),
        "bad": deviates(fleet_survey, node_map, name),
        "tip": f"{name}: {plain(ratio)} times the other nodes, above 1 is worse [{low}, {high}]",
    }


EXHIBIT = Exhibit(
    "fleet",
    "every node of a cluster a cell, by switch: how much worse it is than the other nodes",
    _figures,
)
