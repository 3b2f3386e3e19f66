"""The numbers of a profile in words, for the terminal and the page alike."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from bareline.profile.model import Profile
from bareline.profile.summary import (
    DISTURBED,
    CallSum,
    Share,
    imbalance,
    other_threads_mpi_s,
    queued_share,
    stolen_share,
    time_split,
    top_calls,
)
from bareline.report.content.wording import call_name, percent
from bareline.vocabulary.units import count, format_size, format_value, significant, whole


def subtitle(profile: Profile) -> str:
    """Say what ran where and when."""
    began = datetime.fromtimestamp(profile.began_unix_ns * 1e-9, UTC)
    nodes = count(profile.nodes, "node")
    where = f"{count(profile.ranks, 'rank')} on {nodes}, {profile.mpi.split(',')[0]}"
    return f"{where}, {began:%Y-%m-%d %H:%M} UTC"


def size_range(low: int, high: int) -> str:
    """Write a size or a bin of sizes, e.g. ``1 KiB`` or ``1 to 2 KiB``."""
    if low == high or format_size(low) == format_size(high):
        return format_size(low)
    is_bin = high & (high + 1) == 0 and high >= 1023
    top = format_size(high + 1 if is_bin else high)
    first, unit = format_size(low).rsplit(" ", 1)
    return f"{first} to {top}" if top.endswith(f" {unit}") else f"{first} {unit} to {top}"


def findings(profile: Profile) -> list[str]:
    """Say in a few sentences where the time goes."""
    split = time_split(profile)
    wall = float(profile.rank_table["wall_ns"].mean() or 0.0) * 1e-9  # type: ignore[arg-type]
    # What rounds to nothing is left to the table.
    whole_parts = [part for part in split if not part.is_part and part.share >= 0.0005]
    kinds = [part for part in split if part.is_part and part.share >= 0.01]
    sentences = disturbances(profile)
    sentences.append(f"Of {format_value(wall, 's')} per rank: {_listed(whole_parts)}.")
    threads = int(profile.rank_table["threads"].sum()) - profile.ranks
    if threads > 0:
        other = format_value(other_threads_mpi_s(profile), "s")
        sentences.append(
            "These are the main threads' times; other threads "
            f"({threads / profile.ranks:.3g} per rank) spent {other} per rank in MPI "
            "calls beside them."
        )
    if len(kinds) > 1:
        sentences.append(f"The MPI calls: {_listed(kinds)}.")
    calls = [call for call in top_calls(profile) if call.kind != "posix-io"]
    if calls:
        sentences.append(_busiest(calls[0]))
    uneven = imbalance(profile)
    if profile.ranks > 1 and uneven.most_s > 0:
        sentences.append(
            f"Rank {uneven.slowest} computes longest, {significant(uneven.factor)} times the mean: "
            f"perfect balance would save {percent(1 - 1 / uneven.factor)} of the computing time."
        )
    return sentences


def disturbances(profile: Profile) -> list[str]:
    """Say what makes every other number doubtful: ranks without a core, time that was stolen."""
    found = []
    queued = queued_share(profile)
    if queued > DISTURBED:
        found.append(
            f"The ranks were ready but had no core for {percent(queued)} of their time: more ran "
            "than there are cores. The times below hold that wait; profile with a core per rank."
        )
    stolen = stolen_share(profile)
    if stolen > DISTURBED:
        found.append(
            f"Other guests took up to {percent(stolen)} of a rank's time from its processors: "
            "the times below hold that. Profile when the machine is quiet."
        )
    return found


def _listed(parts: Sequence[Share]) -> str:
    return ", ".join(f"{part.what} {percent(part.share)}" for part in parts)


def _busiest(call: CallSum) -> str:
    size = f" of {format_size(round(call.bytes / call.count))} on average" if call.bytes else ""
    waited = ""
    if call.waited is not None:
        waited = f", {percent(call.waited)} of it waiting for other ranks"
    return (
        f"{call_name(call.call, call.kind)} takes most time in calls, {percent(call.share)}: "
        f"{count(call.count, 'call')}{size}, "
        f"{format_value(call.mean_s, 's')} each{waited}."
    )


def total(number: int) -> str:
    """Write a number of calls."""
    return whole(number)
