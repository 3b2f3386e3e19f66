"""The tables and sentences of a profile, for its page and for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from typing import TypeVar

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
from bareline.report.blocks import Field, Kind, Rows, Table
from bareline.report.content.wording import call_name
from bareline.report.figures.scales import Scale, unit_scale
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.units import count, format_size, format_value, percent_tenths, significant

R = TypeVar("R")
#: A call and its messages by size.
CallSizes = tuple[str, list[SizeSum]]


@dataclass(frozen=True, slots=True)
class _TimePart:
    """A part of a rank's time, in s.

    - `share`: the part divided by the total time; None for start-up, which is before that time.
    - `time`: the mean over the ranks, and the least and greatest time of a rank.
    """

    name: str
    share: float | None
    time: Estimate


def split_table(profile: Profile) -> Table:
    """Return the table of the ranks' mean times in computing, MPI and files."""
    split = time_split(profile)
    longest_s = max(part.mean_s for part in split)
    scale = unit_scale([longest_s], "s")
    rows = [_time_part(part) for part in split]
    # Start-up is not a part of the time that the shares divide.
    init_s = profile.rank_table["init_ns"].to_numpy() * 1e-9
    start = Estimate(float(init_s.mean()), float(init_s.min()), float(init_s.max()))
    rows.append(_TimePart("start-up (MPI_Init), before that", None, start))
    table = Rows(rows).text("", lambda part: part.name)
    table.number("share", lambda part: part.share, percent_tenths, absent="")
    mean = scale.titled("mean")
    ranks = scale.titled("ranks")
    table.estimate(mean, lambda part: part.time, scale.show, interval=ranks)
    return table.table()


def _time_part(part: TimeShare) -> _TimePart:
    name = f"\u2003{part.what}" if part.is_part else part.what
    time = Estimate(part.mean_s, part.least_s, part.most_s)
    return _TimePart(name, part.share, time)


def regions_table(profile: Profile) -> Table | None:
    """Return the table of each region's time in computing and in calls; None without regions."""
    regions = region_split(profile)
    if not regions:
        return None
    times: list[float] = []
    for _, computing, calls in regions:
        times += [computing, calls]
    scale = unit_scale(times, "s")
    rows = Rows(regions).text("region", itemgetter(0))
    _add_times(rows, "computing", itemgetter(1), scale)
    _add_times(rows, "calls", itemgetter(2), scale)
    return rows.table()


def calls_table(calls: Sequence[CallSum]) -> Table:
    """Return the table of calls: time, number, data, waiting."""
    longest_time_s = max((call.time_s for call in calls), default=0.0)
    rows = Rows(calls).text("call", lambda call: call_name(call.call, call.kind))
    rows.number("share", lambda call: call.share, percent_tenths)
    _add_times(rows, "time", lambda call: call.time_s, unit_scale([longest_time_s], "s"))
    rows.number("calls", lambda call: call.count)
    _add_times(rows, "mean", lambda call: call.mean_s)
    _add_times(rows, "longest", lambda call: call.longest_s, kind="light")
    rows.number("data", lambda call: call.bytes or None, format_size, absent="")
    rows.number("mean size", lambda call: call.mean_bytes, format_size, absent="")
    if any(call.waited is not None for call in calls):
        rows.number("waiting", lambda call: call.waited, percent_tenths, absent="")
    if any(call.overlap_s is not None for call in calls):
        _add_times(rows, "open for", lambda call: call.overlap_s, kind="light", absent="")
    return rows.table()


def _add_times(
    rows: Rows[R],
    title: str,
    time_s: Callable[[R], float | None],
    scale: Scale | None = None,
    *,
    kind: Kind = "number",
    absent: str = "–",
) -> None:
    """Add a column of times, in a unit that fits all of them unless `scale` is given."""
    if scale is None:
        scale = unit_scale(list(map(time_s, rows.rows)), "s")
    rows.number(scale.titled(title), time_s, scale.show, kind=kind, absent=absent)


