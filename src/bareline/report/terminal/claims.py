"""Printed beside measured, as a short table."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from bareline.analysis.claims import Status
from bareline.report.content.claims import ClaimRow, Claims
from bareline.report.terminal.console import clean
from bareline.report.terminal.tables import Column, print_table
from bareline.vocabulary.units import count

_STYLES: Mapping[Status, str] = {
    Status.YES: "bold",
    Status.NO: "bold red",
    Status.CANNOT_TELL: "dim",
    Status.NOT_MEASURED: "dim",
}


def print_claims(claims: Claims, console: Console) -> None:
    """Print what a publication claims beside what was measured; count what was not."""
    if not claims.rows:
        return
    if claims.open:
        heads = [
            Column("claim"),
            Column("printed"),
            Column("measured here"),
            Column("same direction?"),
        ]
        print_table(heads, [_fields(row) for row in claims.open], console)
    if claims.folded:
        noun = count(len(claims.folded), "further claim")
        told = f"{noun} on the page (`bareline report`): why what is not measured is not."
        console.print(Text(clean(told), "dim"))
    console.print()


def _fields(row: ClaimRow) -> list[Text | str]:
    printed = f"{row.printed} ({row.elsewhere})" if row.elsewhere else row.printed
    return [row.claim, printed, row.measured, Text(row.status.value, _STYLES.get(row.status, ""))]
