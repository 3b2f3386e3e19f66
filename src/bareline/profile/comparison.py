"""Comparison of two profiles: before and after a change, or of one program on two platforms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

import polars as pl

from bareline.profile.model import Profile
from bareline.profile.sites import CallSite, call_sites
from bareline.profile.summary import START_UP, imbalance, queued_share, time_split


@dataclass(frozen=True, slots=True)
class QuantityPair:
    """A row of ``compare`` for two profiles: a part of a rank's time, or another quantity.

    - `before`, `after`: the quantity in each profile; null if the profile does not have it.
    - `ratio`: `after` divided by `before`.
    """

    type: Literal["split"]
    what: str
    unit: str
    before: float | None
    after: float | None
    ratio: float | None


@dataclass(frozen=True, slots=True)
class CallPair:
    """A row of ``compare`` for two profiles: a function's calls per rank, all or those of one size.

    - `imbalance_before`, `imbalance_after`: the largest time of a rank divided by the mean time of
      the ranks that make such calls. For several sizes, it is the mean weighted by time. It is null
      if the profile has no call of this function or size.
    - `change_s`: the additional time.
    """

    type: Literal["call", "size"]
    call: str
    size_low: int | None
    size_high: int | None
    count_before: float
    count_after: float
    bytes_before: float
    bytes_after: float
    time_s_before: float
    time_s_after: float
    imbalance_before: float | None
    imbalance_after: float | None
    change_s: float


@dataclass(frozen=True, slots=True)
class SitePair:
    """``compare`` of profiles: one call site in both profiles.

    If the program was changed between the two profiles, its calls come from other lines. Such a
    call site appears twice, once for each profile.

    - `time_s_before`, `time_s_after`, `change_s`: the mean over the ranks.
    - `imbalance_before`, `imbalance_after`: null if the profile does not have the call site.
    """

    type: Literal["site"]
    call: str
    place: str
    count_before: int
    bytes_before: int
    time_s_before: float
    imbalance_before: float | None
    count_after: int
    bytes_after: int
    time_s_after: float
    imbalance_after: float | None
    change_s: float


ComparisonRow = QuantityPair | CallPair | SitePair


@dataclass(frozen=True, slots=True)
class ProfileComparison:
    """Two profiles and their differences.

    - `split`: the parts of a rank's time, then other differences.
    - `calls`: the functions, the largest change first.
    - `sizes`: the functions by message size, the largest change first.
    - `sites`: the call sites, the largest change first.
    - `pairs_only_before`, `pairs_only_after`: the number of pairs of ranks that exchange messages
      only in that profile.
    """

    before: Profile
    after: Profile
    split: tuple[QuantityPair, ...]
    calls: tuple[CallPair, ...]
    sizes: tuple[CallPair, ...]
    sites: tuple[SitePair, ...]
    pairs_only_before: int
    pairs_only_after: int

    @property
    def alike(self) -> str:
        """The reasons why numbers of the two profiles cannot be compared; empty if they can."""
        before = self.before
        after = self.after
        differences = []
        if before.ranks != after.ranks:
            differences.append(f"ranks: {before.ranks} and {after.ranks}")
        if before.title != after.title:
            differences.append(f"program: {before.title} and {after.title}")
        if before.mode != after.mode:
            differences.append(f"mode: {before.mode} and {after.mode}")
        return "; ".join(differences)

    def rows(self) -> list[dict[str, Any]]:
        """Return tidy rows of four kinds, distinguished by ``type``."""
        rows: list[ComparisonRow] = [*self.split, *self.calls, *self.sizes, *self.sites]
        return list(map(asdict, rows))


def compare_profiles(before: Profile, after: Profile) -> ProfileComparison:
    """Return the comparison of two profiles; numbers of calls are per rank."""
    pairs_before = _sending_pairs(before)
    pairs_after = _sending_pairs(after)
    return ProfileComparison(
        before=before,
        after=after,
        split=tuple(_split(before, after)),
        calls=_calls(before, after, ["call"]),
        sizes=_calls(before, after, ["call", "size_low", "size_high"]),
        sites=_sites(before, after),
        pairs_only_before=len(pairs_before - pairs_after),
        pairs_only_after=len(pairs_after - pairs_before),
    )


def _sending_pairs(profile: Profile) -> set[tuple[int, int]]:
    """Return the pairs (sender, receiver) of cells (neighbouring ranks) that exchange messages."""
    return set(profile.send_table.select("from", "to").iter_rows())


def _split(before: Profile, after: Profile) -> Iterator[QuantityPair]:
    """Yield the parts of a rank's time, then the other quantities."""
    wall_before = _longest_s(before, "wall_ns")
    wall_after = _longest_s(after, "wall_ns")
    yield _quantity("run time, longest rank", "s", wall_before, wall_after)
    parts_before = _mean_times(before)
    parts_after = _mean_times(after)
    for name in {**parts_before, **parts_after}:
        yield _quantity(name, "s", parts_before.get(name), parts_after.get(name))
    init_before = _longest_s(before, "init_ns")
    init_after = _longest_s(after, "init_ns")
    yield _quantity("start-up (MPI_Init), longest rank", "s", init_before, init_after)
    factor_before = imbalance(before).factor
    factor_after = imbalance(after).factor
    yield _quantity("imbalance of computing", "1", factor_before, factor_after)
    yield _quantity("ready without a core", "share", queued_share(before), queued_share(after))