def sites_table(sites: Sequence[CallSite]) -> Table:
    """Return the table of call sites."""

    def imbalance(site: CallSite) -> float | None:
        return site.imbalance if site.ranks > 1 else None

    rows = Rows(sites).text("call", lambda site: site.call)
    rows.text("called from", lambda site: site.place)
    rows.number("share", lambda site: site.share, percent_tenths)
    _add_times(rows, "time", lambda site: site.time_s)
    rows.number("calls", lambda site: site.count)
    _add_times(rows, "mean", lambda site: site.mean_s)
    rows.number("most/mean", imbalance, "{:.2f}".format, absent="")
    return rows.table()


def sizes_by_call(profile: Profile) -> list[CallSizes]:
    """Return the messages by size of each call that has messages.

    The calls with the most time come first.
    """
    by_call = grouped_by(sizes(profile), lambda size: (size.call, size.kind))
    named: list[CallSizes] = []
    for call in top_calls(profile):
        call_sizes = by_call.get((call.call, call.kind))
        if call_sizes is not None:
            name = call_name(call.call, call.kind)
            named.append((name, call_sizes))
    return named


def sizes_table(call_sizes: Sequence[SizeSum]) -> Table:
    """Return the table of one call's messages by size."""
    rows = Rows(call_sizes)
    rows.column("size", lambda size: Field(size_range(size.low, size.high), size.low))
    rows.number("calls", lambda size: size.count)
    rows.number("data", lambda size: size.bytes, format_size)
    _add_times(rows, "mean", lambda size: size.mean_s)
    return rows.table()


def subtitle(profile: Profile) -> str:
    """Describe the numbers of ranks and nodes, the MPI library and the time of the profile."""
    began = datetime.fromtimestamp(profile.began_unix_ns * 1e-9, UTC)
    ranks = count(profile.ranks, "rank")
    nodes = count(profile.nodes, "node")
    library = profile.mpi.partition(",")[0]
    return f"{ranks} on {nodes}, {library}, {began:%Y-%m-%d %H:%M} UTC"


def size_range(low: int, high: int) -> str:
    """Format a size, or a range of sizes, e.g. ``1 KiB`` or ``1 to 2 KiB``."""
    if low == high or format_size(low) == format_size(high):
        return format_size(low)
    is_bin = high & (high + 1) == 0 and high >= 1023
    if is_bin:
        high += 1
    bottom = format_size(low)
    top = format_size(high)
    number, unit = bottom.rsplit(" ", 1)
    if top.endswith(f" {unit}"):
        return f"{number} to {top}"
    return f"{bottom} to {top}"


def findings(profile: Profile) -> list[str]:
    """Return a few sentences that describe where the time goes."""
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
    """Describe the MPI calls of threads other than the main threads, if there are any."""
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
    """Describe how unevenly ranks compute, if there are several ranks."""
    uneven = imbalance(profile)
    if profile.ranks < 2 or uneven.most_s <= 0:
        return []
    saved = percent_tenths(1 - 1 / uneven.factor)
    return [
        f"Rank {uneven.slowest} computes longest, {significant(uneven.factor)} times the mean: "
        f"perfect balance would save {saved} of the computing time."
    ]


def disturbances(profile: Profile) -> list[str]:
    """Describe the disturbances of a profile: ranks that wait for a core, and stolen time."""
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
    """Describe the time of the call that takes the most time."""
    name = call_name(call.call, call.kind)
    share = percent_tenths(call.share)
    calls = count(call.count, "call")
    if call.bytes:
        mean_size = format_size(round(call.bytes / call.count))
        calls += f" of {mean_size} on average"
    mean_time = format_value(call.mean_s, "s")
    text = f"{name} takes most time in calls, {share}: {calls}, {mean_time} each"
    if call.waited is None:
        return f"{text}."
    waited = percent_tenths(call.waited)
    return f"{text}, {waited} of it waiting for other ranks."
