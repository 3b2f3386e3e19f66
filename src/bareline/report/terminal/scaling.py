"""The prediction of a program on more ranks: its times or messages, and their evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from bareline.predict.scaling.messages import MessageRow, basis
from bareline.predict.scaling.prediction import GrownRanks, ScalingPrediction
from bareline.predict.scaling.ranks import Grown, Scaled
from bareline.report.blocks import Block, Remark, Rows, Table
from bareline.vocabulary.units import format_value


def growth_blocks(predictions: Sequence[ScalingPrediction]) -> Iterator[Block]:
    """Yield the times by number of ranks, the end of scaling, and the basis of the prediction.

    Scaling ends at the number of ranks up to which more ranks save time.
    """
    for prediction in predictions:
        yield Remark(_growth_words(prediction), "bold")
        last = prediction.points[-1]
        if last.scaling_ends is None:
            yield Remark(f"Scaling does not end up to {last.ranks} ranks.")
        else:
            yield Remark(f"Scaling ends at {last.scaling_ends} ranks, by {last.ended_by}.")
        yield _growth_table(prediction)
        yield from _grounds(prediction)


def _growth_words(prediction: ScalingPrediction) -> str:
    """Describe the time and the efficiency on the largest number of ranks."""
    first = prediction.points[0]
    last = prediction.points[-1]
    time = format_value(last.time_s, "s")
    period = format_value(last.period_s, "s")
    if last.period_lo_s != last.period_hi_s:
        low = format_value(last.period_lo_s, "s")
        high = format_value(last.period_hi_s, "s")
        period += f" [{low}, {high}]"
    return (
        f"On {last.platform} {last.program} takes {time} on {last.ranks} ranks "
        f"({last.periods} periods of {period}), "
        f"at {last.efficiency:.0%} of the efficiency of {first.ranks} ranks."
    )


def _growth_table(prediction: ScalingPrediction) -> Table:
    """Return the times of a period (the repeated calls of the program) by number of ranks.

    A star marks a number of ranks without a profile.
    """
    rows = Rows(prediction.points).text("grid", lambda point: point.grid)
    rows.figure("ranks", _starred_ranks)
    rows.figure("period", lambda point: format_value(point.period_s, "s"))
    rows.figure("efficiency", lambda point: f"{point.efficiency:.0%}")
    for name in prediction.points[-1].shares:
        rows.figure(name, partial(_share_words, name))
    return rows.table(whole=True)


def _starred_ranks(point: GrownRanks) -> str:
    return str(point.ranks) if point.profiled else f"{point.ranks}*"


def _share_words(name: str, point: GrownRanks) -> str:
    return f"{point.shares.get(name, 0.0):.0%}"


def _grounds(prediction: ScalingPrediction) -> Iterator[Block]:
    """Yield the data on which a prediction is based, its assumptions, and the omitted calls."""
    scaled = prediction.program
    is_simulated = prediction.target.simulated
    method = "simulated" if is_simulated else "replayed on the measured ladder"
    yield Remark(f"* made anew by laws in the grid's sides; all times are {method}.", "muted")
    error = prediction.computing.error
    if error is None:
        check = ", a single count that no other checks: the band does not contain its error"
    else:
        check = f", off by {error:.0%} at most where one is left out"
    yield Remark(f"It rests on {prediction.computing.source}{check}.")
    calls = f"{scaled.largest.beside:,} calls of a rank before and after all periods"
    yield Remark(f"Not part of it: {calls}.")
    if scaled.left_out:
        ranks = ", ".join(map(str, scaled.left_out))
        yield Remark(f"Of {ranks} ranks only computing counts: they call something else.")
    if scaled.spread:
        yield Remark(
            f"Messages differ by {scaled.spread:.1%} of their bytes from period to period and "
            "follow no law exactly: means, off by "
            f"{prediction.points[-1].sizes_off:.1%} where a count is left out.",
            "caution",
        )
    for note in prediction.target.notes:
        yield Remark(f"Assumed: {note}.")
    for taken in basis(scaled, prediction.grown):
        yield Remark(f"{taken}.", "caution")
    for skipped in prediction.skipped:
        yield Remark(f"Left out: {skipped}.", "caution")


def message_blocks(scaled: Scaled, grown: Grown, rows: Sequence[MessageRow]) -> Iterator[Block]:
    """Yield the calls of a period (the repeated calls of a program), and the evidence for them."""
    yield Remark(_period_words(scaled, grown, rows), "bold")
    yield _message_table(rows)
    checked = 1 - grown.unchecked.byte_share
    yield Remark(f"Laws that a second count or rank checks give {checked:.0%} of the bytes.")
    for taken in basis(scaled, grown):
        yield Remark(f"{taken}.", "caution")


def _period_words(scaled: Scaled, grown: Grown, rows: Sequence[MessageRow]) -> str:
    """Describe the bytes that a period (the repeated calls) sends, and the profiled ranks."""
    ranks = grown.grid.ranks
    if not rows:
        return f"A period on {ranks} ranks calls nothing that moves data."
    calls = sum(row.calls for row in rows)
    sent_bytes = sum(row.sent_bytes for row in rows)
    profiled = ", ".join(f"{grid.ranks} ({grid})" for grid in scaled.known)
    return (
        f"A period of {rows[0].program} on {ranks} ranks ({grown.grid}): {calls:,} "
        f"calls that send {format_value(sent_bytes, 'B')}, from the profiles of {profiled} ranks."
    )


def _message_table(rows: Sequence[MessageRow]) -> Table:
    table = Rows(rows).text("call", lambda row: row.call)
    table.figure("calls", lambda row: f"{row.calls:,}")
    table.figure("sent", lambda row: format_value(row.sent_bytes, "B"))
    table.figure("size of a call", lambda row: _span(*(f"{size:,} B" for size in row.sizes)))
    table.figure("calls of a rank", lambda row: _span(*map(str, row.calls_of_rank)))
    table.figure("most profiled", _profiled_calls)
    table.figure("partners", lambda row: _span(*map(str, row.partners)))
    table.figure("communicators", lambda row: ", ".join(map(str, row.communicators)))
    return table.table(whole=True)


def _profiled_calls(row: MessageRow) -> str:
    """Format for each profiled number of ranks the largest number of calls of a rank."""
    return ", ".join(f"{ranks}: {calls}" for ranks, calls in row.calls_profiled.items())


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
