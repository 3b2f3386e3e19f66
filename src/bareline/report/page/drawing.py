"""The page's figures with their tables, and the files that the page contains."""

from __future__ import annotations

import base64
import gzip
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl
from markupsafe import Markup

from bareline.report.blocks import Chart, Field, Figure, Table
from bareline.report.content.document import Document
from bareline.report.content.glossary import term_anchor, term_in
from bareline.report.content.spreadsheets import csv_of_rows, write_table
from bareline.report.figures.drawing_available import drawing_obstacle
from bareline.report.figures.marks import WIDTH_PX
from bareline.report.figures.svg import draw, for_page
from bareline.vocabulary.caveats import Caveat, notes
from bareline.vocabulary.finite import with_nulls
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.units import count

#: A table with at most this many rows is shown under its figure, not folded.
_OPEN_ROWS = 14
#: A folded table with more rows is compressed in the page, and decompressed when a reader unfolds
#: it.
_PLAIN_ROWS = 100
#: A table shows at most this many rows. With more a browser is slow; the CSV file has all rows.
_MOST_ROWS = 2_000
#: Up to 4 columns a row has one line on a phone, up to 16 two lines; with more, it also has one.
_ONE_LINE = 4
_TOO_MANY = 17
_VIEW = re.compile(r'viewBox="\S+ \S+ (\S+) (\S+)"')
_ORIGIN = re.compile(r"translate\(([\d.]+),([\d.]+)\)")
#: The small drawing shows so much around the plot (marks reach over the axes), and omits its foot.
_EDGE_PX = 4.0
_FOOT_PX = 36.0


