"""The platforms side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from bareline.report.blocks import Column
from bareline.report.content.facts import FactLine
from bareline.report.writers.columns import fitting_tables, print_table
from bareline.report.writers.console import clean
from bareline.vocabulary.units import count


def print_facts(
    rows: Sequence[FactLine], names: Sequence[str], console: Console, *, details: bool = False
) -> None:
    """Print the platforms' characteristics by group: what differs, and on demand the rest.

    Platforms that do not fit beside each other stand in further tables below.

    - `names`: the platforms, in the order of each row's values.
    - `details`: also details that differ, and what is the same everywhere.
    """
    shown = [row for row in rows if details or not (row.equal or row.detail)]
    if not shown and rows:
        console.print(f"Nothing differs between {count(len(names), 'platform')}.")
    if shown:
        fields = [[f"  {row.label}", *row.values] for row in shown]
        heads = [Column("characteristic"), *map(Column, names)]
        for index, places in enumerate(fitting_tables(heads, fields, console.width)):
            if index:
                console.print()
            own = [heads[0], *(heads[place] for place in places)]
            print_table(own, list(_grouped(shown, places)), console)
    same = sum(row.equal for row in rows)
    left_out = len(rows) - len(shown) - same
    folded = [f"{count(left_out, 'detail')} that differ"] if left_out and not details else []
    folded += (
        [f"{count(same, 'characteristic')} the same everywhere"] if not details and same else []
    )
    if folded:
        console.print(Text(f"{' and '.join(folded)}; --all shows them.", style="dim"))


def _grouped(rows: Sequence[FactLine], places: Sequence[int]) -> Iterator[list[Text | str]]:
    group = ""
    for row in rows:
        if row.group != group:
            group = row.group
            yield [Text(clean(group), style="bold"), *("" for _ in places)]
        yield [f"  {row.label}", *(row.values[place - 1] for place in places)]
