"""Blocks of a report, declared once for every writer: tables, prose, notes and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, product
from string import ascii_lowercase
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar

from bareline.analysis.numbers.row import Estimate, between, figure
from bareline.analysis.words.parts import Sentence
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.units import plain, whole

R = TypeVar("R")
#: "number" aligns right, "light" too and in lighter ink (intervals), "text" aligns left and wraps,
#: "whole" aligns left and stays on one line.
Kind = Literal["number", "light", "text", "whole"]
#: Ink of a text: "worse" and "better" for ratios with such a verdict, "caution" for warnings.
Tone = Literal["", "worse", "better", "muted", "bold", "caution", "alarm"]
#: Kind of table on a page: a reader can sort `data`, `strip` is a heat map, `steps` a waterfall.
Look = Literal["data", "plain", "facts", "strip", "glance", "claims", "steps"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; `title` includes the unit. Only columns of kind "text" wrap."""

    title: str
    kind: Kind = "text"
    platform: str = ""

    @property
    def figures(self) -> bool:
        """Whether the column contains figures, which are aligned right and are not broken."""
        return self.kind != "text"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a table.

    - `order`: the key by which the column is sorted; without `order`, the text itself.
    - `platform`: name of the platform whose coloured mark is drawn before the text.
    - `link`: id of the place on the page to which the field links, e.g. the source of a published
      figure.
    - `wrap`: whether the text is prose, which breaks into lines.
    - `note`: a second line in lighter ink.
    - `look`: the name of the shade of a field that is coloured by its loss, e.g. ``worse-2``.
    - `anchor`: the id of this field, to which other places of the page link.
    """

    text: str | Sentence
    order: float | str | None = None
    tone: Tone = ""
    caveats: tuple[Caveat, ...] = ()
    platform: str = ""
    link: str = ""
    tip: str = ""
    wrap: bool = False
    note: str = ""
    look: str = ""
    anchor: str = ""

    @property
    def plain(self) -> str:
        """The text of the field without formatting, e.g. without bold numbers."""
        return self.text if isinstance(self.text, str) else self.text.text


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of fields under heads.

    - `starts`: indices of the rows that begin a group.
    - `foot`: a last row that stays last when a reader sorts the table.
    - `groups`: rows of heads above the column heads; the first head begins at the second column. A
      head is a text and the number of columns that it covers.
    - `label`: a description of the table for readers who cannot see it.
    - `whole`: whether the table is never divided. Otherwise a narrow terminal prints its columns in
      several tables.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Field, ...], ...]
    starts: frozenset[int] = frozenset()
    foot: tuple[Field, ...] = ()
    look: Look = "data"
    groups: tuple[tuple[tuple[str, int], ...], ...] = ()
    label: str = ""
    whole: bool = False

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """The caveats that become footnotes, in the order of the rows."""
        caveats: dict[Caveat, None] = {}
        for row in (*self.rows, self.foot):
            for field in row:
                caveats.update(dict.fromkeys(field.caveats))
        return tuple(caveats)

    @property
    def letters(self) -> dict[Caveat, str]:
        """The letter of each footnote: a to z, then aa."""
        letters = chain(ascii_lowercase, map("".join, product(ascii_lowercase, repeat=2)))
        return dict(zip(self.caveats, letters, strict=False))


class Rows(Generic[R]):
    """A builder of a table: it begins with the rows, and each method adds a column.

    - `group`: a function that returns the same value for all rows of a group; without `group`, all
      rows are one group.
    """

    def __init__(self, rows: Iterable[R], group: Callable[[R], object] | None = None) -> None:
        self.rows = list(rows)
        self._group = group
        self._columns: list[Column] = []
        self._fields: list[list[Field]] = []

    def column(self, title: str, field: Callable[[R], Field], kind: Kind = "number") -> Self:
        """Add a column; `field` returns the field of each row."""
        return self.fields(title, map(field, self.rows), kind)

    def fields(self, title: str, fields: Iterable[Field], kind: Kind = "number") -> Self:
        """Add a column of the given fields, which are in the order of the rows."""
        self._columns.append(Column(title, kind))
        self._fields.append([*fields])
        return self

    def text(self, title: str, words: Callable[[R], str], *, wrap: bool = False) -> Self:
        """Add a column of text; `words` returns the text of each row."""
        return self.column(title, lambda row: Field(words(row), wrap=wrap), "text")

    def figure(self, title: str, words: Callable[[R], str], kind: Kind = "number") -> Self:
        """Add a column of figures; `words` returns the formatted figure of each row."""
        return self.column(title, lambda row: Field(words(row)), kind)

    def platform(self, name: Callable[[R], str], title: str = "platform") -> Self:
        """Add a column of platforms, each with its mark."""
        return self.column(title, lambda row: Field(name(row), platform=name(row)), "text")

    def number(
        self,
        title: str,
        value: Callable[[R], float | None],
        write: Callable[[float], str] = whole,
        *,
        kind: Kind = "number",
        absent: str = "–",
        tone: Callable[[R], Tone] = lambda _: "",
    ) -> Self:
        """Add a column of numbers; `absent` is written if a row has no number."""

        def field(row: R) -> Field:
            number = value(row)
            text = absent if number is None else write(number)
            return Field(text, number, tone(row))

        return self.column(title, field, kind)

    def estimate(
        self,
        title: str,
        estimate: Callable[[R], Estimate | None],
        write: Callable[[float], str] = plain,
        *,
        interval: str = "95 %",
        tone: Callable[[R], Tone] = lambda _: "",
        caveats: Callable[[R], tuple[Caveat, ...]] = lambda _: (),
    ) -> Self:
        """Add a column of estimates and a column of their intervals.

        `interval` is the title of the second column; if it is empty, this column is not added.
        """

        def field(row: R) -> Field:
            measured = estimate(row)
            value = measured.value if measured else None
            return Field(figure(value, write), value, tone(row), caveats(row))

        self.column(title, field)
        if interval:
            self.interval(estimate, write, title=interval)
        return self

    def interval(
        self,
        estimate: Callable[[R], Estimate | None],
        write: Callable[[float], str] = plain,
        *,
        title: str = "95 %",
    ) -> Self:
        """Add a column of intervals, in lighter ink."""

        def field(row: R) -> Field:
            measured = estimate(row)
            low = measured.lo if measured else None
            return Field(between(measured, write), low)

        return self.column(title, field, "light")

    def table(self, foot: tuple[Field, ...] = (), look: Look = "data", **options: Any) -> Table:
        """Return the table; `options` are fields of `Table`."""
        rows = tuple(zip(*self._fields, strict=True))
        return Table(tuple(self._columns), rows, self._starts(), foot, look, **options)

    def _starts(self) -> frozenset[int]:
        """Return the indices of the rows that begin a group, after the first row."""
        if self._group is None:
            return frozenset()
        groups = [self._group(row) for row in self.rows]
        return frozenset(
            place for place in range(1, len(groups)) if groups[place] != groups[place - 1]
        )


#: Text, or a sentence whose amounts, intervals and platforms a writer sets apart. Text between
#: backticks is code.
Words = str | Sentence


@dataclass(frozen=True, slots=True)
class Prose:
    """Sentences. Each sentence is a paragraph or an item of a list."""

    sentences: tuple[Words, ...]
    kind: Literal["paragraphs", "list", "headline"] = "paragraphs"


@dataclass(frozen=True, slots=True)
class Note:
    """A fact that the reader must know about a neighbouring block; shown in lighter ink."""

    text: Words


@dataclass(frozen=True, slots=True)
class Remark:
    """A line without space before and after it; a remark with an empty text makes space.

    - `lead`: words in bold before the line.
    - `unbroken`: whether a terminal never breaks the line.
    """

    text: Words = ""
    tone: Tone = ""
    lead: str = ""
    unbroken: bool = False


@dataclass(frozen=True, slots=True)
class Next:
    """Commands to type next."""

    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that are hidden under a line (`summary`) until the reader opens them.

    A writer that cannot hide blocks shows them.
    """

    summary: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading: a section in the table of contents, or a part of such a section.

    - `probe`: the probe that a part is about. The part is shown when the reader chooses this probe
      in the menu of its section.
    - `first`: whether the part is shown before a reader chooses a probe.
    """

    title: str
    blocks: tuple[Block, ...]
    anchor: str = ""
    probe: str = ""
    first: bool = False


Block: TypeAlias = "Table | Prose | Note | Remark | Next | Folded | Section | Figure"


#: A specification of Vega-Lite, as the dictionary that its manual describes.
Chart = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure or table of the page.

    - `id`: unique on the page; also the name of the figure's files.
    - `probe`, `layer`: the probe and layer that the figure is about; empty if it is about the whole
      page.
    - `panels`: the drawing, divided into parts that the page may put next to each other; empty for
      a table.
    - `names`: the name of each panel, e.g. ``16 nodes, 128 ranks``; empty if there is only one
      panel.
    - `large`: index of the panel that is drawn large until the reader chooses another panel.
    - `narrow`: the drawing for screens of less than 40 em; if empty, these screens show `panels`.
    - `folded`: for a figure without a drawing: whether the table is hidden at first.
    - `text_summary`: a description of the figure for readers who cannot see it.
    - `caveats`: the caveats of the values, in words, for a drawing in a separate file.
    - `sources`: for each published figure, its anchor in the page's list, its publication, and the
      part of the publication that prints it.
    - `data`: the numbers of the CSV file, in base units; if empty, the file has the numbers of the
      table.
    """

    id: str
    title: str
    caption: str = ""
    probe: str = ""
    layer: str = ""
    panels: tuple[Chart, ...] = ()
    names: tuple[str, ...] = ()
    large: int | None = None
    narrow: tuple[Chart, ...] = ()
    wide: bool = False
    folded: bool = False
    text_summary: str = ""
    caveats: tuple[str, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    data_table: Table | None = None
    data: tuple[Mapping[str, str | int | float | bool | None], ...] = ()

    @property
    def chart(self) -> Chart | None:
        """The whole drawing as one chart with its title, two panels to a row."""
        if not self.panels:
            return None
        title = f"{self.probe}: {self.title}" if self.probe else self.title
        return {
            "concat": self.panels,
            "columns": 2,
            "spacing": 24,
            "title": {"text": title, "fontSize": 13, "offset": 14},
        }
