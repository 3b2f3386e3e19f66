"""Kinds of exhibits: how they are declared and found, and their common steps to a figure.

A kind is an `Exhibit`: a module of this package ends in ``EXHIBIT = Exhibit(...)``, or in
``EXHIBITS = (...)`` where several are similar. Plug-ins install theirs under the entry-point group
``bareline.exhibits``.

A number passes four types on its way to a page: `TableRow`, a cell with its shown value;
`Panel`, the rows of one figure; `Drawing`, its panels; and `Figure`, which `figure_of` puts
together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property
from itertools import chain
from typing import Any, TypeVar

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.blocks import Figure, Table
from bareline.report.content.cells import headline_first, numeric_axis, tidy
from bareline.report.content.document import Document
from bareline.report.content.dots import Dots, trial_dots
from bareline.report.content.published import PublishedPoint, points_for
from bareline.report.content.wording import caveat_notes, metric_name, sentence_case, slug
from bareline.report.exhibits.printed import uncompleted_words
from bareline.report.figures.scales import Scale, unit_scale
from bareline.report.figures.vega import NO_DRAWING, Drawing
from bareline.vocabulary.errors import AnalysisError, did_you_mean
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.place import Place, varying
from bareline.vocabulary.plugins import brought, checked, named, own

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

#: Yields the figures that a specification asks for; none where the run has no data for it.
Draw = Callable[[Document, ExhibitSpec], Iterable[Figure]]


class Exhibit:
    """A kind of figure or table: its name in ``[[exhibit]]``, a line for the reference, and `draw`.

    A subclass may set `kind` and `summary` and override `figures` instead.
    """

    kind: str
    summary: str

    def __init__(self, kind: str = "", summary: str = "", draw: Draw | None = None) -> None:
        self._draw = draw
        if kind:
            self.kind = kind
        if summary:
            self.summary = summary

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Return the figures of a specification; an empty list where the run has no data for it."""
        if self._draw is None:
            raise NotImplementedError(f"exhibit '{self.kind}' has no function that draws it")
        return list(self._draw(document, spec))

    def figure(self, spec: ExhibitSpec, *distinction: str, **given: Any) -> Figure:
        """Return `figure_of`; the fields of `Drawing` may be given by themselves."""
        names = [field.name for field in fields(Drawing)]
        drawn = {name: given.pop(name) for name in names if name in given}
        return figure_of(spec, what=distinction, drawing=Drawing(**drawn), **given)


def figure_of(
    spec: ExhibitSpec,
    *,
    title: str,
    what: tuple[str, ...] = (),
    label: str = "",
    notes: Iterable[str] = (),
    summary: str = "",
    drawing: Drawing = NO_DRAWING,
    table: Table | None = None,
    folded: bool = False,
    cells: Sequence[Row] = (),
    published: Iterable[PublishedPoint] = (),
    probe: str = "",
    layer: str | None = None,
    data: Iterable[Mapping[str, Any]] | None = None,
) -> Figure:
    """Return a figure with its id, caption, caveats, sources and data.

    - `title`, `label`: without a title in the specification; an addition to distinguish figures.
    - `what`: distinguishes figures of one kind, for the id.
    - `notes`: sentences of the caption after the specification's own.
    - `cells`: the shown cells: they give the layer, the caveats and the data, unless given.
    - `published`: the published ratios that are drawn, for the sources.
    """
    has_drawing = bool(drawing.panels)
    caption = [spec.caption, *notes]
    titles = [spec.title or title, label]
    sources = dict.fromkeys((point.anchor, point.source) for point in published)
    return Figure(
        id=slug(spec.kind, *what, label, spec.title),
        title=", ".join(filter(None, titles)),
        caption=" ".join(filter(None, caption)),
        probe=probe,
        layer=_layer_of(cells) if layer is None else layer,
        panels=tuple(drawing.panels),
        names=tuple(drawing.names),
        large=drawing.large,
        narrow=tuple(drawing.narrow),
        wide=drawing.wide,
        folded=folded,
        text_summary=summary,
        caveats=caveat_notes(cells) if has_drawing else (),
        sources=tuple(sources),
        data_table=table,
        data=tidy(cells) if data is None else tuple(data),
    )


def _layer_of(cells: Iterable[Row]) -> str:
    """Return the layer of all cells; empty where they are of several."""
    layers = {cell.layer for cell in cells}
    return layers.pop() if len(layers) == 1 else ""


@cache
def load_exhibits() -> Mapping[str, Exhibit]:
    """Find every kind of exhibit of this package and of installed plug-ins, by name.

    Raises PluginError: two share a name, or a plug-in is not a kind of exhibit.
    """
    built_in = own("bareline.report.exhibits", "EXHIBIT")
    exhibits = checked("exhibit", chain(built_in, brought("bareline.exhibits")), Exhibit)
    return named("kind of exhibit", exhibits, lambda exhibit: exhibit.kind)


