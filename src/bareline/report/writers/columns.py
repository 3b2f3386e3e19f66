"""Tables that fit the terminal: names wrap between their words, figures are never cut."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.box import Box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from bareline.report.blocks import Column
from bareline.report.writers.console import clean

#: Only a line under the heads.
_RULE = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")
_GAP = 2
#: Cells that a column of names is given at least, so that few words stand alone on a line.
_READABLE = 18
#: What is never broken: a word up to a space, a hyphen within a name, a slash, a dot before a
#: letter. Figures such as ``4.1.4`` stay whole.
_PIECE = re.compile(r".+?(?:\s+|[-_,;@](?=\S)|/(?=\w\w)|\.(?=[A-Za-z])|$)", re.DOTALL)


def print_table(
    columns: Sequence[Column], rows: Sequence[Sequence[Text | str]], console: Console
) -> None:
    """Print a table as wide as the console; wider where figures or single words need it."""
    table = Table(box=_RULE, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim",
                  border_style="dim", show_edge=False)  # fmt: skip
    texts = [[_field(value) for value in row] for row in rows]
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
        table.add_row(
            *(
                field if column.figures else _wrapped(field, width)
                for field, column, width in zip(row, columns, widths, strict=True)
            )
        )
    with _at_least(console, sum(widths) + _GAP * len(widths)):
        console.print(_Unpadded(table))


@dataclass(frozen=True, slots=True)
class _Unpadded:
    """A table without the blanks with which its last column would be filled up."""

    table: Table

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
    """Share `most` cells out to columns; each has what its longest word or figure needs.

    Where that is already too much, it is what they get.
    """
    fields = [[_field(row[index]) for row in rows] for index in range(len(columns))]
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
    """Share columns out to as few tables as fit: each begins with the first column.

    Gives the places of the others, table by table.
    """
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
    """Give the cells that a column needs at least so that nothing in it is cut."""
    head = max((cell_len(piece.rstrip()) for piece in _pieces(clean(column.title))), default=0)
    texts = [_field(field) for field in fields]
    if column.figures:
        return max(head, *(_length(text) for text in texts), 0)
    return max(head, *(cell_len(p.rstrip()) for text in texts for p in _pieces(text.plain)), 0)


def _length(text: Text) -> int:
    return max((cell_len(line) for line in text.plain.split("\n")), default=0)


def _pieces(text: str) -> list[str]:
    return _PIECE.findall(text)


def _wrapped(text: Text, width: int) -> Text:
    """Break a text between its pieces; each line holds as many as fit."""
    ends, line, position = [], 0, 0
    for piece in _pieces(text.plain):
        if line and line + cell_len(piece.rstrip()) > width:
            ends.append(position)
            line = 0
        line = 0 if piece.endswith("\n") else line + cell_len(piece)
        position += len(piece)
    lines = text.divide(ends)
    for part in lines:
        part.rstrip()
    return Text("\n").join(lines)


@contextmanager
def _at_least(console: Console, width: int) -> Iterator[None]:
    """Let a console be as wide as what is printed, which Rich would crop otherwise."""
    before = console.width
    console.width = max(before, width)
    try:
        yield
    finally:
        console.width = before


def _field(value: Text | str) -> Text:
    return value if isinstance(value, Text) else Text(clean(value))