@dataclass(frozen=True, slots=True)
class PanelChoice:
    """A panel that a reader can choose to see large.

    - `id`: the id of the panel's drawing; the small drawing refers to it.
    - `view`: the view box of the small drawing, which has the plots without the labels of axes.
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
    """A figure whose panels are drawn for the page.

    - `sources`: for each part of a publication, its published figures. Each has its anchor and its
      number in the page's list.
    """

    figure: Figure
    panels: tuple[Markup, ...]
    narrow: tuple[Markup, ...]
    table: TableView | None
    csv: Download | None = None
    sources: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)

    @property
    def open(self) -> bool:
        """Whether the table is shown at first.

        A table without a drawing is shown unless the figure is `folded`. A table below a drawing is
        shown if it is short and the drawing takes the whole width, which the table also needs.
        """
        if not self.panels:
            return not self.figure.folded
        table = self.figure.data_table
        if table is None or not self.figure.wide:
            return False
        return len(table.rows) <= _OPEN_ROWS

    @property
    def choices(self) -> list[PanelChoice]:
        """The panels to choose from; empty if all panels are drawn in one size."""
        names = self.figure.names
        large = self.figure.large
        if large is None or len(self.panels) != len(names):
            return []
        choices: list[PanelChoice] = []
        for place, (name, panel) in enumerate(zip(names, self.panels, strict=True)):
            panel_id = f"{self.figure.id}-panel-{place}"
            choices.append(_choice(panel_id, name, panel, large=place == large))
        return choices

    @property
    def packed(self) -> bool:
        """Whether the rows of the table are compressed: the table is long, and hidden at first."""
        return self.table is not None and not self.open and len(self.table.rows) > _PLAIN_ROWS


@dataclass(frozen=True, slots=True)
class TableView:
    """A table and the letters of its footnotes."""

    table: Table
    letters: Mapping[Caveat, str]

    @property
    def rows(self) -> Sequence[tuple[Field, ...]]:
        """The rows to show."""
        return self.table.rows[:_MOST_ROWS]

    @property
    def folds(self) -> int:
        """The number of columns per line if a phone divides each row into two lines; else 0."""
        columns = self.table.columns
        if all(column.kind == "text" for column in columns):
            return 0
        if not _ONE_LINE < len(columns) < _TOO_MANY:
            return 0
        return math.ceil(len(columns) / 2)

    @property
    def notes(self) -> list[tuple[str, str]]:
        """The letter and text of each footnote."""
        texts = notes(self.letters)
        return [(letter, texts[caveat]) for caveat, letter in self.letters.items()]

    def marks(self, caveats: Iterable[Caveat]) -> str:
        """Return the letters of some caveats, e.g. ``a,c``."""
        letters = [self.letters[caveat] for caveat in caveats if caveat in self.letters]
        return ",".join(sorted(letters))


def _choice(panel_id: str, name: str, panel: Markup, *, large: bool) -> PanelChoice:
    """Return a panel that a reader can choose; its small drawing has no axis labels."""
    view = _VIEW.search(panel)
    width_px = float(view[1]) if view else 0.0
    height_px = float(view[2]) if view else 0.0
    origin = _ORIGIN.search(panel)
    left_px = float(origin[1]) if origin else 0.0
    top_px = float(origin[2]) if origin else 0.0
    part = (
        left_px - _EDGE_PX,
        top_px - _EDGE_PX,
        WIDTH_PX + 2 * _EDGE_PX,
        height_px - top_px - _FOOT_PX,
    )
    return PanelChoice(
        id=panel_id,
        name=name,
        drawing=Markup(str(panel).replace("<svg ", f'<svg id="{panel_id}" ', 1)),
        view=" ".join(f"{length:g}" for length in part),
        width_px=width_px,
        height_px=height_px,
        large=large,
    )


def draw_figure(
    figure: Figure, *, explained: bool = False, numbers: Mapping[str, int] | None = None
) -> DrawnFigure:
    """Draw the panels of a figure and prepare its data table.

    - `explained`: whether the page has a glossary; if so, the titles of axes link to it.
    - `numbers`: by anchor, the number of each published figure in the page's list.
    """
    table = figure.data_table
    return DrawnFigure(
        figure,
        _panels(figure, figure.panels, f"{figure.id}-", explained=explained),
        _panels(figure, figure.narrow, f"{figure.id}-narrow-", explained=explained),
        TableView(table, table.letters) if table is not None else None,
        figure_csv(figure),
        _numbered_sources(figure, numbers or {}),
    )


def _panels(
    figure: Figure, charts: Sequence[Chart], prefix: str, *, explained: bool
) -> tuple[Markup, ...]:
    """Draw the panels of a figure for the page."""
    if drawing_obstacle():
        return ()  # its table replaces it, and page and command line report why
    panels: list[Markup] = []
    for index, chart in enumerate(charts):
        drawing = for_page(
            draw(chart),
            label=_description(figure, index),
            prefix=f"{prefix}{index}",
            term=_term_id if explained else None,
        )
        panels.append(Markup(drawing))
    return tuple(panels)


def _term_id(title: str) -> str:
    """Return the id of the explanation of an axis' title; "" if it has no explanation."""
    term = term_in(title)
    return term_anchor(term) if term else ""


def _numbered_sources(
    figure: Figure, numbers: Mapping[str, int]
) -> dict[str, list[tuple[str, int]]]:
    """Return the published values in a figure, by the part of a publication that prints them.

    Each has its anchor and its number in the page's list of published values.
    """
    sources: dict[str, list[tuple[str, int]]] = {}
    for anchor, name in figure.sources:
        if anchor in numbers:
            sources.setdefault(name, []).append((anchor, numbers[anchor]))
    return sources


def _description(figure: Figure, index: int) -> str:
    """Describe the content of a panel; only one panel has the summary of the whole figure."""
    if figure.large is None or index == figure.large:
        return f"{figure.title}. {figure.text_summary}"
    return f"{figure.title}: {figure.names[index]}. The table below has its numbers."


#: Files up to this size are embedded without compression.
_PLAIN_BYTES = 2_000
#: Most compressed raw data in a page. The run directory has all data.
_EMBEDDED_BYTES = 600_000
#: Tables with more rows would not fit into `_EMBEDDED_BYTES`, so they are not compressed first.
_EMBEDDED_ROWS = 200_000
#: Significant digits of embedded numbers. Launches differ in the third; a digit takes half a byte.
_DIGITS = 7


@dataclass(frozen=True, slots=True)
class Download:
    """A file that the page contains."""

    name: str
    about: str
    href: str
    size_bytes: int


