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
from bareline.vocabulary.units import count, format_size, format_value, percent_tenths, significant


def split_table(profile: Profile) -> Table:
    """Divide the mean rank's time into computing, MPI and files."""
    split = time_split(profile)
    scale = unit_scale([max(part.mean_s for part in split)], "s")
    # Start-up happens before the time that the shares are of.
    init = profile.rank_table["init_ns"].to_numpy() * 1e-9
    start = Estimate(float(init.mean()), float(init.min()), float(init.max()))
    rows: list[tuple[str, float | None, Estimate]] = [
        (
            f"\u2003{part.what}" if part.is_part else part.what,
            part.share,
            Estimate(part.mean_s, part.least_s, part.most_s),
        )
        for part in split
    ]
    rows.append(("start-up (MPI_Init), before that", None, start))
    table = Rows(rows).text("", lambda row: row[0])
    table.number("share", lambda row: row[1], percent_tenths, absent="")
    head, ranks = scale.titled("mean"), scale.titled("ranks")
    return table.estimate(head, lambda row: row[2], scale.show, interval=ranks).table()


def regions_table(profile: Profile) -> Table | None:
    """Divide each region's time; None without regions."""
    regions = region_split(profile)
    if not regions:
        return None
    scale = unit_scale([time for _, *times in regions for time in times], "s")
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
    found: dict[tuple[str, str], list[SizeSum]] = {}
    for size in sizes(profile):
        found.setdefault((size.call, size.kind), []).append(size)
    calls = [(call.call, call.kind) for call in top_calls(profile)]
    return [(call_name(*key), found[key]) for key in calls if key in found]


def sizes_table(own: Sequence[SizeSum]) -> Table:
    """Count the messages of one call by size."""
    each = unit_scale([size.mean_s for size in own], "s")
    return (
        Rows(own)
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
    top = format_size(high + 1 if is_bin else high)
    first, unit = format_size(low).rsplit(" ", 1)
    return f"{first} to {top}" if top.endswith(f" {unit}") else f"{first} {unit} to {top}"


def findings(profile: Profile) -> list[str]:
    """Describe in a few sentences where the time goes."""
    split = time_split(profile)
    wall = float(profile.rank_table["wall_ns"].mean() or 0.0) * 1e-9  # type: ignore[arg-type]

    def listed(least: float, *, parts: bool) -> str:
        own = [one for one in split if one.is_part is parts and one.share >= least]
        return ", ".join(f"{one.what} {percent_tenths(one.share)}" for one in own)

    sentences = disturbances(profile)
    sentences.append(f"Of {format_value(wall, 's')} per rank: {listed(0.0005, parts=False)}.")
    if (threads := int(profile.rank_table["threads"].sum()) - profile.ranks) > 0:
        other = format_value(other_threads_mpi_s(profile), "s")
        sentences.append(
            f"These are the main threads' times; other threads ({threads / profile.ranks:.3g} per "
            f"rank) spent {other} per rank in MPI calls beside them."
        )
    if sum(one.is_part and one.share >= 0.01 for one in split) > 1:
        sentences.append(f"The MPI calls: {listed(0.01, parts=True)}.")
    if calls := [call for call in top_calls(profile) if call.kind != "posix-io"]:
        sentences.append(_busiest(calls[0]))
    uneven = imbalance(profile)
    if profile.ranks > 1 and uneven.most_s > 0:
        saved = percent_tenths(1 - 1 / uneven.factor)
        sentences.append(
            f"Rank {uneven.slowest} computes longest, {significant(uneven.factor)} times the mean: "
            f"perfect balance would save {saved} of the computing time."
        )
    return sentences


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
