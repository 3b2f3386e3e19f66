"""The exhibit that compares users' own programs, e.g. OSU's and IMB's, with bareline's.

``docs/method/mpi.md`` lists the corresponding benchmarks. Their values are means. OSU's latency and
IMB's point-to-point benchmarks time a loop as a whole. The collectives of OSU and IMB time each
call.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.blocks import Field, Figure, Rows, Table
from bareline.report.content.document import Document
from bareline.report.content.dots import Paired, block_ratio
from bareline.report.content.wording import metric_name, verdict_word
from bareline.report.exhibits.base import Exhibit, figure_of, select
from bareline.report.exhibits.columns import CellRows
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.collectives import SIZED
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import Layer, parse_point
from bareline.vocabulary.place import Place, parameter_value, varying
from bareline.vocabulary.units import format_size, listing, percent_tenths, plain, significant

_LOOP = "latency_loop_mean"
_CALLS = "latency_rank_mean"
_LOOPS = ("sendrecv", "exchange", "barrier")
_COLLECTIVES = tuple(collective.name for collective in SIZED)
#: For the probe of a user's program, the program and its metric: bareline's probe and metric.
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
    """A program on a platform, with bareline's value divided by the program's at each size."""

    theirs: str
    ours: str
    platform: str
    ratios: Mapping[int, Estimate]
    n: int
    caveats: tuple[Caveat, ...]

    @property
    def _deviations(self) -> dict[int, float]:
        """The distance of each size's ratio from 1."""
        return {size: abs(ratio.value - 1) for size, ratio in self.ratios.items()}

    @property
    def median(self) -> float:
        return statistics.median(self._deviations.values())

    @property
    def worst(self) -> int:
        deviations = self._deviations
        return max(deviations, key=deviations.__getitem__)

    @property
    def worst_ratio(self) -> Estimate:
        return self.ratios[self.worst]