def find_exhibit(kind: str) -> Exhibit:
    """Return a kind by name. Raises AnalysisError: there is none; the message names the closest."""
    exhibits = load_exhibits()
    if kind not in exhibits:
        hint = did_you_mean(kind, exhibits, f"the kinds are: {', '.join(exhibits)}")
        raise AnalysisError(f"no exhibit is of kind '{kind}'", where="[[exhibit]]", hint=hint)
    return exhibits[kind]


def select(document: Document, spec: ExhibitSpec) -> list[Row]:
    """Return the cells that a specification asks for.

    Without a metric that is every metric that is not a detail.
    """
    return [
        cell
        for cell in document.cells
        if _is_of_metric(spec, cell) and meant(spec, cell.platform, cell.place)
    ]


def _is_of_metric(spec: ExhibitSpec, cell: Row) -> bool:
    if spec.metric:
        return cell.place.metric == spec.metric
    return not cell.metric.detail


def meant(spec: ExhibitSpec, platform: str, place: Place) -> bool:
    """Return whether a specification asks for a place on a platform, whatever the metric."""
    patterns = (spec.probe or "*", *spec.also)
    if not any(fnmatchcase(place.probe, pattern) for pattern in patterns):
        return False
    coordinates = {**place.coordinates, "platform": platform}
    for name, wanted in spec.where.items():
        allowed = (wanted,) if isinstance(wanted, str | int | float) else wanted
        if coordinates.get(name) not in allowed:
            return False
    return True


def titled(document: Document, cell: Row, names: Iterable[str], *, metric: bool = True) -> str:
    """Title a cell among cells of several probes: the probe's title, and some parameters.

    Also name a metric that its probe is not judged by, unless all are of one metric.
    """
    probe = cell.place.probe
    parts = [sentence_case(document.probe_titles.get(probe, probe))]
    if metric and not cell.headline:
        parts.append(metric_name(cell.place.metric))
    parts.append(cell.place.words_of(names))
    return ", ".join(filter(None, parts))


def by_metric(cells: Sequence[Row]) -> Iterator[tuple[tuple[str, str], list[Row]]]:
    """Group cells by probe and metric, in the order in which they come."""
    yield from grouped_by(cells, lambda cell: (cell.place.probe, cell.place.metric)).items()


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a figure and of its table: a cell under its group's title, and its shown values.

    - `shown`: the value that the kind draws: the median, the performance lost, an efficiency.
    - `ratio`, `base`, `value`: to the baseline, and both sides, by the specification's rule.
    """

    cell: Row
    title: str = ""
    shown: Estimate | None = None
    ratio: Estimate | None = None
    base: float | None = None
    value: float | None = None


@dataclass(frozen=True)
class Panel:
    """The content of one figure.

    - `places`: by title, where on the axis something was to be measured.
    """

    document: Document
    spec: ExhibitSpec
    cells: Sequence[Row]
    rows: Sequence[TableRow] = ()
    x: str = ""
    what: tuple[str, ...] = ()
    probe: str = ""
    label: str = ""
    places: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def figure(
        self,
        title: str,
        table: Table,
        drawing: Drawing = NO_DRAWING,
        notes: Iterable[str] = (),
        summary: str = "",
    ) -> Figure:
        """Return the figure of the cells; sources are named only where something is drawn."""
        return figure_of(
            self.spec,
            title=title,
            what=self.what,
            label=self.label,
            notes=[*notes, uncompleted_words(self.published, self.cells)],
            summary=summary,
            drawing=drawing,
            table=table,
            folded=bool(self.label),
            cells=self.cells,
            published=self.published if drawing.panels else (),
            probe=self.probe,
        )

    @cached_property
    def published(self) -> Sequence[PublishedPoint]:
        """The published ratios that belong to the cells."""
        return points_for(self.document.published, self.spec, self.cells, self.document.baseline)

    @cached_property
    def planned(self) -> frozenset[str]:
        """The platforms with a row, or with a case of the probe that was planned."""
        probes = {row.cell.place.probe for row in self.rows}
        platforms = {row.cell.platform for row in self.rows}
        return frozenset(platforms) | self.document.planned_on(probes)

    @cached_property
    def scale(self) -> Scale:
        """The unit of the cells' values."""
        medians = (cell.median for cell in self.cells)
        return unit_scale(medians, self.cells[0].metric.unit)

    @cached_property
    def unit(self) -> Scale:
        """The unit of the values that the rows draw."""
        medians = (row.cell.median for row in self.rows)
        return unit_scale(medians, self.rows[0].cell.metric.unit)

    @cached_property
    def trials(self) -> Dots:
        """The trials that bars of the rows draw."""
        cells = [row.cell for row in self.rows]
        return Dots.together(self._trials_of(group) for _, group in by_metric(cells))

    def _trials_of(self, cells: Sequence[Row]) -> Dots:
        return trial_dots(self.document, cells, len(cells) * self.document.dots_per_bar)

    @cached_property
    def groups(self) -> dict[str, list[TableRow]]:
        """The rows by title."""
        return grouped_by(self.rows, lambda row: row.title)

    @property
    def metric(self) -> str:
        """The metric in words; several, the headline first."""
        metrics = dict.fromkeys(cell.place.metric for cell in headline_first(self.cells))
        return ", ".join(map(metric_name, metrics))


