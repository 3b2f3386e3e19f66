"""Cells as tables: as they are, as Nebula's Table IV prints them, and as OSU and IMB do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bareline.analysis.numbers.row import Row
from bareline.published.catalogue import conditions, publications
from bareline.published.model import PublishedStudy
from bareline.published.ratios import (
    PublishedRatio,
    computed_ratios,
    likewise,
    printed_ratios,
)
from bareline.report.blocks import Figure, Rows, Table
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint, same_place, speaks_of
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
from bareline.report.exhibits.rules import rule_text, ruled_ratio, ruled_value, worse_by_rule
from bareline.report.figures.scales import Scale
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.place import Place, varying
from bareline.vocabulary.units import plain
from bareline.vocabulary.verdicts import Verdict


def _table(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for chosen in by_unit(document, spec):
        metrics = dict.fromkeys(metric_name(cell.place.metric) for cell in chosen.cells)
        yield chosen.figure(title=sentence_case(", ".join(metrics)), table=cells_table(chosen))


#: Label of the table of values that the run measured and the publication does not print.
_NOT_PRINTED = "values that are not printed"
_FACTOR_COLUMNS = (
    "benchmark platforms factor verdict printed lost_share printed_percent printed_values "
    "baseline compared n"
)


def _factor_tables(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for chosen in _factors(document, spec):
        yield chosen.figure(
            title=f"Performance against {document.baseline}",
            table=columns(chosen, _FACTOR_COLUMNS, lambda row: row.cell.place),
            notes=(
                "A factor above 1 is worse; the loss is 1 - 1/factor of the baseline's "
                "performance.",
                rule_text(spec.rule, document.baseline),
                "Published values and ratios are of other systems; in brackets where they were "
                "measured, if not on as many ranks and nodes."
                if chosen.published and not chosen.label
                else "",
            ),
        )
    others = _printed_of_others(document, spec)
    if others:
        yield _others_figure(spec, others)


def _factors(document: Document, spec: ExhibitSpec) -> Iterator[Panel]:
    """Choose a probe's metrics, or several headlines; a publication's come first, in its order."""
    for label, cells in _factor_parts(document, spec).items():
        rows = _rows(document, spec, cells)
        if any(row.cell.value is not None for row in rows):
            subject = (spec.probe or "all", spec.metric or "")
            yield Panel(document, spec, cells, rows, what=subject, label=label)


def _factor_parts(document: Document, spec: ExhibitSpec) -> dict[str, list[Row]]:
    """Return the cells by the label of their table: printed ones, then those that are not."""
    cells = _factor_cells(document, spec)
    printed = _printed(cells, Panel(document, spec, cells).published)
    cells = [cell for cell in cells if cell.place in printed or cell.place.probe not in spec.also]
    if not spec.published or not printed:
        return {"": cells}
    main = [cell for cell in cells if cell.place in printed]
    main.sort(key=lambda cell: (printed[cell.place], cell.place.probe in spec.also))
    rest = [cell for cell in cells if cell.place not in printed]
    return {"": main, _NOT_PRINTED: rest}


def _factor_cells(document: Document, spec: ExhibitSpec) -> list[Row]:
    """Return the cells with a direction: of one probe all metrics, of several their headlines."""
    is_one_probe = spec.probe is not None and "*" not in spec.probe
    all_metrics = is_one_probe or bool(spec.metric)
    return [
        cell
        for cell in select(document, spec)
        if cell.metric.better != "none" and (all_metrics or cell.headline)
    ]


def _printed(cells: Sequence[Row], points: Sequence[PublishedPoint]) -> dict[Place, int]:
    """Return the places with printed values, each with its number in the publication."""
    # Probes with the same quantity are next to each other, under the first of them.
    first: dict[object, int] = {}
    for number, point in enumerate(points):
        first.setdefault(point.ratio.results, number)
    numbers: dict[Place, int] = {}
    for cell in cells:
        nearest = next((point for point in points if point.about(cell)), None)
        if nearest is not None:
            number = first[nearest.ratio.results]
            numbers[cell.place] = min(number, numbers.get(cell.place, number))
    return numbers


def _rows(document: Document, spec: ExhibitSpec, cells: Sequence[Row]) -> list[TableRow]:
    """Return the rows of all platforms but the baseline, rows of one place together."""
    places = list(dict.fromkeys(cell.place for cell in cells))
    order = {place: number for number, place in enumerate(places)}
    bases = {cell.place: cell for cell in cells if cell.platform == document.baseline}
    probes = grouped_by(places, lambda place: place.probe)
    names = {probe: varying(group) for probe, group in probes.items()}

    def title(cell: Row) -> str:
        # Among the metrics of one probe by its metric, a further probe's with its name.
        probe = cell.place.probe
        if spec.also and probe == spec.probe:
            return sentence_case(metric_name(cell.place.metric))
        text = titled(document, cell, names[probe])
        return f"{text} ({probe})" if probe in spec.also else text

    def row(cell: Row) -> TableRow:
        base = bases.get(cell.place)
        return TableRow(
            cell,
            title(cell),
            ratio=ruled_ratio(document, cell, base, spec.rule),
            base=None if base is None else ruled_value(document, base, spec.rule, is_base=True),
            value=ruled_value(document, cell, spec.rule, is_base=False),
        )

    others = [cell for cell in cells if cell.platform != document.baseline]
    return [row(cell) for cell in sorted(others, key=lambda cell: order[cell.place])]


@dataclass(frozen=True, slots=True)
class _OtherSystem:
    """A printed ratio of two systems that are not a platform of the run and its baseline.

    - `probe`: named where several measure the benchmark.
    - `measured`: the same ratio of the platforms in the roles of both, by the exhibit's rule.
    """

    study: PublishedStudy
    ratio: PublishedRatio
    probe: str = ""
    measured: str = ""

    @property
    def benchmark(self) -> str:
        name = f"{self.ratio.benchmark}, {self.ratio.metric.replace('_', ' ')}"
        return f"{name} ({self.probe})" if self.probe else name

    @property
    def place(self) -> str:
        return conditions(self.ratio.conditions)

    def name(self, platform: str) -> str:
        described = self.study.platform(platform)
        return described.name if described else platform


def _printed_of_others(document: Document, spec: ExhibitSpec) -> list[_OtherSystem]:
    """Return the ratios in the exhibit's tables of pairs other than a platform and its baseline."""
    cast = _cast(document)
    baselines = {name for name, platforms in cast.items() if document.baseline in platforms}
    cells = select(document, spec)
    others: list[_OtherSystem] = []
    for study in publications().values():
        for ratio in (*printed_ratios(study), *computed_ratios(study)):
            has_platform = f"{study.id}:{ratio.platform}" in cast
            is_row = has_platform and f"{study.id}:{ratio.baseline}" in baselines
            if ratio.part in spec.published and not is_row:
                others += _other_systems(document, spec, cells, study, ratio)
    return others


