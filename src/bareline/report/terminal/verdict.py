"""The verdict: one line, the matrix of layers and platforms, and the sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bareline.analysis.parts import Amount, Interval, Lead, Part, Sentence
from bareline.analysis.verdict import Glance, Square
from bareline.report.content.wording import VERDICT_MARKS
from bareline.report.writers.columns import Column, fitting_tables, print_table
from bareline.report.writers.console import clean
from bareline.vocabulary.verdicts import Verdict

_STYLES: Mapping[type[Part], str] = {Amount: "bold", Interval: "dim"}
_SQUARES: Mapping[Verdict, str] = {
    Verdict.SLOWER: "red",
    Verdict.MIXED: "red",
    Verdict.FASTER: "green",
    Verdict.FAILED: "yellow",
    Verdict.INCONCLUSIVE: "dim",
    Verdict.NOT_COMPARABLE: "dim",
    Verdict.MISSING: "dim",
    Verdict.DOES_NOT_FIT: "dim",
    Verdict.SKIPPED: "dim",
}


def print_verdict(
    glance: Glance | None,
    statements: Sequence[Sentence],
    console: Console,
) -> None:
    """Print headline, matrix, then every sentence; a single platform has no headline."""
    if glance is not None:
        for clause in glance.headline.clauses:
            console.print(_set(clause, Text(style="bold")))
        console.print()
        _print_matrix(glance, console)
    print_statements(statements, console)
    if glance is not None and glance.promise:
        console.print(Text(clean(glance.promise), style="dim"))
        console.print()


def print_statements(statements: Sequence[Sentence], console: Console) -> None:
    """Print the sentences: amounts in bold, intervals lighter, long ones a clause a line."""
    if not statements:
        console.print("There is nothing to compare.")
    for statement in statements:
        if statement.lead is not None and statement.is_long:
            _print_clauses(statement.lead, statement.clauses, console)
        else:
            console.print(_set(statement, Text()))
        console.print()


def _print_clauses(lead: Lead, clauses: Sequence[Sentence], console: Console) -> None:
    console.print(Text(clean(lead.name), "bold"))
    for clause in clauses:
        rows = Table.grid(padding=(0, 1))
        rows.add_column(width=1)
        rows.add_column()
        rows.add_row("·", _set(clause, Text()))
        console.print(rows)


def _set(sentence: Sentence, into: Text) -> Text:
    for part in sentence.parts:
        text = clean(part.text)
        into.append(text if into else text[:1].upper() + text[1:], _STYLES.get(type(part), ""))
    return into


def _print_matrix(glance: Glance, console: Console) -> None:
    if not glance.squares:
        return
    heads = [Column(""), *(Column(name) for name in glance.platforms)]
    rows: list[list[Text | str]] = [
        [layer.words, *(_square(glance.squares.get((layer, name))) for name in glance.platforms)]
        for layer in glance.layers
    ]
    for places in fitting_tables(heads, rows, console.width):
        own = [0, *places]
        print_table([heads[at] for at in own], [[row[at] for at in own] for row in rows], console)
        console.print()


def _square(square: Square | None) -> Text:
    if square is None:
        return Text("not measured", "dim")
    text = Text(f"{VERDICT_MARKS[square.mark]} ", _SQUARES.get(square.mark, ""))
    return _set(square.words, text)
