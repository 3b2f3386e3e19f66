"""The tables of a profile, for its page and the terminal alike."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.analysis.numbers.cell import Estimate
from bareline.profile.model import Profile
from bareline.profile.sites import Site
from bareline.profile.summary import CallSum, Share, SizeSum, region_split, time_split
from bareline.report.blocks.table import Field, Rows, Table
from bareline.report.content.wording import call_name, percent
from bareline.report.figures.scales import unit_scale
from bareline.report.profile.sentences import size_range
from bareline.vocabulary.units import format_size


def split_table(profile: Profile) -> Table:
    """Divide the mean rank's time into computing, MPI and files."""
    split = time_split(profile)
    scale = unit_scale([max(part.mean_s for part in split)], "s")
    # Start-up happens before the time that the shares are of.
    init = profile.rank_table["init_ns"].to_numpy() * 1e-9
    start = Estimate(float(init.mean()), float(init.min()), float(init.max()))
    rows: list[tuple[str, float | None, Estimate]] = [
        (f"\u2003{part.what}" if part.is_part else part.what, part.share, _span(part))
        for part in split
    ]
    rows.append(("start-up (MPI_Init), before that", None, start))
    return (
        Rows(rows)
        .text("", lambda row: row[0])
        .number("share", lambda row: row[1], percent, absent="")
        .number(scale.titled("mean"), lambda row: row[2].value, scale.show)
        .interval(lambda row: row[2], scale.show, title=scale.titled("ranks"))
        .table()
    )


def _span(part: Share) -> Estimate:
    """Give the least and the most of any rank around the mean."""
    return Estimate(part.mean_s, part.least_s, part.most_s)


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
        .number("share", lambda call: call.share, percent)
        .number(times.titled("time"), lambda call: call.time_s, times.show)
        .number("calls", lambda call: call.count)
        .number(each.titled("mean"), lambda call: call.mean_s, each.show)
        .number(longest.titled("longest"), lambda call: call.longest_s, longest.show, kind="light")
        .number("data", lambda call: call.bytes or None, format_size, absent="")
    )
    if any(call.waited is not None for call in calls):
        rows.number("waiting", lambda call: call.waited, percent, absent="")
    if any(call.overlap_s is not None for call in calls):
        title = opened.titled("open for")
        rows.number(title, lambda call: call.overlap_s, opened.show, kind="light", absent="")
    return rows.table()


def sites_table(sites: Sequence[Site]) -> Table:
    """Sum up where calls come from."""
    times = unit_scale([site.time_s for site in sites], "s")
    each = unit_scale([site.mean_s for site in sites], "s")
    return (
        Rows(sites)
        .text("call", lambda site: site.call)
        .text("called from", lambda site: site.place)
        .number("share", lambda site: site.share, percent)
        .number(times.titled("time"), lambda site: site.time_s, times.show)
        .number("calls", lambda site: site.count)
        .number(each.titled("mean"), lambda site: site.mean_s, each.show)
        .number("most/mean", lambda site: site.imbalance if site.ranks > 1 else None,
                "{:.2f}".format, absent="")
        .table()
    )  # fmt: skip


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
