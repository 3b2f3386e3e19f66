"""Cells as tables: as they are, and as Nebula's Table IV prints them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bareline.analysis.numbers.cell import Cell
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint
from bareline.report.content.wording import metric_name, sentence_case
from bareline.report.exhibits.base import select, titled
from bareline.report.exhibits.columns import cells_table, columns
from bareline.report.exhibits.declared import Chosen, Declared, Row, by_unit
from bareline.report.exhibits.rules import rule_text, ruled_ratio, ruled_value
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import Place, varying


def _factors(document: Document, spec: ExhibitSpec) -> Iterator[Chosen]:
    """Choose every metric of one probe, or the headline of each of several.

    Where a publication is repeated, what it prints stands in its order, and the rest in a second
    table.
    """
    alone = spec.probe is not None and "*" not in spec.probe
    cells = [
        cell
        for cell in select(document, spec)
        if cell.metric.better != "none" and (alone or spec.metric or cell.headline)
    ]
    printed = _printed(cells, Chosen(document, spec, cells).published)
    cells = [c for c in cells if c.place in printed or c.place.probe not in spec.also]
    parts = {"": cells}
    if spec.published and printed:
        told = [cell for cell in cells if cell.place in printed]
        told.sort(key=lambda cell: (printed[cell.place], cell.place.probe in spec.also))
        rest = [cell for cell in cells if cell.place not in printed]
        parts = {"": told, "what is not printed": rest}
    for label, own in parts.items():
        rows = _rows(document, spec, own)
        if any(row.cell.value is not None for row in rows):
            what = (spec.probe or "all", spec.metric or "")
            yield Chosen(document, spec, own, rows, what=what, label=label)


def _printed(cells: Sequence[Cell], points: Sequence[PublishedPoint]) -> dict[Place, int]:
    """Give the places of which something is printed, each with its number in the publication."""
    # What several probes measure stands together, under the first of them.
    first: dict[object, int] = {}
    for number, point in enumerate(points):
        first.setdefault(point.ratio.results, number)
    found: dict[Place, int] = {}
    for cell in cells:
        told = next((point for point in points if point.about(cell)), None)
        if told:
            number = first[told.ratio.results]
            found[cell.place] = min(number, found.get(cell.place, number))
    return found


def _rows(document: Document, spec: ExhibitSpec, cells: Sequence[Cell]) -> list[Row]:
    """Lay every cell beside the baseline's; those of a place follow each other."""
    order = {place: number for number, place in enumerate(dict.fromkeys(c.place for c in cells))}
    bases = {cell.place: cell for cell in cells if cell.platform == document.baseline}
    names = {
        probe: varying(cell.place for cell in cells if cell.place.probe == probe)
        for probe in {cell.place.probe for cell in cells}
    }

    def row(cell: Cell, base: Cell | None) -> Row:
        title = _title(document, spec, cell, names[cell.place.probe])
        ratio = ruled_ratio(document, cell, base, spec.rule)
        under = None if base is None else ruled_value(document, base, spec.rule)
        return Row(cell, title, None, ratio, under, ruled_value(document, cell, spec.rule))

    return [
        row(cell, bases.get(cell.place))
        for cell in sorted(cells, key=lambda cell: order[cell.place])
        if cell.platform != document.baseline
    ]


def _title(document: Document, spec: ExhibitSpec, cell: Cell, names: Sequence[str]) -> str:
    """Name a row: among the metrics of one probe by its metric, a further probe's with its name."""
    if spec.also and cell.place.probe == spec.probe:
        return sentence_case(metric_name(cell.place.metric))
    title = titled(document, cell, names)
    return f"{title} ({cell.place.probe})" if cell.place.probe in spec.also else title


_FACTORS = "benchmark platforms factor verdict printed lost_share baseline compared n"

EXHIBITS = (
    Declared(
        kind="table",
        summary="medians with intervals, ratios and verdicts, one row per value and platform",
        query=by_unit,
        columns=cells_table,
        title=lambda chosen: sentence_case(
            ", ".join(dict.fromkeys(metric_name(cell.place.metric) for cell in chosen.cells))
        ),
    ),
    Declared(
        kind="factors",
        summary="values, performance factor and performance lost in percent, one row per benchmark",
        query=_factors,
        columns=lambda chosen: columns(chosen, _FACTORS, lambda row: row.cell.place),
        title=lambda chosen: f"Performance against {chosen.document.baseline}",
        notes=lambda chosen: (
            "A factor above 1 is worse; what is lost is 1 - 1/factor of the baseline's "
            "performance.",
            rule_text(chosen.spec.rule, chosen.document.baseline),
            "Published are only ratios of other systems; in brackets where they were "
            "measured, if not on as many ranks and nodes."
            if chosen.published and not chosen.label
            else "",
        ),
    ),
)
