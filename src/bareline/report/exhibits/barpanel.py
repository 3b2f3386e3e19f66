"""What exhibits of bars share: which bars stand together, their axis, and how they are drawn."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from bareline.analysis.cell import Cell, Estimate
from bareline.report.content.cells import headline_first
from bareline.report.content.document import Document
from bareline.report.content.dots import Dot, Dots, trial_dots
from bareline.report.content.published import PublishedPoint, beside
from bareline.report.content.wording import metric_name, value_words, verdict_word
from bareline.report.exhibits.base import Exhibit, by_metric, grouped_by, select
from bareline.report.figures.figure import Chart, Figure
from bareline.report.figures.rows import RowPanel
from bareline.report.figures.scales import Scale, Ticks, unit_scale, zero_ticks
from bareline.report.figures.theme import looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import varying

#: What a diamond on an axis of values means.
DIAMONDS = (
    "Diamonds: the baseline's value changed by the published ratio, pale where that was measured "
    "elsewhere than here, which is written beside."
)
#: Names and bars together.
WIDTH_PX = 312
#: Most bars in a panel; further groups go on in the next one.
MOST_BARS = 27

#: Bars of the same metric and parameters, under their label.
Group = tuple[str, list[Cell]]


class BarExhibit(Exhibit):
    """A kind that draws one figure per probe and unit in which anything has a value."""

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw the figures."""
        groups = grouped_by(
            select(document, spec), lambda cell: (cell.place.probe, cell.metric.unit)
        )
        return [
            self.draw(document, spec, cells)
            for cells in groups.values()
            if any(cell.value is not None for cell in cells)
        ]

    @abstractmethod
    def draw(self, document: Document, spec: ExhibitSpec, cells: Sequence[Cell]) -> Figure:
        """Draw the figure of some cells of one probe and unit."""


@dataclass(frozen=True, slots=True)
class Bars:
    """The bars of a figure and the axis that all of its panels share.

    Attributes
    ----------
    metrics
        The headline first.
    dots, note
        The trials that are drawn of each cell, and words when that is not all of them.
    """

    document: Document
    metrics: Sequence[str]
    groups: Sequence[Group]
    scale: Scale
    ticks: Ticks
    dots: Mapping[Cell, Sequence[Dot]]
    note: str
    published: Sequence[PublishedPoint]

    @classmethod
    def around(
        cls,
        document: Document,
        cells: Sequence[Cell],
        *,
        published: Sequence[PublishedPoint] = (),
        others: Iterable[float] = (),
    ) -> Self:
        """Lay out bars so that values, intervals, trials, published and other values have room."""
        metrics = list(dict.fromkeys(cell.place.metric for cell in headline_first(cells)))
        groups = grouped(cells, several=len(metrics) > 1)
        scale = unit_scale((cell.median for cell in cells), cells[0].metric.unit)
        trials = Dots.together(
            trial_dots(document, own, len(own) * document.dots_per_bar)
            for _, own in by_metric(cells)
        )
        values = [end for cell in cells if cell.value for end in cell.value.known]
        values += [*others, *(dot.value for dot in trials.dots)]
        values += [value for _, own in groups for *_, value in expected(document, own, published)]
        return cls(
            document,
            metrics,
            groups,
            scale,
            zero_ticks(value * scale.factor for value in values),
            grouped_by(trials.dots, lambda dot: dot.cell),
            trials.note,
            published,
        )

    @property
    def names(self) -> str:
        """The metrics in words."""
        return ", ".join(metric_name(metric) for metric in self.metrics)

    @property
    def notes(self) -> list[str]:
        """What the caption says of trials and diamonds."""
        return [self.note, DIAMONDS if self.published else ""]

    def panels(self) -> list[Chart]:
        """Draw the groups, as many in a panel as have room."""
        most = max(1, MOST_BARS // len(self.shown))
        # Panels of one height, rather than a last one with what is left.
        each = math.ceil(len(self.groups) / math.ceil(len(self.groups) / most))
        chunks = [self.groups[i : i + each] for i in range(0, len(self.groups), each)]
        return [self._panel(chunk) for chunk in chunks]

    @property
    def shown(self) -> Sequence[str]:
        """The platforms that have a row in each group."""
        return self.document.names

    def _panel(self, groups: Sequence[Group]) -> Chart:
        document = self.document
        panel = row_panel(document, self.ticks)
        for label, cells in groups:
            panel.head(label)
            printed = expected(document, cells, self.published)
            for name in self.shown:
                cell = next((cell for cell in cells if cell.platform == name), None)
                y = self._bar(panel, name, cell)
                for point, own, value in printed:
                    if own is cell:
                        there = point.elsewhere(own.place)
                        panel.diamond(
                            name, value * self.scale.factor, y, point.tip, elsewhere=there
                        )
        return panel.chart(self.scale.unit)

    def _bar(self, panel: RowPanel, name: str, cell: Cell | None) -> float:
        """Draw a platform's bar and trials; give the height of its middle."""
        if cell is None or cell.value is None:
            return panel.empty(name, verdict_word(cell.verdict if cell else None) or "missing")
        factor, shown = self.scale.factor, cell.value
        y = panel.bar(
            name,
            Estimate(
                shown.value * factor,
                *(None if end is None else end * factor for end in (shown.lo, shown.hi)),
            ),
            text=self.told(cell),
            tip=f"{name}: {self.tip(cell)}",
            hollow=cell.simulated,
            parts=[(part * factor, strength) for part, strength in self.parts(cell)],
        )
        trials = sorted(self.dots.get(cell, ()), key=lambda dot: dot.trial)
        for index, dot in enumerate(trials):
            # The golden ratio spreads neighbours without any pattern or chance.
            offset = ((index * 0.618034) % 1 - 0.5) * 9
            tip = f"{name}, trial {dot.trial}: {self.scale.show(dot.value)} {self.scale.unit}"
            panel.dot(name, dot.value * factor, y + offset, tip)
        return y

    def told(self, cell: Cell) -> str:
        """Write the number at the end of a bar."""
        return self.scale.show(cell.median)

    def tip(self, cell: Cell) -> str:
        """Say what hovering says of a bar."""
        return value_words(cell, self.scale)

    def parts(self, cell: Cell) -> Sequence[tuple[float, float]]:
        """Divide a bar; none is."""
        return ()


def row_panel(document: Document, ticks: Ticks) -> RowPanel:
    """Begin a panel with as much room at the left as the platforms' names need."""
    labels_px = min(170.0, max(76.0, 26 + 6.3 * max(map(len, document.names))))
    return RowPanel(ticks, looks(document.names), plot_px=WIDTH_PX - labels_px, labels_px=labels_px)


def grouped(cells: Sequence[Cell], *, several: bool) -> list[Group]:
    """Put the platforms' cells of the same metric and parameters together, under their label."""
    names = varying(cell.place for cell in cells)

    def label(cell: Cell) -> str:
        metric = metric_name(cell.place.metric) if several else ""
        return ", ".join(filter(None, [metric, cell.place.told(names)]))

    return list(grouped_by(headline_first(cells), label).items())


def expected(
    document: Document, cells: Sequence[Cell], published: Sequence[PublishedPoint]
) -> list[tuple[PublishedPoint, Cell, float]]:
    """Give what platforms would have measured here with the published ratio to the baseline."""
    base = next((cell for cell in cells if cell.platform == document.baseline), None)
    value = base.median if base else None
    if not value:
        return []
    return [
        (point, cell, value / point.middle if cell.rate else value * point.middle)
        for cell in cells
        if cell.metric.directed
        for point in beside(published, cell)
    ]
