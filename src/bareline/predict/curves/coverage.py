"""The sizes that an application looks up on each curve, and the range that the ladders have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from bareline.predict.curves.ladder import Ladder
from bareline.predict.curves.needs import curve_size
from bareline.profile.model import Profile
from bareline.profile.records import POINT_TO_POINT
from bareline.vocabulary.collectives import collective_of

#: A curve whose sizes together take a smaller share of the time is left out.
_LITTLE = 0.0005
_MESSAGES = "mpi.pingpong"


@dataclass(frozen=True, slots=True)
class SizeUsed:
    """A used message size; `share` is of the application's time, with waits for the messages."""

    size_bytes: float
    calls: float
    share: float


@dataclass(frozen=True, slots=True)
class CurveCoverage:
    """A curve that an application is looked up on.

    - `used`: sizes, ascending; `measured`: sizes that the ladder of the base has.
    - `least`, `most`: smallest and largest size that every ladder has.
    """

    application: str
    probe: str
    ranks: int
    used: tuple[SizeUsed, ...]
    measured: tuple[float, ...]
    least: float
    most: float

    @property
    def outside(self) -> tuple[SizeUsed, ...]:
        """Sizes above the largest size that every ladder has: their times are not known."""
        return tuple(one for one in self.used if one.size_bytes > self.most)

    def rows(self) -> list[dict[str, Any]]:
        """Return a tidy row for each size."""
        return [
            {
                "application": self.application,
                "probe": self.probe,
                "ranks": self.ranks,
                **asdict(one),
                "measured_from_bytes": self.least,
                "measured_to_bytes": self.most,
            }
            for one in self.used
        ]


def strips(application: str, profile: Profile, ladders: Sequence[Ladder]) -> list[CurveCoverage]:
    """Return an application's sizes on each curve that all its ladders have, the base's first."""
    found = []
    for (probe, ranks), used in sorted(_used(profile).items()):
        curves = [ladder.curve(probe, ranks, min(ladder.layout.nodes, ranks)) for ladder in ladders]
        there = [curve for curve in curves if curve is not None]
        if len(there) < len(curves) or not there:
            continue
        least = max(float(curve.sizes[0]) for curve in there)
        most = min(float(curve.sizes[-1]) for curve in there)
        measured = tuple(map(float, there[0].sizes))
        found.append(CurveCoverage(application, probe, ranks, tuple(used), measured, least, most))
    return found


def _used(profile: Profile) -> dict[tuple[str, int], list[SizeUsed]]:
    """Return the sizes by probe and ranks; the time of waits counts for the awaited messages."""
    wall = float(profile.rank_table["wall_ns"].sum()) or 1.0
    # These calls only begin a message; a wait ends it.
    posts = pl.col("kind").is_in(POINT_TO_POINT) & pl.col("call").str.contains("^MPI_(I|Start)")
    spent = pl.col("time_ns") + pl.col("waited_ns")
    calls = profile.calls.with_columns(spent=spent, posts=posts)
    waiting = float(calls.filter(pl.col("kind") == "wait")["spent"].sum())
    posted = calls.filter("posts")["count"].sum()
    found: dict[tuple[str, int], dict[float, list[float]]] = {}
    for row in calls.iter_rows(named=True):
        collective = collective_of(row["call"])
        if row["kind"] in POINT_TO_POINT and row["peer"] != "none":
            key, size = (_MESSAGES, 2), float(row["size_high"])
        elif row["kind"] == "collective" and collective is not None and row["comm_size"] > 1:
            key = (collective.probe, row["comm_size"])
            size = curve_size(collective, row["size_high"], row["comm_size"])
        else:
            continue
        waited = waiting * row["count"] / posted if row["posts"] else 0.0
        entry = found.setdefault(key, {}).setdefault(size, [0.0, 0.0])
        entry[0] += row["count"] / profile.ranks
        entry[1] += (row["spent"] + waited) / wall
    return {
        key: [SizeUsed(size, *sizes[size]) for size in sorted(sizes)]
        for key, sizes in found.items()
        if sum(share for _, share in sizes.values()) > _LITTLE
    }
