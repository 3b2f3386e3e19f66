"""Published figures on a terminal: the publications, or one row per figure of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from bareline.published.model import PublishedStudy
from bareline.report.writers.columns import Column, print_table


def print_publications(studies: Sequence[PublishedStudy], console: Console) -> None:
    """Print what has been published, and which study repeats it."""
    rows = [
        [study.id, study.publication.study, str(study.count), study.publication.title]
        for study in studies
    ]
    heads = [Column("publication"), Column("study"), Column("figures", "number")]
    print_table([*heads, Column("title", "text")], rows, console)
    console.print("`bareline published NAME` lists the figures.", style="dim", highlight=False)


def print_published(
    studies: Sequence[PublishedStudy], rows: Sequence[Mapping[str, Any]], console: Console
) -> None:
    """Print every figure of publications, with what does not fit together below."""
    columns = [
        Column("benchmark", "text"),
        Column("at", "text"),
        Column("platform", "text"),
        Column("printed", "text"),
        Column("in", "text"),
    ]
    for number, study in enumerate(studies):
        if number:
            console.print()
        console.print(study.publication.short, style="bold", highlight=False)
        console.print(study.publication.source, style="dim", highlight=False)
        own = [row for row in rows if row["publication"] == study.id]
        doubts: dict[str, None] = dict.fromkeys(text for row in own for text in row["doubts"])
        marks = {text: f"[{place}]" for place, text in enumerate(doubts, 1)}
        print_table(columns, [_row(row, marks) for row in own], console)
        for text, mark in marks.items():
            console.print(f"{mark} {text}", style="dim", highlight=False, markup=False)
        for note in study.publication.notes:
            console.print(note, style="dim", highlight=False, markup=False)


def _row(row: Mapping[str, Any], marks: Mapping[str, str]) -> list[str]:
    text = " ".join([row["text"], *(marks[doubt] for doubt in row["doubts"])])
    against = f"{row['platform']} / {row['baseline']}" if row["baseline"] else row["platform"]
    what = f"{row['benchmark']}, {row['metric'].replace('_', ' ')}"
    return [what, row["conditions"], against, text, row["label"]]
