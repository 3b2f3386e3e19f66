"""Kinds that are declared: what of a run each figure shows, its columns, and its mark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar

from bareline.analysis.numbers.cell import Cell, Estimate
from bareline.report.blocks.figure import Figure
from bareline.report.blocks.table import Table
from bareline.report.content.cells import headline_first
from bareline.report.content.document import Document
from bareline.report.content.dots import Dots, trial_dots
from bareline.report.content.published import PublishedPoint, points_for
from bareline.report.content.wording import metric_name, sentence_case
from bareline.report.exhibits.base import Exhibit, Shown, by_metric, grouped_by, select
from bareline.report.figures.figure import NO_DRAWING, Drawing
from bareline.report.figures.scales import Scale, unit_scale
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import varying


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a figure and of its table: a cell, under its group's title, and what is shown of it.

    - `shown`: what the kind draws of the cell: its median, the performance lost, an efficiency.
    - `ratio`, `base`, `value`: to the baseline, and both sides, as the specification's rule reports
      them.
    """

    cell: Cell
    title: str = ""
    shown: Estimate | None = None
    ratio: Estimate | None = None
    base: float | None = None
    value: float | None = None


@dataclass(frozen=True)
class Chosen:
    """What one figure shows of a document: cells, in rows that a title puts together.

    - `x`: parameter on the horizontal axis, if there is one.
    - `what`, `probe`, `label`: as in `Shown`.
    - `places`: by title, where on that axis something was to be measured.
    """

    document: Document
    spec: ExhibitSpec
    cells: Sequence[Cell]
    rows: Sequence[Row] = ()
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
        cells = [row.cell for row in self.rows]
        return unit_scale((cell.median for cell in cells), cells[0].metric.unit)

    @cached_property
    def trials(self) -> Dots:
        """The trials that bars of the rows draw."""
        most = self.document.dots_per_bar
        return Dots.together(
            trial_dots(self.document, own, len(own) * most)
            for _, own in by_metric([row.cell for row in self.rows])
        )

    @cached_property
    def groups(self) -> dict[str, list[Row]]:
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
            Shown(
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
    for (probe, unit), cells in groups.items():
        rows = labelled(headline_first(cells))
        yield Chosen(document, spec, cells, rows, what=(probe, unit), probe=probe)


def labelled(cells: Sequence[Cell]) -> list[Row]:
    """Title cells of one probe by metric and parameters, as far as these vary."""
    names, several = varying(cell.place for cell in cells), len({c.place.metric for c in cells}) > 1

    def label(cell: Cell) -> str:
        metric = metric_name(cell.place.metric) if several else ""
        return ", ".join(filter(None, [metric, cell.place.told(names)]))

    return [Row(cell, label(cell), cell.value, cell.ratio) for cell in cells]
