"""A user's own programs beside bareline's of the same name: how many times faster ours are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bareline.analysis.numbers.cell import Cell
from bareline.report.blocks.table import Field
from bareline.report.content.document import Document
from bareline.report.content.pairing import Paired, block_ratio
from bareline.report.content.wording import metric_name, verdict_word
from bareline.report.exhibits.base import Kind, Shown, grouped_by, select
from bareline.report.exhibits.columns import CellRows
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import parse_point
from bareline.vocabulary.place import parameter_value, varying
from bareline.vocabulary.units import listing, plain

#: The parameter by which a probe of foreign programs says which one it runs: `npb.reference` with
#: ``kernel = "cg"`` stands beside `npb.cg`.
CHOICE = "kernel"


@dataclass(frozen=True, slots=True)
class _Pair:
    """Ours, the reference, and how many times faster ours is."""

    ours: Cell
    reference: Cell
    faster: Paired

    @property
    def told(self) -> str:
        """The ratio, or why there is none: failed, missing, or launches that share no block."""
        if self.faster.ratio is not None:
            return plain(self.faster.ratio.value)
        return verdict_word(self.reference.verdict or self.ours.verdict) or "–"


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Shown]:
    """Give one table per reference probe and metric in which both sides were measured."""
    found = []
    for reference in select(document, spec):
        ours = _counterpart(document, reference)
        if ours is not None:
            # Above 1 means that ours is faster, whatever the metric's direction.
            sides = (reference, ours) if reference.metric.better == "lower" else (ours, reference)
            found.append(_Pair(ours, reference, block_ratio(document, *sides)))
    groups = grouped_by(found, lambda pair: pair.reference.place.series[:2])
    for (probe, metric), pairs in groups.items():
        name = metric_name(metric)
        names = varying(pair.reference.place for pair in pairs)
        rows = CellRows(pairs, lambda pair: pair.reference)
        for parameter in names:
            rows.parameter(parameter)
        rows.platforms().column(f"ours over {probe}, {name}", _ratio)
        rows.interval(lambda pair: pair.faster.ratio).number("n", lambda pair: pair.faster.n)
        told = [f"{_where(pair.reference, names)} {pair.told}" for pair in pairs]
        yield Shown(
            title=f"Ours beside {probe}: {name}",
            what=(probe, metric),
            notes=["Above 1: bareline's program is faster. Paired by block."],
            layer=pairs[0].reference.layer,
            summary=f"{name}, ours over {probe}: {listing(told)}.",
            table=rows.table(),
        )


def _counterpart(document: Document, reference: Cell) -> Cell | None:
    """Find our program's value for the same platform, layout and parameters."""
    place = reference.place
    known = parse_point(place.params)
    if CHOICE not in known or not reference.metric.directed:
        return None
    probe = f"{place.probe.rpartition('.')[0]}.{known[CHOICE]}"
    for cell in document.cells:
        own = cell.place
        if (
            (cell.platform, own.probe, own.metric) == (reference.platform, probe, place.metric)
            and own.layout == place.layout
            and own.point == place.point
            and parse_point(own.params).items() <= known.items()
        ):
            return cell
    return None


def _where(cell: Cell, names: tuple[str, ...]) -> str:
    known = cell.place.coordinates
    return " ".join([*(parameter_value(name, known.get(name)) for name in names), cell.platform])


def _ratio(pair: _Pair) -> Field:
    ratio = pair.faster.ratio
    caveats = dict.fromkeys([*pair.ours.caveats, *pair.reference.caveats])
    return Field(pair.told, ratio.value if ratio else None, caveats=tuple(caveats))


EXHIBIT = Kind(
    "beside", "bareline's own programs over a user's programs of the same name, by platform", _shown
)
