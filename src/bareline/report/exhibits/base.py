"""What an exhibit is, how kinds of exhibits are declared, and how they are found.

A kind of exhibit is a `Declared` or an `ExhibitKind`: a module of this package ends in
``EXHIBIT = ...``, or in ``EXHIBITS = (...)`` where several are alike. Others install theirs under
the entry-point group ``bareline.exhibits``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property
from itertools import chain
from typing import Any, Generic, TypeVar

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.blocks import Figure, Table
from bareline.report.content.cells import headline_first, numeric_axis, tidy
from bareline.report.content.document import Document
from bareline.report.content.dots import Dots, trial_dots
from bareline.report.content.published import PublishedPoint, points_for
from bareline.report.content.wording import caveat_notes, metric_name, sentence_case, slug
from bareline.report.figures.grammar import NO_DRAWING, Drawing
from bareline.report.figures.scales import Scale, unit_scale
from bareline.vocabulary.errors import AnalysisError, did_you_mean
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import Place, varying
from bareline.vocabulary.plugins import brought, checked, named, own

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a kind says of one figure; what all kinds say alike is added to it.

    - `what`: what tells it from others of its kind, for its name.
    - `title`, `label`: where the specification has no title; what follows it to tell figures apart.
    - `notes`: what stands in the caption after the specification's own.
    - `cells`: what it shows: they give its layer, its caveats and its data, unless these are given.
    - `spec`: another specification than the study's, whose title and caption are another figure's.
    """

    title: str
    what: tuple[str, ...] = ()
    label: str = ""
    notes: Iterable[str] = ()
    summary: str = ""
    drawing: Drawing = NO_DRAWING
    table: Table | None = None
    folded: bool = False
    cells: Sequence[Row] = ()
    published: Iterable[PublishedPoint] = ()
    probe: str = ""
    layer: str | None = None
    data: Iterable[Mapping[str, Any]] | None = None
    spec: ExhibitSpec | None = None

    def figure(self, asked: ExhibitSpec) -> Figure:
        """Put the figure together."""
        spec, drawing = self.spec or asked, self.drawing
        layers = {cell.layer for cell in self.cells}
        layer = layers.pop() if len(layers) == 1 else ""
        return Figure(
            id=slug(spec.kind, *self.what, self.label, spec.title),
            title=", ".join(filter(None, [spec.title or self.title, self.label])),
            caption=" ".join(filter(None, [spec.caption, *self.notes])),
            probe=self.probe,
            layer=layer if self.layer is None else self.layer,
            panels=tuple(drawing.panels),
            names=tuple(drawing.names),
            large=drawing.large,
            narrow=tuple(drawing.narrow),
            wide=drawing.wide,
            folded=self.folded,
            text_summary=self.summary,
            caveats=caveat_notes(self.cells) if drawing.panels else (),
            sources=tuple(dict.fromkeys((point.anchor, point.source) for point in self.published)),
            data_table=self.table,
            data=tidy(self.cells) if self.data is None else tuple(self.data),
        )


class Exhibit(ABC):
    """A kind of figure or table: its name in ``[[exhibit]]``, and a line for the reference."""

    kind: str
    summary: str

    @abstractmethod
    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw what the specification asks for; an empty list when the run holds none of it."""

    def figure(self, spec: ExhibitSpec, *what: str, **shown: Any) -> Figure:
        """Put a figure together of what `Draft` and `Drawing` take."""
        drawn = {one.name: shown.pop(one.name) for one in fields(Drawing) if one.name in shown}
        return Draft(what=what, drawing=Drawing(**drawn), **shown).figure(spec)


@dataclass(frozen=True)
class ExhibitKind(Exhibit):
    """A kind as a function that says what each of its figures shows."""

    kind: str
    summary: str
    shown: Callable[[Document, ExhibitSpec], Iterable[Draft]]

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw what it says."""
        return [one.figure(spec) for one in self.shown(document, spec)]


@cache
def load_exhibits() -> Mapping[str, Exhibit]:
    """Find every kind of exhibit of this package and of installed plug-ins, by name.

    Raises PluginError: two share a name, or a plug-in is no kind of exhibit.
    """
    every = chain(own("bareline.report.exhibits", "EXHIBIT"), brought("bareline.exhibits"))
    return named("kind of exhibit", checked("exhibit", every, Exhibit), lambda one: one.kind)


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
        if (cell.place.metric == spec.metric if spec.metric else not cell.metric.detail)
        and meant(spec, cell.platform, cell.place)
    ]


