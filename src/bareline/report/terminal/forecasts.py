"""A forecast in the terminal: the answer and its reasons, and the commands that it replaces."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from bareline.predict.changes import CallChange
from bareline.predict.prediction import Prediction
from bareline.report.blocks import Block, Remark, Rows
from bareline.report.terminal.predictions import prediction_blocks
from bareline.vocabulary.units import format_size, format_value, percent, plain

_MOST_CHANGES = 5


def forecast_blocks(prediction: Prediction, changes: Sequence[CallChange]) -> Iterator[Block]:
    """Yield the answer, and the calls that are slower or faster on the other platform."""
    yield from prediction_blocks(prediction)
    if changes:
        yield change_table(changes[:_MOST_CHANGES], prediction.base, prediction.platform)


def change_table(changes: Sequence[CallChange], base: str, platform: str) -> Block:
    """Return a table of calls: the time of one call on both platforms, and the added time.

    The added time is an upper bound, as a share of the program's time.
    """
    rows = Rows(changes).text("calls like", lambda row: row["probe"])
    rows.figure("ranks", lambda row: str(row["ranks"]))
    rows.figure("up to", _largest_size)
    rows.figure("calls/s", lambda row: plain(row["rate"]))
    rows.figure(f"one on {base}", lambda row: format_value(row["base_s"], "s"))
    rows.figure(f"on {platform}", lambda row: format_value(row["time_s"], "s"))
    rows.figure("times", lambda row: plain(row["time_s"] / row["base_s"]))
    rows.figure("adds at most", lambda row: percent(row["adds"], 2))
    return rows.table(whole=True)


def _largest_size(row: CallChange) -> str:
    return format_size(row["size_bytes"]) if row["size_bytes"] else "–"


def same_by_hand(commands: Sequence[Sequence[str]]) -> Iterator[Block]:
    """Yield the separate commands that a forecast replaces."""
    noun = "its own command" if len(commands) == 1 else "separate commands"
    yield Remark(f"The same with {noun}:", "muted")
    for words in commands:
        yield Remark(f"  {shlex.join(words)}".replace(" '>' ", " > "), "muted", unbroken=True)
