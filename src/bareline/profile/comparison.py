"""Two profiles side by side: before and after a change, or one program on two platforms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import polars as pl

from bareline.profile.model import Profile
from bareline.profile.sites import CallSite, call_sites
from bareline.profile.summary import imbalance, queued_share, time_split

_START_UP = ("MPI_Init", "MPI_Init_thread")


@dataclass(frozen=True, slots=True)
class Pair:
    """One quantity of both.

    - `before`, `after`: None where one profile has no such thing.
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
    """All calls of one function, per rank, in both; by size where `size_low` is given.

    - `imbalance`: the most time of a rank over the mean of the ranks that make such calls; of
      several sizes that of each, by its time. None where one profile has no such call.
    """

    call: str
    size_low: int | None
    size_high: int | None
    count: tuple[float, float]
    bytes: tuple[float, float]
    time_s: tuple[float, float]
    imbalance: tuple[float | None, float | None]

    @property
    def change_s(self) -> float:
        """What it takes longer, a rank's mean."""
        return self.time_s[1] - self.time_s[0]

    def row(self) -> dict[str, Any]:
        """Give it as a tidy row."""
        row: dict[str, Any] = {key: getattr(self, key) for key in ("call", "size_low", "size_high")}
        for name in ("count", "bytes", "time_s", "imbalance"):
            row[f"{name}_before"], row[f"{name}_after"] = getattr(self, name)
        return {**row, "change_s": self.change_s}


@dataclass(frozen=True, slots=True)
class SitePair:
    """One call site in both, a rank's mean; None where one profile has no such place.

    A program that was changed in between calls from other lines: such a place appears twice, once
    with each profile.
    """

    call: str
    place: str
    before: CallSite | None
    after: CallSite | None
    time_s: tuple[float, float]

    @property
    def change_s(self) -> float:
        """What it takes longer, a rank's mean."""
        return self.time_s[1] - self.time_s[0]

    def row(self) -> dict[str, Any]:
        """Give it as a tidy row."""
        row: dict[str, Any] = {"call": self.call, "place": self.place}
        pairs = (("before", self.before), ("after", self.after))
        for (when, site), time_s in zip(pairs, self.time_s, strict=True):
            row[f"count_{when}"] = site.count if site else 0
            row[f"bytes_{when}"] = site.bytes if site else 0
            row[f"time_s_{when}"] = time_s
            row[f"imbalance_{when}"] = site.imbalance if site else None
        return {**row, "change_s": self.change_s}


@dataclass(frozen=True, slots=True)
class ProfileComparison:
    """Two profiles.

    - `split`: where a rank's time goes, then what else tells them apart.
    - `calls`, `sizes`, `sites`: functions, functions by message size, and places in the program,
      the largest change first.
    - `pairs_only_before`, `pairs_only_after`: pairs of ranks that exchange messages in one of them
      only.
    """

    before: Profile
    after: Profile
    split: tuple[Pair, ...]
    calls: tuple[CallPair, ...]
    sizes: tuple[CallPair, ...]
    sites: tuple[SitePair, ...]
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
            *({"type": "site", **site.row()} for site in self.sites),
        ]  # fmt: skip


def compare_profiles(before: Profile, after: Profile) -> ProfileComparison:
    """Put two profiles side by side; numbers of calls are per rank."""
    links = [set(map(tuple, one.send_table.select("from", "to").rows())) for one in (before, after)]
    return ProfileComparison(
        before=before,
        after=after,
        split=tuple(_split(before, after)),
        calls=_calls(before, after, ["call"]),
        sizes=_calls(before, after, ["call", "size_low", "size_high"]),
        sites=_sites(before, after),
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
                # Each row's slowest rank over its mean, by the rows' times.
                (pl.col("rank_max_ns").sum() / (pl.col("time_ns") / pl.col("ranks")).sum()).alias(
                    "imbalance"
                ),
            )
        )
    joined = tables[0].join(tables[1], on=keys, how="full", coalesce=True, suffix="_after")
    sums = pl.selectors.numeric().exclude(*keys, "imbalance", "imbalance_after")
    values = joined.with_columns(sums.fill_null(0.0))
    pairs = [
        CallPair(
            call=row["call"],
            size_low=row.get("size_low"),
            size_high=row.get("size_high"),
            count=(row["count"], row["count_after"]),
            bytes=(row["bytes"], row["bytes_after"]),
            time_s=(row["time_s"], row["time_s_after"]),
            imbalance=(_finite(row["imbalance"]), _finite(row["imbalance_after"])),
        )
        for row in values.iter_rows(named=True)
    ]
    return tuple(sorted(pairs, key=lambda one: (-abs(one.change_s), one.call, one.size_low or 0)))


def _finite(value: float | None) -> float | None:
    """Calls that took no time have no imbalance."""
    return value if value is not None and math.isfinite(value) else None


def _sites(before: Profile, after: Profile) -> tuple[SitePair, ...]:
    found = [
        {(site.call, site.place): site for site in call_sites(profile)}
        for profile in (before, after)
    ]
    pairs = []
    for key in dict.fromkeys([*found[0], *found[1]]):
        one, other = (sites.get(key) for sites in found)
        times = (
            one.time_s / before.ranks if one else 0.0,
            other.time_s / after.ranks if other else 0.0,
        )
        pairs.append(SitePair(*key, one, other, times))
    return tuple(sorted(pairs, key=lambda pair: (-abs(pair.change_s), pair.call, pair.place)))
