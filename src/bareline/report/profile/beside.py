"""Two profiles side by side in the terminal: the largest change first."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from bareline.profile.comparison import CallPair, Pair, ProfileComparison, SitePair
from bareline.report.blocks.table import Rows
from bareline.report.content.wording import percent
from bareline.report.figures.scales import Scale, unit_scale
from bareline.report.profile.sentences import size_range
from bareline.report.writers.columns import Column, print_table
from bareline.report.writers.console import clean
from bareline.report.writers.terminal import print_blocks
from bareline.vocabulary.units import format_value, significant, whole

_CALLS, _SIZES, _SITES = 12, 12, 12


def print_beside(both: ProfileComparison, console: Console) -> None:
    """Print two profiles: the times first, then calls and sizes by how much they change."""
    before, after = both.before, both.after
    first = both.split[0]
    assert first.before is not None and first.after is not None
    ratio = first.ratio or 1.0
    word = f"{significant(ratio)} times as long as" if abs(ratio - 1) > 0.005 else "as long as"
    console.print(
        Text(
            clean(
                f"{after.path.name} takes {format_value(first.after, 's')}, {word} "
                f"{before.path.name} ({format_value(first.before, 's')})."
            ),
            style="bold",
        )
    )
    if both.alike:
        console.print(Text(f"They are not alike: {clean(both.alike)}.", style="yellow"))
    console.print(Text("One run each: no interval.", style="dim"))
    _print_split(both, console)
    scale = unit_scale([max(pair.time_s) for pair in both.calls] or [1.0], "s")
    _print_calls("Calls, per rank", both.calls[:_CALLS], scale, console)
    moved = [pair for pair in both.sizes if pair.change_s][:_SIZES]
    _print_calls("Message sizes that change most, per rank", moved, scale, console)
    _print_sites([pair for pair in both.sites if pair.change_s][:_SITES], scale, console)
    if both.pairs_only_before or both.pairs_only_after:
        console.print(
            Text(
                f"Pairs of ranks that exchange messages only before: {both.pairs_only_before}, "
                f"only after: {both.pairs_only_after}."
            )
        )


def _print_split(both: ProfileComparison, console: Console) -> None:
    seconds = [pair for pair in both.split if pair.unit == "s"]
    scale = unit_scale([max(pair.before or 0, pair.after or 0) for pair in seconds], "s")

    def show(pair: Pair, value: float | None) -> str:
        if value is None:
            return ""
        if pair.unit == "s":
            return scale.show(value)
        return percent(value) if pair.unit == "share" else f"{value:.2f}"

    console.print()
    print_blocks(
        [
            Rows(both.split)
            .text(f"a rank's mean, {scale.unit}", lambda pair: pair.what)
            .figure("before", lambda pair: show(pair, pair.before))
            .figure("after", lambda pair: show(pair, pair.after))
            .figure(
                "after/before", lambda pair: "" if pair.ratio is None else significant(pair.ratio)
            )
            .table()
        ],
        console,
    )


def _print_calls(
    title: str, pairs: tuple[CallPair, ...] | list[CallPair], scale: Scale, console: Console
) -> None:
    if not pairs:
        return
    sized = pairs[0].size_low is not None
    console.print()
    console.print(Text(title, style="bold"))
    print_table(
        [
            Column("call"),
            *([Column("size", "number")] if sized else []),
            Column("calls before", "number"),
            Column("after", "number"),
            Column(scale.titled("time before"), "number"),
            Column(scale.titled("after"), "number"),
            Column(scale.titled("change"), "number"),
            *([] if sized else [Column("most/mean before", "number"), Column("after", "number")]),
        ],
        [
            [
                pair.call,
                *([size_range(pair.size_low or 0, pair.size_high or 0)] if sized else []),
                whole(round(pair.count[0])),
                whole(round(pair.count[1])),
                scale.show(pair.time_s[0]),
                scale.show(pair.time_s[1]),
                scale.show(pair.change_s),
                *([] if sized else [_factor(one) for one in pair.imbalance]),
            ]
            for pair in pairs
        ],
        console,
    )


def _factor(imbalance: float | None) -> str:
    return "" if imbalance is None else f"{imbalance:.2f}"


def _print_sites(pairs: list[SitePair], scale: Scale, console: Console) -> None:
    if not pairs:
        return
    console.print()
    console.print(Text("Call sites that change most, per rank", style="bold"))
    print_table(
        [
            Column("call"),
            Column("called from"),
            Column(scale.titled("time before"), "number"),
            Column(scale.titled("after"), "number"),
            Column(scale.titled("change"), "number"),
            Column("most/mean before", "number"),
            Column("after", "number"),
        ],
        [
            [
                pair.call,
                clean(pair.place),
                scale.show(pair.time_s[0]) if pair.before else "",
                scale.show(pair.time_s[1]) if pair.after else "",
                scale.show(pair.change_s),
                *(_factor(one.imbalance if one else None) for one in (pair.before, pair.after)),
            ]
            for pair in pairs
        ],
        console,
    )
