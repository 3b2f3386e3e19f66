"""A profile in the terminal: findings first, then tables of at most 100 columns."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.text import Text

from bareline.profile.model import Profile
from bareline.profile.sites import call_sites
from bareline.profile.summary import (
    communication_matrix,
    region_split,
    remarks,
    sizes,
    time_split,
    top_calls,
)
from bareline.report.content.profiles import ProfileLine
from bareline.report.content.wording import call_name, percent
from bareline.report.figures.scales import Scale, unit_scale
from bareline.report.profile.sentences import findings, size_range, subtitle, total
from bareline.report.writers.columns import Column, print_table
from bareline.report.writers.console import clean, print_next
from bareline.vocabulary.units import format_size

_CALLS = 12
_SIZES_PER_CALL = 8
_SITES = 8
_CELLS = 32
#: From nothing to the most bytes, on a logarithmic scale.
_SHADES = " ░▒▓█"


def print_profile(profile: Profile, console: Console, *, everything: bool = False) -> None:
    """Print a profile; `everything` leaves no call or size out."""
    console.print(Text(clean(f"{profile.command}"), style="bold"))
    console.print(Text(clean(subtitle(profile)), style="dim"))
    console.print()
    for sentence in findings(profile):
        console.print(Text(clean(sentence)))
    for remark in remarks(profile):
        console.print(Text(clean(f"Note: {remark}."), style="yellow"))
    _print_split(profile, console)
    _print_regions(profile, console)
    _print_calls(profile, console, None if everything else _CALLS)
    _print_sites(profile, console, None if everything else _SITES)
    _print_sizes(profile, console, everything=everything)
    _print_matrix(profile, console)


def print_profile_lines(lines: Sequence[ProfileLine], console: Console) -> None:
    """Print what the profiles of a run's trials say, and how to look at one."""
    if not lines:
        return
    console.print(Text("Profiles: shares of the ranks' time, medians over trials", style="bold"))
    print_table(
        [
            Column("probe"),
            Column("case"),
            Column("platform"),
            Column("computing", "number"),
            Column("MPI calls", "number"),
            Column("files", "number"),
            Column("n", "number"),
            Column("most time in"),
        ],
        [
            [
                line.probe,
                line.case,
                line.platform,
                percent(line.computing),
                percent(line.mpi),
                percent(line.files),
                str(line.n),
                line.busiest,
            ]
            for line in lines
        ],
        console,
    )
    print_next([f"bareline show {shlex.quote(str(lines[0].path))}"], console)


def _head(text: str, console: Console) -> None:
    console.print()
    console.print(Text(text, style="bold"))


def _print_split(profile: Profile, console: Console) -> None:
    split = time_split(profile)
    scale = unit_scale([max(part.mean_s for part in split)], "s")
    _head("Time per rank", console)
    print_table(
        [
            Column(""),
            Column("share", "number"),
            Column(scale.titled("mean"), "number"),
            Column(scale.titled("least"), "light"),
            Column(scale.titled("most"), "light"),
        ],
        [
            [
                f"  {part.what}" if part.is_part else part.what,
                percent(part.share),
                scale.show(part.mean_s),
                scale.show(part.least_s) if part.least_s is not None else "",
                scale.show(part.most_s) if part.most_s is not None else "",
            ]
            for part in split
        ]
        + [_start_up(profile, scale)],
        console,
    )


def _start_up(profile: Profile, scale: Scale) -> list[str]:
    """Give the line of what happens before the time that the shares are of."""
    init = profile.rank_table["init_ns"].to_numpy() * 1e-9
    times = (init.mean(), init.min(), init.max())
    return ["start-up (MPI_Init), before that", "", *(scale.show(float(one)) for one in times)]


def _print_regions(profile: Profile, console: Console) -> None:
    regions = region_split(profile)
    if not regions:
        return
    scale = unit_scale([time for _, *times in regions for time in times], "s")
    _head("Regions, all ranks together", console)
    print_table(
        [
            Column("region"),
            Column(scale.titled("computing"), "number"),
            Column(scale.titled("calls"), "number"),
        ],
        [[name, scale.show(compute), scale.show(mpi)] for name, compute, mpi in regions],
        console,
    )


