"""The exhibit that compares programs with the limits of the platform's processors and memory.

A program that does arithmetic and moves bytes takes at least as long as the processors need for the
arithmetic and the memory needs for the bytes, whichever is longer (S. Williams, A. Waterman, D.
Patterson, "Roofline: An Insightful Visual Performance Model for Multicore Architectures", Comm. ACM
52(4), 2009). Both limits are measured on the same platform in the same run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.blocks import Field, Figure, Table
from bareline.report.content.document import Document
from bareline.report.content.dots import block_ratio
from bareline.report.exhibits.base import Exhibit, figure_of, meant, titled
from bareline.report.exhibits.columns import CellRows
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import parse_point
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import listing, percent_tenths

#: The demands of a program, by metric, and the resource that then limits it.
DEMANDS = {"arithmetic": "arithmetic", "traffic": "memory bandwidth"}
#: The most that a platform gives: a cell, and the factor by which its value is multiplied.
_Limit = tuple[Row, float]


@dataclass(frozen=True, slots=True)
class _Share:
    """A program's rate of arithmetic, or its memory bandwidth, divided by the platform's limit.

    - `demand`: the cell with the program's rate or bandwidth.
    - `estimate`: the share; None if the limit was not measured.
    """

    demand: Row
    estimate: Estimate | None = None
    n: int | None = None
    caveats: tuple[Caveat, ...] = ()


#: The shares of each of the demands of a case on a platform, by metric.
_Row = Mapping[str, _Share]


def _reached(row: _Row) -> _Share:
    """Return the largest of a program's shares; it belongs to the limit that is nearest.

    If a limit was not measured, the returned share has no estimate.
    """
    values = {metric: share.estimate.value for metric, share in row.items() if share.estimate}
    if len(values) < len(row):
        return _Share(_cell(row))
    return row[max(values, key=values.__getitem__)]


def _cell(row: _Row) -> Row:
    return next(iter(row.values())).demand


def _figures(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    rows = _rows(document, spec)
    if not rows:
        return
    names = varying(_cell(row).place for row in rows)
    yield figure_of(
        spec,
        title="Share of the machine's limit",
        notes=[
            "The time that peak arithmetic or triad bandwidth would need for the program's work, "
            "whichever is longer, over the time measured; paired by block. Above 100 % "
            "its data were in the caches."
        ],
        layer=_cell(rows[0]).layer,
        summary=f"Share of the limit: {listing(_summaries(document, rows, names))}.",
        table=_table(document, rows, names),
    )


def _rows(document: Document, spec: ExhibitSpec) -> list[_Row]:
    """Return for each case and platform a program's shares of the limits, by metric."""
    demands = []
    for cell in document.cells:
        if cell.value is None or cell.place.metric not in DEMANDS:
            continue
        if meant(spec, cell.platform, cell.place):
            demands.append(cell)
    rows: list[_Row] = []
    for cells in grouped_by(demands, lambda cell: (cell.place.case, cell.platform)).values():
        rows.append({cell.place.metric: _share(document, cell) for cell in cells})
    return rows


def _table(document: Document, rows: Sequence[_Row], names: Sequence[str]) -> Table:
    table = CellRows(rows, _cell)
    table.text("program", lambda row: titled(document, _cell(row), (), metric=False))
    for name in names:
        table.parameter(name)
    table.platforms()
    table.column("share of the limit", lambda row: _part(_reached(row)))
    table.interval(lambda row: _reached(row).estimate, percent_tenths)
    table.number("n", lambda row: _reached(row).n)
    table.text("limited by", _limited_by)
    table.column("of peak", lambda row: _part(row.get("arithmetic")))
    table.column("of triad", lambda row: _part(row.get("traffic")))
    return table.table()


def _summaries(document: Document, rows: Sequence[_Row], names: Sequence[str]) -> list[str]:
    summaries = []
    for row in rows:
        cell = _cell(row)
        title = titled(document, cell, names, metric=False)
        summaries.append(f"{title} on {cell.platform} {_part(_reached(row)).text}")
    return summaries


def _share(document: Document, demand: Row) -> _Share:
    limits = [cell for cell in document.cells if cell.platform == demand.platform]
    if demand.place.metric == "arithmetic":
        limit = _peak(demand, limits)
    else:
        limit = _triad(demand, limits)
    if limit is None:
        return _Share(demand)
    cell, times = limit
    paired = block_ratio(document, demand, cell)
    both = [*demand.caveats, *cell.caveats]
    caveats = tuple(dict.fromkeys(both))
    if paired.ratio is None:
        return _Share(demand, caveats=caveats)
    share = paired.ratio.times(1 / times)
    return _Share(demand, share, paired.n, caveats)


def _peak(demand: Row, cells: list[Row]) -> _Limit | None:
    """Return the measured peak rate of a core, and the number of cores by which it is multiplied.

    The program can use one core per rank, but at most all cores of its nodes.
    """
    mode = "single" if demand.place.ranks == 1 else "star"
    peak = _best(cells, "compute.peak", "rate", mode)
    cores = _best(cells, "compute.peak", "cores", mode)
    if peak is None or cores is None or not cores.median:
        return None
    if mode == "single":
        return peak, 1.0
    whole = cores.median * (demand.place.ran_on or 1)
    return peak, min(float(demand.place.ranks), whole)


def _triad(demand: Row, cells: list[Row]) -> _Limit | None:
    """Return the measured bandwidth of a core or of a node, and the factor of this bandwidth.

    The limit is the smaller one of two products: the bandwidth of a core times the number of ranks,
    and the bandwidth of a node times the number of nodes.
    """
    of_core = _best(cells, "memory.stream", "bandwidth", "single", kernel="triad")
    if of_core is None:
        return None
    if demand.place.ranks == 1:
        return of_core, 1.0
    of_node = _best(cells, "memory.stream", "bandwidth", "all", kernel="triad")
    if of_node is None:
        return None
    cores = (of_core, float(demand.place.ranks))
    nodes = (of_node, float(demand.place.ran_on or 1))
    return min(cores, nodes, key=_bandwidth)


def _bandwidth(limit: _Limit) -> float:
    cell, times = limit
    return times * (cell.median or 0.0)


def _best(cells: list[Row], probe: str, metric: str, mode: str, **point: str) -> Row | None:
    """Return the cell with the largest value of a probe's metric; None if there is no such cell.

    - `mode`, `point`: the parameters that the cell must have.
    """
    best: Row | None = None
    best_value = 0.0
    for cell in cells:
        place = cell.place
        if place.probe != probe or place.metric != metric or cell.median is None:
            continue
        cell_mode = parse_point(place.params).get("mode", "single")
        if cell_mode != mode or parse_point(place.point) != point:
            continue
        if best is None or cell.median > best_value:
            best = cell
            best_value = cell.median
    return best


def _part(share: _Share | None) -> Field:
    if share is None:
        return Field("–")
    if share.estimate is None:
        return Field("not measured", tone="muted")
    value = share.estimate.value
    return Field(percent_tenths(value), value, caveats=share.caveats)


def _limited_by(row: _Row) -> str:
    share = _reached(row)
    if share.estimate is None:
        return ""
    metric = share.demand.place.metric
    least = share.estimate.lo or 0.0
    if metric == "traffic" and least > 1.0:
        return "caches held its data"
    return DEMANDS[metric]


EXHIBIT = Exhibit(
    "limit",
    "share of the limit of the platform's processors and memory, by program and layout",
    _figures,
)
