"""The tables and sentences of a profile, for both its page and the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from bareline.analysis.numbers.row import Estimate
from bareline.profile.model import Profile
from bareline.profile.sites import CallSite
from bareline.profile.summary import (
    DISTURBED,
    CallSum,
    SizeSum,
    TimeShare,
    imbalance,
    other_threads_mpi_s,
    queued_share,
    region_split,
    sizes,
    stolen_share,
    time_split,
    top_calls,
)
from bareline.report.blocks import Field, Rows, Table
from bareline.report.content.wording import call_name
from bareline.report.figures.scales import unit_scale
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.units import count, format_size, format_value, percent_tenths, significant


def split_table(profile: Profile) -> Table:
    """Divide the mean rank's time into computing, MPI and files."""
    split = time_split(profile)
    scale = unit_scale([max(part.mean_s for part in split)], "s")
    # Start-up happens before the time that the shares are of.
    init = profile.rank_table["init_ns"].to_numpy() * 1e-9
    start = Estimate(float(init.mean()), float(init.min()), float(init.max()))
    rows: list[tuple[str, float | None, Estimate]] = []
    for part in split:
        name = f"\u2003{part.what}" if part.is_part else part.what
        time = Estimate(part.mean_s, part.least_s, part.most_s)
        rows.append((name, part.share, time))
    rows.append(("start-up (MPI_Init), before that", None, start))
    table = Rows(rows).text("", lambda row: row[0])
    table.number("share", lambda row: row[1], percent_tenths, absent="")
    ranks = scale.titled("ranks")
    table.estimate(scale.titled("mean"), lambda row: row[2], scale.show, interval=ranks)
    return table.table()


def regions_table(profile: Profile) -> Table | None:
    """Tabulate the time of each region for computing and for calls; None without regions."""
    regions = region_split(profile)
    if not regions:
        return None
    times: list[float] = []
    for _, computing, calls in regions:
        times += [computing, calls]
    scale = unit_scale(times, "s")
    return (
        Rows(regions)
        .text("region", lambda row: row[0])
        .number(scale.titled("computing"), lambda row: row[1], scale.show)
        .number(scale.titled("calls"), lambda row: row[2], scale.show)
        .table()
    )


def calls_table(calls: Sequence[CallSum]) -> Table:
    """Sum up calls: time, number, data, waiting."""
    times = unit_scale([max((call.time_s for call in calls), default=0.0)], "s")
    each = unit_scale([call.mean_s for call in calls], "s")
    longest = unit_scale([call.longest_s for call in calls], "s")
    opened = unit_scale([call.overlap_s for call in calls], "s")
    rows = (
        Rows(calls)
        .text("call", lambda call: call_name(call.call, call.kind))
        .number("share", lambda call: call.share, percent_tenths)
        .number(times.titled("time"), lambda call: call.time_s, times.show)
        .number("calls", lambda call: call.count)
        .number(each.titled("mean"), lambda call: call.mean_s, each.show)
        .number(longest.titled("longest"), lambda call: call.longest_s, longest.show, kind="light")
        .number("data", lambda call: call.bytes or None, format_size, absent="")
        .number("mean size", lambda call: call.mean_bytes, format_size, absent="")
    )
    if any(call.waited is not None for call in calls):
        rows.number("waiting", lambda call: call.waited, percent_tenths, absent="")
    if any(call.overlap_s is not None for call in calls):
        title = opened.titled("open for")
        rows.number(title, lambda call: call.overlap_s, opened.show, kind="light", absent="")
    return rows.table()


def sites_table(sites: Sequence[CallSite]) -> Table:
    """Sum up where calls come from."""
    times = unit_scale([site.time_s for site in sites], "s")
    each = unit_scale([site.mean_s for site in sites], "s")

    def imbalance(site: CallSite) -> float | None:
        return site.imbalance if site.ranks > 1 else None

    return (
        Rows(sites)
        .text("call", lambda site: site.call)
        .text("called from", lambda site: site.place)
        .number("share", lambda site: site.share, percent_tenths)
        .number(times.titled("time"), lambda site: site.time_s, times.show)
        .number("calls", lambda site: site.count)
        .number(each.titled("mean"), lambda site: site.mean_s, each.show)
        .number("most/mean", imbalance, "{:.2f}".format, absent="")
        .table()
    )


def sizes_by_call(profile: Profile) -> list[tuple[str, list[SizeSum]]]:
    """Return the messages by size of each call that has any.

    The calls that take most time first.
    """
    by_call = grouped_by(sizes(profile), lambda size: (size.call, size.kind))
    named: list[tuple[str, list[SizeSum]]] = []
    for call in top_calls(profile):
        call_sizes = by_call.get((call.call, call.kind))
        if call_sizes is not None:
            named.append((call_name(call.call, call.kind), call_sizes))
    return named