def _quantity(name: str, unit: str, before: float | None, after: float | None) -> QuantityPair:
    ratio = None
    if before and after is not None:
        ratio = after / before
    return QuantityPair("split", name, unit, before, after, ratio)


def _longest_s(profile: Profile, column_ns: str) -> float:
    """Return the largest value of a column of the ranks' table, in s."""
    return float(profile.rank_table[column_ns].to_numpy().max()) * 1e-9


def _mean_times(profile: Profile) -> dict[str, float]:
    """Return the mean time of each part of a rank's time, in s."""
    return {part.what: part.mean_s for part in time_split(profile)}


def _calls(before: Profile, after: Profile, keys: list[str]) -> tuple[CallPair, ...]:
    """Return for each value of `keys` its calls in both profiles, the largest change first."""
    sums_before = _call_sums(before, keys)
    sums_after = _call_sums(after, keys)
    both = sums_before.join(sums_after, on=keys, how="full", coalesce=True, suffix="_after")
    columns = [name for name in sums_before.columns if name not in keys]
    both = both.rename({name: f"{name}_before" for name in columns})
    sums = pl.selectors.matches("^(count|bytes|time_s)_")
    both = both.with_columns(sums.fill_null(0.0))
    both = both.with_columns(change_s=pl.col("time_s_after") - pl.col("time_s_before"))
    kind: Literal["call", "size"] = "size"
    if "size_low" not in keys:
        kind = "call"
        both = both.with_columns(size_low=None, size_high=None)
    pairs = [CallPair(type=kind, **row) for row in both.iter_rows(named=True)]
    pairs.sort(key=lambda pair: (-abs(pair.change_s), pair.call, pair.size_low or 0))
    return tuple(pairs)


def _call_sums(profile: Profile, keys: list[str]) -> pl.DataFrame:
    """Return the calls, bytes, times per rank and imbalance of the calls, summed by `keys`."""
    calls = profile.calls.filter(~pl.col("call").is_in(START_UP))
    if "size_low" in keys:
        calls = calls.filter(pl.col("bytes") > 0)
    spent = (pl.col("time_ns") + pl.col("waited_ns")) * 1e-9
    mean_ns = pl.col("time_ns") / pl.col("ranks")
    # Each row's slowest rank divided by its mean, weighted by the rows' times.
    uneven = pl.col("rank_max_ns").sum() / mean_ns.sum()
    return calls.group_by(keys).agg(
        count=pl.col("count").sum() / profile.ranks,
        bytes=pl.col("bytes").sum() / profile.ranks,
        time_s=spent.sum() / profile.ranks,
        # Calls that took no time have no imbalance.
        imbalance=pl.when(uneven.is_finite()).then(uneven),
    )


def _sites(before: Profile, after: Profile) -> tuple[SitePair, ...]:
    """Return both profiles' call sites, paired by function and source; largest change first."""
    sites_before = _sites_by_place(before)
    sites_after = _sites_by_place(after)
    pairs = []
    for key in {**sites_before, **sites_after}:
        call, place = key
        columns = _side("before", sites_before.get(key), before.ranks)
        columns |= _side("after", sites_after.get(key), after.ranks)
        change_s = columns["time_s_after"] - columns["time_s_before"]
        pairs.append(SitePair("site", call, place, **columns, change_s=change_s))
    pairs.sort(key=lambda pair: (-abs(pair.change_s), pair.call, pair.place))
    return tuple(pairs)


def _sites_by_place(profile: Profile) -> dict[tuple[str, str], CallSite]:
    return {(site.call, site.place): site for site in call_sites(profile)}


def _side(side: str, site: CallSite | None, ranks: int) -> dict[str, Any]:
    """Return the columns of a call site in one profile; zeros if the profile does not have it."""
    columns: dict[str, Any] = {"count": 0, "bytes": 0, "time_s": 0.0, "imbalance": None}
    if site:
        columns = {
            "count": site.count,
            "bytes": site.bytes,
            "time_s": site.time_s / ranks,
            "imbalance": site.imbalance,
        }
    return {f"{name}_{side}": value for name, value in columns.items()}
