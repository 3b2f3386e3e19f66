"""Findings: how each probe compares on each platform, said by all of its points.

A finding gathers the points of one probe, or of one class of its message sizes, on one platform.
It claims only what every point says: equal if all of them are equivalent (an intersection-union
test: it needs no correction); else a range, with the worst point named. Points of other parameters,
ranks or kernels stand side by side in it and are never averaged.

Whether a point is certainly slower or faster is decided over all findings at once: the probability
of any false claim among them is at most 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bareline import stats
from bareline.analysis.cube import CASE
from bareline.analysis.pairs import Pair, family_wise
from bareline.analysis.records import Records
from bareline.vocabulary.caveats import FAILED_TRIALS, caveat_code
from bareline.vocabulary.model import Layer, Scalar, parse_point
from bareline.vocabulary.units import format_size, format_value
from bareline.vocabulary.verdicts import Verdict

#: Upper ends of the size classes in bytes: most MPI libraries change from their eager to their
#: rendezvous protocol somewhere between the first two.
SMALL_BYTES = 8 << 10
LARGE_BYTES = 256 << 10

#: Classes of sizes by the parameter that holds them. The caches of a core hold a working set below
#: 1 MiB on most processors, no cache one from 64 MiB.
_SIZE_CLASSES: Mapping[str, tuple[tuple[str, float, float], ...]] = {
    "size_bytes": (
        (" below 8 KiB", 0, SMALL_BYTES),
        (" from 8 to 256 KiB", SMALL_BYTES, LARGE_BYTES),
        (" from 256 KiB", LARGE_BYTES, math.inf),
    ),
    "working_set_bytes": (
        (" below 1 MiB", 0, 1 << 20),
        (" from 1 to 64 MiB", 1 << 20, 64 << 20),
        (" from 64 MiB", 64 << 20, math.inf),
    ),
}

_COMPARED = (Verdict.SLOWER, Verdict.FASTER, Verdict.EQUIVALENT, Verdict.INCONCLUSIVE)

_Row = Mapping[str, Any]
_Mask = NDArray[np.bool_]
_Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a finding.

    Parameters
    ----------
    label
        What tells it from the finding's other points, e.g. ``64 KiB`` or ``kernel triad, 4 ranks``.
    ratio, lo, hi
        Times worse than the baseline with its 95 % interval; None where there is none, or where a
        bound is open.
    difference, difference_lo, difference_hi
        Above 0 is worse, in `unit`: where a value is not positive and there is no ratio.
    value_baseline
        Median of the baseline, in `unit`.
    n
        Launches on the side that has fewer.
    verdict
        Slower or faster only if that is certain over the whole verdict.
    exact
        Both sides are simulated: the interval is the error of the models.
    """

    label: str
    ratio: float | None
    lo: float | None
    hi: float | None
    difference: float | None
    difference_lo: float | None
    difference_hi: float | None
    value_baseline: float | None
    unit: str
    n: int
    verdict: Verdict
    exact: bool = False

    @property
    def size(self) -> float:
        """How far it lies from equality, for ordering; what is off the scale lies farthest."""
        if self.ratio is not None:
            return abs(math.log(self.ratio))
        return math.inf if self.verdict.decided else 0.0