def embed_numbers(document: Document) -> tuple[list[Download], list[str]]:
    """Return the tables of numbers as files, and the names of tables too large for the page."""
    missing: list[str] = []
    if document.shown.notes:
        missing.append("samples.csv")
    embedded: list[Download] = []
    room = _EMBEDDED_BYTES
    for table in _tables(document):
        file = table.packed()
        if file is None or file.size_bytes > room:
            missing.append(table.name)
        else:
            room -= file.size_bytes
            embedded.append(file)
    return [*embedded, _facts_file(document)], missing


@dataclass(frozen=True, slots=True)
class _NumberTable:
    """A table of numbers that a page may contain, and a description of the table."""

    name: str
    about: str
    frame: pl.DataFrame

    def packed(self) -> Download | None:
        """Return the table as a compressed file; None if it has too many rows."""
        if self.frame.height > _EMBEDDED_ROWS:
            return None
        return _csv(self.name, self.about, self.frame)


def _tables(document: Document) -> Iterator[_NumberTable]:
    """Yield the tables that a page may contain, the most important first."""
    compared = document.comparison
    if not compared.alone:
        yield _NumberTable("comparison.csv", "every comparison", compared.table)
    about = "medians, intervals and spread of every value"
    yield _NumberTable("summary.csv", about, document.summary)
    about = "every trial, failed ones with their reason"
    yield _NumberTable("trials.csv", about, document.records.trials)
    if not document.shown.notes:
        about = f"all {count(document.samples.height, 'sample')}"
        yield _NumberTable("samples.csv", about, document.samples)


def _facts_file(document: Document) -> Download:
    finite = with_nulls(document.facts, [])
    facts = json.dumps(finite, indent=1, ensure_ascii=False, default=str).encode()
    return _pack("facts.json", "every fact of every platform", "application/json", facts)


def _csv(name: str, about: str, frame: pl.DataFrame) -> Download:
    lists = [column for column, kind in frame.schema.items() if isinstance(kind, pl.List)]
    nested = [column for column, kind in frame.schema.items() if isinstance(kind, pl.Struct)]
    flat = frame.drop(nested).with_columns(
        # Single precision has seven digits, and is written with no more of them.
        pl.col(pl.Float64).cast(pl.Float32),
        *(pl.col(column).cast(pl.List(pl.String)).list.join("; ") for column in lists),
    )
    written = io.BytesIO()
    write_table(flat, written)
    return _pack(name, about, "text/csv", written.getvalue())


def figure_csv(figure: Figure) -> Download | None:
    """Return the numbers of a figure as a file in base units; None without numbers.

    If the figure has only a table, the file has the texts of the table.
    """
    if figure.data:
        rows = _data_rows(figure.data)
    elif figure.data_table is not None:
        rows = _table_rows(figure.data_table)
    else:
        return None
    content = csv_of_rows(rows).encode(errors="replace")
    return _pack(f"{figure.id}.csv", f"numbers of: {figure.title}", "text/csv", content)


def _data_rows(data: Sequence[Mapping[str, Scalar | None]]) -> list[Sequence[object]]:
    head = list(data[0])
    rows: list[Sequence[object]] = [head]
    for row in data:
        rows.append([_rounded(row.get(name)) for name in head])
    return rows


def _table_rows(table: Table) -> list[Sequence[object]]:
    """Return the texts of a table, without the narrow spaces between groups of digits."""
    rows: list[Sequence[object]] = [[column.title for column in table.columns]]
    for fields in (*table.rows, table.foot):
        if fields:
            rows.append([field.plain.replace("\u202f", "") for field in fields])
    return rows


def _rounded(value: Scalar | None) -> Scalar | None:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _pack(name: str, about: str, kind: str, content: bytes) -> Download:
    """Return a file that the page contains, compressed unless it is small.

    The page's script decompresses the file when the reader saves it.
    """
    if len(content) <= _PLAIN_BYTES:
        return make_download(name, about, kind, content)
    packed = gzip.compress(content, mtime=0)
    return make_download(f"{name}.gz", about, "application/gzip", packed)


def make_download(name: str, about: str, kind: str, content: bytes) -> Download:
    """Return a file that the page contains and the reader can save."""
    encoded = base64.b64encode(content).decode()
    return Download(name, about, f"data:{kind};base64,{encoded}", len(content))
