"""What platforms suit, on a terminal: classes of applications against platforms, then reasons."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from bareline.analysis.suitability import Answer, Judgement
from bareline.report.writers.columns import Column, print_table
from bareline.report.writers.console import clean


def print_suitability(judgements: Sequence[Judgement], console: Console) -> None:
    """Print the table and the reason of every answer; nothing where nothing was measured."""
    told = [row for row in judgements if row.answer is not Answer.NOT_MEASURED]
    if not told:
        return
    platforms = list(dict.fromkeys(row.platform for row in judgements))
    classes = list(dict.fromkeys(row.application_class for row in judgements))
    answers = {(row.application_class, row.platform): row for row in judgements}
    columns = [Column("applications"), *(Column(name) for name in platforms)]
    rows: list[list[Text | str]] = [
        [kind.title, *(_cell(answers.get((kind, name))) for name in platforms)] for kind in classes
    ]
    console.print(Text("What the platforms suit", "bold"))
    print_table(columns, rows, console)
    for row in told:
        kind = row.application_class.title
        where = kind if len(platforms) == 1 else f"{row.platform}, {kind}"
        text = Text(f"{where}: ", "dim").append(clean(row.words), "bold")
        console.print(text.append(f"; {clean(row.reason)}."))
    console.print()


def _cell(row: Judgement | None) -> Text:
    if row is None or row.answer is Answer.NOT_MEASURED:
        return Text(Answer.NOT_MEASURED.value, "dim")
    return Text(row.words)