@dataclass(frozen=True)
class Finding:
    """How one probe, or one class of its points, compares on one platform.

    Parameters
    ----------
    layer, probe, platform, baseline
        What was compared.
    title
        The probe in words.
    subject
        The probe and class in words.
    rate
        The metric is a rate: worse is "lower" instead of "slower".
    nodes
        Nodes that it ran on; None where that is not known, or differs from point to point.
    points
        Every point, also those that could not be compared.
    caveats
        Of its points, in their order.
    own_caveats
        Those that the baseline does not share.
    reason
        Why points of it cannot be compared; empty where all can.
    where
        The end of `subject` that tells its layout; empty where the probe has one only.
    """

    layer: Layer
    probe: str
    platform: str
    baseline: str
    title: str
    subject: str
    rate: bool
    nodes: int | None
    points: tuple[Point, ...]
    caveats: tuple[str, ...] = ()
    own_caveats: tuple[str, ...] = ()
    reason: str = ""
    where: str = ""

    @property
    def anchor(self) -> str:
        """Where the evidence stands on the page."""
        return f"layer-{self.layer.value}"

    @property
    def compared(self) -> list[Point]:
        """The points that both sides have."""
        return [point for point in self.points if point.verdict in _COMPARED]

    @property
    def exact(self) -> bool:
        """Whether both sides are simulated: more launches would tell nothing new."""
        return any(point.exact for point in self.points)

    @cached_property
    def verdict(self) -> Verdict:
        """What all points together say."""
        there = {point.verdict for point in self.compared}
        if not there:
            each = {point.verdict for point in self.points}
            order = (
                Verdict.NOT_COMPARABLE,
                Verdict.FAILED,
                Verdict.SKIPPED,
                Verdict.DOES_NOT_FIT,
            )
            return next((verdict for verdict in order if verdict in each), Verdict.MISSING)
        if {Verdict.SLOWER, Verdict.FASTER} <= there:
            return Verdict.MIXED
        for verdict in (Verdict.SLOWER, Verdict.FASTER):
            if verdict in there:
                return verdict
        return Verdict.EQUIVALENT if there == {Verdict.EQUIVALENT} else Verdict.INCONCLUSIVE

    def of(self, verdict: Verdict) -> list[Point]:
        """Give the points with a verdict, farthest from equality first."""
        return sorted((p for p in self.points if p.verdict is verdict), key=lambda p: -p.size)

    @cached_property
    def worst(self) -> Point | None:
        """The point that weighs most: a certain loss, a certain gain, else the farthest."""
        for verdict in (Verdict.SLOWER, Verdict.FASTER):
            if points := self.of(verdict):
                return points[0]
        return max(self.compared, key=lambda point: point.size, default=None)

    @property
    def ratio(self) -> float | None:
        """Ratio of the worst point."""
        return self.worst.ratio if self.worst else None

    @property
    def lo(self) -> float | None:
        """Lower bound of the worst point's ratio."""
        return self.worst.lo if self.worst else None

    @property
    def hi(self) -> float | None:
        """Upper bound of the worst point's ratio."""
        return self.worst.hi if self.worst else None

    @property
    def n(self) -> int:
        """Fewest launches behind any of its points."""
        return min((point.n for point in self.compared), default=0)


def find(
    records: Records, table: pl.DataFrame, pairs: Sequence[Pair], *, margin: float
) -> tuple[list[Finding], int]:
    """Gather what a comparison found, one finding per probe, size class and platform.

    Parameters
    ----------
    table
        What `bareline.analysis.points.compare_points` made of the pairs.
    margin
        Relative difference that does not matter.

    Returns
    -------
    findings : list of Finding
        By pair, layer and probe.
    tests : int
        How many comparisons the certainty of "slower" and "faster" holds over.
    """
    rows = _unprofiled(
        table.filter(pl.col("headline").fill_null(False) & (pl.col("better") != "none"))
    )
    by_pair: list[list[_Row]] = []
    for pair in pairs:
        own = rows.filter(platform=pair.platform, baseline=pair.baseline)
        by_pair.append(list(own.iter_rows(named=True)))
    height = records.cube.points.height
    asked = [_asked(members, height) for members in by_pair]
    certain = family_wise(pairs, asked, margin)
    found: list[Finding] = []
    for members_of_pair, p in zip(by_pair, certain, strict=True):
        groups: dict[tuple[str, int | None], list[_Row]] = {}
        for row in members_of_pair:
            groups.setdefault((row["probe"], row["nodes_used"]), []).append(row)
        layouts = [probe for probe, _ in groups]
        for (probe, nodes), members in groups.items():
            where = _WHERE.get(nodes or 0, f" on {nodes} nodes") if layouts.count(probe) > 1 else ""
            found += _of_probe(members, p, where)
    return found, sum(int(np.count_nonzero(~np.isnan(p))) for p in certain)


_WHERE = {0: "", 1: " within a node", 2: " between two nodes"}


def _unprofiled(rows: pl.DataFrame) -> pl.DataFrame:
    """Leave out what was measured under the profiler, unless all of a probe was."""
    texts = rows.get_column("params").unique().to_list()
    profiled = [text for text in texts if parse_point(text).get("profile") is True]
    if not profiled:
        return rows
    under = pl.col("params").is_in(profiled)
    return rows.filter(~under | under.all().over("probe"))


def _asked(rows: Sequence[_Row], height: int) -> _Mask:
    """Tell which points are asked about: those that can be compared."""
    asked = np.zeros(height, dtype=np.bool_)
    asked[[row["point_row"] for row in rows if row["verdict"] in _COMPARED]] = True
    return asked


def _of_probe(rows: Sequence[_Row], p: _Values, where: str) -> Iterable[Finding]:
    """Gather the points of one probe on one platform, class by class."""
    first = rows[0]
    for name, members in _classes(rows):
        names = _varying(members)
        caveats = dict.fromkeys(code for row in members for code in row["caveats"] or ())
        caveats = {code: None for code in caveats if not code.endswith(FAILED_TRIALS)}
        if lost := _failed(members):
            caveats[f"{lost} {FAILED_TRIALS}"] = None
        reasons = dict.fromkeys(_reason(row) for row in members)
        yield Finding(
            layer=Layer(first["layer"]),
            probe=first["probe"],
            platform=first["platform"],
            baseline=first["baseline"],
            title=first["title"],
            subject=f"{first['title']}{name}{where}",
            where=where,
            rate=first["better"] == "higher",
            nodes=first["nodes_used"],
            points=tuple(_point(row, names, p) for row in members),
            caveats=tuple(caveats),
            own_caveats=tuple(_own_caveats(members)),
            reason="; ".join(filter(None, reasons)),
        )


