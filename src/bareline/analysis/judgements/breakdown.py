"""Where a program's extra time goes: computation, collectives, messages, waiting, files, start-up.

If predictions were kept, the pieces are the terms of the replay, which also makes the predictions.
Otherwise the difference of both profiles splits the loss of each pair of launches in one block, and
the median over the pairs counts. Without profiles the program's own split into computation and
communication is used. The residual is the loss of all launches minus the sum of the pieces.

The time within a call includes waiting for late processes: a piece shows where time passes, not
which process causes the delay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, NamedTuple

import polars as pl

from bareline.analysis.numbers.programs import (
    COMMUNICATING,
    COMPUTING,
    LaunchKey,
    application_of,
    launch_values,
    profiles_of,
    replayed_losses,
    under_profiler,
)
from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.row import Estimate, Row
from bareline.analysis.numbers.sizes import SMALL_BYTES
from bareline.profile.files import read_profile
from bareline.profile.model import Profile
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import format_size, significant

PIECES = (
    "computation", "small collectives", "large collectives", "small messages", "large messages",
    "waiting", "other MPI", "files", "start-up", "communication",
)  # fmt: skip
_FILES = ("posix-io", "mpi-io")
_MESSAGES = ("send", "receive", "send-receive")
_START_UP = ("MPI_Init", "MPI_Init_thread")
#: From this ratio on, the words of a call include how many times dearer it is.
_NAMED_FROM = 1.1
#: Pieces below this share of the baseline's time are left out.
_LEAST = 0.0005


@dataclass(frozen=True, slots=True)
class Call:
    """All calls of one function with messages of about one size.

    Each call takes `times` as long as in the baseline, None if the baseline makes no such call. All
    of them together add `extra` times the baseline's time.
    """

    name: str
    size_bytes: int
    times: float | None
    extra: float

    def __str__(self) -> str:
        text = self.name + (f" of {format_size(self.size_bytes)}" if self.size_bytes else "")
        if self.times is not None and self.times >= _NAMED_FROM:
            text += f", {significant(self.times, 2)} times dearer"
        return text


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the extra time.

    `extra` is a share of the baseline's time (0.12: 12 % longer): the median over paired launches,
    which range from `lo` to `hi`. The `dearest` call adds the largest part of it.
    """

    name: str
    extra: float
    lo: float
    hi: float
    dearest: Call | None = None

    @property
    def call(self) -> str:
        """Its dearest call in words; empty without one."""
        return str(self.dearest or "")