def meant(spec: ExhibitSpec, platform: str, place: Place) -> bool:
    """Return whether a specification asks for a place on a platform, whatever the metric."""
    known = {**place.coordinates, "platform": platform}
    probes = (spec.probe or "*", *spec.also)
    return any(fnmatchcase(place.probe, one) for one in probes) and all(
        known.get(name) in ((wanted,) if isinstance(wanted, str | int | float) else wanted)
        for name, wanted in spec.where.items()
    )


def titled(document: Document, cell: Row, names: Iterable[str], *, metric: bool = True) -> str:
    """Title a cell among those of several probes: what its probe measures, and some parameters.

    A metric that its probe is not judged by is named, too, unless all are of one metric.
    """
    title = sentence_case(document.probe_titles.get(cell.place.probe, cell.place.probe))
    what = "" if cell.headline or not metric else metric_name(cell.place.metric)
    return ", ".join(filter(None, [title, what, cell.place.words_of(names)]))


def grouped_by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Put together what shares a key, in the order in which it comes."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def by_metric(cells: Sequence[Row]) -> Iterator[tuple[tuple[str, str], list[Row]]]:
    """Group cells by probe and metric, in the order in which they come."""
    yield from grouped_by(cells, lambda cell: (cell.place.probe, cell.place.metric)).items()


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a figure and of its table: a cell, under its group's title, and what is shown of it.

    - `shown`: what the kind draws of the cell: its median, the performance lost, an efficiency.
    - `ratio`, `base`, `value`: to the baseline, and both sides, by the specification's rule.
    """

    cell: Row
    title: str = ""
    shown: Estimate | None = None
    ratio: Estimate | None = None
    base: float | None = None
    value: float | None = None


@dataclass(frozen=True)
class Chosen:
    """What one figure shows; `places`: by title, where on the axis something was to be measured."""

    document: Document
    spec: ExhibitSpec
    cells: Sequence[Row]
    rows: Sequence[TableRow] = ()
    x: str = ""
    what: tuple[str, ...] = ()
    probe: str = ""
    label: str = ""
    places: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @cached_property
    def published(self) -> Sequence[PublishedPoint]:
        """The published ratios that belong beside the cells."""
        return points_for(self.document.published, self.spec, self.cells, self.document.baseline)

    @cached_property
    def scale(self) -> Scale:
        """The unit of the cells' values."""
        return unit_scale((cell.median for cell in self.cells), self.cells[0].metric.unit)

    @cached_property
    def unit(self) -> Scale:
        """The unit of what the rows draw."""
        medians = (row.cell.median for row in self.rows)
        return unit_scale(medians, self.rows[0].cell.metric.unit)

    @cached_property
    def trials(self) -> Dots:
        """The trials that bars of the rows draw."""
        most = self.document.dots_per_bar
        return Dots.together(
            trial_dots(self.document, own, len(own) * most)
            for _, own in by_metric([row.cell for row in self.rows])
        )

    @cached_property
    def groups(self) -> dict[str, list[TableRow]]:
        """The rows by title."""
        return grouped_by(self.rows, lambda row: row.title)

    @property
    def metric(self) -> str:
        """The metric in words; several, the headline first."""
        metrics = dict.fromkeys(cell.place.metric for cell in headline_first(self.cells))
        return ", ".join(map(metric_name, metrics))


C = TypeVar("C", bound=Chosen)


