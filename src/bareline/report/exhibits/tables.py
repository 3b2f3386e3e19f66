"""Cells as tables: as they are, as Nebula's Table IV prints them, and as OSU and IMB do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from bareline.analysis.numbers.cell import Cell
from bareline.report.blocks import Rows, Table
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint
from bareline.report.content.wording import metric_name, sentence_case
from bareline.report.exhibits.base import (
    Chosen,
    Declared,
    Draft,
    ExhibitKind,
    Row,
    by_unit,
    grouped_by,
    select,
    titled,
)
from bareline.report.exhibits.columns import (
    cells_table,
    columns,
    rule_text,
    ruled_ratio,
    ruled_value,
)
from bareline.report.figures.scales import Scale
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
        main = [cell for cell in cells if cell.place in printed]
        main.sort(key=lambda cell: (printed[cell.place], cell.place.probe in spec.also))
        rest = [cell for cell in cells if cell.place not in printed]
        parts = {"": main, "what is not printed": rest}
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
        nearest = next((point for point in points if point.about(cell)), None)
        if nearest:
            number = first[nearest.ratio.results]
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


#: What OSU and IMB print: the unit of each metric that they measure by size.
_SCALES: Mapping[str, Scale] = {"latency": Scale(1e6, "µs"), "bandwidth": Scale(1e-6, "MB/s")}
#: The mean over a plain loop, which they print, beside the median of the slowest rank.
_MEAN = "_loop_mean"
#: What columns of their own say.
_SHOWN = ("size_bytes", "ranks", "nodes")

#: The cells of a place, by platform.
_Row = tuple[Place, Mapping[str, Cell]]


def _by_size(document: Document, spec: ExhibitSpec) -> Iterator[Draft]:
    """Give a table per metric that OSU and IMB have, too: of all functions together."""
    for metric, scale in _SCALES.items():
        cells = _cells(document, spec, metric)
        places = grouped_by(cells, lambda cell: cell.place)
        names = {
            probe: [name for name in varying(own) if name not in _SHOWN]
            for probe, own in grouped_by(places, lambda place: place.probe).items()
        }
        titles = {
            place: titled(document, own[0], names[place.probe], metric=False)
            for place, own in places.items()
        }
        means = any(place.metric.endswith(_MEAN) for place in places)
        what = metric_name(metric)
        if cells:
            yield Draft(
                title=f"{sentence_case(what)} by size",
                what=(metric,),
                label=what if spec.title else "",
                notes=[
                    "The mean over a loop, as OSU and IMB print it; the median over launches."
                    if means
                    else "The median over launches of the slowest rank."
                ],
                cells=cells,
                table=_size_rows(document, places, titles, scale),
                folded=True,
            )


def _size_rows(
    document: Document,
    places: Mapping[Place, Sequence[Cell]],
    titles: Mapping[Place, str],
    scale: Scale,
) -> Table:
    order = lambda at: (titles[at], at.nodes, at.ranks, at.threads, at.size_bytes or 0)  # noqa: E731
    ordered = [
        (at, {cell.platform: cell for cell in places[at]}) for at in sorted(places, key=order)
    ]
    rows = Rows(ordered, lambda row: (titles[row[0]], row[0].layout))
    rows.text("function", lambda row: titles[row[0]])
    if any(place.nodes for place in places):
        rows.number("nodes", lambda row: row[0].nodes or None)
    rows.number("ranks", lambda row: row[0].ranks).number("size (B)", lambda row: row[0].size_bytes)
    there = {cell.platform for own in places.values() for cell in own}
    for name in (name for name in document.names if name in there):
        rows.number(f"{name} ({scale.unit})", _value(name, scale), "{:.2f}".format)
    return rows.table()


def _cells(document: Document, spec: ExhibitSpec, metric: str) -> list[Cell]:
    """Give the cells with a size: the means over loops where all functions have them."""
    found = {
        name: [
            cell
            for cell in select(document, spec.model_copy(update={"metric": name}))
            if cell.place.size_bytes is not None
        ]
        for name in (metric, metric + _MEAN)
    }
    own, means = found.values()
    return (
        means if {cell.place.case for cell in own} == {cell.place.case for cell in means} else own
    )


def _value(name: str, scale: Scale) -> Callable[[_Row], float | None]:
    def value(row: _Row) -> float | None:
        cell = row[1].get(name)
        return None if cell is None or cell.median is None else cell.median * scale.factor

    return value


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
            "A factor above 1 is worse; the loss is 1 - 1/factor of the baseline's performance.",
            rule_text(chosen.spec.rule, chosen.document.baseline),
            "Published are only ratios of other systems; in brackets where they were "
            "measured, if not on as many ranks and nodes."
            if chosen.published and not chosen.label
            else "",
        ),
    ),
    ExhibitKind(
        "by-size",
        "MPI functions as OSU and IMB print them: size, and one column a platform",
        _by_size,
    ),
)