def sizes_table(call_sizes: Sequence[SizeSum]) -> Table:
    """Count the messages of one call by size."""
    each = unit_scale([size.mean_s for size in call_sizes], "s")
    return (
        Rows(call_sizes)
        .column("size", lambda size: Field(size_range(size.low, size.high), size.low))
        .number("calls", lambda size: size.count)
        .number("data", lambda size: size.bytes, format_size)
        .number(each.titled("mean"), lambda size: size.mean_s, each.show)
        .table()
    )


def subtitle(profile: Profile) -> str:
    """Describe the number of ranks and nodes, the MPI library and the time."""
    began = datetime.fromtimestamp(profile.began_unix_ns * 1e-9, UTC)
    nodes = count(profile.nodes, "node")
    where = f"{count(profile.ranks, 'rank')} on {nodes}, {profile.mpi.split(',')[0]}"
    return f"{where}, {began:%Y-%m-%d %H:%M} UTC"


def size_range(low: int, high: int) -> str:
    """Format a size or a bin of sizes, e.g. ``1 KiB`` or ``1 to 2 KiB``."""
    if low == high or format_size(low) == format_size(high):
        return format_size(low)
    is_bin = high & (high + 1) == 0 and high >= 1023
    if is_bin:
        high += 1
    top = format_size(high)
    first, unit = format_size(low).rsplit(" ", 1)
    return f"{first} to {top}" if top.endswith(f" {unit}") else f"{first} {unit} to {top}"


def findings(profile: Profile) -> list[str]:
    """Describe in a few sentences where the time goes."""
    split = time_split(profile)
    parts = [part for part in split if part.is_part and part.share >= 0.01]
    wholes = [part for part in split if not part.is_part and part.share >= 0.0005]
    wall_s = float(profile.rank_table["wall_ns"].mean() or 0.0) * 1e-9  # type: ignore[arg-type]
    sentences = disturbances(profile)
    sentences.append(f"Of {format_value(wall_s, 's')} per rank: {_shares_words(wholes)}.")
    sentences += _other_threads(profile)
    if len(parts) > 1:
        sentences.append(f"The MPI calls: {_shares_words(parts)}.")
    calls = [call for call in top_calls(profile) if call.kind != "posix-io"]
    if calls:
        sentences.append(_busiest(calls[0]))
    sentences += _imbalance_words(profile)
    return sentences


def _shares_words(parts: Sequence[TimeShare]) -> str:
    return ", ".join(f"{part.what} {percent_tenths(part.share)}" for part in parts)


def _other_threads(profile: Profile) -> list[str]:
    """Describe the MPI calls of threads other than the main ones, where there are any."""
    threads = int(profile.rank_table["threads"].sum()) - profile.ranks
    if threads <= 0:
        return []
    time = format_value(other_threads_mpi_s(profile), "s")
    per_rank = threads / profile.ranks
    return [
        f"These are the main threads' times; other threads ({per_rank:.3g} per "
        f"rank) spent {time} per rank in MPI calls beside them."
    ]


def _imbalance_words(profile: Profile) -> list[str]:
    """Describe how unevenly ranks compute, where there are several."""
    uneven = imbalance(profile)
    if profile.ranks < 2 or uneven.most_s <= 0:
        return []
    saved = percent_tenths(1 - 1 / uneven.factor)
    return [
        f"Rank {uneven.slowest} computes longest, {significant(uneven.factor)} times the mean: "
        f"perfect balance would save {saved} of the computing time."
    ]


def disturbances(profile: Profile) -> list[str]:
    """Describe the doubts about all numbers: ranks without a core, time that was stolen."""
    doubts = []
    queued = queued_share(profile)
    if queued > DISTURBED:
        share = percent_tenths(queued)
        doubts.append(
            f"The ranks were ready but had no core for {share} of their time: more ran "
            "than there are cores. The times below include that wait; profile with a core per rank."
        )
    stolen = stolen_share(profile)
    if stolen > DISTURBED:
        share = percent_tenths(stolen)
        doubts.append(
            f"Other guests took up to {share} of a rank's time from its processors: "
            "the times below include that. Profile when the machine is quiet."
        )
    return doubts


def _busiest(call: CallSum) -> str:
    name = call_name(call.call, call.kind)
    calls = count(call.count, "call")
    if call.bytes:
        calls += f" of {format_size(round(call.bytes / call.count))} on average"
    each = f"{format_value(call.mean_s, 's')} each"
    if call.waited is not None:
        each += f", {percent_tenths(call.waited)} of it waiting for other ranks"
    return f"{name} takes most time in calls, {percent_tenths(call.share)}: {calls}, {each}."
