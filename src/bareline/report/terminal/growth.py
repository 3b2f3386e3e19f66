"""What a program takes on more ranks, in the terminal: the answer, a table, what it stands on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bareline.predict.growth import GrownRanks, Growth
from bareline.report.blocks import Block, Remark, Rows, Table
from bareline.vocabulary.units import format_value


def growth_blocks(every: Sequence[Growth]) -> Iterator[Block]:
    """Give times by the number of ranks, where scaling ends, and what limits the prediction."""
    for done in every:
        last, first = done.points[-1], done.points[0]
        yield Remark(
            f"On {last.platform} {last.program} takes {format_value(last.time_s, 's')} on "
            f"{last.ranks} ranks ({last.periods} periods of "
            f"{format_value(last.period_s, 's')}{_band(last)}), "
            f"at {last.efficiency:.0%} of the efficiency of {first.ranks} ranks.",
            "bold",
        )
        if last.scaling_ends is None:
            yield Remark(f"Scaling does not end up to {last.ranks} ranks.")
        else:
            yield Remark(f"Scaling ends at {last.scaling_ends} ranks, by {last.ended_by}.")
        yield _table(done)
        yield from _grounds(done)


def _band(point: GrownRanks) -> str:
    if point.period_lo_s == point.period_hi_s:
        return ""
    return f" [{format_value(point.period_lo_s, 's')}, {format_value(point.period_hi_s, 's')}]"


def _table(done: Growth) -> Table:
    rows = (
        Rows(done.points)
        .text("grid", lambda one: one.grid)
        .figure("ranks", lambda one: f"{one.ranks}{'' if one.profiled else '*'}")
        .figure("period", lambda one: format_value(one.period_s, "s"))
        .figure("efficiency", lambda one: f"{one.efficiency:.0%}")
    )
    for name in done.points[-1].shares:
        rows.figure(name, lambda one, name=name: f"{one.shares.get(name, 0.0):.0%}")  # type: ignore[misc]
    return rows.table(whole=True)


def _grounds(done: Growth) -> Iterator[Block]:
    """Say what it stands on, and what is not part of it."""
    how = "simulated" if done.target.simulated else "replayed on the measured ladder"
    yield Remark(f"* made anew by laws in the grid's sides; all times are {how}.", "muted")
    error = done.computing.error
    off = "" if error is None else f", off by {error:.0%} at most where one is left out"
    yield Remark(f"It rests on {done.computing.source}{off}.")
    calls = f"{done.own.largest.beside:,} calls of a rank before and after all periods"
    yield Remark(f"Not part of it: {calls}.")
    if done.own.left_out:
        ranks = ", ".join(map(str, done.own.left_out))
        yield Remark(f"Of {ranks} ranks only computing counts: they call something else.")
    if done.own.spread:
        yield Remark(
            f"Messages differ by {done.own.spread:.1%} of their bytes from period to period and "
            "follow no law exactly: means, off by "
            f"{done.points[-1].sizes_off:.1%} where a count is left out.",
            "caution",
        )
    for note in done.target.notes:
        yield Remark(f"Assumed: {note}.")
    if unchecked := done.points[-1].unchecked_calls:
        yield Remark(f"{unchecked} calls rest on laws that no further count checks.", "caution")
    for skipped in done.skipped:
        yield Remark(f"Left out: {skipped}.", "caution")
