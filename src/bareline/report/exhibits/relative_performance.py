"""Performance relative to the baseline at its fewest ranks, log-log, as Magellan draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bareline.analysis.amounts import with_interval
from bareline.analysis.cell import Cell, Estimate
from bareline.report.content.cells import position, varying_beside
from bareline.report.content.document import Document
from bareline.report.content.published import points_for
from bareline.report.content.wording import axis_name, summed_up
from bareline.report.exhibits.along import Along, placed
from bareline.report.exhibits.base import Exhibit, grouped_by, select, titled
from bareline.report.exhibits.columns import CellRows
from bareline.report.figures.figure import Chart, DataTable, Figure
from bareline.report.figures.marks import diamonds, spans
from bareline.report.figures.panels import Strip, dashes
from bareline.report.figures.scales import Ticks, log_ticks
from bareline.report.figures.theme import colour
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import parameter_value
from bareline.vocabulary.units import plain

HEIGHT_PX = 220


@dataclass(frozen=True, slots=True)
class Speed:
    """How many times as fast a cell is as the baseline at its fewest ranks."""

    cell: Cell
    ranks: float
    speed: Estimate


class RelativePerformance(Exhibit):
    """Speed as a multiple of the baseline's at its fewest ranks, with the ideal line."""

    kind = "relative-performance"
    summary = "speed against the baseline's at its fewest ranks, log-log, with the ideal line"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one panel per probe and case; only where the baseline has its fewest ranks."""
        x = spec.x or "ranks"
        cells = [cell for cell in placed(select(document, spec), x) if cell.metric.directed]
        names = varying_beside(cells, x)
        panels = grouped_by(cells, lambda cell: titled(document, cell, names))
        found = {title: speeds(document.baseline, own, x) for title, own in panels.items()}
        found = {title: own for title, own in found.items() if len({s.ranks for s in own}) > 1}
        if not found:
            return []
        every = [one for own in found.values() for one in own]
        drawn = [one.cell for one in every]
        points = points_for(document.published, spec, drawn, document.baseline)
        along = Along.around(document, x, drawn, published=points)
        printed = {title: _printed(along, own) for title, own in found.items()}
        ends = [row[key] for rows in printed.values() for row in rows for key in ("lo", "hi")]
        ticks = log_ticks([1.0, *ends, *(end for one in every for end in one.speed.known)])
        base = f"{document.baseline} at its fewest {axis_name(x)}"
        return [
            self.figure(
                spec,
                spec.probe or "",
                spec.metric or "",
                title=f"Performance relative to {base}",
                notes=[
                    f"Above is faster. Dashed: ideal scaling of {base}.",
                    "Diamonds: where the printed loss against the baseline of as many "
                    f"{axis_name(x)} would put a platform."
                    if ends
                    else "",
                ],
                cells=drawn,
                panels=[
                    _panel(along, ticks, title, panels[title], own, printed[title])
                    for title, own in found.items()
                ],
                summary=f"Performance relative to {document.baseline}. "
                + _summary(document, x, found),
                table=_table(x, found),
            )
        ]


def speeds(baseline: str, cells: Sequence[Cell], x: str) -> list[Speed]:
    """Divide speeds by the baseline's at its fewest ranks.

    Nothing where that is missing or zero. Simulated speeds are divided by simulated ones, measured
    ones by measured ones, so that neither passes for the other.
    """
    found = []
    for cell in cells:
        bases = [
            one
            for one in cells
            if one.platform == baseline and one.median and one.simulated == cell.simulated
        ]
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
            found.append(Speed(cell, position(cell, x), Estimate(own, *bounds)))
    return found


def _printed(along: Along, found: Sequence[Speed]) -> list[dict[str, Any]]:
    """Place published ratios under the baseline's speed at as many ranks."""
    baseline = along.document.baseline
    bases = {one.ranks: one.speed.value for one in found if one.cell.platform == baseline}
    rows = []
    for one in found:
        for point in along.published:
            told = any(low <= one.ranks <= high for low, high in point.places(along.x))
            if one.ranks in bases and told and point.about(one.cell):
                base = bases[one.ranks]
                ends = [base / (end or point.middle) for end in (point.high, point.low)]
                ink = along.looks[one.cell.platform].colour
                rows.append(
                    {"x": one.ranks, "y": base / point.middle, "lo": ends[0], "hi": ends[1],
                     "colour": ink, "tip": point.tip}
                )  # fmt: skip
    return rows


def _panel(
    along: Along,
    ticks: Ticks,
    title: str,
    cells: Sequence[Cell],
    found: Sequence[Speed],
    printed: Sequence[dict[str, Any]],
) -> Chart:
    rows = [
        along.mark(
            one.cell,
            one.speed,
            f"{with_interval(one.speed)} times the baseline's fewest, n = {one.cell.n}",
        )
        for one in found
    ]
    low, high = ticks.domain
    starts = [one.ranks for one in found if one.cell.platform == along.document.baseline]
    ideal: list[dict[str, Any]] = []
    if starts:
        start = min(starts)
        end = min(max(one.ranks for one in found), start * high)
        line = {"colour": colour("baseline"), "stretch": "ideal"}
        ideal = [{"x": start, "y": 1.0, **line}, {"x": end, "y": end / start, **line}]
    strip = Strip(
        title,
        rows,
        ticks,
        HEIGHT_PX,
        under=dashes([row for row in ideal if low <= row["y"] <= high]),
        over=lambda x, y: (spans(printed, x, y), diamonds(printed, x, y)) if printed else (),
        named=True,
    )
    return along.panel([strip], [position(cell, along.x) for cell in cells])


def _table(x: str, found: Mapping[str, Sequence[Speed]]) -> DataTable:
    rows = [(title, one) for title, own in found.items() for one in own]
    return (
        CellRows(rows, lambda row: row[1].cell)
        .text("benchmark", lambda row: row[0])
        .platforms()
        .parameter(x)
        .value("relative performance", lambda row: row[1].speed.value)
        .interval(lambda row: row[1].speed)
        .launches()
        .table()
    )


def _summary(document: Document, x: str, found: Mapping[str, Sequence[Speed]]) -> str:
    """Say where each platform's line ends."""
    told: dict[str, list[str]] = {}
    for title, own in found.items():
        for name in document.names:
            line = [one for one in own if one.cell.platform == name]
            if line:
                last = max(line, key=lambda one: one.ranks)
                at = parameter_value(x, last.ranks)
                told.setdefault(title, []).append(f"{name} {plain(last.speed.value)} at {at}")
    return summed_up(told, len(told))


EXHIBIT = RelativePerformance()
