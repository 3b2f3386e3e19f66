"""Cells as tables: as they are, as Nebula's Table IV prints them, and as OSU and IMB do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from bareline.analysis.numbers.row import Row
from bareline.report.blocks import Rows, Table
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint
from bareline.report.content.wording import metric_name, sentence_case
from bareline.report.exhibits.base import (
    Chosen,
    Declared,
    Draft,
    ExhibitKind,
    TableRow,
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
    """Choose a probe's metrics, or several headlines; a publication's come first, in its order."""
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
        rest = [cell for cell in cells if cell.place not in printed]
        main = [cell for cell in cells if cell.place in printed]
        main.sort(key=lambda cell: (printed[cell.place], cell.place.probe in spec.also))
        parts = {"": main, "what is not printed": rest}
    for label, own in parts.items():
        rows = _rows(document, spec, own)
        if any(row.cell.value is not None for row in rows):
            what = (spec.probe or "all", spec.metric or "")
            yield Chosen(document, spec, own, rows, what=what, label=label)


def _printed(cells: Sequence[Row], points: Sequence[PublishedPoint]) -> dict[Place, int]:
    """Return the places of which something is printed, each with its number in the publication."""
    # What several probes measure stands together, under the first of them.
    first: dict[object, int] = {}
    for number, point in enumerate(points):
        first.setdefault(point.ratio.results, number)
    found: dict[Place, int] = {}
    for cell in cells:
        if nearest := next((point for point in points if point.about(cell)), None):
            number = first[nearest.ratio.results]
            found[cell.place] = min(number, found.get(cell.place, number))
    return found


def _rows(document: Document, spec: ExhibitSpec, cells: Sequence[Row]) -> list[TableRow]:
    order = {place: number for number, place in enumerate(dict.fromkeys(c.place for c in cells))}
    bases = {cell.place: cell for cell in cells if cell.platform == document.baseline}
    probes = grouped_by(order, lambda place: place.probe)
    names = {probe: varying(places) for probe, places in probes.items()}

    def title(cell: Row) -> str:
        # Among the metrics of one probe by its metric, a further probe's with its name.
        if spec.also and cell.place.probe == spec.probe:
            return sentence_case(metric_name(cell.place.metric))
        text, probe = titled(document, cell, names[cell.place.probe]), cell.place.probe
        return f"{text} ({probe})" if probe in spec.also else text

    def row(cell: Row, base: Row | None) -> TableRow:
        ratio = ruled_ratio(document, cell, base, spec.rule)
        under = None if base is None else ruled_value(document, base, spec.rule)
        return TableRow(
            cell, title(cell), None, ratio, under, ruled_value(document, cell, spec.rule)
        )

    return [
        row(cell, bases.get(cell.place))
        for cell in sorted(cells, key=lambda cell: order[cell.place])
        if cell.platform != document.baseline
    ]


#: What OSU and IMB print: the unit of each metric that they measure by size.
_SCALES: Mapping[str, Scale] = {"latency": Scale(1e6, "µs"), "bandwidth": Scale(1e-6, "MB/s")}
#: The mean over a plain loop, which they print, beside the median of the slowest rank.
_MEAN = "_loop_mean"


def _by_size(document: Document, spec: ExhibitSpec) -> Iterator[Draft]:
    for metric, scale in _SCALES.items():
        cells = _cells(document, spec, metric)
        places = grouped_by(cells, lambda cell: cell.place)
        if not places:
            continue
        probes, titles = grouped_by(places, lambda place: place.probe), {}
        for own in probes.values():
            # The others have columns of their own.
            names = [name for name in varying(own) if name not in ("size_bytes", "ranks", "nodes")]
            for place in own:
                titles[place] = titled(document, places[place][0], names, metric=False)
        means, what = cells[0].place.metric.endswith(_MEAN), metric_name(metric)
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
            table=_size_table(document, places, titles, scale),
            folded=True,
        )


def _size_table(
    document: Document,
    places: Mapping[Place, Sequence[Row]],
    titles: Mapping[Place, str],
    scale: Scale,
) -> Table:
    def order(at: Place) -> tuple[object, ...]:
        return titles[at], at.nodes, at.ranks, at.threads, at.size_bytes or 0

    def value(platform: str) -> Callable[[Place], float | None]:
        known = {
            place: cell.median * scale.factor
            for place, own in places.items()
            for cell in own
            if cell.platform == platform and cell.median is not None
        }
        return known.get

    rows = Rows(sorted(places, key=order), lambda at: (titles[at], at.layout))
    rows.text("function", lambda at: titles[at])
    if any(place.nodes for place in places):
        rows.number("nodes", lambda at: at.nodes or None)
    rows.number("ranks", lambda at: at.ranks).number("size (B)", lambda at: at.size_bytes)
    there = {cell.platform for own in places.values() for cell in own}
    for name in (name for name in document.names if name in there):
        rows.number(f"{name} ({scale.unit})", value(name), "{:.2f}".format)
    return rows.table()


def _cells(document: Document, spec: ExhibitSpec, metric: str) -> list[Row]:
    """Return the cells with a size: the means over loops where all functions have them."""
    own, means = (
        [
            cell
            for cell in select(document, spec.model_copy(update={"metric": name}))
            if cell.place.size_bytes is not None
        ]
        for name in (metric, metric + _MEAN)
    )
    alike = {cell.place.case for cell in own} == {cell.place.case for cell in means}
    return means if alike else own


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
        columns=lambda chosen: columns(
            chosen,
            "benchmark platforms factor verdict printed lost_share baseline compared "
            "printed_values n",
            lambda row: row.cell.place,
        ),
        title=lambda chosen: f"Performance against {chosen.document.baseline}",
        notes=lambda chosen: (
            "A factor above 1 is worse; the loss is 1 - 1/factor of the baseline's performance.",
            rule_text(chosen.spec.rule, chosen.document.baseline),
            "Published values and ratios are of other systems; in brackets where they were "
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
