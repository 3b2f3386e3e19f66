"""The kinds of exhibits (figures and tables): their declaration, and common steps to a figure.

A kind is an `Exhibit`. Its module in this package ends with ``EXHIBIT = Exhibit(...)``, or with
``EXHIBITS = (...)`` if several kinds are similar. Plug-ins install their kinds under the
entry-point group ``bareline.exhibits``.

A number passes through four types on its way to a page: `TableRow`, a cell with its shown value;
`Panel`, the rows of one figure; `Drawing`, the figure's charts; and `Figure`, which `figure_of`
builds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from functools import cache, cached_property
from itertools import chain
from typing import Any

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.blocks import Figure, Table
from bareline.report.content.cells import headline_first, position, tidy
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

#: Texts that distinguish the figures of one kind.
Words = tuple[str, ...]
#: A probe, and one of its metrics or units.
Subject = tuple[str, str]

#: Yields the figures of a specification; none if the run has no data for them.
Draw = Callable[[Document, ExhibitSpec], Iterable[Figure]]


class Exhibit:
    """A kind of figure or table: its name in ``[[exhibit]]``, a summary, and the function `draw`.

    Instead of giving these to the constructor, a subclass may set `kind` and `summary` and override
    `figures`.
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
        """Return the figures of a specification; an empty list if the run has no data for them."""
        if self._draw is None:
            raise NotImplementedError(f"exhibit '{self.kind}' has no function that draws it")
        return list(self._draw(document, spec))

    def figure(self, spec: ExhibitSpec, *distinction: str, **given: Any) -> Figure:
        """Return the figure that `figure_of` makes of `given`, which may have fields of `Drawing`.

        - `distinction`: words that distinguish figures of one kind (`what` of `figure_of`).
        """
        drawn = {}
        for drawn_field in fields(Drawing):
            name = drawn_field.name
            if name in given:
                drawn[name] = given.pop(name)
        drawing = Drawing(**drawn)
        return figure_of(spec, what=distinction, drawing=drawing, **given)


