"""The exhibits that show cells as tables: all cells, ratios, and sizes in the form of OSU.

The table of ratios has the form of Table IV of the Nebula study.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bareline.analysis.numbers.row import Row
from bareline.report.blocks import Figure, Rows, Table
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint
from bareline.report.content.wording import metric_name, sentence_case
from bareline.report.exhibits.base import (
    Exhibit,
    Panel,
    TableRow,
    by_unit,
    figure_of,
    select,
    titled,
)
from bareline.report.exhibits.columns import cells_table, columns
from bareline.report.exhibits.other_systems import others_figure, printed_of_others
from bareline.report.exhibits.rules import rule_text, ruled_ratio, ruled_value
from bareline.report.figures.scales import Scale
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.place import Place, varying


def _table(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for chosen in by_unit(document, spec):
        metrics = dict.fromkeys(metric_name(cell.place.metric) for cell in chosen.cells)
        title = ", ".join(metrics)
        yield chosen.figure(title=sentence_case(title), table=cells_table(chosen))


#: Label of the table of values that the run measured and the publication does not print.
_NOT_PRINTED = "values that are not printed"
_FACTOR_COLUMNS = (
    "benchmark platforms factor verdict printed lost_share printed_percent printed_values "
    "baseline compared n"
)


_FACTOR_NOTE = "A factor above 1 is worse; the loss is 1 - 1/factor of the baseline's performance."
_PRINTED_NOTE = (
    "Published values and ratios are of other systems; in brackets where they were measured, if "
    "not on as many ranks and nodes."
)


def _factor_tables(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for chosen in _factors(document, spec):
        printed = ""
        if chosen.published and not chosen.label:
            printed = _PRINTED_NOTE
        yield chosen.figure(
            title=f"Performance against {document.baseline}",
            table=columns(chosen, _FACTOR_COLUMNS, lambda row: row.cell.place),
            notes=(
                _FACTOR_NOTE,
                rule_text(spec.rule, document.baseline),
                printed,
            ),
        )
    others = printed_of_others(document, spec)
    if others:
        yield others_figure(spec, others)


def _factors(document: Document, spec: ExhibitSpec) -> Iterator[Panel]:
    """Yield a panel of the cells with published ratios, and a panel of all other cells."""
    for label, cells in _factor_parts(document, spec).items():
        rows = _rows(document, spec, cells)
        if any(row.cell.value is not None for row in rows):
            subject = (spec.probe or "all", spec.metric or "")
            yield Panel(document, spec, cells, rows, what=subject, label=label)


def _factor_parts(document: Document, spec: ExhibitSpec) -> dict[str, list[Row]]:
    """Return each table's cells by its label: first with published ratios, then all other cells."""
    cells = _factor_cells(document, spec)
    points = Panel(document, spec, cells).published
    printed = _printed(cells, points)
    cells = [cell for cell in cells if cell.place in printed or cell.place.probe not in spec.also]
    if not spec.published or not printed:
        return {"": cells}
    main = []
    rest = []
    for cell in cells:
        if cell.place in printed:
            main.append(cell)
        else:
            rest.append(cell)
    main.sort(key=lambda cell: (printed[cell.place], cell.place.probe in spec.also))
    return {"": main, _NOT_PRINTED: rest}


def _factor_cells(document: Document, spec: ExhibitSpec) -> list[Row]:
    """Return the cells to compare.

    For one probe these are all metrics, for several probes their headline metrics.
    """
    is_one_probe = spec.probe is not None and "*" not in spec.probe
    has_all_metrics = is_one_probe or bool(spec.metric)
    cells = []
    for cell in select(document, spec):
        if cell.metric.better != "none" and (has_all_metrics or cell.headline):
            cells.append(cell)
    return cells


def _printed(cells: Sequence[Row], points: Sequence[PublishedPoint]) -> dict[Place, int]:
    """Return each measured case that has a published ratio, and the ratio's index in `points`."""
    # Probes that measure the same quantity are next to each other, at the place of the first probe.
    first: dict[object, int] = {}
    for number, point in enumerate(points):
        first.setdefault(point.ratio.results, number)
    numbers: dict[Place, int] = {}
    for cell in cells:
        nearest = next((point for point in points if point.about(cell)), None)
        if nearest is not None:
            place = cell.place
            number = first[nearest.ratio.results]
            numbers[place] = min(number, numbers.get(place, number))
    return numbers


def _rows(document: Document, spec: ExhibitSpec, cells: Sequence[Row]) -> list[TableRow]:
    """Return the rows of all platforms except the baseline; rows of one case follow each other."""
    titles = _Titles(document, spec, cells)
    rows = []
    for group in grouped_by(cells, lambda cell: cell.place).values():
        of_platform = {cell.platform: cell for cell in group}
        base = of_platform.get(document.baseline)
        base_value = None
        if base is not None:
            base_value = ruled_value(document, base, spec.rule, is_base=True)
        for cell in group:
            if cell.platform == document.baseline:
                continue
            row = TableRow(
                cell,
                titles.of(cell),
                ratio=ruled_ratio(document, cell, base, spec.rule),
                base=base_value,
                value=ruled_value(document, cell, spec.rule, is_base=False),
            )
            rows.append(row)
    return rows


