"""Users' own programs next to bareline's: OSU's and IMB's, and programs of the same name.

See ``docs/method/mpi.md`` for the corresponding benchmarks: OSU's latency and IMB's point-to-point
benchmarks are means over a plain loop, the collectives of both means over calls that are timed one
by one.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.blocks import Field, Figure, Rows
from bareline.report.content.document import Document
from bareline.report.content.dots import Paired, block_ratio
from bareline.report.content.wording import metric_name, verdict_word
from bareline.report.exhibits.base import Exhibit, figure_of, grouped_by, select
from bareline.report.exhibits.columns import CellRows
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.collectives import SIZED
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Layer, parse_point
from bareline.vocabulary.place import Place, parameter_value, varying
from bareline.vocabulary.units import format_size, listing, percent_tenths, plain, significant

_LOOP, _CALLS = "latency_loop_mean", "latency_rank_mean"
_LOOPS = ("sendrecv", "exchange", "barrier")
_COLLECTIVES = tuple(collective.name for collective in SIZED)
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
    def median(self) -> float:
        return statistics.median(abs(ratio.value - 1) for ratio in self.ratios.values())

    @property
    def worst(self) -> int:
        return max(self.ratios, key=lambda size: abs(self.ratios[size].value - 1))


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    rows = list(_rows(document, select(document, spec)))
    if not rows:
        return
    deviations = [f"{row.theirs} on {row.platform} {percent_tenths(row.median)}" for row in rows]

    def deviation(row: _Row) -> Field:
        return Field(f"{100 * row.median:.1f}", row.median, caveats=row.caveats)

    def greatest(row: _Row) -> Field:
        return Field(format_size(row.worst) if row.worst else "–", row.worst)

    yield figure_of(
        spec,
        title="bareline beside users' own OSU and IMB programs",
        notes=[
            "Of each program: how far the ratio of bareline's figure to the program's is from 1, "
            "as the median over the sizes, and the size where it is greatest. Paired by block."
        ],
        layer=Layer.MPI,
        summary=f"Median deviation: {listing(deviations)}.",
        table=Rows(rows)
        .text("theirs", lambda row: row.theirs)
        .text("bareline", lambda row: row.ours)
        .platform(lambda row: row.platform)
        .number("sizes", lambda row: len(row.ratios))
        .column("median deviation (%)", deviation)
        .column("greatest at", greatest, "text")
        .number("ours over theirs", lambda row: row.ratios[row.worst].value, significant)
        .interval(lambda row: row.ratios[row.worst])
        .number("n", lambda row: row.n)
        .table(),
    )


def _rows(document: Document, cells: Sequence[Row]) -> Iterator[_Row]:
    measured = {
        (cell.platform, replace(cell.place, params="")): cell
        for cell in document.cells
        if cell.value is not None
    }
    pairs = [
        (own, cell)
        for cell in cells
        if cell.value is not None and (place := _our_place(cell))
        if (own := measured.get((cell.platform, place)))
    ]
    for (theirs, ours, platform), group in grouped_by(pairs, _names).items():
        divided = {
            cell.place.size_bytes or 0: block_ratio(document, own, cell) for own, cell in group
        }
        known = {size: one.ratio for size, one in sorted(divided.items()) if one.ratio is not None}
        if known:
            doubts = dict.fromkeys(doubt for pair in group for one in pair for doubt in one.caveats)
            n = min(divided[size].n for size in known)
            yield _Row(theirs, ours, platform, known, n, tuple(doubts))


def _names(pair: tuple[Row, Row]) -> tuple[str, str, str]:
    """Name their program with its metric, our probe with its metric, and the platform."""
    ours, theirs = (cell.place for cell in pair)
    program = f"{theirs.probe.partition('.')[0]} {_program(theirs)}"
    metric = theirs.metric.replace("_", " ")
    return (f"{program}, {metric}", f"{ours.probe} {ours.metric}", pair[1].platform)


def _program(place: Place) -> str:
    known = parse_point(place.params)
    usual = {"osu": "latency", "osu.rate": "bw", "imb": "PingPong"}.get(place.probe, "")
    return str(known.get("program", known.get("benchmark", usual)))


def _our_place(cell: Row) -> Place | None:
    """Return the place where our probe measures the same, without its parameters, or None."""
    place, point, size = cell.place, cell.place.point, cell.place.size_bytes
    program = _program(place)
    probe, metric = _COUNTERPARTS.get((place.probe, program.lower(), place.metric), ("", ""))
    if place.probe == "imb" and program == "Reduce_scatter" and size is not None:
        point = f"size_bytes={size * place.ranks}"  # IMB counts a block
    return replace(place, probe=probe, metric=metric, params="", point=point) if probe else None


#: The parameter by which a probe of foreign programs names its program: `npb.reference` with
#: ``kernel = "cg"`` is compared with `npb.cg`.
CHOICE = "kernel"


@dataclass(frozen=True, slots=True)
class _Pair:
    """Ours, the reference, and how many times faster ours is."""

    ours: Row
    reference: Row
    faster: Paired

    @property
    def field(self) -> Field:
        """The ratio, or why there is none: failed, missing, or launches that share no block."""
        caveats = tuple(dict.fromkeys([*self.ours.caveats, *self.reference.caveats]))
        if self.faster.ratio is not None:
            ratio = self.faster.ratio.value
            return Field(plain(ratio), ratio, caveats=caveats)
        why = verdict_word(self.reference.verdict or self.ours.verdict) or "–"
        return Field(why, caveats=caveats)


def _references(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    found = []
    for reference in select(document, spec):
        if ours := _counterpart(document, reference):
            # Above 1 means that ours is faster, whatever the metric's direction.
            sides = (ours, reference) if reference.rate else (reference, ours)
            found.append(_Pair(ours, reference, block_ratio(document, *sides)))
    groups = grouped_by(found, lambda pair: pair.reference.place.series[:2])
    for (probe, metric), pairs in groups.items():
        name = metric_name(metric)
        names = varying(pair.reference.place for pair in pairs)
        rows = CellRows(pairs, lambda pair: pair.reference)
        for parameter in names:
            rows.parameter(parameter)
        rows.platforms().column(f"ours over {probe}, {name}", lambda pair: pair.field)
        rows.interval(lambda pair: pair.faster.ratio).number("n", lambda pair: pair.faster.n)
        ratios = []
        for pair in pairs:
            known = pair.reference.place.coordinates
            where = [parameter_value(name, known.get(name)) for name in names]
            ratios.append(" ".join([*where, pair.reference.platform, pair.field.plain]))
        yield figure_of(
            spec,
            title=f"Ours beside {probe}: {name}",
            what=(probe, metric),
            notes=["Above 1: bareline's program is faster. Paired by block."],
            layer=pairs[0].reference.layer,
            summary=f"{name}, ours over {probe}: {listing(ratios)}.",
            table=rows.table(),
        )


def _counterpart(document: Document, reference: Row) -> Row | None:
    place = reference.place
    known = parse_point(place.params)
    if CHOICE not in known or not reference.metric.directed:
        return None
    probe = f"{place.probe.rpartition('.')[0]}.{known[CHOICE]}"
    wanted = (reference.platform, probe, place.metric, place.layout, place.point)
    for cell in document.cells:
        own = cell.place
        if (cell.platform, own.probe, own.metric, own.layout, own.point) == wanted and (
            parse_point(own.params).items() <= known.items()
        ):
            return cell
    return None


EXHIBITS = (
    Exhibit(
        "agreement",
        "users' own OSU and IMB programs beside bareline's benchmarks, by program",
        _shown,
    ),
    Exhibit(
        "beside",
        "bareline's own programs over a user's programs of the same name, by platform",
        _references,
    ),
)
