"""How near programs come to what their platform's processors and memory allow.

A program that does some arithmetic and moves some bytes takes at least as long as the processors
need for the one and the memory for the other, whichever is longer (S. Williams, A. Waterman, D.
Patterson, "Roofline: An Insightful Visual Performance Model for Multicore Architectures", Comm. ACM
52(4), 2009). Both limits are measured on the same platform in the same run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bareline.analysis.numbers.cell import Cell, Estimate
from bareline.report.blocks import Field, Table
from bareline.report.content.document import Document
from bareline.report.content.dots import block_ratio
from bareline.report.content.wording import percent
from bareline.report.exhibits.base import Draft, ExhibitKind, grouped_by, meant, titled
from bareline.report.exhibits.columns import CellRows
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import parse_point
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import listing

#: What a program demands, by metric, and what then limits it.
DEMANDS = {"arithmetic": "arithmetic", "traffic": "memory bandwidth"}
NOT_MEASURED = "not measured"


#: What a platform gives at most: a cell's value so many times.
_Limit = tuple[Cell, float]


@dataclass(frozen=True, slots=True)
class _Share:
    """What a program demands as a share of a limit; none where the limit was not measured."""

    demand: Cell
    estimate: Estimate | None = None
    n: int | None = None
    caveats: tuple[Caveat, ...] = ()


@dataclass(frozen=True, slots=True)
class _Row:
    """A case on a platform, with the share of each of its demands."""

    shares: dict[str, _Share]

    @property
    def cell(self) -> Cell:
        return next(iter(self.shares.values())).demand

    @property
    def reached(self) -> _Share:
        """Give the share of what limits it; an empty one where a limit was not measured."""
        known = [(share.estimate, share) for share in self.shares.values()]
        measured = [(found.value, share) for found, share in known if found]
        if len(measured) < len(known):
            return _Share(self.cell)
        return max(measured, key=lambda one: one[0])[1]


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Draft]:
    """Give one table of all programs that say what they demand."""
    demands = [
        cell
        for cell in document.cells
        if cell.place.metric in DEMANDS
        and cell.value is not None
        and meant(spec, cell.platform, cell.place)
    ]
    groups = grouped_by(demands, lambda cell: (cell.place.case, cell.platform))
    found = [
        _Row({cell.place.metric: _share(document, cell) for cell in cells})
        for cells in groups.values()
    ]
    if not found:
        return
    names = varying(row.cell.place for row in found)
    shares = [
        f"{titled(document, row.cell, names, metric=False)} on {row.cell.platform} "
        f"{_part(row.reached).text}"
        for row in found
    ]
    yield Draft(
        title="Share of the machine's limit",
        notes=[
            "The time that peak arithmetic or triad bandwidth would need for what the program "
            "does, whichever is longer, over the time measured; paired by block. Above 100 % "
            "the caches held its data."
        ],
        layer=found[0].cell.layer,
        summary=f"Share of the limit: {listing(shares)}.",
        table=_table(document, found, names),
    )


def _table(document: Document, found: Sequence[_Row], names: Sequence[str]) -> Table:
    rows = CellRows(found, lambda row: row.cell)
    rows.text("program", lambda row: titled(document, row.cell, (), metric=False))
    for name in names:
        rows.parameter(name)
    rows.platforms().column("share of the limit", lambda row: _part(row.reached))
    rows.interval(lambda row: row.reached.estimate, percent).number("n", lambda row: row.reached.n)
    rows.text("limited by", _limited_by)
    rows.column("of peak", lambda row: _part(row.shares.get("arithmetic")))
    rows.column("of triad", lambda row: _part(row.shares.get("traffic")))
    return rows.table()


def _share(document: Document, demand: Cell) -> _Share:
    """Divide what a program demands by what the platform gives."""
    limits = [cell for cell in document.cells if cell.platform == demand.platform]
    limit = _peak(demand, limits) if demand.place.metric == "arithmetic" else _triad(demand, limits)
    if limit is None:
        return _Share(demand)
    cell, times = limit
    paired = block_ratio(document, demand, cell)
    share = paired.ratio.times(1 / times) if paired.ratio else None
    caveats = tuple(dict.fromkeys([*demand.caveats, *cell.caveats]))
    return _Share(demand, share, paired.n if share else None, caveats)


def _peak(demand: Cell, cells: list[Cell]) -> _Limit | None:
    """Give the peak of as many cores as it has ranks; a rank without a core adds nothing."""
    mode = "single" if demand.place.ranks == 1 else "star"
    peak = _best(cells, "compute.peak", "rate", mode)
    cores = _best(cells, "compute.peak", "cores", mode)
    if peak is None or cores is None or not cores.median:
        return None
    if mode == "single":
        return peak, 1.0
    return peak, min(float(demand.place.ranks), cores.median * _nodes(demand))


def _triad(demand: Cell, cells: list[Cell]) -> _Limit | None:
    """Give the bandwidth of as many cores as it has ranks, at most that of all its nodes' cores."""
    one = _best(cells, "memory.stream", "bandwidth", "single", kernel="triad")
    if demand.place.ranks == 1:
        return (one, 1.0) if one else None
    every = _best(cells, "memory.stream", "bandwidth", "all", kernel="triad")
    if one is None or every is None:
        return None
    own = ((one, float(demand.place.ranks)), (every, float(_nodes(demand))))
    return min(own, key=lambda limit: limit[1] * (limit[0].median or 0.0))


def _nodes(demand: Cell) -> int:
    return demand.place.ran_on or 1


def _best(cells: list[Cell], probe: str, metric: str, mode: str, **point: str) -> Cell | None:
    """Give what was measured so, the most where it was measured several ways."""
    found = [
        cell
        for cell in cells
        if (cell.place.probe, cell.place.metric) == (probe, metric)
        and parse_point(cell.place.params).get("mode", "single") == mode
        and parse_point(cell.place.point) == point
        and cell.median is not None
    ]
    return max(found, key=lambda cell: cell.median or 0.0, default=None)


def _part(share: _Share | None) -> Field:
    """Write a share, with the caveats of what it is a share of."""
    if share is None:
        return Field("–")
    if share.estimate is None:
        return Field(NOT_MEASURED, tone="muted")
    return Field(percent(share.estimate.value), share.estimate.value, caveats=share.caveats)


def _limited_by(row: _Row) -> str:
    share = row.reached
    if share.estimate is None:
        return ""
    metric, beyond = share.demand.place.metric, (share.estimate.lo or 0.0) > 1.0
    return "caches held its data" if metric == "traffic" and beyond else DEMANDS[metric]


EXHIBIT = ExhibitKind(
    "limit",
    "share of the limit of the platform's processors and memory, by program and layout",
    _shown,
)
