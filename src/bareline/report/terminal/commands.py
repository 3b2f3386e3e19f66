"""The answer of ``bareline ab``: which command is better, and the values of each command."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from bareline.analysis.numbers.row import Estimate
from bareline.analysis.words.commands import CommandRow, answer_of, quoted
from bareline.report.blocks import Block, Next, Note, Prose, Rows
from bareline.report.content.wording import verdict_tone
from bareline.report.figures.scales import unit_scale
from bareline.vocabulary.caveats import Caveat, briefs, read_caveats
from bareline.vocabulary.units import listing


def command_blocks(rows: Sequence[CommandRow], margin: float) -> Iterator[Block]:
    """Yield the answer (a sentence for each command after the first), a table, and the caveats."""
    base, *others = rows
    yield Prose(tuple(answer_of(row, base, margin) for row in others), "headline")
    yield _table(rows).table(whole=True)
    caveats: list[Caveat] = []
    for row in rows:
        caveats += read_caveats(row["caveats"])
    texts = list(briefs(caveats))
    if texts:
        yield Note(f"Caveats: {listing(texts)}.")


def next_blocks(run: str) -> Iterator[Block]:
    """Yield the commands to type next."""
    path = shlex.quote(run)
    yield Next((f"bareline show {path}", f"bareline report {path}"))


def _table(rows: Sequence[CommandRow]) -> Rows[CommandRow]:
    values = [row["value"] for row in rows if row["value"] is not None]
    scale = unit_scale(values, rows[0]["unit"])
    title = "wall time" if rows[0]["metric"] == "time" else "figure"
    table = Rows(rows).text("", lambda row: row["name"])
    table.text("command", lambda row: quoted(row["command"])[1:-1])
    table.figure("n", lambda row: str(row["n"]))
    table.estimate(scale.titled(title), _value, scale.show)
    table.estimate(
        f"times {rows[0]['name']}", _ratio, tone=lambda row: verdict_tone(row["verdict"])
    )
    return table


def _value(row: CommandRow) -> Estimate | None:
    return None if row["value"] is None else Estimate(row["value"], row["lo"], row["hi"])


def _ratio(row: CommandRow) -> Estimate | None:
    if row["ratio"] is None:
        return None
    return Estimate(row["ratio"], row["ratio_lo"], row["ratio_hi"])
