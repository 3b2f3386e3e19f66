"""The extra time of MPI calls in two launches, by function, kind and size of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import polars as pl

from bareline.analysis.numbers.sizes import SMALL_BYTES
from bareline.profile.model import Profile
from bareline.vocabulary.units import format_size, significant

_FILES = ("posix-io", "mpi-io")
_MESSAGES = ("send", "receive", "send-receive")
_START_UP = ("MPI_Init", "MPI_Init_thread")
#: From this ratio on, the words of a call include how many times dearer it is.
_NAMED_FROM = 1.1


@dataclass(frozen=True, slots=True)
class Call:
    """All calls of one function with messages of about one size.

    `times` is the time of one call divided by its time on the baseline; None if the baseline has no
    such call. `extra` is the extra time of all these calls, as a share of the baseline's time.
    """

    name: str
    size_bytes: int
    times: float | None
    extra: float

    def __str__(self) -> str:
        text = self.name
        if self.size_bytes:
            text += f" of {format_size(self.size_bytes)}"
        if self.times is not None and self.times >= _NAMED_FROM:
            text += f", {significant(self.times, 2)} times dearer"
        return text


class _Calls(NamedTuple):
    """The times, per rank and per call, of one function's calls with messages of about one size."""

    per_rank_s: float = 0.0
    each_s: float = 0.0
    size_bytes: int = 0


_NONE = _Calls()


class CallKey(NamedTuple):
    """The key of a group of calls: function, kind, and the power of two of the messages' sizes.

    The power is -1 for calls without messages.
    """

    call: str
    kind: str
    power: int


class PairedCalls(NamedTuple):
    """The calls of a group in a pair of launches.

    `extra` is the extra time of these calls divided by the program's time on the baseline.
    """

    extra: float
    here: _Calls
    base: _Calls


def paired_calls(
    profile: Profile, base_profile: Profile, base_s: float
) -> dict[CallKey, PairedCalls]:
    """Return the calls of both launches with their extra time.

    - `base_s`: the program's time on the baseline in s, by which the extra time is divided.
    """
    calls_here = _by_call(profile)
    calls_there = _by_call(base_profile)
    paired = {}
    for key in calls_here.keys() | calls_there:
        calls = calls_here.get(key, _NONE)
        base = calls_there.get(key, _NONE)
        extra_s = calls.per_rank_s - base.per_rank_s
        paired[key] = PairedCalls(extra_s / base_s, calls, base)
    return paired


def _by_call(profile: Profile) -> dict[CallKey, _Calls]:
    """Sum the calls of a profile by function, kind and size."""
    size = pl.col("size_low")
    log2_of_size = size.log(2).floor().cast(pl.Int64)
    power = pl.when(size > 0).then(log2_of_size).otherwise(-1)
    sums = (
        profile.calls.filter(~pl.col("call").is_in(_START_UP))
        .with_columns(bin=power)
        .group_by("call", "kind", "bin", maintain_order=True)
        .agg(
            pl.col("count").sum(),
            time_ns=(pl.col("time_ns") + pl.col("waited_ns")).sum(),
            bytes=(size * pl.col("count")).sum(),
        )
    )
    calls = {}
    for row in sums.iter_rows(named=True):
        count = max(1, row["count"])
        key = CallKey(row["call"], row["kind"], row["bin"])
        calls[key] = _Calls(
            per_rank_s=row["time_ns"] / max(1, profile.ranks) * 1e-9,
            each_s=row["time_ns"] / count * 1e-9,
            size_bytes=round(row["bytes"] / count),
        )
    return calls


def dearest_calls(calls: Mapping[CallKey, Sequence[PairedCalls]], launches: int) -> dict[str, Call]:
    """Return for each piece of the loss the call with the largest median extra time.

    - `launches`: the number of pairs of launches.
    """
    dearest: dict[str, Call] = {}
    for key, paired in calls.items():
        call = _call_of(key.call, paired, launches)
        name = piece_of(key.kind, key.power)
        if name not in dearest or call.extra > dearest[name].extra:
            dearest[name] = call
    return dearest


def _call_of(name: str, paired: Sequence[PairedCalls], launches: int) -> Call:
    """Return a call with its medians over launches.

    In a launch without the call, the call's extra time counts as 0.
    """
    extras = [0.0] * (launches - len(paired))
    sizes = []
    ratios = []
    for both in paired:
        extras.append(both.extra)
        sizes.append(max(both.here.size_bytes, both.base.size_bytes))
        if both.base.each_s > 0:
            ratios.append(both.here.each_s / both.base.each_s)
    times = None
    if ratios:
        times = median(ratios)
    return Call(name, size_bytes=round(median(sizes)), times=times, extra=median(extras))


def piece_of(kind: str, power: int) -> str:
    """Return the piece of the loss to which calls of a kind and size belong."""
    size = "large"
    if power < 0 or 2**power < SMALL_BYTES:
        size = "small"
    if kind == "collective":
        return f"{size} collectives"
    if kind in _MESSAGES:
        return f"{size} messages"
    if kind in _FILES:
        return "files"
    if kind == "wait":
        return "waiting"
    return "other MPI"
