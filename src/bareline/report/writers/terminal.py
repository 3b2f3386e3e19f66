"""Blocks on a terminal: text breaks into lines, but a number is never broken or cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.box import Box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from bareline.analysis.words.parts import Amount, Interval, Part, Sentence
from bareline.report.blocks import (
    Block,
    Column,
    Field,
    Figure,
    Folded,
    Next,
    Note,
    Prose,
    Remark,
    Section,
    Table,
    Tone,
    Words,
)
from bareline.report.writers.console import clean, print_next, print_paragraph
from bareline.vocabulary.caveats import Caveat, notes

_PARTS: Mapping[type[Part], str] = {Amount: "bold", Interval: "dim"}
_TONES: Mapping[Tone, str] = {
    "worse": "red", "better": "green", "muted": "dim", "bold": "bold", "caution": "yellow",
    "alarm": "bold yellow",
}  # fmt: skip

#: A box with only a line under the heads.
_RULE = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")
_GAP = 2
_BULLET = "· "
#: The least width of a column of names, so that few words are alone on a line.
_READABLE = 18
#: The pieces that are never broken: a word up to a space, a hyphen within a name, a slash, a
#: dot before a letter. Figures such as ``4.1.4`` stay whole.
_PIECE = re.compile(r".+?(?:\s+|[-_,;@](?=\S)|/(?=\w\w)|\.(?=[A-Za-z])|$)", re.DOTALL)


def print_blocks(blocks: Iterable[Block], console: Console) -> None:
    """Print blocks.

    An empty line is between two blocks, except before and after single lines and before notes.
    """
    before: Block | None = None
    for block in blocks:
        if before is not None and not _is_joined(before, block):
            console.print()
        _print_block(block, console)
        before = block


def _is_joined(before: Block, block: Block) -> bool:
    """Whether two blocks have no empty line between them."""
    if isinstance(before, Remark | Next) or isinstance(block, Remark | Next):
        return True
    return isinstance(before, Table | Note | Figure) and isinstance(block, Note)


def _print_block(block: Block, console: Console) -> None:
    match block:
        case Table():
            _print_table(block, console)
        case Prose():
            _print_prose(block, console)
        case Note():
            text = Text(style="dim").append_text(set_words(block.text))
            print_paragraph(text, console)
        case Remark():
            _print_remark(block, console)
        case Next():
            print_next(block.commands, console)
        case Section():
            _print_title(block.title, console)
            print_blocks(block.blocks, console)
        case Folded():
            _print_title(block.summary, console)
            print_blocks(block.blocks, console)
        case Figure():
            if block.data_table is not None:
                _print_title(block.title, console)
                _print_table(block.data_table, console)


def _print_title(title: str, console: Console) -> None:
    console.print(Text(clean(title), "bold"))


def set_words(words: Words) -> Text:
    """Return a sentence with bold amounts, lighter intervals, and a capital at its beginning."""
    if not isinstance(words, Sentence):
        return Text(clean(words))
    text = Text()
    for part in words.parts:
        letters = clean(part.text)
        if not text:
            letters = letters[:1].upper() + letters[1:]
        text.append(letters, _PARTS.get(type(part), ""))
    return text


def _print_remark(remark: Remark, console: Console) -> None:
    text = Text(style=_TONES.get(remark.tone, "")).append(clean(remark.lead), "bold")
    text.append_text(set_words(remark.text))
    if remark.unbroken:
        console.print(text, soft_wrap=True)
    else:
        print_paragraph(text, console)


def _print_prose(prose: Prose, console: Console) -> None:
    """Print sentences; a long sentence with a lead becomes a list of its clauses."""
    style = "bold" if prose.kind == "headline" else ""
    bullet = _BULLET if prose.kind == "list" else ""
    for number, words in enumerate(prose.sentences):
        if number and prose.kind == "paragraphs":
            console.print()
        if isinstance(words, Sentence) and words.lead is not None and words.is_long:
            _print_title(words.lead.name, console)
            for clause in words.clauses:
                print_paragraph(set_words(clause), console, lead=_BULLET)
            continue
        text = Text(style=style).append_text(set_words(words))
        print_paragraph(text, console, lead=bullet)


def _print_table(table: Table, console: Console) -> None:
    """Print a table.

    Columns that do not fit into the width go into further tables. The fields of a divided table
    have no notes.
    """
    letters = table.letters
    lines = [*table.rows]
    if table.foot:
        lines.append(table.foot)
    rows = _texts(lines, letters, noted=True)
    tables = _divided(table, rows, console.width)
    if len(tables) > 1:
        rows = _texts(lines, letters, noted=False)
        tables = _divided(table, rows, console.width)
    for number, places in enumerate(tables):
        if number:
            console.print()
        places_with_first = [0, *places]
        columns = [table.columns[place] for place in places_with_first]
        chosen: list[list[Text]] = []
        for row in rows:
            chosen.append([row[place] for place in places_with_first])
        print_table(columns, chosen, console)
    for caveat, text in notes(letters).items():
        print_paragraph(Text(clean(text), style="dim"), console, lead=f"  {letters[caveat]}  ")


def _texts(
    lines: Iterable[Sequence[Field]], letters: Mapping[Caveat, str], *, noted: bool
) -> list[list[Text]]:
    """Return the texts of the fields of a table's rows.

    - `noted`: whether the notes of the fields are included.
    """
    rows: list[list[Text]] = []
    for fields in lines:
        rows.append([_field(field, letters, noted=noted) for field in fields])
    return rows


def _divided(table: Table, rows: Sequence[Sequence[Text]], width: int) -> list[list[int]]:
    """Return the column indices, without the first column, of each table that fits the width.

    If the table must not be divided, there is one list with all columns.
    """
    tables = list(fitting_tables(table.columns, rows, width))
    if table.whole:
        return [list(range(1, len(table.columns)))]
    return tables


def _field(field: Field, letters: Mapping[Caveat, str], *, noted: bool) -> Text:
    """Return the text of a field with the letters of its caveats, and its note if `noted`."""
    text = set_words(field.text)
    text.stylize(_TONES.get(field.tone, ""))
    if noted and field.note:
        text.append(f" {clean(field.note)}", "dim")
    marks = ",".join(sorted(letters[caveat] for caveat in field.caveats))
    if text and marks:
        marks = f" {marks}"
    return text.append(marks, "dim")


def print_table(
    columns: Sequence[Column], rows: Sequence[Sequence[Text | str]], console: Console
) -> None:
    """Print a table as wide as its content, at most as wide as the console.

    It is wider than the console only if figures or single words need more.
    """
    table = Grid(box=_RULE, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim",
                 border_style="dim", show_edge=False)  # fmt: skip
    texts: list[list[Text]] = []
    for row in rows:
        texts.append([_text(value) for value in row])
    widths = fitting_widths(columns, texts, console.width)
    for column, width in zip(columns, widths, strict=True):
        _add_column(table, column, width)
    for fields in texts:
        cells: list[Text] = []
        for text, column, width in zip(fields, columns, widths, strict=True):
            cell = text
            if not column.figures:
                cell = _wrapped(text, width)
            cells.append(cell)
        table.add_row(*cells)
    # Rich would crop lines wider than the console.
    before = console.width
    console.width = max(before, sum(widths) + _GAP * len(widths))
    try:
        console.print(_Unpadded(table))
    finally:
        console.width = before


def _add_column(table: Grid, column: Column, width: int) -> None:
    """Add a column; figures are aligned right, and intervals in lighter ink."""
    justify: JustifyMethod = "left"
    if column.kind in ("number", "light"):
        justify = "right"
    style = "dim" if column.kind == "light" else ""
    table.add_column(
        _wrapped(Text(clean(column.title)), width),
        justify=justify,
        style=style,
        width=width,
        no_wrap=True,
        overflow="crop",
    )


@dataclass(frozen=True, slots=True)
class _Unpadded:
    """A table that is printed without spaces at the ends of lines."""

    table: Grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in console.render_lines(self.table, options, pad=False):
            segments = list(line)
            while segments and not segments[-1].text.strip():
                segments.pop()
            if segments:
                last = segments.pop()
                yield from segments
                yield Segment(last.text.rstrip(), last.style)
            yield Segment.line()


def fitting_widths(
    columns: Sequence[Column], rows: Sequence[Sequence[Text | str]], most: int
) -> list[int]:
    """Return the column widths, which are `most` characters in total at most.

    Each column has room for its longest word or figure, even if the total then exceeds `most`.
    """
    widths: list[int] = []
    missing: list[int] = []
    for place, column in enumerate(columns):
        fields = [_text(row[place]) for row in rows]
        least = least_width(column, fields)
        lengths = [cell_len(column.title), *map(_length, fields)]
        widths.append(least)
        missing.append(max(lengths) - least)
    gaps = _GAP * (len(columns) - 1)
    spare = most - sum(widths) - gaps
    left = len(columns)
    for place in sorted(range(left), key=lambda place: missing[place]):
        fair_share = max(0, spare) // left
        given = min(missing[place], fair_share)
        widths[place] += given
        spare -= given
        left -= 1
    return widths


def fitting_tables(
    columns: Sequence[Column], rows: Sequence[Sequence[Text | str]], width: int
) -> Iterator[list[int]]:
    """Yield the column indices of each table into which a wide table is divided.

    Every table begins with the first column, which names the rows. Its index 0 is left out.
    """
    first_fields = [[row[0]] for row in rows]
    (used,) = fitting_widths(columns[:1], first_fields, width // 3)
    room = width - used
    places: list[int] = []
    for place, column in enumerate(columns[1:], 1):
        fields = [row[place] for row in rows]
        readable = min(len(column.title), _READABLE)
        column_width = _GAP + max(least_width(column, fields), readable)
        if places and column_width > room:
            yield places
            room = width - used
            places = []
        places.append(place)
        room -= column_width
    if places:
        yield places


def least_width(column: Column, fields: Sequence[Text | str]) -> int:
    """Return the least width at which no word or figure of a column is cut."""
    texts = [_text(field) for field in fields]
    if column.figures:
        widths = [_length(text) for text in texts]
    else:
        widths = [_widest_piece(text.plain) for text in texts]
    return max([_widest_piece(clean(column.title)), *widths])


def _widest_piece(text: str) -> int:
    return max((cell_len(piece.rstrip()) for piece in _PIECE.findall(text)), default=0)


def _length(text: Text) -> int:
    return max((cell_len(line) for line in text.plain.split("\n")), default=0)


def _wrapped(text: Text, width: int) -> Text:
    """Return a text in lines of at most `width` characters, unless a single word is longer.

    A line ends after a space or, within a name, after a character such as a hyphen or a slash.
    """
    ends: list[int] = []
    line = 0
    position = 0
    for piece in _PIECE.findall(text.plain):
        if line and line + cell_len(piece.rstrip()) > width:
            ends.append(position)
            line = 0
        line += cell_len(piece)
        if piece.endswith("\n"):
            line = 0
        position += len(piece)
    lines = text.divide(ends)
    for part in lines:
        part.rstrip()
    return Text("\n").join(lines)


def _text(value: Text | str) -> Text:
    return value if isinstance(value, Text) else Text(clean(value))
