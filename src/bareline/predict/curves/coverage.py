"""The message sizes of an application on each curve, and the sizes that were measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from bareline.predict.curves.curve import Curve
from bareline.predict.curves.platform_curves import PlatformCurves
from bareline.predict.curves.requirements import curve_size
from bareline.profile.model import Profile
from bareline.profile.records import POINT_TO_POINT
from bareline.vocabulary.collectives import collective_of

#: A curve whose sizes together take a smaller share of the time is left out.
_LITTLE = 0.0005
_MESSAGES = "mpi.pingpong"


@dataclass(frozen=True, slots=True)
class SizeUsed:
    """A message size that the application uses.

    `share` is the share of the application's time in the messages and in waits for them.
    """

    size_bytes: float
    calls: float
    share: float


@dataclass(frozen=True, slots=True)
class CurveCoverage:
    """A measured curve and the sizes at which an application uses it.

    - `used`: the used sizes, ascending.
    - `measured`: the sizes that were measured on the base.
    - `least`, `most`: smallest and largest size that was measured on every platform.
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
        """The used sizes above `most`, the largest size that was measured on every platform."""
        return tuple(size for size in self.used if size.size_bytes > self.most)

    def rows(self) -> list[dict[str, Any]]:
        """Return a tidy row for each used size."""
        return [
            {
                "application": self.application,
                "probe": self.probe,
                "ranks": self.ranks,
                **asdict(size),
                "measured_from_bytes": self.least,
                "measured_to_bytes": self.most,
            }
            for size in self.used
        ]


def strips(
    application: str, profile: Profile, ladders: Sequence[PlatformCurves]
) -> list[CurveCoverage]:
    """Return an application's sizes on each curve that all platforms have.

    - `ladders`: the curves of each platform, the base first.
    """
    coverages: list[CurveCoverage] = []
    for (probe, ranks), used in sorted(_used(profile).items()):
        curves = _common_curves(ladders, probe, ranks)
        if not curves:
            continue
        coverage = CurveCoverage(
            application=application,
            probe=probe,
            ranks=ranks,
            used=tuple(used),
            measured=tuple(map(float, curves[0].sizes)),
            least=max(float(curve.sizes[0]) for curve in curves),
            most=min(float(curve.sizes[-1]) for curve in curves),
        )
        coverages.append(coverage)
    return coverages


def _common_curves(ladders: Sequence[PlatformCurves], probe: str, ranks: int) -> list[Curve]:
    """Return the curve of each platform; empty if a platform does not have the curve."""
    curves: list[Curve] = []
    for ladder in ladders:
        curve = ladder.curve(probe, ranks, min(ladder.layout.nodes, ranks))
        if curve is None:
            return []
        curves.append(curve)
    return curves


def _used(profile: Profile) -> dict[tuple[str, int], list[SizeUsed]]:
    """Return the used sizes by probe and ranks; waiting time counts for the awaited messages."""
    wall_ns = float(profile.rank_table["wall_ns"].sum()) or 1.0
    # These calls only begin a message; a wait ends it.
    posts = pl.col("kind").is_in(POINT_TO_POINT) & pl.col("call").str.contains("^MPI_(I|Start)")
    spent = pl.col("time_ns") + pl.col("waited_ns")
    calls = profile.calls.with_columns(spent=spent, posts=posts)
    waiting_ns = float(calls.filter(pl.col("kind") == "wait")["spent"].sum())
    posted = calls.filter("posts")["count"].sum()
    curves: dict[tuple[str, int], dict[float, _SizeSum]] = {}
    for row in calls.iter_rows(named=True):
        place = _place_of(row)
        if place is None:
            continue
        waited_ns = waiting_ns * row["count"] / posted if row["posts"] else 0.0
        sizes = curves.setdefault((place.probe, place.ranks), {})
        size = sizes.setdefault(place.size_bytes, _SizeSum())
        size.calls += row["count"] / profile.ranks
        size.share += (row["spent"] + waited_ns) / wall_ns
    used: dict[tuple[str, int], list[SizeUsed]] = {}
    for key, sizes in curves.items():
        if sum(size.share for size in sizes.values()) > _LITTLE:
            used[key] = [
                SizeUsed(size_bytes, sizes[size_bytes].calls, sizes[size_bytes].share)
                for size_bytes in sorted(sizes)
            ]
    return used


@dataclass(slots=True)
class _SizeSum:
    """For one message size: the calls of a rank, and their share of the application's time."""

    calls: float = 0.0
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class _CurvePlace:
    """The curve that contains the time of a call, and the call's size on that curve."""

    probe: str
    ranks: int
    size_bytes: float


def _place_of(row: Mapping[str, Any]) -> _CurvePlace | None:
    """Return the curve and the size for a row of a profile's calls.

    None if no curve contains the time of such calls.
    """
    if row["kind"] in POINT_TO_POINT and row["peer"] != "none":
        return _CurvePlace(_MESSAGES, 2, float(row["size_high"]))
    collective = collective_of(row["call"])
    if row["kind"] != "collective" or collective is None or row["comm_size"] < 2:
        return None
    size_bytes = curve_size(collective, row["size_high"], row["comm_size"])
    return _CurvePlace(collective.probe, row["comm_size"], size_bytes)
