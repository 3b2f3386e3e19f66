"""Blocks on a terminal: prose wraps, tables share out the width, nothing is cropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from bareline.analysis.words.parts import Amount, Interval, Part, Sentence
from bareline.report.blocks import (
    Block,
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
from bareline.report.writers.columns import fitting_tables, print_table
from bareline.report.writers.console import clean, print_next
from bareline.vocabulary.caveats import Caveat, notes

_PARTS: Mapping[type[Part], str] = {Amount: "bold", Interval: "dim"}
_TONES: Mapping[Tone, str] = {
    "worse": "red", "better": "green", "muted": "dim", "bold": "bold", "caution": "yellow",
    "alarm": "bold yellow",
}  # fmt: skip


def print_blocks(blocks: Iterable[Block], console: Console) -> None:
    """Print blocks with an empty line between them; a note follows its table at once.

    Nothing stands between lines and their neighbours.
    """
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
                console.print(Text(style="dim").append_text(set_words(block.text)))
            case Remark():
                text = Text(style=_TONES.get(block.tone, "")).append(clean(block.lead), "bold")
                console.print(text.append_text(set_words(block.text)), soft_wrap=block.unbroken)
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


def _print_prose(prose: Prose, console: Console) -> None:
    """Print sentences; a long one that has a lead is a list of its clauses."""
    for number, words in enumerate(prose.sentences):
        if number and prose.kind == "paragraphs":
            console.print()
        if isinstance(words, Sentence) and words.lead is not None and words.is_long:
            console.print(Text(clean(words.lead.name), "bold"))
            for clause in words.clauses:
                _print_item(clause, console)
        elif prose.kind == "list":
            _print_item(words, console)
        else:
            style = "bold" if prose.kind == "headline" else ""
            console.print(Text(style=style).append_text(set_words(words)))


def _print_item(words: Words, console: Console) -> None:
    row = Grid.grid(padding=(0, 1))
    row.add_column(width=1)
    row.add_column()
    row.add_row("·", set_words(words))
    console.print(row)


def _print_table(table: Table, console: Console) -> None:
    """Print a table; columns that do not fit stand in further tables below.

    Notes of fields stand beside them where that needs no further table.
    """
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
        console.print(Text(f"  {letters[caveat]}  {clean(text)}", style="dim"))


def _field(field: Field, letters: Mapping[Caveat, str], *, noted: bool) -> Text:
    text = set_words(field.text)
    text.stylize(_TONES.get(field.tone, ""))
    if noted and field.note:
        text.append(f" {clean(field.note)}", "dim")
    marks = ",".join(sorted(letters[one] for one in field.caveats))
    return text.append(f" {marks}" if text and marks else marks, "dim")
