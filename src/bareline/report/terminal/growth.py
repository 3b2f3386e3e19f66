"""A program on more ranks in the terminal: its times, or its messages, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bareline.predict.scaling.growth import Growth
from bareline.predict.scaling.messages import MessageRow, basis
from bareline.predict.scaling.ranks import Grown, Scaled
from bareline.report.blocks import Block, Remark, Rows, Table
from bareline.vocabulary.units import format_value


def growth_blocks(every: Sequence[Growth]) -> Iterator[Block]:
    """Yield times by the number of ranks, where scaling ends, and what limits the prediction."""
    for done in every:
        last, first = done.points[-1], done.points[0]
        low, high = (format_value(end, "s") for end in (last.period_lo_s, last.period_hi_s))
        band = f" [{low}, {high}]" if last.period_lo_s != last.period_hi_s else ""
        yield Remark(
            f"On {last.platform} {last.program} takes {format_value(last.time_s, 's')} on "
            f"{last.ranks} ranks ({last.periods} periods of "
            f"{format_value(last.period_s, 's')}{band}), "
            f"at {last.efficiency:.0%} of the efficiency of {first.ranks} ranks.",
            "bold",
        )
        if last.scaling_ends is None:
            yield Remark(f"Scaling does not end up to {last.ranks} ranks.")
        else:
            yield Remark(f"Scaling ends at {last.scaling_ends} ranks, by {last.ended_by}.")
        yield _growth_table(done)
        yield from _grounds(done)


def _growth_table(done: Growth) -> Table:
    rows = Rows(done.points).text("grid", lambda one: one.grid)
    rows.figure("ranks", lambda one: f"{one.ranks}{'' if one.profiled else '*'}")
    rows.figure("period", lambda one: format_value(one.period_s, "s"))
    rows.figure("efficiency", lambda one: f"{one.efficiency:.0%}")
    for name in done.points[-1].shares:
        rows.figure(name, lambda one, name=name: f"{one.shares.get(name, 0.0):.0%}")  # type: ignore[misc]
    return rows.table(whole=True)


def _grounds(done: Growth) -> Iterator[Block]:
    how = "simulated" if done.target.simulated else "replayed on the measured ladder"
    yield Remark(f"* made anew by laws in the grid's sides; all times are {how}.", "muted")
    error = done.computing.error
    off = f", off by {error:.0%} at most where one is left out"
    if error is None:
        off = ", a single count that no other checks: the band does not contain its error"
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
    for taken in basis(done.own, done.grown):
        yield Remark(f"{taken}.", "caution")
    for skipped in done.skipped:
        yield Remark(f"Left out: {skipped}.", "caution")


def message_blocks(own: Scaled, grown: Grown, rows: Sequence[MessageRow]) -> Iterator[Block]:
    """Return the calls of a period by function, and what they rest on."""
    sent = sum(row.sent_bytes for row in rows)
    calls = sum(row.calls for row in rows)
    profiled = ", ".join(f"{grid.ranks} ({grid})" for grid in own.known)
    yield Remark(
        f"A period of {rows[0].program} on {grown.grid.ranks} ranks ({grown.grid}): {calls:,} "
        f"calls that send {format_value(sent, 'B')}, from the profiles of {profiled} ranks."
        if rows
        else f"A period on {grown.grid.ranks} ranks calls nothing that moves data.",
        "bold",
    )
    yield _message_table(rows)
    checked = 1 - grown.unchecked.byte_share
    yield Remark(f"Laws that a second count or rank checks give {checked:.0%} of the bytes.")
    for taken in basis(own, grown):
        yield Remark(f"{taken}.", "caution")


def _message_table(rows: Sequence[MessageRow]) -> Table:
    table = Rows(rows).text("call", lambda row: row.call)
    table.figure("calls", lambda row: f"{row.calls:,}")
    table.figure("sent", lambda row: format_value(row.sent_bytes, "B"))
    table.figure("size of a call", lambda row: _span(*(f"{size:,} B" for size in row.sizes)))
    table.figure("calls of a rank", lambda row: _span(*map(str, row.calls_of_rank)))
    table.figure(
        "most profiled",
        lambda row: ", ".join(f"{n}: {calls}" for n, calls in row.calls_profiled.items()),
    )
    table.figure("partners", lambda row: _span(*map(str, row.partners)))
    table.figure("communicators", lambda row: ", ".join(map(str, row.communicators)))
    return table.table(whole=True)


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