def _other_systems(
    document: Document,
    spec: ExhibitSpec,
    cells: Sequence[Row],
    study: PublishedStudy,
    ratio: PublishedRatio,
) -> Iterator[_OtherSystem]:
    """Yield a printed ratio for each probe here that measures its benchmark."""
    probes = {cell.place.probe for cell in cells}
    printings = [ratio, *likewise(study, ratio)]
    measured_here = [printing for printing in printings if any(map(printing.measured_by, probes))]
    for printing in measured_here:
        probe = printing.probe if len(measured_here) > 1 else ""
        measured = _measured_of_others(document, spec, cells, printing)
        yield _OtherSystem(study, printing, probe or "", measured)


def _measured_of_others(
    document: Document, spec: ExhibitSpec, cells: Sequence[Row], ratio: PublishedRatio
) -> str:
    """Format a printed ratio as the run measured it; empty without both of its platforms.

    At the place for which it is printed; without a value there, at all places of its quantity.
    """
    cast = _cast(document)
    platforms = cast.get(f"{ratio.publication}:{ratio.platform}", set())
    baselines = cast.get(f"{ratio.publication}:{ratio.baseline}", set())
    about = [cell for cell in cells if speaks_of(ratio, cell.place)]
    about = [cell for cell in about if same_place(ratio, cell.place)] or about
    bases = {cell.place: cell for cell in about if cell.platform in baselines}
    texts = []
    for cell in about:
        base = bases.get(cell.place)
        if cell.platform not in platforms or base is None or base.platform == cell.platform:
            continue
        if Verdict.NOT_COMPARABLE in (cell.verdict, base.verdict):
            continue
        worse = worse_by_rule(document, cell, base, spec.rule)
        if worse is not None:
            texts.append(plain(worse))
    return "; ".join(dict.fromkeys(texts))