def _agreements(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    rows = list(_rows(document, select(document, spec)))
    if not rows:
        return
    deviations = [f"{row.theirs} on {row.platform} {percent_tenths(row.median)}" for row in rows]
    yield figure_of(
        spec,
        title="bareline beside users' own OSU and IMB programs",
        notes=[
            "Of each program: how far the ratio of bareline's figure to the program's is from 1, "
            "as the median over the sizes, and the size where it is greatest. Paired by block."
        ],
        layer=Layer.MPI,
        summary=f"Median deviation: {listing(deviations)}.",
        table=_table(rows),
    )


def _table(rows: Sequence[_Row]) -> Table:
    def deviation(row: _Row) -> Field:
        return Field(f"{100 * row.median:.1f}", row.median, caveats=row.caveats)

    def greatest(row: _Row) -> Field:
        size = row.worst
        if not size:
            return Field("–", size)
        return Field(format_size(size), size)

    table = Rows(rows).text("theirs", lambda row: row.theirs)
    table.text("bareline", lambda row: row.ours)
    table.platform(lambda row: row.platform)
    table.number("sizes", lambda row: len(row.ratios))
    table.column("median deviation (%)", deviation)
    table.column("greatest at", greatest, "text")
    table.number("ours over theirs", lambda row: row.worst_ratio.value, significant)
    table.interval(lambda row: row.worst_ratio)
    table.number("n", lambda row: row.n)
    return table.table()


def _rows(document: Document, cells: Sequence[Row]) -> Iterator[_Row]:
    """Yield a row for each platform and user's program whose quantity bareline also measured."""
    pairs = list(_pairs(document, cells))
    groups = grouped_by(pairs, lambda pair: (pair.their_name, pair.our_name, pair.platform))
    for group in groups.values():
        row = _row(document, group)
        if row.ratios:
            yield row


@dataclass(frozen=True, slots=True)
class _Measured:
    """A cell of bareline, and the cell of a user's program that measures the same quantity."""

    ours: Row
    theirs: Row

    @property
    def platform(self) -> str:
        return self.theirs.platform

    @property
    def their_name(self) -> str:
        """The name of the user's program, with its metric."""
        place = self.theirs.place
        suite, _, _ = place.probe.partition(".")
        metric = place.metric.replace("_", " ")
        return f"{suite} {_program(place)}, {metric}"

    @property
    def our_name(self) -> str:
        """The name of bareline's probe, with its metric."""
        place = self.ours.place
        return f"{place.probe} {place.metric}"

    @property
    def size(self) -> int:
        return self.theirs.place.size_bytes or 0

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        return (*self.ours.caveats, *self.theirs.caveats)


def _pairs(document: Document, cells: Sequence[Row]) -> Iterator[_Measured]:
    measured: dict[tuple[str, Place], Row] = {}
    for cell in document.cells:
        if cell.value is not None:
            place = replace(cell.place, params="")
            measured[cell.platform, place] = cell
    for cell in cells:
        our_place = _our_place(cell)
        if cell.value is None or our_place is None:
            continue
        ours = measured.get((cell.platform, our_place))
        if ours:
            yield _Measured(ours, cell)


def _row(document: Document, pairs: Sequence[_Measured]) -> _Row:
    """Return the row with bareline's value divided by the user's program's value at each size."""
    divided: dict[int, Paired] = {}
    caveats: dict[Caveat, None] = {}
    for pair in pairs:
        divided[pair.size] = block_ratio(document, pair.ours, pair.theirs)
        caveats.update(dict.fromkeys(pair.caveats))
    ratios: dict[int, Estimate] = {}
    numbers = []
    for size in sorted(divided):
        paired = divided[size]
        if paired.ratio is not None:
            ratios[size] = paired.ratio
            numbers.append(paired.n)
    first = pairs[0]
    n = min(numbers, default=0)
    return _Row(first.their_name, first.our_name, first.platform, ratios, n, tuple(caveats))


#: The program that such a probe runs if its parameters name no program.
_USUAL = {"osu": "latency", "osu.rate": "bw", "imb": "PingPong"}


def _program(place: Place) -> str:
    params = parse_point(place.params)
    for name in ("program", "benchmark"):
        if name in params:
            return str(params[name])
    return _USUAL.get(place.probe, "")


def _our_place(cell: Row) -> Place | None:
    """Return the case of bareline that measures the same as a cell of a user's program.

    The returned case has no parameters. The result is None if no probe measures the same.
    """
    place = cell.place
    program = _program(place)
    counterpart = _COUNTERPARTS.get((place.probe, program.lower(), place.metric))
    if counterpart is None:
        return None
    probe, metric = counterpart
    point = place.point
    size = place.size_bytes
    if place.probe == "imb" and program == "Reduce_scatter" and size is not None:
        point = f"size_bytes={size * place.ranks}"  # IMB counts a block
    return replace(place, probe=probe, metric=metric, params="", point=point)


#: The parameter that names the program of a probe of users' programs: `npb.reference` with ``kernel
#: = "cg"`` is compared with `npb.cg`.
CHOICE = "kernel"


@dataclass(frozen=True, slots=True)
class _Pair:
    """A value of bareline and the value of a user's program (`reference`) for the same case.

    - `faster`: how many times faster bareline's program is.
    """

    ours: Row
    reference: Row
    faster: Paired

    @property
    def field(self) -> Field:
        """The ratio, or why there is none: failed, missing, or no common block of trials."""
        both = [*self.ours.caveats, *self.reference.caveats]
        caveats = tuple(dict.fromkeys(both))
        ratio = self.faster.ratio
        if ratio is not None:
            return Field(plain(ratio.value), ratio.value, caveats=caveats)
        why = verdict_word(self.reference.verdict or self.ours.verdict) or "–"
        return Field(why, caveats=caveats)


def _references(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    """Yield a table for each probe and metric of users' programs that bareline also measures."""
    pairs = list(_reference_pairs(document, spec))
    groups = grouped_by(pairs, lambda pair: pair.reference.place.series[:2])
    for (probe, metric), group in groups.items():
        name = metric_name(metric)
        parameters = varying(pair.reference.place for pair in group)
        ratios = [_ratio_words(pair, parameters) for pair in group]
        yield figure_of(
            spec,
            title=f"Ours beside {probe}: {name}",
            what=(probe, metric),
            notes=["Above 1: bareline's program is faster. Paired by block."],
            layer=group[0].reference.layer,
            summary=f"{name}, ours over {probe}: {listing(ratios)}.",
            table=_reference_table(group, parameters, f"ours over {probe}, {name}"),
        )


def _reference_pairs(document: Document, spec: ExhibitSpec) -> Iterator[_Pair]:
    for reference in select(document, spec):
        ours = _counterpart(document, reference)
        if ours is None:
            continue
        # A ratio above 1 means that bareline's program is faster, for times and for rates.
        if reference.rate:
            faster = block_ratio(document, ours, reference)
        else:
            faster = block_ratio(document, reference, ours)
        yield _Pair(ours, reference, faster)


def _ratio_words(pair: _Pair, parameters: Sequence[str]) -> str:
    coordinates = pair.reference.place.coordinates
    place = [parameter_value(name, coordinates.get(name)) for name in parameters]
    return " ".join([*place, pair.reference.platform, pair.field.plain])


def _reference_table(pairs: Sequence[_Pair], parameters: Sequence[str], title: str) -> Table:
    rows = CellRows(pairs, lambda pair: pair.reference)
    for parameter in parameters:
        rows.parameter(parameter)
    rows.platforms()
    rows.column(title, lambda pair: pair.field)
    rows.interval(lambda pair: pair.faster.ratio)
    rows.number("n", lambda pair: pair.faster.n)
    return rows.table()


def _counterpart(document: Document, reference: Row) -> Row | None:
    """Return the cell of bareline that corresponds to a cell of a user's program, or None."""
    place = reference.place
    params = parse_point(place.params)
    if CHOICE not in params or not reference.metric.directed:
        return None
    family = place.probe.rpartition(".")[0]
    probe = f"{family}.{params[CHOICE]}"
    for cell in document.cells:
        if cell.platform != reference.platform:
            continue
        # Nodes that it ran on are no part of a place's identity.
        wanted = replace(place, probe=probe, params=cell.place.params)
        if cell.place == wanted and parse_point(cell.place.params).items() <= params.items():
            return cell
    return None


EXHIBITS = (
    Exhibit(
        "agreement",
        "users' own OSU and IMB programs beside bareline's benchmarks, by program",
        _agreements,
    ),
    Exhibit(
        "beside",
        "bareline's own programs over a user's programs of the same name, by platform",
        _references,
    ),
)
