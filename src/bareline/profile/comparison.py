"""Two profiles side by side: before and after a change, or one program on two platforms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import polars as pl

from bareline.profile.model import Profile
from bareline.profile.sites import CallSite, call_sites
from bareline.profile.summary import START_UP, imbalance, queued_share, time_split


@dataclass(frozen=True, slots=True)
class QuantityPair:
    """``compare`` of profiles: the parts of a rank's time, and other differences.

    - `before`, `after`: null where one profile has no such thing; `ratio`: after over before.
    """

    type: Literal["split"]
    what: str
    unit: str
    before: float | None
    after: float | None
    ratio: float | None


@dataclass(frozen=True, slots=True)
class CallPair:
    """``compare`` of profiles: all calls of one function, per rank; or only the calls of one size.

    - `imbalance_before`, `imbalance_after`: the most time of a rank over the mean of the ranks that
      make such calls; of several sizes that of each, by its time. Null where a profile has no such
      call.
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
    """``compare`` of profiles: one call site in both.

    A program that was changed in between calls from other lines: such a place appears twice, once
    with each profile.

    - `time_s_before`, `time_s_after`, `change_s`: a rank's mean.
    - `imbalance_before`, `imbalance_after`: null where one profile has no such place.
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
    """Two profiles.

    - `split`: the parts of a rank's time, then other differences.
    - `calls`, `sizes`, `sites`: functions, those by message size, places; largest change first.
    - `pairs_only_before`, `pairs_only_after`: pairs of ranks with messages in one of them only.
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
        """Return the reason why their numbers cannot be compared; empty without one."""
        differences = [
            f"{name}: {before} and {after}"
            for name, before, after in (
                ("ranks", self.before.ranks, self.after.ranks),
                ("program", self.before.title, self.after.title),
                ("mode", self.before.mode, self.after.mode),
            )
            if before != after
        ]
        return "; ".join(differences)

    def rows(self) -> list[dict[str, Any]]:
        """Return tidy rows, distinguished by ``type``."""
        rows: list[ComparisonRow] = [*self.split, *self.calls, *self.sizes, *self.sites]
        return list(map(asdict, rows))


def compare_profiles(before: Profile, after: Profile) -> ProfileComparison:
    """Put two profiles side by side; numbers of calls are per rank."""
    links = [
        set(map(tuple, profile.send_table.select("from", "to").rows()))
        for profile in (before, after)
    ]
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


def _split(*both: Profile) -> list[QuantityPair]:
    walls, inits = (
        [float(profile.rank_table[name].to_numpy().max()) * 1e-9 for profile in both]
        for name in ("wall_ns", "init_ns")
    )
    before, after = ({part.what: part.mean_s for part in time_split(profile)} for profile in both)
    quantities: list[tuple[str, str, Sequence[float | None]]] = [
        ("run time, longest rank", "s", walls),
        *((name, "s", (before.get(name), after.get(name))) for name in {**before, **after}),
        ("start-up (MPI_Init), longest rank", "s", inits),
        ("imbalance of computing", "1", [imbalance(profile).factor for profile in both]),
        ("ready without a core", "share", [queued_share(profile) for profile in both]),
    ]
    return [
        QuantityPair("split", quantity, unit, a, b, b / a if a and b is not None else None)
        for quantity, unit, (a, b) in quantities
    ]


def _calls(before: Profile, after: Profile, keys: list[str]) -> tuple[CallPair, ...]:
    tables = []
    for profile in (before, after):
        calls = profile.calls.filter(~pl.col("call").is_in(START_UP))
        if "size_low" in keys:
            calls = calls.filter(pl.col("bytes") > 0)
        spent = (pl.col("time_ns") + pl.col("waited_ns")) * 1e-9
        # Each row's slowest rank over its mean, by the rows' times.
        uneven = pl.col("rank_max_ns").sum() / (pl.col("time_ns") / pl.col("ranks")).sum()
        tables.append(
            calls.group_by(keys).agg(
                (pl.col("count").sum() / profile.ranks).alias("count"),
                (pl.col("bytes").sum() / profile.ranks).alias("bytes"),
                (spent.sum() / profile.ranks).alias("time_s"),
                # Calls that took no time have no imbalance.
                pl.when(uneven.is_finite()).then(uneven).alias("imbalance"),
            )
        )
    both = tables[0].join(tables[1], on=keys, how="full", coalesce=True, suffix="_after")
    both = both.rename({name: f"{name}_before" for name in tables[0].columns if name not in keys})
    sums = pl.selectors.matches("^(count|bytes|time_s)_")
    both = both.with_columns(sums.fill_null(0.0))
    both = both.with_columns(change_s=pl.col("time_s_after") - pl.col("time_s_before"))
    sized: dict[str, Any] = {} if "size_low" in keys else {"size_low": None, "size_high": None}
    kind: Literal["call", "size"] = "call" if sized else "size"
    pairs = [CallPair(type=kind, **sized, **row) for row in both.iter_rows(named=True)]
    return tuple(
        sorted(pairs, key=lambda pair: (-abs(pair.change_s), pair.call, pair.size_low or 0))
    )


def _sites(before: Profile, after: Profile) -> tuple[SitePair, ...]:
    sites_before = {(site.call, site.place): site for site in call_sites(before)}
    sites_after = {(site.call, site.place): site for site in call_sites(after)}
    pairs = []
    for call, place in {**sites_before, **sites_after}:
        sides = {
            **_side("before", sites_before.get((call, place)), before.ranks),
            **_side("after", sites_after.get((call, place)), after.ranks),
        }
        change_s = sides["time_s_after"] - sides["time_s_before"]
        pairs.append(SitePair("site", call, place, **sides, change_s=change_s))
    return tuple(sorted(pairs, key=lambda pair: (-abs(pair.change_s), pair.call, pair.place)))


def _side(side: str, site: CallSite | None, ranks: int) -> dict[str, Any]:
    """Return the columns of a site in one of two profiles; zeros where it has none."""
    return {
        f"count_{side}": site.count if site else 0,
        f"bytes_{side}": site.bytes if site else 0,
        f"time_s_{side}": site.time_s / ranks if site else 0.0,
        f"imbalance_{side}": site.imbalance if site else None,
    }
