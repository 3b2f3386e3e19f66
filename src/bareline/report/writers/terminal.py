"""Blocks on a terminal: prose and names wrap, figures are never cut, nothing is cropped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.box import Box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
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

#: Only a line under the heads.
_RULE = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")
_GAP = 2
_BULLET = "· "
#: Cells that a column of names is given at least, so that few words are alone on a line.
_READABLE = 18
#: The pieces that are never broken: a word up to a space, a hyphen within a name, a slash, a
#: dot before a letter. Figures such as ``4.1.4`` stay whole.
_PIECE = re.compile(r".+?(?:\s+|[-_,;@](?=\S)|/(?=\w\w)|\.(?=[A-Za-z])|$)", re.DOTALL)


def print_blocks(blocks: Iterable[Block], console: Console) -> None:
    """Print blocks, with empty lines between them except next to lines and before notes."""
    before: Block | None = None
    for block in blocks:
        noted = isinstance(block, Note) and isinstance(before, Table | Note | Figure)
        lined = isinstance(block, Remark | Next) or isinstance(before, Remark | Next)
        if before is not None and not (noted or lined):
            console.print()
        before = block
        match block:
            case Table():
                _print_table(block, console)
            case Prose():
                _print_prose(block, console)
            case Note():
                print_paragraph(Text(style="dim").append_text(set_words(block.text)), console)
            case Remark():
                _print_remark(block, console)
            case Next():
                print_next(block.commands, console)
            case Section() | Folded():
                title = block.title if isinstance(block, Section) else block.summary
                console.print(Text(clean(title), "bold"))
                print_blocks(block.blocks, console)
            case Figure():
                if block.data_table is not None:
                    console.print(Text(clean(block.title), "bold"))
                    _print_table(block.data_table, console)


def set_words(words: Words) -> Text:
    """Set a sentence: amounts in bold, intervals lighter; it begins with a capital."""
    if not isinstance(words, Sentence):
        return Text(clean(words))
    text = Text()
    for part in words.parts:
        own = clean(part.text)
        text.append(own if text else own[:1].upper() + own[1:], _PARTS.get(type(part), ""))
    return text


def _print_remark(remark: Remark, console: Console) -> None:
    text = Text(style=_TONES.get(remark.tone, "")).append(clean(remark.lead), "bold")
    text.append_text(set_words(remark.text))
    if remark.unbroken:
        console.print(text, soft_wrap=True)
    else:
        print_paragraph(text, console)


def _print_prose(prose: Prose, console: Console) -> None:
    """Print sentences; a long one that has a lead is a list of its clauses."""
    for number, words in enumerate(prose.sentences):
        if number and prose.kind == "paragraphs":
            console.print()
        if isinstance(words, Sentence) and words.lead is not None and words.is_long:
            console.print(Text(clean(words.lead.name), "bold"))
            for clause in words.clauses:
                print_paragraph(set_words(clause), console, lead=_BULLET)
            continue
        style = "bold" if prose.kind == "headline" else ""
        lead = _BULLET if prose.kind == "list" else ""
        print_paragraph(Text(style=style).append_text(set_words(words)), console, lead=lead)


def _print_table(table: Table, console: Console) -> None:
    """Print a table; columns that do not fit go into more tables, and then fields have no notes."""
    letters = table.letters
    lines = [*table.rows, *([table.foot] if table.foot else [])]
    for noted in (True, False):
        rows = [[_field(field, letters, noted=noted) for field in row] for row in lines]
        tables = list(fitting_tables(table.columns, rows, console.width))
        if table.whole:
            tables = [list(range(1, len(table.columns)))]
        if len(tables) < 2:
            break
    for number, places in enumerate(tables):
        if number:
            console.print()
        own = [0, *places]
        print_table(
            [table.columns[at] for at in own], [[row[at] for at in own] for row in rows], console
        )
    for caveat, text in notes(letters).items():
        print_paragraph(Text(clean(text), style="dim"), console, lead=f"  {letters[caveat]}  ")


def _field(field: Field, letters: Mapping[Caveat, str], *, noted: bool) -> Text:
    text = set_words(field.text)
    text.stylize(_TONES.get(field.tone, ""))
    if noted and field.note:
        text.append(f" {clean(field.note)}", "dim")
    marks = ",".join(sorted(letters[one] for one in field.caveats))
    return text.append(f" {marks}" if text and marks else marks, "dim")


def print_table(
    columns: Sequence[Column], rows: Sequence[Sequence[Text | str]], console: Console
) -> None:
    """Print a table as wide as the console; wider where figures or single words need it."""
    table = Grid(box=_RULE, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim",
                 border_style="dim", show_edge=False)  # fmt: skip
    texts = [[_text(value) for value in row] for row in rows]
    widths = fitting_widths(columns, texts, console.width)
    for column, width in zip(columns, widths, strict=True):
        table.add_column(
            _wrapped(Text(clean(column.title)), width),
            justify="right" if column.kind in ("number", "light") else "left",
            style="dim" if column.kind == "light" else "",
            width=width,
            no_wrap=True,
            overflow="crop",
        )
    for row in texts:
        own = zip(row, columns, widths, strict=True)
        table.add_row(*(one if col.figures else _wrapped(one, width) for one, col, width in own))
    # Rich would crop lines wider than the console.
    before = console.width
    console.width = max(before, sum(widths) + _GAP * len(widths))
    try:
        console.print(_Unpadded(table))
    finally:
        console.width = before


@dataclass(frozen=True, slots=True)
class _Unpadded:
    """A table without the blanks with which its last column would be filled up."""

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
    """Share `most` cells out to columns, or more: each has room for its longest word or figure."""
    fields = [[_text(row[index]) for row in rows] for index in range(len(columns))]
    least = [least_width(column, own) for column, own in zip(columns, fields, strict=True)]
    wanted = [
        max(cell_len(column.title), *(_length(field) for field in own), 0)
        for column, own in zip(columns, fields, strict=True)
    ]
    spare = most - sum(least) - _GAP * (len(columns) - 1)
    widths = list(least)
    needs = sorted(range(len(columns)), key=lambda index: wanted[index] - least[index])
    for position, index in enumerate(needs):
        given = min(wanted[index] - least[index], max(0, spare) // (len(needs) - position))
        widths[index] += given
        spare -= given
    return widths


def fitting_tables(
    columns: Sequence[Column], rows: Sequence[Sequence[Text | str]], width: int
) -> Iterator[list[int]]:
    """Divide columns among few tables that all begin with the first; yield the other places."""
    first = [[row[0]] for row in rows]
    (used,) = fitting_widths(columns[:1], first, width // 3)
    room, places = width - used, list[int]()
    for place, column in enumerate(columns[1:], 1):
        needed = least_width(column, [row[place] for row in rows])
        own = _GAP + max(needed, min(len(column.title), _READABLE))
        if places and own > room:
            yield places
            room, places = width - used, []
        places.append(place)
        room -= own
    if places:
        yield places


def least_width(column: Column, fields: Sequence[Text | str]) -> int:
    """Return the cells that a column needs at least so that nothing in it is cut."""

    def widest(text: str) -> int:
        return max((cell_len(piece.rstrip()) for piece in _PIECE.findall(text)), default=0)

    texts = map(_text, fields)
    own: Iterable[int] = (
        map(_length, texts) if column.figures else (widest(text.plain) for text in texts)
    )
    return max([widest(clean(column.title)), *own])


def _length(text: Text) -> int:
    return max((cell_len(line) for line in text.plain.split("\n")), default=0)


def _wrapped(text: Text, width: int) -> Text:
    """Break a text between its pieces; each line has as many as fit."""
    ends, line, position = [], 0, 0
    for piece in _PIECE.findall(text.plain):
        if line and line + cell_len(piece.rstrip()) > width:
            ends.append(position)
            line = 0
        line = 0 if piece.endswith("\n") else line + cell_len(piece)
        position += len(piece)
    lines = text.divide(ends)
    for part in lines:
        part.rstrip()
    return Text("\n").join(lines)


def _text(value: Text | str) -> Text:
    return value if isinstance(value, Text) else Text(clean(value))
