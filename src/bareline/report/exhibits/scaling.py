"""A metric by ranks: a program's with its ideal line and parallel efficiency, and the ratio."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bareline.analysis.cell import Cell
from bareline.report.content.anchors import slug
from bareline.report.content.cells import is_number, tidy
from bareline.report.content.document import Document
from bareline.report.content.efficiency import Point
from bareline.report.content.published import beside
from bareline.report.content.wording import (
    axis_name,
    caveat_notes,
    count,
    metric_name,
    sentence_case,
)
from bareline.report.exhibits.base import Exhibit, by_metric, select
from bareline.report.exhibits.curve import DIAMONDS
from bareline.report.exhibits.scalingpanel import Curves, Panel
from bareline.report.exhibits.table import PUBLISHED_COLUMN, published_field, ratio_fields
from bareline.report.figures.figure import Column, DataTable, Field, Figure
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import parameter_value
from bareline.vocabulary.units import listing


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
            placed = [
                cell
                for cell in cells
                if cell.metric.better in ("lower", "higher")
                and is_number(cell.place.coordinates.get(x))
            ]
            known = {cell.place.coordinates[x] for cell in placed if cell.median}
            if len(known) > 1:
                drawn.append(_figure(document, spec, x, placed))
        return drawn


def _figure(document: Document, spec: ExhibitSpec, x: str, cells: Sequence[Cell]) -> Figure:
    curves = Curves.of(document, spec, x, cells)
    metric = metric_name(cells[0].place.metric)
    efficiency = ", and efficiency" if curves.program else ""
    return Figure(
        id=slug("scaling", cells[0].place.probe, cells[0].place.metric, spec.title),
        title=spec.title or f"{sentence_case(metric)} by {axis_name(x)}{efficiency}",
        caption=" ".join(filter(None, [spec.caption, *_notes(curves)])),
        probe=cells[0].place.probe,
        layer=cells[0].layer,
        panels=tuple(Panel(document, curves, title).chart() for title in curves.cells),
        wide=True,
        text_summary=_summary(curves),
        caveats=caveat_notes(cells),
        data_table=_table(curves, metric),
        data=tidy(cells),
    )


def _notes(curves: Curves) -> list[str]:
    """Say what the dashed line means, where efficiency begins, and what diamonds are."""
    notes = []
    if curves.program:
        ideal = "the same problem on more ranks"
        if curves.weak:
            ideal = "the problem grows with the ranks"
        fewest = f"each platform's own fewest {axis_name(curves.x)}"
        notes += [f"Dashed: ideal from {fewest} ({ideal}).", _starts(curves.x, curves.points)]
    if curves.published:
        notes.append(DIAMONDS)
    return notes


def _starts(x: str, points: Mapping[str, Mapping[str, Sequence[Point]]]) -> str:
    """Say where efficiency begins on each platform, where that is not the same everywhere."""
    starts = {
        (name, line[0].ranks) for own in points.values() for name, line in own.items() if line
    }
    if len({ranks for _, ranks in starts}) < 2:
        return ""
    told = [f"{name} {_whole(x, ranks)}" for name, ranks in sorted(starts)]
    return f"Efficiency is 100 % at different places: {listing(told)}."


def _table(curves: Curves, metric: str) -> DataTable:
    several = len(curves.points) > 1
    x, scale, published = curves.x, curves.axes.scale, curves.published
    rows = []
    for title, own in curves.points.items():
        for name, line in own.items():
            for point in line:
                cell = point.cell
                bounds = "" if point.low is None else f"{point.low:.0f}–{point.high:.0f}"
                share = "–" if point.efficiency is None else f"{point.efficiency:.0f}"
                efficiency = (Field(share, point.efficiency), Field(bounds, point.low))
                rows.append(
                    (
                        *([Field(title)] if several else []),
                        Field(name, platform=name),
                        Field(parameter_value(x, cell.place.coordinates[x]), point.ranks),
                        Field(scale.show(cell.median), cell.median, caveats=cell.caveats),
                        *(efficiency if curves.program else ()),
                        Field(str(cell.n), cell.n),
                        *ratio_fields(cell),
                        *([published_field(beside(published, cell))] if published else []),
                    )
                )
    columns = (
        *([Column("case", "text")] if several else []),
        Column("platform", "text"),
        Column(axis_name(x)),
        Column(scale.titled(f"median {metric}")),
        *((Column("efficiency (%)"), Column("95 %", "light")) if curves.program else ()),
        Column("n"),
        Column("ratio"),
        Column("95 %", "light"),
        Column("verdict", "text"),
        *((PUBLISHED_COLUMN,) if published else ()),
    )
    return DataTable(columns, tuple(rows))


def _summary(curves: Curves) -> str:
    """Say where each platform's line ends: its efficiency, or its value where it has none."""
    x, scale = curves.x, curves.axes.scale
    told = []
    for title, own in curves.points.items():
        ends = []
        for name, line in own.items():
            if len(line) < 2:
                continue
            last = line[-1]
            value = f"{scale.show(last.cell.median)} {scale.unit}"
            if curves.program and last.efficiency:
                value = f"{last.efficiency:.0f} %"
            ends.append(f"{name} {value} at {_whole(x, last.ranks)}")
        told.append(f"{title + ': ' if title else ''}{listing(ends) or 'one place only'}")
    cell = next(iter(curves.cells.values()))[0]
    what = (
        "Parallel efficiency" if curves.program else sentence_case(metric_name(cell.place.metric))
    )
    return f"{what} by {axis_name(x)}. {'; '.join(told)}."


def _whole(x: str, ranks: float) -> str:
    """Write a place of the axis, e.g. "8 ranks"."""
    return count(math.floor(ranks), axis_name(x).removesuffix("s"))


EXHIBIT = Scaling()
