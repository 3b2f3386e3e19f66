"""Users' own OSU and IMB programs beside bareline's benchmarks, and what corresponds to what.

See ``docs/method/mpi.md``: OSU's latency and IMB's point-to-point benchmarks are
means over a plain loop, the collectives of both means over calls that are timed one by one.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bareline.analysis.cell import Cell
from bareline.report.content.anchors import slug
from bareline.report.content.document import Document
from bareline.report.content.pairing import block_ratio, finite
from bareline.report.content.wording import ratio_interval
from bareline.report.exhibits.base import Exhibit, select
from bareline.report.figures.figure import Column, DataTable, Field, Figure
from bareline.stats.ratio import Ratio
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import parse_point
from bareline.vocabulary.units import format_size, listing, significant

_LOOP, _CALLS = "latency_loop_mean", "latency_rank_mean"
_COLLECTIVES = (
    *("allreduce", "bcast", "reduce", "reduce_scatter"),
    *("scatter", "gather", "allgather", "alltoall"),
)
_LOOPS = ("sendrecv", "exchange", "barrier")
#: Probe of theirs, its program and metric: probe and metric of ours.
_COUNTERPARTS: Mapping[tuple[str, str, str], tuple[str, str]] = {
    ("osu", "latency", "latency"): ("mpi.pingpong", _LOOP),
    ("osu", "barrier", "latency"): ("mpi.barrier", _CALLS),
    **{("osu", name, "latency"): (f"mpi.{name}", _CALLS) for name in _COLLECTIVES},
    ("osu.rate", "bw", "bandwidth"): ("mpi.bandwidth", "bandwidth_loop_mean"),
    ("osu.rate", "bibw", "bandwidth"): ("mpi.bibandwidth", "bandwidth_loop_mean"),
    ("osu.rate", "mbw_mr", "bandwidth"): ("mpi.multi_pair", "bandwidth_loop_mean"),
    ("osu.rate", "mbw_mr", "message_rate"): ("mpi.multi_pair", "message_rate_loop_mean"),
    ("imb", "pingpong", "latency"): ("mpi.pingpong", _LOOP),
    **{("imb", name, "latency"): (f"mpi.{name}", _LOOP) for name in _LOOPS},
    **{("imb", name, "latency"): (f"mpi.{name}", _CALLS) for name in _COLLECTIVES},
}
#: Parameters that say which program it is.
_PROGRAM = ("program", "benchmark")


@dataclass(frozen=True, slots=True)
class _Row:
    """One program on one platform: the ratio of ours to theirs at each size."""

    theirs: str
    ours: str
    platform: str
    ratios: Mapping[int, Ratio]
    caveats: tuple[Caveat, ...]

    @property
    def deviations(self) -> dict[int, float]:
        """How far each ratio is from 1."""
        return {size: abs(float(ratio.ratio) - 1) for size, ratio in self.ratios.items()}

    @property
    def median(self) -> float:
        """The median of the deviations."""
        return statistics.median(self.deviations.values())

    @property
    def worst(self) -> int:
        """The size at which the deviation is greatest."""
        return max(self.deviations, key=lambda size: self.deviations[size])

    @property
    def n(self) -> int:
        """Fewest pairs of launches at any size."""
        return min(int(ratio.n) for ratio in self.ratios.values())


class Agreement(Exhibit):
    """Median deviation over the sizes, and the size where it is greatest."""

    kind = "agreement"
    summary = "users' own OSU and IMB programs beside bareline's benchmarks, by program"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Give one table of all programs of which both sides were measured."""
        rows = list(_rows(document, select(document, spec)))
        return [_figure(rows, spec)] if rows else []


def _rows(document: Document, cells: Sequence[Cell]) -> Iterator[_Row]:
    groups: dict[tuple[str, ...], list[tuple[Cell, Cell]]] = {}
    ours = {
        (_case(cell), cell.place.point): cell for cell in document.cells if cell.value is not None
    }
    for cell in cells:
        program = _program(cell)
        counterpart = _COUNTERPARTS.get((cell.place.probe, program.lower(), cell.place.metric))
        if counterpart is None or cell.value is None:
            continue
        point = _our_point(cell, program)
        found = ours.get(((*counterpart, *_case(cell)[2:]), point))
        if found is not None:
            name = f"{cell.place.probe.partition('.')[0]} {program}"
            key = (
                f"{name}, {cell.place.metric.replace('_', ' ')}",
                " ".join(counterpart),
                cell.platform,
            )
            groups.setdefault(key, []).append((found, cell))
    for (theirs, our_name, platform), pairs in groups.items():
        ratios = {
            int(cell.place.coordinates.get("size_bytes", 0)): block_ratio(document, our, cell)
            for our, cell in pairs
        }
        kept = {size: ratio for size, ratio in sorted(ratios.items()) if ratio.n}
        if kept:
            codes = dict.fromkeys(code for pair in pairs for cell in pair for code in cell.caveats)
            yield _Row(theirs, our_name, platform, kept, tuple(codes))


def _program(cell: Cell) -> str:
    known = parse_point(cell.place.params)
    usual = {"osu": "latency", "osu.rate": "bw", "imb": "PingPong"}.get(cell.place.probe, "")
    return str(next((known[name] for name in _PROGRAM if name in known), usual))


def _case(cell: Cell) -> tuple[str, str, str, int, int, int]:
    return (
        cell.place.probe,
        cell.place.metric,
        cell.platform,
        cell.place.ranks,
        cell.place.threads,
        cell.place.nodes,
    )


def _our_point(cell: Cell, program: str) -> str:
    """Give the point at which ours measures the same: IMB's Reduce_scatter counts a block."""
    size = cell.place.coordinates.get("size_bytes")
    if cell.place.probe == "imb" and program == "Reduce_scatter" and isinstance(size, int):
        return f"size_bytes={size * cell.place.ranks}"
    return cell.place.point


def _figure(rows: Sequence[_Row], spec: ExhibitSpec) -> Figure:
    columns = (
        Column("theirs", "text"),
        Column("bareline", "text"),
        Column("platform", "text"),
        Column("sizes"),
        Column("median deviation (%)"),
        Column("greatest at", "text"),
        Column("ours over theirs"),
        Column("95 %", "light"),
        Column("n"),
    )
    told = [f"{row.theirs} on {row.platform} {_percent(row.median)} %" for row in rows]
    caption = (
        "Of each program: how far the ratio of bareline's figure to the program's is from 1, as "
        "the median over the sizes, and the size where it is greatest. Paired by block."
    )
    return Figure(
        id=slug("agreement", spec.title),
        title=spec.title or "bareline beside users' own OSU and IMB programs",
        caption=" ".join(filter(None, [spec.caption, caption])),
        layer="mpi",
        wide=True,
        text_summary=f"Median deviation: {listing(told)}.",
        data_table=DataTable(columns, tuple(_fields(row) for row in rows)),
    )


def _fields(row: _Row) -> tuple[Field, ...]:
    worst = row.ratios[row.worst]
    ratio = float(worst.ratio)
    bounds = finite(worst)
    return (
        Field(row.theirs),
        Field(row.ours),
        Field(row.platform, platform=row.platform),
        Field(str(len(row.ratios)), len(row.ratios)),
        Field(_percent(row.median), row.median, caveats=row.caveats),
        Field(format_size(row.worst) if row.worst else "–", row.worst),
        Field(significant(ratio), ratio),
        Field(ratio_interval(bounds), bounds.lo if bounds else None),
        Field(str(row.n), row.n),
    )


def _percent(deviation: float) -> str:
    return f"{100 * deviation:.1f}"


EXHIBIT = Agreement()
