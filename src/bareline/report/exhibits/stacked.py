"""Bars that are divided into computation and communication, one for each platform."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bareline.analysis.numbers.row import Row
from bareline.report.blocks import Figure
from bareline.report.content.document import Document
from bareline.report.content.wording import distinct_parts, summed_up
from bareline.report.exhibits.bars import PARTS, Parts, amount_words, medians
from bareline.report.exhibits.base import Exhibit, Panel, TableRow, labelled, select
from bareline.report.exhibits.columns import cells_table
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.place import Place

#: The sum of the parts, up to the ranks' different ends.
TOTAL = "time"
#: The times of a program that publications print, and the parts that measure them here.
_PRINTED_PARTS = {"compute": "compute_mean", "communication": "communication_mean"}
_DIAMONDS = (
    "Diamonds: where the published ratios would put the ends of computation, of communication and "
    "of the time."
)


def _stacked(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for chosen in _divided(_with_printed_parts(document), spec):
        yield chosen.figure(
            title="Computation and communication",
            table=cells_table(chosen),
            drawing=medians(chosen, parts=parts_of(chosen.cells)),
            notes=(
                "Dark: computation; light: communication, waiting included (means over the ranks, "
                "which add up to the time). The line across is the median time, the dots are the "
                "trials.",
                chosen.trials.note,
                _DIAMONDS if chosen.published else "",
            ),
            summary=_parts_summary(chosen),
        )


def _with_printed_parts(document: Document) -> Document:
    """Return a document in which published times of computation are also of the parts of a bar.

    Publications print the time that a program computes; the parts are the means over its ranks.
    """
    again = []
    for point in document.published:
        part = _PRINTED_PARTS.get(point.ratio.probe_metric or "")
        if part:
            again.append(replace(point, ratio=replace(point.ratio, probe_metric=part)))
    return replace(document, published=[*document.published, *again]) if again else document


def _divided(document: Document, spec: ExhibitSpec) -> Iterator[Panel]:
    """Choose a figure for each layer: the totals of which all parts are known."""
    metrics = (TOTAL, *(metric for metric, _, _ in PARTS))
    cells: list[Row] = []
    for metric in metrics:
        cells += select(document, spec.model_copy(update={"metric": metric}))
    probes = {place.probe for _, place in parts_of(cells)}
    totals = [cell for cell in cells if cell.place.probe in probes and cell.place.metric == TOTAL]
    for group in grouped_by(totals, lambda cell: cell.layer).values():
        yield _divided_layer(document, spec, metrics, group)


def _divided_layer(
    document: Document, spec: ExhibitSpec, metrics: Sequence[str], totals: Sequence[Row]
) -> Panel:
    places = {cell.place for cell in totals}
    cells = [
        cell
        for cell in document.cells
        if cell.place.metric in metrics and replace(cell.place, metric=TOTAL) in places
    ]
    rows = labelled(totals)
    probes = list(dict.fromkeys(cell.place.probe for cell in totals))
    probe = probes[0]
    if len(probes) > 1:
        rows = _of_several_probes(document, rows, probes)
        probe = ""
    subject = probe or spec.probe or totals[0].layer
    return Panel(document, spec, cells, rows, what=(subject,), probe=probe)


def _of_several_probes(
    document: Document, rows: Sequence[TableRow], probes: Sequence[str]
) -> list[TableRow]:
    """Name each row's probe, and put rows that are compared together: the fewest ranks first."""
    titles = [document.probe_titles.get(probe, probe) for probe in probes]
    shorts = dict(zip(probes, distinct_parts(titles), strict=True))

    def title(row: TableRow) -> str:
        return ", ".join(filter(None, [shorts[row.cell.place.probe], row.title]))

    named = [replace(row, title=title(row)) for row in rows]
    return sorted(named, key=lambda row: row.cell.place.ranks)


def parts_of(cells: Iterable[Row]) -> Parts:
    """Return the parts of the totals of which all are known."""
    values = {(cell.platform, cell.place): cell.median for cell in cells}
    parts: dict[tuple[str, Place], list[float]] = {}
    for platform, place in values:
        if place.metric != TOTAL:
            continue
        part_values: list[float] = []
        for metric, _, _ in PARTS:
            value = values.get((platform, replace(place, metric=metric)))
            if value is not None:
                part_values.append(value)
        if len(part_values) == len(PARTS):
            parts[platform, place] = part_values
    return parts


def _parts_summary(chosen: Panel) -> str:
    divided = parts_of(chosen.cells)

    def words(rows: Sequence[TableRow]) -> Iterator[str]:
        for cell in (row.cell for row in rows):
            parts = divided.get((cell.platform, cell.place))
            if parts:
                whole = sum(parts)
                share = 100 * parts[-1] / whole if whole else 0.0
                yield f"{amount_words(cell, chosen.unit)}, {share:.0f} % of it communication"

    groups = {label: words(rows) for label, rows in chosen.groups.items()}
    return f"{chosen.what[0]}, median times. {summed_up(groups)}"


EXHIBIT = Exhibit(
    "stacked",
    "computation and communication stacked to the time, one bar per platform",
    _stacked,
)
