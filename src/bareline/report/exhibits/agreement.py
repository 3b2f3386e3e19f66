"""Users' own OSU and IMB programs beside bareline's benchmarks, and what corresponds to what.

See ``docs/method/mpi.md``: OSU's latency and IMB's point-to-point benchmarks are
means over a plain loop, the collectives of both means over calls that are timed one by one.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bareline.analysis.numbers.cell import Cell, Estimate
from bareline.report.blocks.table import Field, Rows
from bareline.report.content.document import Document
from bareline.report.content.pairing import Paired, block_ratio
from bareline.report.exhibits.base import Kind, Shown, grouped_by, select
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.collectives import SIZED
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Layer, parse_point
from bareline.vocabulary.place import Place
from bareline.vocabulary.units import format_size, listing, significant

_LOOP, _CALLS = "latency_loop_mean", "latency_rank_mean"
_COLLECTIVES = tuple(collective.name for collective in SIZED)
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
    ratios: Mapping[int, Estimate]
    n: int
    caveats: tuple[Caveat, ...]

    @property
    def deviations(self) -> dict[int, float]:
        """How far each ratio is from 1."""
        return {size: abs(ratio.value - 1) for size, ratio in self.ratios.items()}

    @property
    def median(self) -> float:
        """The median of the deviations."""
        return statistics.median(self.deviations.values())

    @property
    def worst(self) -> int:
        """The size at which the deviation is greatest."""
        return max(self.deviations, key=lambda size: self.deviations[size])


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Shown]:
    """Give one table of all programs of which both sides were measured."""
    rows = list(_rows(document, select(document, spec)))
    if not rows:
        return
    told = [f"{row.theirs} on {row.platform} {_percent(row.median)} %" for row in rows]
    table = (
        Rows(rows)
        .text("theirs", lambda row: row.theirs)
        .text("bareline", lambda row: row.ours)
        .platform(lambda row: row.platform)
        .number("sizes", lambda row: len(row.ratios))
        .column("median deviation (%)", _median)
        .column("greatest at", _greatest, "text")
        .number("ours over theirs", lambda row: row.ratios[row.worst].value, significant)
        .interval(lambda row: row.ratios[row.worst])
        .number("n", lambda row: row.n)
        .table()
    )
    yield Shown(
        title="bareline beside users' own OSU and IMB programs",
        notes=[
            "Of each program: how far the ratio of bareline's figure to the program's is from 1, "
            "as the median over the sizes, and the size where it is greatest. Paired by block."
        ],
        layer=Layer.MPI,
        summary=f"Median deviation: {listing(told)}.",
        table=table,
    )


def _rows(document: Document, cells: Sequence[Cell]) -> Iterator[_Row]:
    ours = {
        (cell.platform, replace(cell.place, params="")): cell
        for cell in document.cells
        if cell.value is not None
    }
    pairs: list[tuple[Cell, Cell]] = []
    for cell in cells:
        place = _our_place(cell)
        own = ours.get((cell.platform, place)) if place else None
        if own is not None and cell.value is not None:
            pairs.append((own, cell))
    for (theirs, name, platform), group in grouped_by(pairs, _names).items():
        divided: dict[int, Paired] = {}
        for own, cell in group:
            divided[cell.place.size_bytes or 0] = block_ratio(document, own, cell)
        known = {size: one.ratio for size, one in sorted(divided.items()) if one.ratio is not None}
        if known:
            doubts = dict.fromkeys(doubt for pair in group for one in pair for doubt in one.caveats)
            n = min(divided[size].n for size in known)
            yield _Row(theirs, name, platform, known, n, tuple(doubts))


def _names(pair: tuple[Cell, Cell]) -> tuple[str, str, str]:
    """Name their program with its metric, our probe with its metric, and the platform."""
    ours, theirs = (cell.place for cell in pair)
    program = f"{theirs.probe.partition('.')[0]} {_program(theirs)}"
    metric = theirs.metric.replace("_", " ")
    return (f"{program}, {metric}", f"{ours.probe} {ours.metric}", pair[1].platform)


def _program(place: Place) -> str:
    known = parse_point(place.params)
    usual = {"osu": "latency", "osu.rate": "bw", "imb": "PingPong"}.get(place.probe, "")
    return str(next((known[name] for name in _PROGRAM if name in known), usual))


def _our_place(cell: Cell) -> Place | None:
    """Give where ours measures the same, with whatever parameters; None where nothing does."""
    place = cell.place
    program = _program(place)
    counterpart = _COUNTERPARTS.get((place.probe, program.lower(), place.metric))
    if counterpart is None:
        return None
    point, size = place.point, place.size_bytes
    if place.probe == "imb" and program == "Reduce_scatter" and size is not None:
        point = f"size_bytes={size * place.ranks}"  # IMB counts a block
    probe, metric = counterpart
    return replace(place, probe=probe, metric=metric, params="", point=point)


def _median(row: _Row) -> Field:
    return Field(_percent(row.median), row.median, caveats=row.caveats)


def _greatest(row: _Row) -> Field:
    return Field(format_size(row.worst) if row.worst else "–", row.worst)


def _percent(deviation: float) -> str:
    return f"{100 * deviation:.1f}"


EXHIBIT = Kind(
    "agreement",
    "users' own OSU and IMB programs beside bareline's benchmarks, by program",
    _shown,
)
