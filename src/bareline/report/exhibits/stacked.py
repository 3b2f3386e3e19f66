"""The exhibit with a bar per platform, divided into computation and communication."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bareline.analysis.numbers.row import Row
from bareline.report.blocks import Figure
from bareline.report.content.document import Document
from bareline.report.content.wording import distinct_parts, summed_up
from bareline.report.exhibits.bars import PARTS, Parts, amount_words, medians
from bareline.report.exhibits.base import Exhibit, Panel, TableRow, cells_of, labelled, select
from bareline.report.exhibits.columns import cells_table
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.place import Place

#: The total time. It differs from the sum of the parts because ranks end at different times.
TOTAL = "time"
_METRICS = (TOTAL, *(metric for metric, _, _ in PARTS))
#: For the times of a program that publications print, the metrics of bareline's parts.
_PRINTED_PARTS = {"compute": "compute_mean", "communication": "communication_mean"}
_DIAMONDS = (
    "Diamonds: where the published ratios would put the ends of computation, of communication and "
    "of the time."
)


def _stacked(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for chosen in _divided(_with_printed_parts(document), spec):
        diamonds = _DIAMONDS if chosen.published else ""
        yield chosen.figure(
            title="Computation and communication",
            table=cells_table(chosen),
            drawing=medians(chosen, parts=parts_of(chosen.cells)),
            notes=(
                "Dark: computation; light: communication, waiting included (means over the ranks, "
                "which add up to the time). The line across is the median time, the dots are the "
                "trials.",
                chosen.trials.note,
                diamonds,
            ),
            summary=_parts_summary(chosen),
        )


def _with_printed_parts(document: Document) -> Document:
    """Return a document in which published times of computation also apply to the parts of bars.

    Publications print the time that a program computes. The part of a bar is a different metric:
    the mean of the computing times of the ranks.
    """
    again = []
    for point in document.published:
        part = _PRINTED_PARTS.get(point.ratio.probe_metric or "")
        if part:
            ratio = replace(point.ratio, probe_metric=part)
            again.append(replace(point, ratio=ratio))
    if not again:
        return document
    return replace(document, published=[*document.published, *again])


def _divided(document: Document, spec: ExhibitSpec) -> Iterator[Panel]:
    """Yield a panel for each layer, with the total times of which all parts are known."""
    cells: list[Row] = []
    for metric in _METRICS:
        of_metric = spec.model_copy(update={"metric": metric})
        cells += select(document, of_metric)
    probes = {place.probe for _, place in parts_of(cells)}
    totals = [cell for cell in cells if cell.place.probe in probes and cell.place.metric == TOTAL]
    for group in grouped_by(totals, lambda cell: cell.layer).values():
        yield _divided_layer(document, spec, group)


def _divided_layer(document: Document, spec: ExhibitSpec, totals: Sequence[Row]) -> Panel:
    places = {cell.place for cell in totals}
    cells = []
    for cell in document.cells:
        if cell.place.metric in _METRICS and _total_of(cell.place) in places:
            cells.append(cell)
    rows = labelled(totals)
    probes = list(dict.fromkeys(cell.place.probe for cell in totals))
    probe = probes[0]
    if len(probes) > 1:
        rows = _of_several_probes(document, rows, probes)
        probe = ""
    subject = probe or spec.probe or totals[0].layer
    return Panel(document, spec, cells, rows, what=(subject,), probe=probe)


def _total_of(place: Place) -> Place:
    return replace(place, metric=TOTAL)


def _of_several_probes(
    document: Document, rows: Sequence[TableRow], probes: Sequence[str]
) -> list[TableRow]:
    """Return the rows with the names of their probes, sorted by the number of ranks."""
    titles = [document.probe_titles.get(probe, probe) for probe in probes]
    shorts = dict(zip(probes, distinct_parts(titles), strict=True))
    named = []
    for row in sorted(rows, key=lambda row: row.cell.place.ranks):
        title = shorts[row.cell.place.probe]
        if row.title:
            title = f"{title}, {row.title}"
        named.append(replace(row, title=title))
    return named


def parts_of(cells: Iterable[Row]) -> Parts:
    """Return the parts of each total time, by platform and case of the total time.

    A total time is left out unless all of its parts are known.
    """
    medians = {(cell.platform, cell.place): cell.median for cell in cells}
    parts: dict[tuple[str, Place], list[float]] = {}
    for platform, place in medians:
        if place.metric != TOTAL:
            continue
        values: list[float] = []
        for metric, _, _ in PARTS:
            part = replace(place, metric=metric)
            value = medians.get((platform, part))
            if value is not None:
                values.append(value)
        if len(values) == len(PARTS):
            parts[platform, place] = values
    return parts


def _parts_summary(chosen: Panel) -> str:
    divided = parts_of(chosen.cells)
    groups: dict[str, list[str]] = {}
    for label, rows in chosen.groups.items():
        groups[label] = []
        for cell in cells_of(rows):
            parts = divided.get((cell.platform, cell.place))
            if parts:
                time = amount_words(cell, chosen.unit)
                share = _communication_percent(parts)
                groups[label].append(f"{time}, {share:.0f} % of it communication")
    return f"{chosen.what[0]}, median times. {summed_up(groups)}"


def _communication_percent(parts: Sequence[float]) -> float:
    whole = sum(parts)
    if not whole:
        return 0.0
    return 100 * parts[-1] / whole


EXHIBIT = Exhibit(
    "stacked",
    "computation and communication stacked to the time, one bar per platform",
    _stacked,
)
