"""The tables of a profile: times, calls, message sizes, and the ranks that wait for other ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from bareline.profile.model import Profile
from bareline.vocabulary.units import format_value

#: Groups of kinds of calls in the time split, in the order of display.
GROUPS = {
    "point-to-point": ("send", "receive", "send-receive", "setup"),
    "waiting for requests": ("wait",),
    "collective": ("collective",),
    "one-sided": ("one-sided", "one-sided-sync", "window"),
    "MPI-IO": ("mpi-io",),
    "communicators, other": ("communicator", "other"),
}
_OTHER = "communicators, other"
START_UP = ("MPI_Init", "MPI_Init_thread")


Seconds: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TimeShare:
    """A part of the run time, per rank, in s.

    `least_s` and `most_s` are the values of single ranks. They are None for a kind of MPI call,
    whose time is known only for all ranks together.
    """

    what: str
    share: float
    mean_s: float
    least_s: float | None = None
    most_s: float | None = None

    @property
    def is_part(self) -> bool:
        """Whether this is a part of the line "MPI calls"."""
        return self.least_s is None


@dataclass(frozen=True, slots=True)
class CallSum:
    """The sums over all calls of one function."""

    call: str
    kind: str
    count: int
    bytes: int
    time_s: float
    mean_s: float
    longest_s: float
    share: float
    """The share of the time of all MPI and file calls."""
    waited: float | None
    """The share of the calls' time that was waiting; None unless the profile is split."""
    overlap_s: float | None
    """Mean time from the post to the completing call; None if no request was completed."""

    @property
    def mean_bytes(self) -> float | None:
        """The mean size of a call's data; None if the calls move no data."""
        return self.bytes / self.count if self.bytes and self.count else None


@dataclass(frozen=True, slots=True)
class SizeSum:
    """The sums over all calls of one function with message sizes from `low` to `high`."""

    call: str
    kind: str
    low: int
    high: int
    count: int
    bytes: int
    time_s: float
    mean_s: float


@dataclass(frozen=True, slots=True)
class Matrix:
    """The messages and bytes from row to column; `block` neighbouring ranks share a row."""

    count: npt.NDArray[np.int64]
    bytes: npt.NDArray[np.int64]
    block: int

    @property
    def most(self) -> int:
        """The bytes of the pair that sends most."""
        return int(self.bytes.max())

    @property
    def faint(self) -> float:
        """The bytes that are drawn faintest: a hundredth of the most, or the least that was sent.

        Pairs that send about the same number of bytes must look about the same.
        """
        some = self.bytes[self.bytes > 0]
        return min(float(some.min()), self.most / 100) if some.size else 1.0

    @property
    def strength(self) -> npt.NDArray[np.float64]:
        """The strength with which each pair is drawn: 0 to 1, logarithmic in the bytes."""
        if self.most == 0:
            return np.zeros(self.bytes.shape)
        floor = np.maximum(self.bytes.astype(float), self.faint)
        strength = np.log(floor / self.faint) / np.log(self.most / self.faint)
        return np.asarray(strength)


@dataclass(frozen=True, slots=True)
class Imbalance:
    """The imbalance of the ranks' computing times.

    - `factor`: the largest computing time divided by the mean computing time. A perfect balance
      would shorten the computing by this factor.
    - `slowest`: the rank that computes longest.
    """

    factor: float
    slowest: int
    least_s: float
    most_s: float


def time_split(profile: Profile) -> list[TimeShare]:
    """Return the parts of the ranks' time between ``MPI_Init`` and ``MPI_Finalize``.

    The times of computing, waiting, file calls and MPI calls are times of the main threads;
    together they are the wall time. The time of MPI calls is divided in proportion to the kinds of
    calls of all threads.
    """
    ranks = profile.rank_table
    # Pauses of counting belong to no rank.
    wall = _seconds(ranks["wall_ns"] - ranks["paused_ns"])
    waited = _seconds(ranks["waited_ns"])
    posix = _seconds(ranks["posix_ns"])
    mpi = _seconds(ranks["mpi_ns"])
    total = float(wall.mean()) or 1.0

    def share(name: str, values: Seconds) -> TimeShare:
        mean = float(values.mean())
        return TimeShare(name, mean / total, mean, float(values.min()), float(values.max()))

    split = [share("computing", _seconds(ranks["compute_ns"]))]
    if profile.mode == "split":
        split.append(share("waiting before collectives", waited))
        mpi = mpi - waited
    if float(posix.sum()) > 0:
        split.append(share("files (POSIX)", posix))
    calls = share("MPI calls", mpi)
    split.append(calls)
    for group, part in _mpi_parts(profile).items():
        if part > 0:
            split.append(TimeShare(group, calls.share * part, calls.mean_s * part))
    return split


