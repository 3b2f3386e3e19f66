"""What a program takes on more ranks, in the terminal: the answer, a table, what it stands on."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from bareline.predict.growth import GrownRanks, Growth
from bareline.report.blocks import Column
from bareline.report.writers.columns import print_table
from bareline.vocabulary.units import format_value


def _band(point: GrownRanks) -> str:
    if point.period_lo_s == point.period_hi_s:
        return ""
    return f" [{format_value(point.period_lo_s, 's')}, {format_value(point.period_hi_s, 's')}]"


def print_growth(every: Sequence[Growth], console: Console) -> None:
    """Print times by the number of ranks, where scaling ends, and what limits the prediction."""
    for done in every:
        _print_one(done, console)


def _print_one(done: Growth, console: Console) -> None:
    last, first = done.points[-1], done.points[0]
    console.print(
        Text(
            f"On {last.platform} {last.program} takes {format_value(last.time_s, 's')} on "
            f"{last.ranks} ranks ({last.periods} periods of "
            f"{format_value(last.period_s, 's')}{_band(last)}), "
            f"at {last.efficiency:.0%} of the efficiency of {first.ranks} ranks.",
            style="bold",
        )
    )
    if last.scaling_ends is None:
        console.print(Text(f"Scaling does not end up to {last.ranks} ranks."))
    else:
        console.print(Text(f"Scaling ends at {last.scaling_ends} ranks, by {last.ended_by}."))
    names = list(last.shares)
    heads = ("ranks", "period", "efficiency", *names)
    columns = [Column("grid"), *(Column(head, "number") for head in heads)]
    rows = [
        [
            one.grid,
            f"{one.ranks}{'' if one.profiled else '*'}",
            format_value(one.period_s, "s"),
            f"{one.efficiency:.0%}",
            *(f"{one.shares.get(name, 0.0):.0%}" for name in names),
        ]
        for one in done.points
    ]
    print_table(columns, rows, console)
    _print_grounds(done, console)


def _print_grounds(done: Growth, console: Console) -> None:
    """Print what it stands on, and what is not part of it."""
    how = "simulated" if done.target.simulated else "replayed on the measured ladder"
    console.print(
        Text(f"* made anew by laws in the grid's sides; all times are {how}.", style="dim")
    )
    error = done.computing.error
    off = "" if error is None else f", off by {error:.0%} at most where one is left out"
    console.print(Text(f"It rests on {done.computing.source}{off}."))
    said = (
        f"Not part of it: {done.own.largest.beside:,} calls of a rank before and after all periods."
    )
    console.print(Text(said))
    if done.own.left_out:
        said = ", ".join(map(str, done.own.left_out))
        console.print(Text(f"Of {said} ranks only computing counts: they call something else."))
    if done.own.spread:
        share = done.points[-1].sizes_off
        said = f"Messages differ by {done.own.spread:.1%} of their bytes from period to period and "
        said += f"follow no law exactly: means, off by {share:.1%} where a count is left out."
        console.print(Text(said, style="yellow"))
    for note in done.target.notes:
        console.print(Text(f"Assumed: {note}."))
    unchecked = done.points[-1].unchecked_calls
    if unchecked:
        said = f"{unchecked} calls rest on laws that no further count checks."
        console.print(Text(said, style="yellow"))
    for skipped in done.skipped:
        console.print(Text(f"Left out: {skipped}.", style="yellow"))
