"""A profile in the terminal, findings first, and two side by side, the largest change first."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import numpy as np

from bareline.profile.comparison import CallPair, ProfileComparison, QuantityPair
from bareline.profile.model import Profile
from bareline.profile.sites import call_sites
from bareline.profile.summary import SizeSum, communication_matrix, remarks, sizes, top_calls
from bareline.report.blocks import Block, Field, Next, Note, Remark, Rows, Section, Table
from bareline.report.content.profiles import ProfileLine, share_rows
from bareline.report.content.wording import call_name, percent
from bareline.report.figures.scales import Scale, unit_scale
from bareline.report.profile.tables import (
    calls_table,
    findings,
    regions_table,
    sites_table,
    size_range,
    split_table,
    subtitle,
)
from bareline.vocabulary.units import format_size, format_value, significant, whole

_CALLS = 12
_SIZES_PER_CALL = 8
_SITES = 8
_CELLS = 32
#: From nothing to the most bytes, on a logarithmic scale.
_SHADES = " ░▒▓█"


def profile_blocks(profile: Profile, *, everything: bool = False) -> Iterator[Block]:
    """Show a profile; `everything` leaves no call or size out."""
    yield Remark(profile.command, "bold")
    yield Remark(subtitle(profile), "muted")
    yield Remark()
    yield from map(Remark, findings(profile))
    for remark in remarks(profile):
        yield Remark(f"Note: {remark}.", "caution")
    yield Remark()
    yield from _sections(profile, everything=everything)
    yield from _matrix(profile)


def _sections(profile: Profile, *, everything: bool) -> Iterator[Section]:
    yield Section("Time per rank", (split_table(profile),))
    if (regions := regions_table(profile)) is not None:
        yield Section("Regions, all ranks together", (regions,))
    every = top_calls(profile)
    calls = every if everything else every[:_CALLS]
    if calls:
        left = len(every) - len(calls)
        more = [Note(f"{left} more; --all shows them")] if left else []
        yield Section("Calls, all ranks together", (calls_table(calls), *more))
    if sites := call_sites(profile, None if everything else _SITES):
        yield Section("Call sites, all ranks together", (sites_table(sites),))
    if (found := _sizes(profile, everything=everything)) is not None:
        yield Section("Message sizes", (found,))


def profile_line_blocks(lines: Sequence[ProfileLine]) -> Iterator[Block]:
    """Give what the profiles of a run's trials say, and how to look at one."""
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
    found = sizes(profile)
    each = unit_scale([size.mean_s for size in found], "s")
    with_sizes = {(size.call, size.kind) for size in found}
    busiest = [(call.call, call.kind) for call in top_calls(profile)]
    busiest = [key for key in busiest if key in with_sizes]
    shown: list[tuple[str, SizeSum, int]] = []
    for key in busiest if everything else busiest[: _CALLS // 2]:
        own = [size for size in found if (size.call, size.kind) == key]
        rows = own if everything else sorted(own, key=lambda size: -size.time_s)[:_SIZES_PER_CALL]
        top = max(size.count for size in own)
        for number, size in enumerate(sorted(rows, key=lambda size: size.low)):
            shown.append(("" if number else call_name(*key), size, top))
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
    if profile.send_table.is_empty():
        return
    matrix = communication_matrix(profile, _CELLS)
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
    scale = unit_scale(
        [max(pair.time_s_before, pair.time_s_after) for pair in both.calls] or [1.0], "s"
    )
    if calls := both.calls[:_CALLS]:
        yield Section("Calls, per rank", (_call_pairs(calls, scale),))
    if moved := [pair for pair in both.sizes if pair.change_s][:_CALLS]:
        title = "Message sizes that change most, per rank"
        yield Section(title, (_call_pairs(moved, scale),))
    if sites := [pair for pair in both.sites if pair.change_s][:_CALLS]:
        rows = Rows(sites).text("call", lambda pair: pair.call)
        rows.text("called from", lambda pair: pair.place)
        # A place that one profile lacks has no time there.
        rows.figure(
            scale.titled("time before"),
            lambda pair: scale.show(pair.time_s_before) if pair.imbalance_before else "",
        )
        rows.figure(
            scale.titled("after"),
            lambda pair: scale.show(pair.time_s_after) if pair.imbalance_after else "",
        )
        rows.number(scale.titled("change"), lambda pair: pair.change_s, scale.show)
        rows.figure("most/mean before", lambda pair: _factor(pair.imbalance_before))
        rows.figure("after", lambda pair: _factor(pair.imbalance_after))
        yield Section("Call sites that change most, per rank", (rows.table(),))


def _split(both: ProfileComparison) -> Table:
    seconds = [pair for pair in both.split if pair.unit == "s"]
    scale = unit_scale([max(pair.before or 0, pair.after or 0) for pair in seconds], "s")

    def show(pair: QuantityPair, value: float | None) -> str:
        if value is None:
            return ""
        if pair.unit == "s":
            return scale.show(value)
        return percent(value) if pair.unit == "share" else f"{value:.2f}"

    return (
        Rows(both.split)
        .text(f"a rank's mean, {scale.unit}", lambda pair: pair.what)
        .figure("before", lambda pair: show(pair, pair.before))
        .figure("after", lambda pair: show(pair, pair.after))
        .number("after/before", lambda pair: pair.ratio, significant, absent="")
        .table()
    )


def _call_pairs(pairs: Sequence[CallPair], scale: Scale) -> Table:
    """Lay calls side by side, by size where they have one."""
    sized = pairs[0].size_low is not None
    rows = Rows(pairs).text("call", lambda pair: pair.call)
    if sized:
        rows.figure("size", lambda pair: size_range(pair.size_low or 0, pair.size_high or 0))
    rows.number("calls before", lambda pair: round(pair.count_before))
    rows.number("after", lambda pair: round(pair.count_after))
    rows.number(scale.titled("time before"), lambda pair: pair.time_s_before, scale.show)
    rows.number(scale.titled("after"), lambda pair: pair.time_s_after, scale.show)
    rows.number(scale.titled("change"), lambda pair: pair.change_s, scale.show)
    if not sized:
        rows.figure("most/mean before", lambda pair: _factor(pair.imbalance_before))
        rows.figure("after", lambda pair: _factor(pair.imbalance_after))
    return rows.table()


def _factor(imbalance: float | None) -> str:
    return "" if imbalance is None else f"{imbalance:.2f}"