def _seconds(column_ns: pl.Series) -> Seconds:
    """Return a column of nanoseconds converted to seconds."""
    return column_ns.to_numpy().astype(float) * 1e-9


def _mpi_parts(profile: Profile) -> dict[str, float]:
    """Return the share of each group of calls (`GROUPS`) in the time of MPI calls."""
    calls = _mpi_calls(profile)
    total = float(calls["time_ns"].sum()) or 1.0
    sums = calls.group_by("kind").agg(pl.col("time_ns").sum()).sort("kind")
    parts = dict.fromkeys(GROUPS, 0.0)
    for kind, time_ns in sums.iter_rows():
        parts[_group_of(kind)] += time_ns / total
    return parts


def _mpi_calls(profile: Profile) -> pl.DataFrame:
    """Return the MPI calls without start-up."""
    is_start_up = pl.col("call").is_in(START_UP)
    is_posix = pl.col("kind") == "posix-io"
    return profile.calls.filter(~is_start_up & ~is_posix)


def _group_of(kind: str) -> str:
    for group, kinds in GROUPS.items():
        if kind in kinds:
            return group
    return _OTHER


#: Shares of the time without a core, or with the core taken by other guests, from which a
#: profile describes the machine more than the program.
DISTURBED = 0.05


def queued_share(profile: Profile) -> float:
    """Return the share of the ranks' time in which a rank was ready but had no core."""
    ranks = profile.rank_table.filter(pl.col("queued_ns") >= 0)
    wall = float(ranks["wall_ns"].sum())
    return float(ranks["queued_ns"].sum()) / wall if wall > 0 else 0.0


def stolen_share(profile: Profile) -> float:
    """Return the largest share of a rank's time that the hypervisor gave to other guests."""
    ranks = profile.rank_table.filter((pl.col("steal_ns") > 0) & (pl.col("wall_ns") > 0))
    if ranks.is_empty():
        return 0.0
    return float((ranks["steal_ns"] / ranks["wall_ns"]).to_numpy().max())


def other_threads_mpi_s(profile: Profile) -> float:
    """Return the time per rank that all threads except the main thread spent in MPI, in s."""
    calls = _mpi_calls(profile)
    all_threads_ns = float((calls["time_ns"] + calls["waited_ns"]).sum())
    main_threads_ns = float(profile.rank_table["mpi_ns"].sum())
    others_ns = max(0.0, all_threads_ns - main_threads_ns)
    return others_ns * 1e-9 / max(1, profile.ranks)


def imbalance(profile: Profile) -> Imbalance:
    """Return the imbalance of the ranks' computing times."""
    times = _seconds(profile.rank_table["compute_ns"])
    mean = float(times.mean())
    longest = float(times.max())
    factor = longest / mean if mean > 0 else 1.0
    place = int(times.argmax())
    slowest = int(profile.rank_table["rank"][place])
    return Imbalance(factor, slowest, least_s=float(times.min()), most_s=longest)


def top_calls(profile: Profile, most: int | None = None) -> list[CallSum]:
    """Return the sums of each function, the largest time first; start-up is left out."""
    calls = profile.calls.filter(~pl.col("call").is_in(START_UP))
    total = float((calls["time_ns"] + calls["waited_ns"]).sum()) or 1.0
    sums = calls.group_by("call", "kind").agg(
        pl.col("count", "bytes", "time_ns", "waited_ns", "finished", "window_ns").sum(),
        pl.col("max_ns").max(),
    )
    spent = pl.col("time_ns") + pl.col("waited_ns")
    finished = pl.col("finished")
    window_s = pl.col("window_ns") * 1e-9
    is_split = pl.lit(profile.mode == "split")
    knows_waiting = is_split & (pl.col("kind") == "collective") & (spent > 0)
    sorted_sums = sums.sort(spent, "call", "kind", descending=[True, False, False])
    columns = sorted_sums.head(most or sums.height).select(
        "call",
        "kind",
        "count",
        "bytes",
        time_s=spent * 1e-9,
        mean_s=_mean_s(spent),
        longest_s=pl.col("max_ns") * 1e-9,
        share=spent / total,
        waited=pl.when(knows_waiting).then(pl.col("waited_ns") / spent),
        overlap_s=pl.when(finished != 0).then(window_s / finished),
    )
    return [CallSum(**row) for row in columns.iter_rows(named=True)]


