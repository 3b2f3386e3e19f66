"""Figures drawn for the page, each with its table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from bareline.report.blocks.figure import Figure
from bareline.report.blocks.table import Field, Table
from bareline.report.content.glossary import term_anchor, term_in
from bareline.report.content.wording import lettered
from bareline.report.figures.obstacles import why_undrawn
from bareline.report.figures.panels import WIDTH_PX
from bareline.report.figures.svg import draw, for_page
from bareline.report.page.downloads import Download, figure_csv
from bareline.vocabulary.caveats import Caveat, notes

#: Rows of a table up to which it stands open under its figure.
_OPEN_ROWS = 14
#: Rows up to which a table that is folded away stands in the page as it is; longer ones are packed,
#: and unpacked when they are unfolded.
_PLAIN_ROWS = 100
#: Rows that a table shows at most: a browser is slow with more, and the CSV under it holds all.
_MOST_ROWS = 2_000
#: Columns up to which a row has one line on a phone, and from which on two are too few.
_ONE_LINE, _TOO_MANY = 4, 17
_VIEW = re.compile(r'viewBox="\S+ \S+ (\S+) (\S+)"')
_ORIGIN = re.compile(r"translate\(([\d.]+),([\d.]+)\)")
#: What a small panel leaves out: marks reach over the axes, and their titles stand below.
_EDGE_PX, _FOOT_PX = 4.0, 36.0


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the panels that a reader chooses from.

    - `id`: of the panel's drawing, which the small one shows again.
    - `view`: the part of it that the small one shows: the plots without their axes' labels.
    - `large`: whether it is drawn large at first.
    """

    id: str
    name: str
    drawing: Markup
    view: str
    width_px: float
    height_px: float
    large: bool


@dataclass(frozen=True, slots=True)
class DrawnFigure:
    """A figure with its panels drawn for the page.

    - `sources`: by publication and place in it, where each published figure stands in the page's
      list, and its number there.
    """

    figure: Figure
    panels: tuple[Markup, ...]
    narrow: tuple[Markup, ...]
    table: TableView | None
    csv: Download | None = None
    sources: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)

    @property
    def open(self) -> bool:
        """Whether the table stands open: it is the exhibit, or it is short.

        Under a drawing of half the width it is folded: open it takes the whole width, and another
        drawing could not stand beside.
        """
        table, wide = self.figure.data_table, self.figure.wide
        if not self.panels:
            return not self.figure.folded
        return table is not None and wide and len(table.rows) <= _OPEN_ROWS

    @property
    def choices(self) -> list[Choice]:
        """The panels to choose from; none where all of them are drawn alike."""
        large = self.figure.large
        if large is None or len(self.panels) != len(self.figure.names):
            return []
        return [
            _choice(f"{self.figure.id}-panel-{index}", name, panel, large=index == large)
            for index, (name, panel) in enumerate(zip(self.figure.names, self.panels, strict=True))
        ]

    @property
    def packed(self) -> bool:
        """Whether the table's rows are packed: it is long, and nobody sees it at first."""
        return self.table is not None and not self.open and len(self.table.rows) > _PLAIN_ROWS


@dataclass(frozen=True, slots=True)
class TableView:
    """A table and the letters of its footnotes."""

    table: Table
    letters: Mapping[Caveat, str]

    @property
    def rows(self) -> Sequence[tuple[Field, ...]]:
        """The rows that are shown."""
        return self.table.rows[:_MOST_ROWS]

    @property
    def folds(self) -> int:
        """Columns of a line on a phone, where a row of figures has two; 0 where it has one."""
        columns = self.table.columns
        worded = all(column.kind == "text" for column in columns)
        fits = _ONE_LINE < len(columns) < _TOO_MANY
        return 0 if worded or not fits else -(-len(columns) // 2)

    @property
    def notes(self) -> list[tuple[str, str]]:
        """The footnotes: letter and text."""
        told = notes(self.letters)
        return [(letter, told[caveat]) for caveat, letter in self.letters.items()]

    def marks(self, caveats: Iterable[Caveat]) -> str:
        """Give the letters of some caveats, e.g. ``a,c``."""
        return ",".join(
            sorted(self.letters[caveat] for caveat in caveats if caveat in self.letters)
        )


def _choice(name: str, told: str, panel: Markup, *, large: bool) -> Choice:
    view, origin = _VIEW.search(panel), _ORIGIN.search(panel)
    width, height = (float(view[1]), float(view[2])) if view else (0.0, 0.0)
    left, top = (float(origin[1]), float(origin[2])) if origin else (0.0, 0.0)
    seen = (left - _EDGE_PX, top - _EDGE_PX, WIDTH_PX + 2 * _EDGE_PX, height - top - _FOOT_PX)
    drawing = Markup(str(panel).replace("<svg ", f'<svg id="{name}" ', 1))
    return Choice(name, told, drawing, " ".join(f"{v:g}" for v in seen), width, height, large)


def draw_figure(
    figure: Figure, *, explained: bool = False, numbers: Mapping[str, int] | None = None
) -> DrawnFigure:
    """Draw a figure's panels and lay out its data table.

    - `explained`: the page has a glossary, which the titles of axes then name.
    - `numbers`: of the page's list of published figures, by where they stand.
    """

    def panels(charts: Sequence[object], prefix: str) -> tuple[Markup, ...]:
        if why_undrawn():
            return ()  # its table stands in its place, and page and command line say why
        return tuple(
            Markup(
                for_page(
                    draw(chart),  # type: ignore[arg-type]
                    label=_told(figure, index),
                    prefix=f"{prefix}{index}",
                    term=_term_id if explained else None,
                )
            )
            for index, chart in enumerate(charts)
        )

    table = figure.data_table
    return DrawnFigure(
        figure,
        panels(figure.panels, f"{figure.id}-"),
        panels(figure.narrow, f"{figure.id}-narrow-"),
        _view(table) if table is not None else None,
        figure_csv(figure),
        _sources(figure, numbers or {}),
    )


def _sources(figure: Figure, numbers: Mapping[str, int]) -> Mapping[str, Sequence[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = {}
    for anchor, name in figure.sources:
        if anchor in numbers:
            found.setdefault(name, []).append((anchor, numbers[anchor]))
    return found


def _told(figure: Figure, index: int) -> str:
    """Say what a panel shows; what all show is said once, where the reader begins."""
    if figure.large is None or index == figure.large:
        return f"{figure.title}. {figure.text_summary}"
    return f"{figure.title}: {figure.names[index]}. The table below holds its numbers."


def _term_id(title: str) -> str:
    """Give the id of the glossary's entry that explains an axis' title; else nothing."""
    term = term_in(title)
    return term_anchor(term) if term else ""


def _view(table: Table) -> TableView:
    return TableView(table, lettered(table.caveats))
