"""Two profiles side by side: before and after a change, or one program on two platforms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from bareline.profile.model import Profile
from bareline.profile.summary import imbalance, queued_share, time_split

_START_UP = ("MPI_Init", "MPI_Init_thread")


@dataclass(frozen=True, slots=True)
class Pair:
    """One quantity of both.

    Attributes
    ----------
    before, after
        None where one profile has no such thing.
    """

    what: str
    unit: str
    before: float | None
    after: float | None

    @property
    def ratio(self) -> float | None:
        """After over before."""
        if self.before is None or self.after is None or self.before == 0:
            return None
        return self.after / self.before


@dataclass(frozen=True, slots=True)
class CallPair:
    """All calls of one function, per rank, in both; by size where `size_low` is given."""

    call: str
    size_low: int | None
    size_high: int | None
    count: tuple[float, float]
    bytes: tuple[float, float]
    time_s: tuple[float, float]

    @property
    def change_s(self) -> float:
        """What it takes longer, a rank's mean."""
        return self.time_s[1] - self.time_s[0]

    def row(self) -> dict[str, Any]:
        """Give it as a tidy row."""
        return {
            "call": self.call,
            "size_low": self.size_low,
            "size_high": self.size_high,
            **{
                f"{name}_{when}": values[index]
                for name, values in (
                    ("count", self.count),
                    ("bytes", self.bytes),
                    ("time_s", self.time_s),
                )
                for index, when in enumerate(("before", "after"))
            },
            "change_s": self.change_s,
        }


@dataclass(frozen=True, slots=True)
class Beside:
    """Two profiles.

    Attributes
    ----------
    split
        Where a rank's time goes, then what else tells them apart.
    calls, sizes
        Functions, and functions by message size, the largest change first.
    pairs_only_before, pairs_only_after
        Pairs of ranks that exchange messages in one of them only.
    """

    before: Profile
    after: Profile
    split: tuple[Pair, ...]
    calls: tuple[CallPair, ...]
    sizes: tuple[CallPair, ...]
    pairs_only_before: int
    pairs_only_after: int

    @property
    def alike(self) -> str:
        """Say what makes their numbers incomparable; empty if nothing does."""
        found = [
            f"{name}: {one} and {other}"
            for name, one, other in (
                ("ranks", self.before.ranks, self.after.ranks),
                ("program", self.before.title, self.after.title),
                ("mode", self.before.mode, self.after.mode),
            )
            if one != other
        ]
        return "; ".join(found)

    def rows(self) -> list[dict[str, Any]]:
        """Give tidy rows, told apart by ``type``."""
        return [
            *(
                {"type": "split", "what": pair.what, "unit": pair.unit, "before": pair.before,
                 "after": pair.after, "ratio": pair.ratio}
                for pair in self.split
            ),
            *({"type": "call", **call.row()} for call in self.calls),
            *({"type": "size", **call.row()} for call in self.sizes),
        ]  # fmt: skip


def beside(before: Profile, after: Profile) -> Beside:
    """Put two profiles side by side; numbers of calls are per rank."""
    links = [set(map(tuple, one.send_table.select("from", "to").rows())) for one in (before, after)]
    return Beside(
        before=before,
        after=after,
        split=tuple(_split(before, after)),
        calls=_calls(before, after, ["call"]),
        sizes=_calls(before, after, ["call", "size_low", "size_high"]),
        pairs_only_before=len(links[0] - links[1]),
        pairs_only_after=len(links[1] - links[0]),
    )


def _split(before: Profile, after: Profile) -> list[Pair]:
    both = (before, after)
    walls = [float(one.rank_table["wall_ns"].to_numpy().max()) * 1e-9 for one in both]
    splits = [{part.what: part.mean_s for part in time_split(one)} for one in both]
    inits = [float(one.rank_table["init_ns"].to_numpy().max()) * 1e-9 for one in both]
    factors = [imbalance(one).factor for one in both]
    queued = [queued_share(one) for one in both]
    names = dict.fromkeys([*splits[0], *splits[1]])
    return [
        Pair("run time, longest rank", "s", *walls),
        *(Pair(name, "s", splits[0].get(name), splits[1].get(name)) for name in names),
        Pair("start-up (MPI_Init), longest rank", "s", *inits),
        Pair("imbalance of computing", "1", *factors),
        Pair("ready without a core", "share", *queued),
    ]


def _calls(before: Profile, after: Profile, keys: list[str]) -> tuple[CallPair, ...]:
    tables = []
    for profile in (before, after):
        calls = profile.calls.filter(~pl.col("call").is_in(_START_UP))
        if "size_low" in keys:
            calls = calls.filter(pl.col("bytes") > 0)
        spent = (pl.col("time_ns") + pl.col("waited_ns")) * 1e-9
        tables.append(
            calls.group_by(keys).agg(
                (pl.col("count").sum() / profile.ranks).alias("count"),
                (pl.col("bytes").sum() / profile.ranks).alias("bytes"),
                (spent.sum() / profile.ranks).alias("time_s"),
            )
        )
    joined = tables[0].join(tables[1], on=keys, how="full", coalesce=True, suffix="_after")
    values = joined.with_columns(pl.selectors.numeric().exclude(keys).fill_null(0.0))
    pairs = [
        CallPair(
            call=row["call"],
            size_low=row.get("size_low"),
            size_high=row.get("size_high"),
            count=(row["count"], row["count_after"]),
            bytes=(row["bytes"], row["bytes_after"]),
            time_s=(row["time_s"], row["time_s_after"]),
        )
        for row in values.iter_rows(named=True)
    ]
    return tuple(sorted(pairs, key=lambda one: (-abs(one.change_s), one.call, one.size_low or 0)))