def _mean_s(spent_ns: pl.Expr) -> pl.Expr:
    return pl.when(pl.col("count") != 0).then(spent_ns * 1e-9 / pl.col("count")).otherwise(0.0)


def sizes(profile: Profile) -> list[SizeSum]:
    """Return the sums of calls that move data, by message size in powers of two."""
    moves_data = (pl.col("bytes") > 0) & (pl.col("kind") != "setup")
    size = pl.col("size_low")
    power = size.log(2).floor().cast(pl.Int64)
    size_bin = pl.when(size > 0).then(power).otherwise(-1)
    spent = pl.col("time_ns") + pl.col("waited_ns")
    binned = profile.calls.filter(moves_data).with_columns(bin=size_bin)
    sums = binned.group_by("call", "kind", "bin").agg(
        pl.col("count", "bytes").sum(),
        low=size.min(),
        high=pl.col("size_high").max(),
        time_ns=spent.sum(),
    )
    time_ns = pl.col("time_ns")
    columns = sums.sort("call", "kind", "bin").select(
        "call",
        "kind",
        "low",
        "high",
        "count",
        "bytes",
        time_s=time_ns * 1e-9,
        mean_s=_mean_s(time_ns),
    )
    return [SizeSum(**row) for row in columns.iter_rows(named=True)]


def communication_matrix(profile: Profile, most: int) -> Matrix:
    """Return the bytes between ranks, point to point and one-sided, in at most `most` rows."""
    step = -(-profile.cells // most)
    size = -(-profile.cells // step)
    count = np.zeros((size, size), np.int64)
    sent = np.zeros((size, size), np.int64)
    sends = profile.send_table
    rows = sends["from"].to_numpy() // step
    columns = sends["to"].to_numpy() // step
    np.add.at(count, (rows, columns), sends["count"].to_numpy())
    np.add.at(sent, (rows, columns), sends["bytes"].to_numpy())
    return Matrix(count, sent, step * profile.ranks_per_cell)


def region_split(profile: Profile) -> list[tuple[str, float, float]]:
    """Return the computing and call time (s, sum over ranks) of each region, if there are any."""
    table = profile.call_table.filter(~pl.col("call").is_in(START_UP))
    if table["region"].n_unique() < 2:
        return []
    spent = pl.col("time_ns") + pl.col("waited_ns")
    is_compute = pl.col("kind") == "compute"
    sums = table.group_by("region").agg(
        spent.filter(is_compute).sum().alias("compute"),
        spent.filter(~is_compute).sum().alias("mpi"),
    )
    split = []
    for region, compute_ns, mpi_ns in sums.sort("region").iter_rows():
        name = _region_name(profile, region)
        split.append((name, compute_ns * 1e-9, mpi_ns * 1e-9))
    return split


def _region_name(profile: Profile, region: int) -> str:
    name = profile.regions.get(region)
    if name:
        return name
    return f"region {region}" if region else "outside"


def remarks(profile: Profile) -> list[str]:
    """Return remarks on limits of the profile's numbers."""
    ranks = profile.rank_table
    texts = []
    if not profile.complete:
        texts.append(f"unfinished: {profile.ended}; the figures until then are shown")
    if profile.mode == "split":
        cost = format_value(_barriers_s(profile), "s")
        texts.append(
            "a barrier before every blocking collective separates waiting from transfer; "
            f"the barriers themselves took about {cost} per rank"
        )
    dropped = int(ranks["dropped"].sum())
    if dropped:
        texts.append(f"{dropped} calls did not fit the tables and are missing")
    untracked = int(ranks["untracked"].sum())
    if untracked:
        texts.append(f"{untracked} requests were not followed to their completion")
    stolen = stolen_share(profile)
    if 0.01 < stolen <= DISTURBED:
        texts.append(f"other guests took processor time (up to {stolen:.0%} of the wall time)")
    sources = [name for name in ranks["clock_source"].unique().sort() if name != "tsc"]
    if any(sources):
        names = ", ".join(sources)
        texts.append(f"clock source {names}: reading the clock is slower than the TSC")
    return texts


def _barriers_s(profile: Profile) -> float:
    """Return the time per rank of the barriers before the collectives of a split profile, in s."""
    split = profile.calls.filter(pl.col("waited_ns") > 0)
    # The last rank to arrive does not wait: the shortest wait of a row is the barrier itself.
    total_ns = float((split["waited_min_ns"] * split["count"]).sum())
    return total_ns * 1e-9 / profile.ranks