def by_unit(document: Document, spec: ExhibitSpec) -> Iterator[Panel]:
    """Choose a figure for each probe and unit, so that the unit can be in a head."""
    cells = select(document, spec)
    groups = grouped_by(cells, lambda cell: (cell.place.probe, cell.metric.unit))
    for key, group in groups.items():
        rows = labelled(headline_first(group))
        yield Panel(document, spec, group, rows, what=key, probe=key[0])


def labelled(cells: Sequence[Row]) -> list[TableRow]:
    """Title cells of one probe by metric and parameters, as far as these vary."""
    names = varying(cell.place for cell in cells)
    metrics = {cell.place.metric for cell in cells}

    def label(cell: Row) -> str:
        parts = [cell.place.words_of(names)]
        if len(metrics) > 1:
            parts.insert(0, metric_name(cell.place.metric))
        return ", ".join(filter(None, parts))

    return [TableRow(cell, label(cell), cell.value, cell.ratio) for cell in cells]


#: Every page of a run with a calibration or predictions shows them, in this order.
_WHERE_THERE = (
    "calibration",
    "predicted",
    "worst-predictions",
    "upgrades",
    "waterfall",
    "coverage",
)
#: Kinds that every page begins with.
_HEADS = ("overview", "suitability")


def default_exhibits(document: Document) -> tuple[ExhibitSpec, ...]:
    """Choose exhibits for a study that asks for none.

    The overview; then each metric that is not a detail as a curve when a numeric parameter varies
    in it, else as bars together with the probe's other single numbers.
    """
    specs = [ExhibitSpec(kind="overview")]
    cells = [cell for cell in document.cells if not cell.metric.detail]
    for (probe, metric), group in by_metric(cells):
        bars = ExhibitSpec(kind="bars", probe=probe)
        if x := numeric_axis(group):
            specs.append(ExhibitSpec(kind="curve", probe=probe, metric=metric, x=x))
        elif bars not in specs:
            specs.append(bars)
    return tuple(specs)


def draw_figures(document: Document) -> tuple[list[Figure], list[ExhibitSpec]]:
    """Draw all figures, with unique ids; also return the exhibits that the run has no data for.

    Raises AnalysisError: the study asks for a kind of exhibit that does not exist.
    """
    drawn: list[Figure] = []
    empty: list[ExhibitSpec] = []
    used: Counter[str] = Counter()
    for spec in _page_exhibits(document):
        figures = find_exhibit(spec.kind).figures(document, spec)
        if not figures and spec in document.exhibits:
            empty.append(spec)
        for figure in figures:
            used[figure.id] += 1
            drawn.append(_on_page(document, figure, used[figure.id]))
    return drawn, empty


def _page_exhibits(document: Document) -> list[ExhibitSpec]:
    """Return the exhibits of a page in its order: those that every page has, and the study's."""
    wanted: Sequence[ExhibitSpec] = document.exhibits or default_exhibits(document)
    kinds = {spec.kind for spec in wanted}
    heads: list[ExhibitSpec] = []
    for kind in _HEADS:
        heads += [spec for spec in wanted if spec.kind == kind] or [ExhibitSpec(kind=kind)]
    if document.history_runs and "trend" not in kinds:
        heads.append(ExhibitSpec(kind="trend"))
    middle = [spec for spec in wanted if spec.kind not in _HEADS]
    last = [ExhibitSpec(kind=kind) for kind in _WHERE_THERE if kind not in kinds]
    return [*heads, *middle, *last]


def _on_page(document: Document, figure: Figure, number: int) -> Figure:
    """Return a figure with an id of its own, and with a note on the values that the page omits."""
    note = document.shown.notes.get(figure.probe, "")
    return replace(
        figure,
        id=f"{figure.id}-{number}" if number > 1 else figure.id,
        caption=f"{figure.caption} {note}".strip() if note else figure.caption,
    )