def _own_caveats(rows: Sequence[_Row]) -> dict[str, None]:
    """Give the caveats that only the platform has, not the baseline."""
    base = {caveat_code(caveat) for row in rows for caveat in row["base"] or ()}
    own = dict.fromkeys(caveat for row in rows for caveat in row["own"] or ())
    return {caveat: None for caveat in own if caveat_code(caveat) not in base}


def _reason(row: _Row) -> str:
    """Say why a point cannot be compared; nothing where it can."""
    match row["verdict"]:
        case Verdict.NOT_COMPARABLE:
            return str(row["refused"])
        case Verdict.FAILED:
            return "every trial failed" + (f" on {row['baseline']}" if row["n"] else "")
        case Verdict.SKIPPED:
            return str(row["absent"])
        case Verdict.DOES_NOT_FIT:
            return str(row["left_out"])
        case Verdict.MISSING:
            return f"{row['baseline'] if row['n'] else row['platform']} has no figure"
        case _:
            return ""


def _failed(rows: Sequence[_Row]) -> int:
    """Count the failed trials of both sides, each case once."""
    cases = {
        tuple(row[key] for key in CASE): (row["n_failed"] or 0) + (row["base_n_failed"] or 0)
        for row in rows
    }
    return sum(cases.values())


def _point(row: _Row, names: Sequence[str], p: _Values) -> Point:
    verdict = Verdict(row["verdict"])
    if verdict.decided and not p[row["point_row"]] <= stats.CERTAIN_ALPHA:
        verdict = Verdict.INCONCLUSIVE
    used = row["n_used"] if row["n_used"] is not None else 0
    return Point(
        label=_label(row, names),
        ratio=row["ratio"],
        lo=row["lo"],
        hi=row["hi"],
        difference=row["difference"],
        difference_lo=row["difference_lo"],
        difference_hi=row["difference_hi"],
        value_baseline=row["value_baseline"],
        unit=row["unit"],
        n=used,
        verdict=verdict,
        exact=bool(row["exact"]),
    )


def _classes(rows: Sequence[_Row]) -> Iterable[tuple[str, Sequence[_Row]]]:
    """Split a probe's points into classes of sizes, or one class without sizes."""
    coordinates = [parse_point(row["point"]) for row in rows]
    parameter = next(
        (name for name in _SIZE_CLASSES if all(name in point for point in coordinates)), None
    )
    if parameter is None:
        yield "", rows
        return
    for name, low, high in _SIZE_CLASSES[parameter]:
        chosen = [
            row
            for row, point in zip(rows, coordinates, strict=True)
            if isinstance(size := point[parameter], int) and low <= size < high
        ]
        if chosen:
            yield name, chosen


def _coordinates(row: _Row) -> dict[str, Scalar]:
    return {
        **parse_point(row["params"]),
        "ranks": row["ranks"],
        "threads": row["threads"],
        **({"nodes": row["nodes"]} if row["nodes"] else {}),
        **parse_point(row["point"]),
    }


def _varying(rows: Sequence[_Row]) -> list[str]:
    """Name the parameters that tell the points apart."""
    every = [_coordinates(row) for row in rows]
    names = dict.fromkeys(name for coordinates in every for name in coordinates)
    return [name for name in names if len({point.get(name) for point in every}) > 1]


def _label(row: _Row, names: Sequence[str]) -> str:
    known = _coordinates(row)
    return ", ".join(_named(name, known[name]) for name in names if name in known)


def _named(name: str, value: Scalar) -> str:
    """Write a parameter with its value, e.g. ``4 ranks`` or ``kernel triad``."""
    if name in ("ranks", "threads", "nodes"):
        return f"{value} {name if value != 1 else name.removesuffix('s')}"
    words = name.replace("_", " ")
    if name == "size_bytes" and isinstance(value, int | float):
        return format_size(value)
    if name.endswith("_bytes") and isinstance(value, int | float):
        return f"{words.removesuffix(' bytes')} {format_size(value)}"
    if name.endswith("_s") and isinstance(value, int | float):
        return f"{words.removesuffix(' s')} {format_value(value, 's')}"
    return f"{words} {value}"


def weight(finding: Finding) -> float:
    """Order findings by how much they hurt: the farthest certain point, else the farthest."""
    return finding.worst.size if finding.worst else 0.0