def _cast(document: Document) -> dict[str, set[str]]:
    """Return the platforms of the run that represent each published one."""
    cast: dict[str, set[str]] = {}
    for role in document.roles.values():
        if role.platform:
            for name in role.published:
                cast.setdefault(name, set()).add(str(role.platform))
    return cast


def _others_figure(spec: ExhibitSpec, others: Sequence[_OtherSystem]) -> Figure:
    rows = Rows(others, lambda other: other.benchmark)
    rows.text("benchmark", lambda other: other.benchmark)
    if any(other.place for other in others):
        rows.text("at", lambda other: other.place)
    rows.text("system", lambda other: other.name(other.ratio.platform))
    rows.text("against", lambda other: other.name(other.ratio.baseline))
    rows.figure("published ratio", lambda other: str(other.ratio.span))
    rows.text("printed", lambda other: other.ratio.text)
    notes = [
        "Ratios that the publication prints of two systems, other than the systems of a platform "
        "here and of its baseline."
    ]
    if any(other.measured for other in others):
        rows.figure("measured here", lambda other: other.measured)
        notes.append("Measured: the same ratio of the platforms in the roles of both.")
        notes.append(rule_text(spec.rule, "the second system"))
    return figure_of(
        spec,
        title="Performance against other systems",
        what=(spec.probe or "all", spec.metric or ""),
        label="printed of other pairs of systems",
        notes=notes,
        table=rows.table(),
        folded=True,
    )


#: The output of OSU and IMB: the unit of each metric that they measure by size.
_SCALES: Mapping[str, Scale] = {"latency": Scale(1e6, "µs"), "bandwidth": Scale(1e-6, "MB/s")}
#: The mean over a plain loop, which they print, in addition to the median of the slowest rank.
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
        yield figure_of(
            spec,
            title=f"{sentence_case(name)} by size",
            what=(metric,),
            label=name if spec.title else "",
            notes=[note],
            cells=cells,
            table=_size_table(document, cells, scale),
            folded=True,
        )


def _function_titles(document: Document, cells: Iterable[Row]) -> dict[Place, str]:
    """Title the function of each place, with the parameters that have no column of their own."""
    first = {cell.place: cell for cell in reversed(list(cells))}
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

    def value(platform: str) -> Callable[[Place], float | None]:
        values = {}
        for cell in cells:
            if cell.platform == platform and cell.median is not None:
                values[cell.place] = cell.median * scale.factor
        return values.get

    places = sorted(titles, key=order)
    rows = Rows(places, lambda place: (titles[place], place.layout))
    rows.text("function", lambda place: titles[place])
    if any(place.nodes for place in places):
        rows.number("nodes", lambda place: place.nodes or None)
    rows.number("ranks", lambda place: place.ranks)
    rows.number("size (B)", lambda place: place.size_bytes)
    measured = {cell.platform for cell in cells}
    for name in document.names:
        if name in measured:
            rows.number(f"{name} ({scale.unit})", value(name), "{:.2f}".format)
    return rows.table()


def _sized_cells(document: Document, spec: ExhibitSpec, metric: str) -> list[Row]:
    """Return the cells with a size: the means over loops where all functions have them."""
    medians = _of_metric(document, spec, metric)
    means = _of_metric(document, spec, metric + _MEAN)
    has_all_means = {cell.place.case for cell in medians} == {cell.place.case for cell in means}
    return means if has_all_means else medians


def _of_metric(document: Document, spec: ExhibitSpec, metric: str) -> list[Row]:
    cells = select(document, spec.model_copy(update={"metric": metric}))
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
