"""A profile in a few tables: where the time goes, which calls, which sizes, who waits for whom."""

from __future__ import annotations

from dataclasses import dataclass

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
_GROUP_OF = {kind: group for group, kinds in GROUPS.items() for kind in kinds}
START_UP = ("MPI_Init", "MPI_Init_thread")


@dataclass(frozen=True, slots=True)
class TimeShare:
    """A part of the run time, per rank, in s.

    `least_s` and `most_s` are of single ranks; None for a kind of call, which is a part of all MPI
    calls and known for all ranks together only.
    """

    what: str
    share: float
    mean_s: float
    least_s: float | None = None
    most_s: float | None = None

    @property
    def is_part(self) -> bool:
        """Whether it is a part of the line "MPI calls"."""
        return self.least_s is None


@dataclass(frozen=True, slots=True)
class CallSum:
    """All calls of one function."""

    call: str
    kind: str
    count: int
    bytes: int
    time_s: float
    mean_s: float
    longest_s: float
    share: float
    """Of the time of all MPI and file calls."""
    waited: float | None
    """Share of its time that was waiting; None unless the profile is split."""
    overlap_s: float | None
    """Mean time between post and completing call; None where no request was completed."""

    @property
    def mean_bytes(self) -> float | None:
        """Mean size of a call's data; None where its calls move none."""
        return self.bytes / self.count if self.bytes and self.count else None


@dataclass(frozen=True, slots=True)
class SizeSum:
    """All calls of one function with messages of about one size."""

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
    """Messages and bytes from row to column; `block` neighbouring ranks share a row."""

    count: npt.NDArray[np.int64]
    bytes: npt.NDArray[np.int64]
    block: int

    @property
    def most(self) -> int:
        """Bytes of the pair that sends most."""
        return int(self.bytes.max())

    @property
    def faint(self) -> float:
        """Bytes that are drawn faintest: a hundredth of the most, or the least that was sent.

        Between pairs that send about the same there must be no contrast.
        """
        some = self.bytes[self.bytes > 0]
        return min(float(some.min()), self.most / 100) if some.size else 1.0

    @property
    def strength(self) -> npt.NDArray[np.float64]:
        """How strong each pair is drawn: from 0 to 1, logarithmic in the bytes."""
        if self.most == 0:
            return np.zeros(self.bytes.shape)
        floor = np.maximum(self.bytes.astype(float), self.faint)
        return np.asarray(np.log(floor / self.faint) / np.log(self.most / self.faint))


@dataclass(frozen=True, slots=True)
class Imbalance:
    """How unevenly ranks compute.

    - `factor`: the largest computing time over the mean: the possible gain of perfect balance.
    - `slowest`: the rank that computes longest.
    """

    factor: float
    slowest: int
    least_s: float
    most_s: float


def time_split(profile: Profile) -> list[TimeShare]:
    """Describe where the ranks' time between ``MPI_Init`` and ``MPI_Finalize`` goes.

    Computing, waiting, file calls and MPI calls are of the main threads and add up to the
    wall time. MPI calls are divided in proportion to the kinds of calls of all threads.
    """
    ranks = profile.rank_table
    # Pauses of counting belong to no rank.
    counted = (ranks["wall_ns"] - ranks["paused_ns"], ranks["compute_ns"], ranks["waited_ns"])
    wall, compute, waited, posix, mpi = (
        column.to_numpy().astype(float) * 1e-9
        for column in (*counted, ranks["posix_ns"], ranks["mpi_ns"])
    )
    total = float(wall.mean()) or 1.0

    def share(name: str, values: npt.NDArray[np.float64]) -> TimeShare:
        mean = float(values.mean())
        return TimeShare(name, mean / total, mean, float(values.min()), float(values.max()))

    split = [share("computing", compute)]
    if profile.mode == "split":
        split.append(share("waiting before collectives", waited))
        mpi = mpi - waited
    if float(posix.sum()) > 0:
        split.append(share("files (POSIX)", posix))
    calls = share("MPI calls", mpi)
    parts = _mpi_parts(profile).items()
    return [
        *split,
        calls,
        *(
            TimeShare(call_kind, calls.share * part, calls.mean_s * part)
            for call_kind, part in parts
            if part > 0
        ),
    ]


def _mpi_parts(profile: Profile) -> dict[str, float]:
    calls = profile.calls.filter(~pl.col("call").is_in(START_UP) & (pl.col("kind") != "posix-io"))
    total = float(calls["time_ns"].sum()) or 1.0
    sums = dict(calls.group_by("kind").agg(pl.col("time_ns").sum()).iter_rows())
    parts = dict.fromkeys(GROUPS, 0.0)
    for kind, time_ns in sums.items():
        parts[_GROUP_OF.get(kind, "communicators, other")] += time_ns / total
    return parts


#: Shares of the time without a core, or with the core taken by other guests, from which a
#: profile describes the machine more than the program.
DISTURBED = 0.05


def queued_share(profile: Profile) -> float:
    """Return the share of the ranks' time in which they were ready but had no core."""
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
    """Return the time per rank that threads other than the main one spent in MPI calls, in s."""
    calls = profile.calls.filter(~pl.col("call").is_in(START_UP) & (pl.col("kind") != "posix-io"))
    everyone = float((calls["time_ns"] + calls["waited_ns"]).sum())
    main = float(profile.rank_table["mpi_ns"].sum())
    return max(0.0, everyone - main) * 1e-9 / max(1, profile.ranks)


