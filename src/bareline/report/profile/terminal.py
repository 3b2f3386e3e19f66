"""A profile in the terminal, findings first, and two side by side, the largest change first."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from bareline.profile.comparison import CallPair, ProfileComparison, QuantityPair, SitePair
from bareline.profile.model import Profile
from bareline.profile.sites import call_sites
from bareline.profile.summary import SizeSum, communication_matrix, remarks, top_calls
from bareline.report.blocks import Block, Field, Next, Note, Remark, Rows, Section, Table
from bareline.report.content.profiles import ProfileLine, share_rows
from bareline.report.figures.scales import Scale, unit_scale
from bareline.report.profile.tables import (
    calls_table,
    findings,
    regions_table,
    sites_table,
    size_range,
    sizes_by_call,
    split_table,
    subtitle,
)
from bareline.vocabulary.units import format_size, format_value, percent_tenths, significant, whole

#: Rows of a table of calls.
_CALLS = 12
#: From nothing to the most bytes, on a logarithmic scale.
_SHADES = " ░▒▓█"
P = TypeVar("P", CallPair, SitePair)


def profile_blocks(profile: Profile, *, everything: bool = False) -> Iterator[Block]:
    """Show a profile; `everything` leaves no call or size out."""
    yield Remark(profile.command, "bold")
    yield Remark(subtitle(profile), "muted")
    yield Remark()
    yield from map(Remark, findings(profile))
    for remark in remarks(profile):
        yield Remark(f"Note: {remark}.", "caution")
    yield Remark()
    yield Section("Time per rank", (split_table(profile),))
    if (regions := regions_table(profile)) is not None:
        yield Section("Regions, all ranks together", (regions,))
    every = top_calls(profile)
    calls = every if everything else every[:_CALLS]
    if calls:
        left = len(every) - len(calls)
        more = [Note(f"{left} more; --all shows them")] if left else []
        yield Section("Calls, all ranks together", (calls_table(calls), *more))
    if sites := call_sites(profile, None if everything else 8):
        yield Section("Call sites, all ranks together", (sites_table(sites),))
    if (found := _sizes(profile, everything=everything)) is not None:
        yield Section("Message sizes", (found,))
    if not profile.send_table.is_empty():
        yield from _matrix(profile)


def profile_line_blocks(lines: Sequence[ProfileLine]) -> Iterator[Block]:
    """Yield the contents of the profiles of a run's trials, and how to look at one."""
    if not lines:
        return
    yield Remark("Profiles: shares of the ranks' time, medians over trials", "bold")
    yield (
        share_rows(lines)
        .number("n", lambda line: line.n)
        .text("most time in", lambda line: line.busiest)
        .table()
    )
    yield Next((f"bareline show {shlex.quote(str(lines[0].path))}",))