def figure_of(
    spec: ExhibitSpec,
    *,
    title: str,
    what: Words = (),
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

    - `title`: the title that is used if the specification has none.
    - `label`: an addition to the title, which distinguishes figures with the same title.
    - `what`: words that distinguish figures of one kind; they become part of the id.
    - `notes`: sentences that follow the specification's caption.
    - `cells`: the shown cells, which have the caveats. If `layer` or `data` is not given,
      it is also taken from the cells.
    - `published`: the drawn published ratios, from which the sources are taken.
    """
    if layer is None:
        layer = _layer_of(cells)
    rows = tidy(cells) if data is None else tuple(data)
    caveats = caveat_notes(cells) if drawing.panels else ()
    sources = dict.fromkeys((point.anchor, point.source) for point in published)
    return Figure(
        id=slug(spec.kind, *what, label, spec.title),
        title=_joined(", ", spec.title or title, label),
        caption=_joined(" ", spec.caption, *notes),
        probe=probe,
        layer=layer,
        panels=tuple(drawing.panels),
        names=tuple(drawing.names),
        large=drawing.large,
        narrow=tuple(drawing.narrow),
        wide=drawing.wide,
        folded=folded,
        text_summary=summary,
        caveats=caveats,
        sources=tuple(sources),
        data_table=table,
        data=rows,
    )


def _joined(separator: str, *texts: str) -> str:
    """Join the texts that are not empty with `separator`."""
    return separator.join(filter(None, texts))


def _layer_of(cells: Iterable[Row]) -> str:
    """Return the common layer of the cells; empty if they have different layers."""
    layers = {cell.layer for cell in cells}
    if len(layers) != 1:
        return ""
    return layers.pop()


@cache
def load_exhibits() -> Mapping[str, Exhibit]:
    """Return the kinds of exhibits of this package and of installed plug-ins, by name.

    Raises PluginError: two kinds have the same name, or a plug-in is not a kind of exhibit.
    """
    built_in = own("bareline.report.exhibits", "EXHIBIT")
    exhibits = checked("exhibit", chain(built_in, brought("bareline.exhibits")), Exhibit)
    return named("kind of exhibit", exhibits, lambda exhibit: exhibit.kind)


def find_exhibit(kind: str) -> Exhibit:
    """Return the kind of exhibit with a name.

    Raises AnalysisError: no kind has this name; the message suggests the most similar name.
    """
    exhibits = load_exhibits()
    if kind not in exhibits:
        hint = did_you_mean(kind, exhibits, f"the kinds are: {', '.join(exhibits)}")
        raise AnalysisError(f"no exhibit is of kind '{kind}'", where="[[exhibit]]", hint=hint)
    return exhibits[kind]


def select(document: Document, spec: ExhibitSpec) -> list[Row]:
    """Return the cells that a specification selects.

    Without a metric, all metrics except details are selected.
    """
    cells = []
    for cell in document.cells:
        if _is_of_metric(spec, cell) and meant(spec, cell.platform, cell.place):
            cells.append(cell)
    return cells


def _is_of_metric(spec: ExhibitSpec, cell: Row) -> bool:
    if spec.metric:
        return cell.place.metric == spec.metric
    return not cell.metric.detail


def meant(spec: ExhibitSpec, platform: str, place: Place) -> bool:
    """Whether a specification selects a measured case on a platform, whatever the metric."""
    patterns = (spec.probe or "*", *spec.also)
    if not any(fnmatchcase(place.probe, pattern) for pattern in patterns):
        return False
    coordinates = {**place.coordinates, "platform": platform}
    for name, wanted in spec.where.items():
        allowed = wanted
        if isinstance(wanted, str | int | float):
            allowed = (wanted,)
        if coordinates.get(name) not in allowed:
            return False
    return True


def titled(document: Document, cell: Row, names: Iterable[str], *, metric: bool = True) -> str:
    """Return a title for a cell: the title of its probe, and the parameters in `names`.

    If `metric` is true, a metric other than the probe's headline is also named.
    """
    probe = cell.place.probe
    title = document.probe_titles.get(probe, probe)
    name = ""
    if metric and not cell.headline:
        name = metric_name(cell.place.metric)
    return _joined(", ", sentence_case(title), name, cell.place.words_of(names))


def by_metric(cells: Sequence[Row]) -> Iterator[tuple[Subject, list[Row]]]:
    """Yield each probe and metric with its cells, in the order of their first cell."""
    groups = grouped_by(cells, lambda cell: (cell.place.probe, cell.place.metric))
    yield from groups.items()


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a figure and of its table: a cell, the title of its group, and its shown values.

    - `shown`: the value that this kind of exhibit draws, e.g. the median, the lost performance or
      an efficiency.
    - `ratio`: the ratio to the baseline, computed by the rule in the exhibit's specification.
    - `base`: the baseline's value in this ratio.
    - `value`: the cell's value in this ratio.
    """

    cell: Row
    title: str = ""
    shown: Estimate | None = None
    ratio: Estimate | None = None
    base: float | None = None
    value: float | None = None

    @property
    def platform(self) -> str:
        """The platform of the cell."""
        return self.cell.platform


def cells_of(rows: Iterable[TableRow]) -> list[Row]:
    """Return the cell of each row."""
    return [row.cell for row in rows]


@dataclass(frozen=True)
class Panel:
    """The content of one figure.

    - `x`: the parameter on the horizontal axis, if there is one.
    - `places`: the values of `x` for which measurements were planned, by the title of a row.
    """

    document: Document
    spec: ExhibitSpec
    cells: Sequence[Row]
    rows: Sequence[TableRow] = ()
    x: str = ""
    what: Words = ()
    probe: str = ""
    label: str = ""
    places: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def baseline(self) -> str:
        """The platform with which all other platforms are compared."""
        return self.document.baseline

    def at(self, cell: Row) -> float:
        """Return the position of a cell on the axis: the value of the parameter `x`."""
        return position(cell, self.x)

    def figure(
        self,
        title: str,
        table: Table,
        drawing: Drawing = NO_DRAWING,
        notes: Iterable[str] = (),
        summary: str = "",
    ) -> Figure:
        """Return the figure of the panel; sources are named only if the figure has a drawing."""
        published = self.published
        drawn = published if drawing.panels else ()
        incomplete = uncompleted_words(published, self.cells)
        return figure_of(
            self.spec,
            title=title,
            what=self.what,
            label=self.label,
            notes=[*notes, incomplete],
            summary=summary,
            drawing=drawing,
            table=table,
            folded=bool(self.label),
            cells=self.cells,
            published=drawn,
            probe=self.probe,
        )

    @cached_property
    def published(self) -> Sequence[PublishedPoint]:
        """The published ratios that apply to the cells."""
        return points_for(self.document.published, self.spec, self.cells, self.baseline)

    @cached_property
    def planned(self) -> frozenset[str]:
        """The platforms that have a row, or for which a probe of the rows was planned."""
        cells = cells_of(self.rows)
        probes = {cell.place.probe for cell in cells}
        platforms = {cell.platform for cell in cells}
        return self.document.planned_on(probes) | platforms

    @cached_property
    def scale(self) -> Scale:
        """The unit in which the cells' values are shown."""
        return _scale_of(self.cells)

    @cached_property
    def unit(self) -> Scale:
        """The unit in which the rows' `shown` values are drawn."""
        return _scale_of(cells_of(self.rows))

    @cached_property
    def trials(self) -> Dots:
        """The trials that are drawn behind the bars of the rows."""
        most_per_bar = self.document.dots_per_bar
        trials = []
        for _, cells in by_metric(cells_of(self.rows)):
            most = most_per_bar * len(cells)
            trials.append(trial_dots(self.document, cells, most))
        return Dots.together(trials)

    @cached_property
    def groups(self) -> dict[str, list[TableRow]]:
        """The rows of each title."""
        return grouped_by(self.rows, lambda row: row.title)

    @property
    def metric(self) -> str:
        """The metric in words; if there are several, the headline is first."""
        metrics = dict.fromkeys(cell.place.metric for cell in headline_first(self.cells))
        return ", ".join(map(metric_name, metrics))


def _scale_of(cells: Sequence[Row]) -> Scale:
    """Return the unit in which the medians of the cells are easiest to read."""
    medians = [cell.median for cell in cells]
    return unit_scale(medians, cells[0].metric.unit)


def by_unit(document: Document, spec: ExhibitSpec) -> Iterator[Panel]:
    """Yield a panel for each probe and unit, so that the unit can be in a column head."""
    cells = select(document, spec)
    groups = grouped_by(cells, lambda cell: (cell.place.probe, cell.metric.unit))
    for key, group in groups.items():
        rows = labelled(headline_first(group))
        yield Panel(document, spec, group, rows, what=key, probe=key[0])


def labelled(cells: Sequence[Row]) -> list[TableRow]:
    """Return rows with titles made of the metric and parameters that vary among the cells."""
    names = varying(cell.place for cell in cells)
    metrics = {cell.place.metric for cell in cells}

    rows = []
    for cell in cells:
        metric = ""
        if len(metrics) > 1:
            metric = metric_name(cell.place.metric)
        label = _joined(", ", metric, cell.place.words_of(names))
        rows.append(TableRow(cell, label, cell.value, cell.ratio))
    return rows