def _print_calls(profile: Profile, console: Console, most: int | None) -> None:
    calls = top_calls(profile, most)
    if not calls:
        return
    times = unit_scale([max(call.time_s for call in calls)], "s")
    each = unit_scale([call.mean_s for call in calls], "s")
    longest = unit_scale([call.longest_s for call in calls], "s")
    waits = any(call.waited is not None for call in calls)
    overlaps = unit_scale([call.overlap_s for call in calls], "s")
    some = any(call.overlap_s is not None for call in calls)
    _head("Calls, all ranks together", console)
    columns = [
        Column("call"),
        Column("share", "number"),
        Column(times.titled("time"), "number"),
        Column("calls", "number"),
        Column(each.titled("mean"), "number"),
        Column(longest.titled("longest"), "light"),
        Column("data", "number"),
    ]
    columns += [Column("waiting", "number")] if waits else []
    columns += [Column(overlaps.titled("open for"), "number")] if some else []
    rows: list[Sequence[Text | str]] = []
    for call in calls:
        row = [
            call_name(call.call, call.kind),
            percent(call.share),
            times.show(call.time_s),
            total(call.count),
            each.show(call.mean_s),
            longest.show(call.longest_s),
            format_size(call.bytes) if call.bytes else "",
        ]
        row += [percent(call.waited) if call.waited is not None else ""] if waits else []
        row += [overlaps.show(call.overlap_s) if call.overlap_s is not None else ""] if some else []
        rows.append(row)
    print_table(columns, rows, console)
    left = len(top_calls(profile)) - len(calls)
    if left:
        console.print(Text(f"{left} more; --all shows them", style="dim"))


def _print_sites(profile: Profile, console: Console, most: int | None) -> None:
    sites = call_sites(profile, most)
    if not sites:
        return
    times = unit_scale([site.time_s for site in sites], "s")
    each = unit_scale([site.mean_s for site in sites], "s")
    _head("Call sites, all ranks together", console)
    print_table(
        [
            Column("call"),
            Column("called from"),
            Column("share", "number"),
            Column(times.titled("time"), "number"),
            Column("calls", "number"),
            Column(each.titled("mean"), "number"),
            Column("most/mean", "number"),
        ],
        [
            [
                site.call,
                clean(site.place),
                percent(site.share),
                times.show(site.time_s),
                total(site.count),
                each.show(site.mean_s),
                f"{site.imbalance:.2f}" if site.ranks > 1 else "",
            ]
            for site in sites
        ],
        console,
    )


def _print_sizes(profile: Profile, console: Console, *, everything: bool) -> None:
    found = sizes(profile)
    if not found:
        return
    each = unit_scale([size.mean_s for size in found], "s")
    with_sizes = {(size.call, size.kind) for size in found}
    busiest = [(call.call, call.kind) for call in top_calls(profile)]
    busiest = [key for key in busiest if key in with_sizes]
    shown: list[Sequence[Text | str]] = []
    for key in busiest if everything else busiest[: _CALLS // 2]:
        own = [size for size in found if (size.call, size.kind) == key]
        kept = own if everything else sorted(own, key=lambda size: -size.time_s)[:_SIZES_PER_CALL]
        top = max(size.count for size in own)
        for size in sorted(kept, key=lambda size: size.low):
            shown.append(
                [
                    call_name(*key) if size is min(kept, key=lambda one: one.low) else "",
                    size_range(size.low, size.high),
                    total(size.count),
                    "█" * max(1, round(20 * size.count / top)),
                    format_size(size.bytes),
                    each.show(size.mean_s),
                ]
            )
    _head("Message sizes", console)
    print_table(
        [
            Column("call"),
            Column("size", "number"),
            Column("calls", "number"),
            Column(""),
            Column("data", "number"),
            Column(each.titled("mean"), "number"),
        ],
        shown,
        console,
    )


def _print_matrix(profile: Profile, console: Console) -> None:
    if profile.send_table.is_empty():
        return
    matrix = communication_matrix(profile, _CELLS)
    shades = len(_SHADES) - 1
    place = np.minimum(matrix.strength * shades, shades - 1).astype(int)
    step = np.where(matrix.count > 0, 1 + place, 0)
    each = f", {matrix.block} ranks a row" if matrix.block > 1 else ""
    _head(f"Who sends to whom (rows send{each})", console)
    width = len(str(profile.ranks - 1))
    for row, shade in enumerate(step):
        cells = "".join(2 * _SHADES[value] for value in shade)
        console.print(Text(f"{row * matrix.block:>{width}} |{cells}|"))
    total_bytes, messages = int(matrix.bytes.sum()), int(matrix.count.sum())
    shade = f"{_SHADES[-1]} is up to {format_size(matrix.most)}"
    faint = f"{_SHADES[1]} {format_size(round(matrix.faint))} or less"
    sums = f"{total(messages)} messages, {format_size(total_bytes)} in all"
    console.print(Text(f"{shade}, {faint}; {sums}", style="dim"))