def imbalance(profile: Profile) -> Imbalance:
    """Compare the computing times of the ranks."""
    times = profile.rank_table["compute_ns"].to_numpy().astype(float) * 1e-9
    mean = float(times.mean())
    return Imbalance(
        factor=float(times.max()) / mean if mean > 0 else 1.0,
        slowest=int(profile.rank_table["rank"][int(times.argmax())]),
        least_s=float(times.min()),
        most_s=float(times.max()),
    )


def top_calls(profile: Profile, most: int | None = None) -> list[CallSum]:
    """Return the sum of each function, the most time first; start-up is left out."""
    calls = profile.calls.filter(~pl.col("call").is_in(START_UP))
    total = float((calls["time_ns"] + calls["waited_ns"]).sum()) or 1.0
    spent = pl.col("time_ns") + pl.col("waited_ns")
    finished = pl.col("finished")
    split = (profile.mode == "split") & (pl.col("kind") == "collective") & (spent > 0)
    sums = (
        calls.group_by("call", "kind")
        .agg(
            pl.col("count", "bytes", "time_ns", "waited_ns", "finished", "window_ns").sum(),
            pl.col("max_ns").max(),
        )
        .sort(spent, pl.col("call"), descending=[True, False])
        .select(
            "call",
            "kind",
            "count",
            "bytes",
            time_s=spent * 1e-9,
            mean_s=_mean_s(spent),
            longest_s=pl.col("max_ns") * 1e-9,
            spent_ns=spent,
            waited=pl.when(split).then(pl.col("waited_ns") / spent),
            overlap_s=pl.when(finished != 0).then(pl.col("window_ns") * 1e-9 / finished),
        )
    )
    rows = sums.head(most or sums.height).iter_rows(named=True)
    return [CallSum(share=row.pop("spent_ns") / total, **row) for row in rows]


def _mean_s(spent_ns: pl.Expr) -> pl.Expr:
    return pl.when(pl.col("count") != 0).then(spent_ns * 1e-9 / pl.col("count")).otherwise(0.0)


def sizes(profile: Profile) -> list[SizeSum]:
    """Sum up calls that move data by power-of-two bins of the message size."""
    data = profile.calls.filter((pl.col("bytes") > 0) & (pl.col("kind") != "setup"))
    power = pl.col("size_low").log(2).floor().cast(pl.Int64)
    spent = (pl.col("time_ns") + pl.col("waited_ns")).sum()
    sums = (
        data.with_columns(bin=pl.when(pl.col("size_low") > 0).then(power).otherwise(-1))
        .group_by("call", "kind", "bin")
        .agg(
            pl.col("size_low").min().alias("low"),
            pl.col("size_high").max().alias("high"),
            pl.col("count", "bytes").sum(),
            time_ns=spent,
        )
        .sort("call", "kind", "bin")
        .with_columns(time_s=pl.col("time_ns") * 1e-9, mean_s=_mean_s(pl.col("time_ns")))
        .drop("bin", "time_ns")
    )
    return [SizeSum(**row) for row in sums.iter_rows(named=True)]


def communication_matrix(profile: Profile, most: int) -> Matrix:
    """Return who sends how much to whom, at most `most` rows; point to point and one-sided."""
    step = -(-profile.cells // most)
    size = -(-profile.cells // step)
    count = np.zeros((size, size), np.int64)
    sent = np.zeros((size, size), np.int64)
    table = profile.send_table
    where = (table["from"].to_numpy() // step, table["to"].to_numpy() // step)
    np.add.at(count, where, table["count"].to_numpy())
    np.add.at(sent, where, table["bytes"].to_numpy())
    return Matrix(count, sent, step * profile.ranks_per_cell)


def region_split(profile: Profile) -> list[tuple[str, float, float]]:
    """Return computing and call time (s, all ranks together) per region; empty without regions."""
    table = profile.call_table.filter(~pl.col("call").is_in(START_UP))
    if table["region"].n_unique() < 2:
        return []
    spent = pl.col("time_ns") + pl.col("waited_ns")
    is_compute = pl.col("kind") == "compute"
    sums = table.group_by("region").agg(
        spent.filter(is_compute).sum().alias("compute"),
        spent.filter(~is_compute).sum().alias("mpi"),
    )
    named = {0: "outside"} | {number: name for number, name in profile.regions.items() if name}
    return [
        (named.get(region, f"region {region}"), compute * 1e-9, mpi * 1e-9)
        for region, compute, mpi in sums.sort("region").iter_rows()
    ]


def remarks(profile: Profile) -> list[str]:
    """Return the remarks that limit the numbers."""
    ranks = profile.rank_table
    dropped, untracked = (int(ranks[name].sum()) for name in ("dropped", "untracked"))
    most = stolen_share(profile)
    split = profile.calls.filter(pl.col("waited_ns") > 0)
    # The last rank to arrive does not wait: the shortest wait of a row is the barrier itself.
    cost_s = float((split["waited_min_ns"] * split["count"]).sum()) * 1e-9 / profile.ranks
    sources = ", ".join(name for name in ranks["clock_source"].unique().sort() if name != "tsc")
    limits = [
        (not profile.complete, f"unfinished: {profile.ended}; the figures until then are shown"),
        (
            profile.mode == "split",
            "a barrier before every blocking collective separates waiting from transfer; "
            f"the barriers themselves took about {format_value(cost_s, 's')} per rank",
        ),
        (dropped, f"{dropped} calls did not fit the tables and are missing"),
        (untracked, f"{untracked} requests were not followed to their completion"),
        (
            0.01 < most <= DISTURBED,
            f"other guests took processor time (up to {most:.0%} of the wall time)",
        ),
        (sources, f"clock source {sources}: reading the clock is slower than the TSC"),
    ]
    return [text for limit, text in limits if limit]
