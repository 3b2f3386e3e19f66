"""A user's own programs beside bareline's of the same name: how many times faster ours are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bareline.analysis.cell import Cell
from bareline.report.content.anchors import slug
from bareline.report.content.document import Document
from bareline.report.content.pairing import block_ratio, finite
from bareline.report.content.wording import (
    axis_name,
    metric_name,
    ratio_interval,
    ratio_text,
    verdict_word,
)
from bareline.report.exhibits.base import Exhibit, select
from bareline.report.figures.figure import Column, DataTable, Field, Figure
from bareline.stats.ratio import Ratio
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import parse_point
from bareline.vocabulary.place import parameter_value, varying
from bareline.vocabulary.units import listing

#: The parameter by which a probe of foreign programs says which one it runs: `npb.reference` with
#: ``kernel = "cg"`` stands beside `npb.cg`.
CHOICE = "kernel"


class Beside(Exhibit):
    """Ratio of ours to the reference on each platform, paired by block."""

    kind = "beside"
    summary = "bareline's own programs over a user's programs of the same name, by platform"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Give one table per reference probe and metric in which both sides were measured."""
        groups: dict[tuple[str, str], list[tuple[Cell, Cell]]] = {}
        for reference in select(document, spec):
            ours = _counterpart(document, reference)
            if ours is not None:
                groups.setdefault((reference.place.probe, reference.place.metric), []).append(
                    (ours, reference)
                )
        return [_figure(document, spec, pairs) for pairs in groups.values()]


def _counterpart(document: Document, reference: Cell) -> Cell | None:
    """Find our program's value for the same platform, layout and parameters."""
    known = parse_point(reference.place.params)
    if CHOICE not in known or reference.metric.better not in ("lower", "higher"):
        return None
    probe = f"{reference.place.probe.rpartition('.')[0]}.{known[CHOICE]}"
    layout = (
        reference.platform,
        reference.place.ranks,
        reference.place.threads,
        reference.place.nodes,
    )
    for cell in document.cells:
        if (
            (cell.place.probe, cell.place.metric, cell.place.point)
            == (probe, reference.place.metric, reference.place.point)
            and (cell.platform, cell.place.ranks, cell.place.threads, cell.place.nodes) == layout
            and parse_point(cell.place.params).items() <= known.items()
        ):
            return cell
    return None


def _figure(document: Document, spec: ExhibitSpec, pairs: Sequence[tuple[Cell, Cell]]) -> Figure:
    reference = pairs[0][1]
    metric = metric_name(reference.place.metric)
    names = varying(reference.place for _, reference in pairs)
    rows = [_row(document, names, ours, other) for ours, other in pairs]
    columns = (
        *(Column(axis_name(name), "text") for name in names),
        Column("platform", "text"),
        Column(f"ours over {reference.place.probe}, {metric}"),
        Column("95 %", "light"),
        Column("n"),
    )
    return Figure(
        id=slug("beside", reference.place.probe, reference.place.metric, spec.title),
        title=spec.title or f"Ours beside {reference.place.probe}: {metric}",
        caption=" ".join(
            filter(None, [spec.caption, "Above 1: bareline's program is faster. Paired by block."])
        ),
        layer=reference.layer,
        wide=True,
        text_summary=(
            f"{metric}, ours over {reference.place.probe}: {listing(list(_told(names, rows)))}."
        ),
        data_table=DataTable(columns, tuple(rows)),
    )


def _row(document: Document, names: Sequence[str], ours: Cell, other: Cell) -> tuple[Field, ...]:
    found = _ratio(document, ours, other)
    ratio = finite(found)
    n = int(found.n)
    # Why there is no ratio: failed, missing, or launches that share no block.
    text = verdict_word(other.verdict or ours.verdict) or "–"
    shown = [parameter_value(name, other.place.coordinates.get(name)) for name in names]
    return (
        *(Field(value) for value in shown),
        Field(other.platform, platform=other.platform),
        Field(
            ratio_text(ratio.value) if ratio else text,
            ratio.value if ratio else None,
            caveats=tuple(dict.fromkeys([*ours.caveats, *other.caveats])),
        ),
        Field(ratio_interval(ratio), ratio.lo if ratio else None),
        Field(str(n), n),
    )


def _ratio(document: Document, ours: Cell, other: Cell) -> Ratio:
    """Divide so that above 1 means that ours is faster, whatever the metric's direction."""
    return block_ratio(
        document, *((other, ours) if other.metric.better == "lower" else (ours, other))
    )


def _told(names: Sequence[str], rows: Sequence[tuple[Field, ...]]) -> Iterator[str]:
    width = len(names) + 1
    for row in rows:
        yield f"{' '.join(field.text for field in row[:width])} {row[width].text}"


EXHIBIT = Beside()