@dataclass(frozen=True)
class Declared(Exhibit, Generic[C]):
    """A kind as data.

    - `query`: gives what each figure shows; nothing where the run holds none of it.
    - `title`: where the specification has none.
    - `columns`: tabulates it.
    - `mark`, `notes`, `words`: draws it, says in the caption what must be known, and sums it up.
    """

    kind: str
    summary: str
    query: Callable[[Document, ExhibitSpec], Iterable[C]]
    columns: Callable[[C], Table]
    title: Callable[[C], str] = lambda chosen: sentence_case(chosen.metric)
    mark: Callable[[C], Drawing] = lambda _: NO_DRAWING
    notes: Callable[[C], Iterable[str]] = lambda _: ()
    words: Callable[[C], str] = lambda _: ""

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw a figure for each choice of the query."""
        return [
            Draft(
                title=self.title(chosen),
                what=chosen.what,
                label=chosen.label,
                notes=self.notes(chosen),
                summary=self.words(chosen),
                drawing=(drawing := self.mark(chosen)),
                table=self.columns(chosen),
                folded=bool(chosen.label),
                cells=chosen.cells,
                published=chosen.published if drawing.panels else (),
                probe=chosen.probe,
            ).figure(spec)
            for chosen in self.query(document, spec)
        ]


def by_unit(document: Document, spec: ExhibitSpec) -> Iterator[Chosen]:
    """Choose a figure for each probe and unit, so that the unit can stand in a head."""
    groups = grouped_by(select(document, spec), lambda cell: (cell.place.probe, cell.metric.unit))
    for what, cells in groups.items():
        rows = labelled(headline_first(cells))
        yield Chosen(document, spec, cells, rows, what=what, probe=what[0])


def labelled(cells: Sequence[Row]) -> list[TableRow]:
    """Title cells of one probe by metric and parameters, as far as these vary."""
    names, several = varying(cell.place for cell in cells), len({c.place.metric for c in cells}) > 1

    def label(cell: Row) -> str:
        metric = metric_name(cell.place.metric) if several else ""
        return ", ".join(filter(None, [metric, cell.place.words_of(names)]))

    return [TableRow(cell, label(cell), cell.value, cell.ratio) for cell in cells]


#: Every page of a run that holds a calibration or predictions shows them, in this order.
_WHERE_THERE = (
    "calibration",
    "predicted",
    "worst-predictions",
    "upgrades",
    "waterfall",
    "coverage",
)


def default_exhibits(document: Document) -> tuple[ExhibitSpec, ...]:
    """Choose exhibits for a study that asks for none.

    The overview; then each metric that is not a detail as a curve when a numeric parameter varies
    in it, else as bars together with the probe's other single numbers.
    """
    chosen = [ExhibitSpec(kind="overview")]
    shown = [cell for cell in document.cells if not cell.metric.detail]
    for (probe, metric), cells in by_metric(shown):
        bars = ExhibitSpec(kind="bars", probe=probe)
        if x := numeric_axis(cells):
            chosen.append(ExhibitSpec(kind="curve", probe=probe, metric=metric, x=x))
        elif bars not in chosen:
            chosen.append(bars)
    return tuple(chosen)


def draw_figures(document: Document) -> tuple[list[Figure], list[ExhibitSpec]]:
    """Draw all figures, with unique ids; give the exhibits that the run has no data for, too.

    Raises AnalysisError: the study asks for a kind of exhibit that does not exist.
    """
    wanted: Sequence[ExhibitSpec] = document.exhibits or default_exhibits(document)
    heads: list[ExhibitSpec] = []
    for kind in ("overview", "suitability"):
        heads += [spec for spec in wanted if spec.kind == kind] or [ExhibitSpec(kind=kind)]
    if document.history_runs and not any(spec.kind == "trend" for spec in wanted):
        heads.append(ExhibitSpec(kind="trend"))
    rest = [spec for spec in wanted if spec.kind not in ("overview", "suitability")]
    asked = {spec.kind for spec in wanted}
    last = [ExhibitSpec(kind=kind) for kind in _WHERE_THERE if kind not in asked]
    drawn: list[Figure] = []
    empty: list[ExhibitSpec] = []
    used: Counter[str] = Counter()
    for spec in (*heads, *rest, *last):
        figures = find_exhibit(spec.kind).figures(document, spec)
        if not figures and spec in document.exhibits:
            empty.append(spec)
        for figure in figures:
            used[figure.id] += 1
            again = f"-{used[figure.id]}" if used[figure.id] > 1 else ""
            # What is left out of the page is said under the figures of its probe.
            note = document.shown.notes.get(figure.probe)
            caption = f"{figure.caption} {note}".strip() if note else figure.caption
            drawn.append(replace(figure, id=f"{figure.id}{again}", caption=caption))
    return drawn, empty
