"""The display of one profile, or of two compared profiles, in the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from bareline.profile.comparison import CallPair, ProfileComparison, QuantityPair, SitePair
from bareline.profile.model import Profile
from bareline.profile.sites import call_sites
from bareline.profile.summary import (
    Matrix,
    SizeSum,
    communication_matrix,
    remarks,
    top_calls,
)
from bareline.report.blocks import Block, Field, Next, Note, Remark, Rows, Section, Table
from bareline.report.content.profiles import ProfileLine, share_rows
from bareline.report.figures.scales import Scale, unit_scale
from bareline.report.profile.tables import (
    CallSizes,
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
#: Rows of a table of call sites, and of the sizes of one call.
_SITES = 8
_SIZES = 8
#: Shades from no bytes to the most bytes, on a logarithmic scale.
_SHADES = " ░▒▓█"
P = TypeVar("P", CallPair, SitePair)


def profile_blocks(profile: Profile, *, everything: bool = False) -> Iterator[Block]:
    """Yield the blocks of a profile, findings first; `everything` includes all calls and sizes."""
    yield Remark(profile.command, "bold")
    yield Remark(subtitle(profile), "muted")
    yield Remark()
    yield from map(Remark, findings(profile))
    for remark in remarks(profile):
        yield Remark(f"Note: {remark}.", "caution")
    yield Remark()
    yield Section("Time per rank", (split_table(profile),))
    regions = regions_table(profile)
    if regions is not None:
        yield Section("Regions, all ranks together", (regions,))
    calls = _calls(profile, everything=everything)
    if calls:
        yield Section("Calls, all ranks together", tuple(calls))
    most_sites = None if everything else _SITES
    sites = call_sites(profile, most_sites)
    if sites:
        yield Section("Call sites, all ranks together", (sites_table(sites),))
    sizes = _sizes(profile, everything=everything)
    if sizes is not None:
        yield Section("Message sizes", (sizes,))
    if not profile.send_table.is_empty():
        yield from _matrix(profile)


def _calls(profile: Profile, *, everything: bool) -> list[Block]:
    """Return the table of the calls with the most time, and the number of the remaining calls."""
    calls = top_calls(profile)
    if not calls:
        return []
    listed = calls if everything else calls[:_CALLS]
    blocks: list[Block] = [calls_table(listed)]
    left = len(calls) - len(listed)
    if left:
        blocks.append(Note(f"{left} more; --all shows them"))
    return blocks


def profile_line_blocks(lines: Sequence[ProfileLine]) -> Iterator[Block]:
    """Yield the table of a run's profiles, and the command that shows one profile."""
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
    """Return the table of the busiest calls' messages by size; None without messages."""
    calls = sizes_by_call(profile)
    scale = _mean_scale(calls)
    if not everything:
        calls = calls[: _CALLS // 2]
    bars: list[_SizeBar] = []
    for name, sizes in calls:
        bars += _size_bars(name, sizes, everything=everything)
    if not bars:
        return None
    rows = Rows(bars).text("call", lambda bar: bar.name)
    rows.column("size", lambda bar: Field(size_range(bar.size.low, bar.size.high)))
    rows.number("calls", lambda bar: bar.size.count)
    rows.text("", lambda bar: "█" * bar.length)
    rows.number("data", lambda bar: bar.size.bytes, format_size)
    rows.number(scale.titled("mean"), lambda bar: bar.size.mean_s, scale.show)
    return rows.table()


@dataclass(frozen=True, slots=True)
class _SizeBar:
    """The messages of one size.

    - `most`: the number of messages of the most frequent size, whose bar is the longest.
    """

    name: str
    size: SizeSum
    most: int

    @property
    def length(self) -> int:
        """The length of the bar in characters."""
        return max(1, round(20 * self.size.count / self.most))


def _mean_scale(calls: Sequence[CallSizes]) -> Scale:
    """Return the unit for the mean times of all sizes."""
    means_s: list[float] = []
    for _, sizes in calls:
        means_s += [size.mean_s for size in sizes]
    return unit_scale(means_s, "s")


def _size_bars(name: str, sizes: Sequence[SizeSum], *, everything: bool) -> Iterator[_SizeBar]:
    """Yield the sizes on which a call spends most time, in rising order.

    Only the first row has the name of the call.
    """
    most = max(size.count for size in sizes)
    listed = sizes
    if not everything:
        listed = sorted(sizes, key=lambda size: -size.time_s)[:_SIZES]
    for size in sorted(listed, key=lambda size: size.low):
        yield _SizeBar(name, size, most)
        name = ""


def _matrix(profile: Profile) -> Iterator[Block]:
    """Yield the communication matrix, with cells shaded by their bytes."""
    matrix = communication_matrix(profile, 32)
    each = f", {matrix.block} ranks a row" if matrix.block > 1 else ""
    yield Remark()
    yield Remark(f"Who sends to whom (rows send{each})", "bold")
    last_rank = str(profile.ranks - 1)
    first_rank = 0
    for levels in _shade_levels(matrix):
        cells = "".join(2 * _SHADES[level] for level in levels)
        rank = str(first_rank).rjust(len(last_rank))
        yield Remark(f"{rank} |{cells}|")
        first_rank += matrix.block
    total = format_size(int(matrix.bytes.sum()))
    messages = whole(int(matrix.count.sum()))
    most = format_size(matrix.most)
    least = format_size(round(matrix.faint))
    legend = f"{_SHADES[-1]} is up to {most}, {_SHADES[1]} {least} or less"
    yield Remark(f"{legend}; {messages} messages, {total} in all", "muted")


def _shade_levels(matrix: Matrix) -> list[list[int]]:
    """Return the index of each cell's shade in `_SHADES`: 0 if nothing was sent."""
    shades = len(_SHADES) - 1
    levels = np.minimum(matrix.strength * shades, shades - 1).astype(int)
    rows: list[list[int]] = np.where(matrix.count > 0, 1 + levels, 0).tolist()
    return rows


def profile_pair_blocks(both: ProfileComparison) -> Iterator[Block]:
    """Yield the comparison of two profiles: times, then calls and sizes, sorted by change."""
    yield Remark(_times_words(both), "bold")
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


def _times_words(both: ProfileComparison) -> str:
    """Describe how the times of two profiles differ."""
    times = both.split[0]
    assert times.before is not None and times.after is not None
    ratio = times.ratio or 1.0
    comparison = "as long as"
    if abs(ratio - 1) > 0.005:
        comparison = f"{significant(ratio)} times as long as"
    before = f"{both.before.path.name} ({format_value(times.before, 's')})"
    after = f"{both.after.path.name} takes {format_value(times.after, 's')}"
    return f"{after}, {comparison} {before}."


def _changes(both: ProfileComparison) -> Iterator[Block]:
    yield _split(both)
    longest = [max(pair.time_s_before, pair.time_s_after) for pair in both.calls]
    scale = unit_scale(longest or [1.0], "s")
    calls = both.calls[:_CALLS]
    if calls:
        table = _compared(_counts(calls), scale)
        yield Section("Calls, per rank", (table,))
    changed_sizes = [pair for pair in both.sizes if pair.change_s]
    if changed_sizes:
        counts = _counts(changed_sizes[:_CALLS], sized=True)
        table = _compared(counts, scale, uneven=False)
        yield Section("Message sizes that change most, per rank", (table,))
    changed_sites = [pair for pair in both.sites if pair.change_s]
    if changed_sites:
        rows = Rows(changed_sites[:_CALLS]).text("call", lambda pair: pair.call)
        rows.text("called from", lambda pair: pair.place)
        table = _compared(rows, scale)
        yield Section("Call sites that change most, per rank", (table,))


def _split(both: ProfileComparison) -> Table:
    seconds = [pair for pair in both.split if pair.unit == "s"]
    longest = [max(pair.before or 0, pair.after or 0) for pair in seconds]
    scale = unit_scale(longest, "s")

    def show(pair: QuantityPair, value: float | None) -> str:
        if value is None:
            return ""
        if pair.unit == "s":
            return scale.show(value)
        if pair.unit == "share":
            return percent_tenths(value)
        return f"{value:.2f}"

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
    """Add columns with the times of both profiles and their change.

    - `uneven`: whether columns show how uneven the ranks are.
    """

    def before(pair: P) -> float | None:
        return _time_s(pair, pair.time_s_before, pair.imbalance_before)

    def after(pair: P) -> float | None:
        return _time_s(pair, pair.time_s_after, pair.imbalance_after)

    rows.number(scale.titled("time before"), before, scale.show, absent="")
    rows.number(scale.titled("after"), after, scale.show, absent="")
    rows.number(scale.titled("change"), lambda pair: pair.change_s, scale.show)
    if uneven:
        ratio = "{:.2f}".format
        rows.number("most/mean before", lambda pair: pair.imbalance_before, ratio, absent="")
        rows.number("after", lambda pair: pair.imbalance_after, ratio, absent="")
    return rows.table()


def _time_s(pair: CallPair | SitePair, time_s: float, imbalance: float | None) -> float | None:
    """Return the time in a call or at a call site; None if the profile lacks that call site."""
    if isinstance(pair, SitePair) and not imbalance:
        return None
    return time_s