def _sizes(profile: Profile, *, everything: bool) -> Table | None:
    """Draw how many messages of each size the busiest calls made; None without messages."""
    found = sizes_by_call(profile)
    each = unit_scale([size.mean_s for _, own in found for size in own], "s")
    shown: list[tuple[str, SizeSum, int]] = []
    for name, own in found if everything else found[: _CALLS // 2]:
        top = max(size.count for size in own)
        rows = own if everything else sorted(own, key=lambda size: -size.time_s)[:8]
        for number, size in enumerate(sorted(rows, key=lambda size: size.low)):
            shown.append(("" if number else name, size, top))
    if not shown:
        return None
    return (
        Rows(shown)
        .text("call", lambda row: row[0])
        .column("size", lambda row: Field(size_range(row[1].low, row[1].high)))
        .number("calls", lambda row: row[1].count)
        .text("", lambda row: "█" * max(1, round(20 * row[1].count / row[2])))
        .number("data", lambda row: row[1].bytes, format_size)
        .number(each.titled("mean"), lambda row: row[1].mean_s, each.show)
        .table()
    )


def _matrix(profile: Profile) -> Iterator[Block]:
    matrix = communication_matrix(profile, 32)
    shades = len(_SHADES) - 1
    place = np.minimum(matrix.strength * shades, shades - 1).astype(int)
    step = np.where(matrix.count > 0, 1 + place, 0)
    each = f", {matrix.block} ranks a row" if matrix.block > 1 else ""
    yield Remark()
    yield Remark(f"Who sends to whom (rows send{each})", "bold")
    width = len(str(profile.ranks - 1))
    for row, shade in enumerate(step):
        cells = "".join(2 * _SHADES[value] for value in shade)
        yield Remark(f"{row * matrix.block:>{width}} |{cells}|")
    total_bytes, messages = int(matrix.bytes.sum()), int(matrix.count.sum())
    shade = f"{_SHADES[-1]} is up to {format_size(matrix.most)}"
    faint = f"{_SHADES[1]} {format_size(round(matrix.faint))} or less"
    sums = f"{whole(messages)} messages, {format_size(total_bytes)} in all"
    yield Remark(f"{shade}, {faint}; {sums}", "muted")


def profile_pair_blocks(both: ProfileComparison) -> Iterator[Block]:
    """Show two profiles: the times first, then calls and sizes by how much they change."""
    before, after = both.before, both.after
    first = both.split[0]
    assert first.before is not None and first.after is not None
    ratio = first.ratio or 1.0
    word = f"{significant(ratio)} times as long as" if abs(ratio - 1) > 0.005 else "as long as"
    yield Remark(
        f"{after.path.name} takes {format_value(first.after, 's')}, {word} {before.path.name} "
        f"({format_value(first.before, 's')}).",
        "bold",
    )
    if both.alike:
        yield Remark(f"They are not alike: {both.alike}.", "caution")
    yield Remark("One run each: no interval.", "muted")
    yield Remark()
    yield from _changes(both)
    if both.pairs_only_before or both.pairs_only_after:
        yield Remark(
            f"Pairs of ranks that exchange messages only before: {both.pairs_only_before}, only "
            f"after: {both.pairs_only_after}."
        )


def _changes(both: ProfileComparison) -> Iterator[Block]:
    yield _split(both)
    longest = [max(pair.time_s_before, pair.time_s_after) for pair in both.calls]
    scale = unit_scale(longest or [1.0], "s")
    if calls := both.calls[:_CALLS]:
        yield Section("Calls, per rank", (_compared(_counts(calls), scale),))
    if moved := [pair for pair in both.sizes if pair.change_s][:_CALLS]:
        table = _compared(_counts(moved, sized=True), scale, uneven=False)
        yield Section("Message sizes that change most, per rank", (table,))
    if sites := [pair for pair in both.sites if pair.change_s][:_CALLS]:
        rows = Rows(sites).text("call", lambda pair: pair.call)
        rows.text("called from", lambda pair: pair.place)
        yield Section("Call sites that change most, per rank", (_compared(rows, scale),))


def _split(both: ProfileComparison) -> Table:
    seconds = [pair for pair in both.split if pair.unit == "s"]
    scale = unit_scale([max(pair.before or 0, pair.after or 0) for pair in seconds], "s")

    def show(pair: QuantityPair, value: float | None) -> str:
        if value is None:
            return ""
        if pair.unit == "s":
            return scale.show(value)
        return percent_tenths(value) if pair.unit == "share" else f"{value:.2f}"

    return (
        Rows(both.split)
        .text(f"a rank's mean, {scale.unit}", lambda pair: pair.what)
        .figure("before", lambda pair: show(pair, pair.before))
        .figure("after", lambda pair: show(pair, pair.after))
        .number("after/before", lambda pair: pair.ratio, significant, absent="")
        .table()
    )


def _counts(pairs: Sequence[CallPair], *, sized: bool = False) -> Rows[CallPair]:
    rows = Rows(pairs).text("call", lambda pair: pair.call)
    if sized:
        rows.figure("size", lambda pair: size_range(pair.size_low or 0, pair.size_high or 0))
    rows.number("calls before", lambda pair: round(pair.count_before))
    return rows.number("after", lambda pair: round(pair.count_after))


def _compared(rows: Rows[P], scale: Scale, *, uneven: bool = True) -> Table:
    def there(pair: CallPair | SitePair, time: float, imbalance: float | None) -> float | None:
        # A place that one profile lacks has no time there.
        return None if isinstance(pair, SitePair) and not imbalance else time

    before, after = scale.titled("time before"), scale.titled("after")
    rows.number(
        before, lambda p: there(p, p.time_s_before, p.imbalance_before), scale.show, absent=""
    )
    rows.number(after, lambda p: there(p, p.time_s_after, p.imbalance_after), scale.show, absent="")
    rows.number(scale.titled("change"), lambda pair: pair.change_s, scale.show)
    if uneven:
        ratio = "{:.2f}".format
        rows.number("most/mean before", lambda pair: pair.imbalance_before, ratio, absent="")
        rows.number("after", lambda pair: pair.imbalance_after, ratio, absent="")
    return rows.table()