#: Sources of the pieces of a loss; the first available one is used. The replay is first because it
#: also makes the predictions, so that a prediction and an explanation are one sum.
Source = Literal["replay", "profile", "clock"]


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A program's loss in pieces, in the order of `PIECES`.

    `ratio` and `base_s` come from all launches, or from the profiled launches alone if these are
    separate ones. `launches` is the number of pairs of launches behind the pieces. `source` is
    their origin: the replay that predicts, profiles, or the program itself.
    """

    title: str
    cell: Row
    ratio: Estimate
    base_s: float
    pieces: tuple[Piece, ...]
    source: Source
    launches: int

    @property
    def residual(self) -> Estimate:
        """The loss minus the sum of the pieces, with the interval of the loss."""
        explained = 1 + sum(piece.extra for piece in self.pieces)
        ends = (self.ratio.lo, self.ratio.hi)
        left = (None if end is None else end - explained for end in ends)
        return Estimate(self.ratio.value - explained, *left)

    @property
    def largest(self) -> Piece | None:
        """The piece that adds the most time."""
        return max(self.pieces, key=lambda piece: piece.extra, default=None)


def breakdowns(
    records: Records, cells: Sequence[Row], titles: Mapping[str, str]
) -> list[Breakdown]:
    """Split the loss of every program that is slower somewhere, the largest first.

    Raises ProfileError: a profile that the run keeps is damaged.
    """
    found = []
    replayed = replayed_losses(records, cells[0].baseline) if cells else {}
    for cell in cells:
        program = cell.layer in (Layer.NPB, Layer.APP) and cell.headline
        # The time at a point, as of one rank, is not the time of the launch that is split.
        whole = cell.place.metric == "time" and not cell.place.point
        claimed = cell.grade is not None and cell.grade.is_claim
        if program and whole and claimed and cell.ratio and cell.ratio.value > 1 and cell.base:
            title = titles.get(cell.place.probe, cell.place.probe)
            terms = replayed.get((cell.platform, application_of(cell.place)))
            if terms is not None:
                pieces = tuple(Piece(one.name, one.extra, one.lo, one.hi) for one in terms[0])
                base_s = cell.base.value
                found.append(Breakdown(title, cell, cell.ratio, base_s, pieces, "replay", terms[1]))
            elif split := _split(records, cell, cell.ratio, cell.base.value, title):
                found.append(split)
    return sorted(found, key=lambda one: -one.ratio.value)


def _split(
    records: Records, cell: Row, ratio: Estimate, base_s: float, title: str
) -> Breakdown | None:
    def paired(case: tuple[object, ...], metric: str = "time") -> _Times:
        own, base = (
            launch_values(records, name, case, metric) for name in (cell.platform, cell.baseline)
        )
        return {key: (own[key], base[key]) for key in own if base.get(key, 0.0) > 0}

    case = under_profiler(cell.place).case
    mine, theirs = (profiles_of(records, name, case) for name in (cell.platform, cell.baseline))
    times = paired(case)
    shared = mine.keys() & theirs
    profiles = {key: (read_profile(mine[key]), read_profile(theirs[key])) for key in shared}
    profiled = {key: own for key, own in times.items() if key in profiles}
    if pieces := _by_profile(profiles, profiled):
        if case != cell.place.case:  # profiled in separate launches: their pairs are split
            ratio = Estimate(median(own / base for own, base in profiled.values()))
            base_s = median(base for _, base in profiled.values())
        return Breakdown(title, cell, ratio, base_s, pieces, "profile", len(profiled))
    case = cell.place.case
    times = paired(case)
    for name, metric in (("computation", COMPUTING), ("communication", COMMUNICATING)):
        parts = paired(case, metric)
        extras = [(parts[k][0] - parts[k][1]) / times[k][1] for k in times.keys() & parts]
        if not extras:
            return None
        pieces += (_piece(name, extras),)
    return Breakdown(title, cell, ratio, base_s, pieces, "clock", len(times))


#: The times of each pair of launches in s: the platform's, then the baseline's.
_Times = dict[LaunchKey, tuple[float, float]]


def _piece(name: str, extras: Sequence[float], dearest: Call | None = None) -> Piece:
    return Piece(name, median(extras), min(extras), max(extras), dearest)


def _by_profile(
    profiles: Mapping[LaunchKey, tuple[Profile, Profile]], times: _Times
) -> tuple[Piece, ...]:
    sums: dict[str, list[float]] = {name: [] for name in PIECES}
    calls: dict[_Key, list[_Paired]] = defaultdict(list)
    for key, (_, base_s) in times.items():
        own, base = profiles[key]
        extras = dict.fromkeys(PIECES, 0.0)
        for name, column in _PARTS.items():
            extras[name] += (_mean_s(own, column) - _mean_s(base, column)) / base_s
        mine, theirs = _by_call(own), _by_call(base)
        for call in mine.keys() | theirs:
            here, there = mine.get(call, _NONE), theirs.get(call, _NONE)
            extra = (here.per_rank_s - there.per_rank_s) / base_s
            extras[_group(*call[1:])] += extra
            calls[call].append((extra, here, there))
        for name, extra in extras.items():
            sums[name].append(extra)
    dearest = _dearest(calls, len(times))
    pieces = (_piece(name, own, dearest.get(name)) for name, own in sums.items() if own)
    return tuple(one for one in pieces if max(abs(one.lo), abs(one.hi)) >= _LEAST)


#: Pieces that a profile records for each rank, with the column of each.
_PARTS = {"computation": "compute_ns", "files": "posix_ns", "start-up": "init_ns"}


def _mean_s(profile: Profile, column: str) -> float:
    return float(sum(profile.rank_table[column].to_list())) / max(1, profile.ranks) * 1e-9


class _Calls(NamedTuple):
    """All calls of one function with messages of about one size: time per rank and per call."""

    per_rank_s: float = 0.0
    each_s: float = 0.0
    size_bytes: int = 0


_NONE = _Calls()
#: The extra time of such calls in a pair of launches, over the baseline's time; both sides' calls.
_Paired = tuple[float, _Calls, _Calls]
#: A function, its kind and the power of two of its messages' sizes, -1 for none.
_Key = tuple[str, str, int]


def _by_call(profile: Profile) -> dict[_Key, _Calls]:
    size = pl.col("size_low")
    sums = (
        profile.calls.filter(~pl.col("call").is_in(_START_UP))
        .with_columns(bin=pl.when(size > 0).then(size.log(2).floor().cast(pl.Int64)).otherwise(-1))
        .group_by("call", "kind", "bin", maintain_order=True)
        .agg(
            (pl.col("time_ns") + pl.col("waited_ns")).sum().alias("time_ns"),
            pl.col("count").sum(),
            (size * pl.col("count")).sum().alias("bytes"),
        )
    )
    return {
        (row["call"], row["kind"], row["bin"]): _Calls(
            row["time_ns"] / max(1, profile.ranks) * 1e-9,
            row["time_ns"] / max(1, row["count"]) * 1e-9,
            round(row["bytes"] / max(1, row["count"])),
        )
        for row in sums.iter_rows(named=True)
    }


def _dearest(calls: Mapping[_Key, Sequence[_Paired]], launches: int) -> dict[str, Call]:
    """Return, for each piece, the call with the largest median of extra time over the launches."""
    found: dict[str, Call] = {}
    for key, paired in calls.items():
        extra = median([one for one, _, _ in paired] + [0.0] * (launches - len(paired)))
        times = [own.each_s / base.each_s for _, own, base in paired if base.each_s > 0]
        size = median(max(own.size_bytes, base.size_bytes) for _, own, base in paired)
        call = Call(key[0], round(size), median(times) if times else None, extra)
        name = _group(*key[1:])
        if name not in found or extra > found[name].extra:
            found[name] = call
    return found


def _group(kind: str, power: int) -> str:
    size = "small" if power < 0 or 2**power < SMALL_BYTES else "large"
    if kind == "collective":
        return f"{size} collectives"
    if kind in _MESSAGES:
        return f"{size} messages"
    return "files" if kind in _FILES else "waiting" if kind == "wait" else "other MPI"