class _Titles:
    """The titles of cells: the metric and, if there are several probes, the name of the probe.

    A title also contains the parameters that vary among the cells of a probe.
    """

    def __init__(self, document: Document, spec: ExhibitSpec, cells: Sequence[Row]) -> None:
        self.document = document
        self.spec = spec
        places = dict.fromkeys(cell.place for cell in cells)
        probes = grouped_by(places, lambda place: place.probe)
        self.names = {probe: varying(group) for probe, group in probes.items()}

    def of(self, cell: Row) -> str:
        probe = cell.place.probe
        if self.spec.also and probe == self.spec.probe:
            return sentence_case(metric_name(cell.place.metric))
        text = titled(self.document, cell, self.names[probe])
        if probe not in self.spec.also:
            return text
        return f"{text} ({probe})"


#: The units in which OSU and IMB print the metrics that they measure by size.
_SCALES: Mapping[str, Scale] = {"latency": Scale(1e6, "µs"), "bandwidth": Scale(1e-6, "MB/s")}
#: The ending of metrics that are means over a plain loop, as OSU and IMB print them.
_MEAN = "_loop_mean"
#: Parameters with columns of their own in a table by size.
_SIZE_COLUMNS = ("size_bytes", "ranks", "nodes")


def _by_size(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for metric, scale in _SCALES.items():
        cells = _sized_cells(document, spec, metric)
        if not cells:
            continue
        name = metric_name(metric)
        note = "The median over launches of the slowest rank."
        if cells[0].place.metric.endswith(_MEAN):
            note = "The mean over a loop, as OSU and IMB print it; the median over launches."
        label = name if spec.title else ""
        yield figure_of(
            spec,
            title=f"{sentence_case(name)} by size",
            what=(metric,),
            label=label,
            notes=[note],
            cells=cells,
            table=_size_table(document, cells, scale),
            folded=True,
        )


def _function_titles(document: Document, cells: Iterable[Row]) -> dict[Place, str]:
    """Return a title for each measured case: its function, and the parameters without a column."""
    first: dict[Place, Row] = {}
    for cell in cells:
        first.setdefault(cell.place, cell)
    titles = {}
    for places in grouped_by(first, lambda place: place.probe).values():
        names = [name for name in varying(places) if name not in _SIZE_COLUMNS]
        for place in places:
            titles[place] = titled(document, first[place], names, metric=False)
    return titles


def _size_table(document: Document, cells: Sequence[Row], scale: Scale) -> Table:
    titles = _function_titles(document, cells)

    def order(place: Place) -> tuple[object, ...]:
        return titles[place], place.nodes, place.ranks, place.threads, place.size_bytes or 0

    places = sorted(titles, key=order)
    rows = Rows(places, lambda place: (titles[place], place.layout))
    rows.text("function", lambda place: titles[place])
    if any(place.nodes for place in places):
        rows.number("nodes", lambda place: place.nodes or None)
    rows.number("ranks", lambda place: place.ranks)
    rows.number("size (B)", lambda place: place.size_bytes)
    medians: dict[str, dict[Place, float]] = {}
    for cell in cells:
        values = medians.setdefault(cell.platform, {})
        if cell.median is not None:
            values[cell.place] = cell.median * scale.factor
    for name in document.names:
        if name in medians:
            rows.number(f"{name} ({scale.unit})", medians[name].get, "{:.2f}".format)
    return rows.table()


def _sized_cells(document: Document, spec: ExhibitSpec, metric: str) -> list[Row]:
    """Return the cells that have a message size.

    Their metric is `metric`, or its loop mean if the loop mean was measured in the same cases.
    """
    medians = _of_metric(document, spec, metric)
    means = _of_metric(document, spec, metric + _MEAN)
    if _cases(medians) == _cases(means):
        return means
    return medians


def _cases(cells: Iterable[Row]) -> set[object]:
    return {cell.place.case for cell in cells}


def _of_metric(document: Document, spec: ExhibitSpec, metric: str) -> list[Row]:
    of_metric = spec.model_copy(update={"metric": metric})
    cells = select(document, of_metric)
    return [cell for cell in cells if cell.place.size_bytes is not None]


EXHIBITS = (
    Exhibit(
        "table",
        "medians with intervals, ratios and verdicts, one row per value and platform",
        _table,
    ),
    Exhibit(
        "factors",
        "values, performance factor and performance lost in percent, one row per benchmark",
        _factor_tables,
    ),
    Exhibit(
        "by-size",
        "MPI functions as OSU and IMB print them: size, and one column a platform",
        _by_size,
    ),
)
