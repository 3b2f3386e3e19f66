"""Findings: how each probe compares on each platform, said by all of its points.

A finding gathers the points of one probe, or of one class of its message sizes, on one platform.
It claims only what every point says: equal if all of them were measured on both sides and are
equivalent (an intersection-union test: it needs no correction); else a range, with the worst point
named. Points of other parameters, ranks or kernels stand side by side in it and are never averaged.

Whether a point is certainly slower or faster is decided over all findings at once: the probability
of any false claim among them is at most 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bareline import stats
from bareline.analysis.cell import COMPARED, UNDELIVERED, Cell, Estimate, read_cell
from bareline.analysis.family import family_wise
from bareline.analysis.members import Mean
from bareline.analysis.pairs import Pair
from bareline.analysis.profiled import unprofiled
from bareline.analysis.records import Records
from bareline.analysis.sizes import SizeClass, classes
from bareline.vocabulary.caveats import FAILED_TRIALS, Caveat
from bareline.vocabulary.model import Layer
from bareline.vocabulary.place import Place, nodes_words, varying
from bareline.vocabulary.verdicts import Verdict

_Row = Mapping[str, Any]
_Mask = NDArray[np.bool_]
_Values = NDArray[np.float64]


@dataclass(frozen=True)
class Finding:
    """How one probe, or one class of its points, compares on one platform.

    Parameters
    ----------
    title
        The probe in words.
    points
        Every point, also those that could not be compared; all of one probe and platform.
    sizes
        The class of sizes that its points are of; None for all of them.
    telling
        The parameters that tell its points apart.
    where
        Its layout in words; empty where the probe has one only.
    mean
        How its points compare together; None where fewer than two have a ratio.
    """

    title: str
    points: tuple[Cell, ...]
    sizes: SizeClass | None = None
    telling: tuple[str, ...] = ()
    where: str = ""
    mean: Mean | None = None

    @property
    def layer(self) -> Layer:
        """The layer of its probe."""
        return self.points[0].layer

    @property
    def probe(self) -> str:
        """The name of its probe."""
        return self.points[0].place.probe

    @property
    def platform(self) -> str:
        """Where it was measured."""
        return self.points[0].platform

    @property
    def baseline(self) -> str:
        """What it is compared with."""
        return self.points[0].baseline

    @property
    def rate(self) -> bool:
        """Whether more is better: worse is "lower" instead of "slower"."""
        return self.points[0].rate

    @cached_property
    def nodes(self) -> int | None:
        """Nodes that it ran on; None where that is not known, or differs from point to point."""
        used = {point.place.used for point in self.points if point.place.used}
        return used.pop() if len(used) == 1 else None

    @property
    def subject(self) -> str:
        """The probe, class and layout in words."""
        sizes = self.sizes.words if self.sizes else ""
        return " ".join(filter(None, [self.title, sizes, self.where]))

    def label(self, point: Cell) -> str:
        """Say what tells a point from the others, e.g. ``64 KiB`` or ``triad, 4 ranks``."""
        return point.place.told(self.telling)

    @property
    def anchor(self) -> str:
        """Where the evidence stands on the page."""
        return f"layer-{self.layer.value}"

    @cached_property
    def caveats(self) -> tuple[Caveat, ...]:
        """Those of its points, in their order; trials that failed are counted over all cases."""
        every = dict.fromkeys(caveat for point in self.points for caveat in point.caveats)
        told = [caveat for caveat in every if caveat.code != FAILED_TRIALS]
        cases = {p.place.case: p.n_failed + p.n_failed_baseline for p in self.points}
        lost = sum(cases.values())
        return (*told, *((Caveat(FAILED_TRIALS, some=lost),) if lost else ()))

    @property
    def own_caveats(self) -> tuple[Caveat, ...]:
        """Those that the baseline does not share."""
        return tuple(dict.fromkeys(c for point in self.points for c in point.own_caveats))

    @property
    def reason(self) -> str:
        """Why points of it cannot be compared; empty where all can."""
        return "; ".join(filter(None, dict.fromkeys(point.reason for point in self.points)))

    @cached_property
    def compared(self) -> list[Cell]:
        """The points that both sides have."""
        return [point for point in self.points if point.compared]

    @cached_property
    def undelivered(self) -> list[Cell]:
        """The points that were planned and failed or are missing on one side."""
        return [point for point in self.points if point.said in UNDELIVERED]

    @property
    def exact(self) -> bool:
        """Whether both sides are simulated: more launches would tell nothing new."""
        return any(point.exact for point in self.points)

    @cached_property
    def verdict(self) -> Verdict:
        """What all points together say: changes first, then what did not come, then equality."""
        if self.by_mean:
            assert self.mean is not None
            return self.mean.verdict
        each = {point.said for point in self.points}
        if {Verdict.SLOWER, Verdict.FASTER} <= each:
            return Verdict.MIXED
        order = (
            Verdict.SLOWER, Verdict.FASTER, Verdict.FAILED, Verdict.INCONCLUSIVE, Verdict.MISSING,
            Verdict.EQUIVALENT, Verdict.NOT_COMPARABLE, Verdict.SKIPPED, Verdict.DOES_NOT_FIT,
        )  # fmt: skip
        return next((verdict for verdict in order if verdict in each), Verdict.MISSING)

    @cached_property
    def by_mean(self) -> bool:
        """Whether no point changes certainly by itself, but all of them do in the mean."""
        alone = any(point.said is not None and point.said.decided for point in self.points)
        return self.mean is not None and self.mean.verdict.decided and not alone

    @property
    def mean_ratio(self) -> Estimate | None:
        """The ratio of the mean over its points."""
        if self.mean is None:
            return None
        ends = (self.mean.lo, self.mean.hi)
        lo, hi = (end if math.isfinite(end) and end > 0 else None for end in ends)
        return Estimate(self.mean.ratio, lo, hi)

    def of(self, verdict: Verdict) -> list[Cell]:
        """Give the points with a verdict, farthest from equality first, what has no ratio last."""
        own = (point for point in self.points if point.said is verdict)
        return sorted(own, key=lambda point: (point.ratio is None, -point.size))

    @cached_property
    def worst(self) -> Cell | None:
        """The point that weighs most: a certain loss, a certain gain, else the farthest."""
        for verdict in (Verdict.SLOWER, Verdict.FASTER):
            if points := self.of(verdict):
                return points[0]
        return max(self.compared, key=lambda point: point.size, default=None)

    @property
    def ratio(self) -> Estimate | None:
        """Ratio of the worst point; of the mean, where that alone is certain."""
        if self.by_mean:
            return self.mean_ratio
        return self.worst.ratio if self.worst else None

    @property
    def n(self) -> int:
        """Fewest launches behind any of its points."""
        return min((point.n_both for point in self.compared), default=0)

    @property
    def weight(self) -> float:
        """How much it hurts, for ordering: the farthest certain point, else the farthest."""
        if self.by_mean and self.mean is not None:
            return abs(math.log(self.mean.ratio))
        return self.worst.size if self.worst else 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """Findings, and what their certainty rests on.

    Parameters
    ----------
    tests
        How many comparisons the certainty of "slower" and "faster" holds over.
    exchanged
        How many blocks, or boots, names were exchanged in; 0 where nothing was in common blocks.
    """

    findings: tuple[Finding, ...]
    tests: int
    exchanged: int


def find(records: Records, table: pl.DataFrame, pairs: Sequence[Pair], *, margin: float) -> Found:
    """Gather what a comparison found, one finding per probe, size class and platform.

    Parameters
    ----------
    table
        What `bareline.analysis.points.compare_points` made of the pairs.
    margin
        Relative difference that does not matter.

    Returns
    -------
    Found
        The findings by pair, layer and probe.
    """
    rows = unprofiled(
        table.filter(pl.col("headline").fill_null(False) & (pl.col("better") != "none"))
    )
    by_pair: list[list[_Row]] = []
    for pair in pairs:
        own = rows.filter(platform=pair.platform, baseline=pair.baseline)
        by_pair.append(list(own.iter_rows(named=True)))
    height = records.cube.points.height
    asked = [_asked(members, height) for members in by_pair]
    groups = [list(_groups(members)) for members in by_pair]
    numbers = [[_numbers(group.rows) for group in of_pair] for of_pair in groups]
    family = family_wise(pairs, asked, margin, numbers)
    found = [
        _finding(group, p, by_loss, mean)
        for of_pair, p, by_loss, means in zip(
            groups, family.points, family.by_loss, family.means, strict=True
        )
        for group, mean in zip(of_pair, means, strict=True)
    ]
    # Nothing is tested between simulations: their values are exact.
    tried = [number for number, pair in enumerate(pairs) if not pair.exact]
    tests = sum(int(np.count_nonzero(~np.isnan(family.points[k]))) for k in tried)
    means = [mean for k in tried for mean in family.means[k] if mean is not None]
    tests += sum(not math.isnan(mean.p) for mean in means)
    return Found(tuple(found), tests, family.exchanged)


def _asked(rows: Sequence[_Row], height: int) -> _Mask:
    """Tell which points are asked about: those that can be compared."""
    asked = np.zeros(height, dtype=np.bool_)
    asked[[row["point_row"] for row in rows if row["verdict"] in COMPARED]] = True
    return asked


@dataclass(frozen=True, slots=True)
class _Group:
    """The rows of a finding before anything is certain of them."""

    rows: list[_Row]
    sizes: SizeClass | None
    where: str


def _groups(rows: Sequence[_Row]) -> Iterator[_Group]:
    """Gather the rows of one platform, probe by probe, layout by layout, class by class."""
    layouts: dict[tuple[str, int | None], list[_Row]] = {}
    for row in rows:
        layouts.setdefault((row["probe"], row["nodes_used"]), []).append(row)
    probes = [probe for probe, _ in layouts]
    for (probe, nodes), members in layouts.items():
        where = nodes_words(nodes) if probes.count(probe) > 1 else ""
        for sizes, chosen in classes([Place.of(row) for row in members]):
            yield _Group([members[number] for number in chosen], sizes, where)


def _numbers(rows: Sequence[_Row]) -> NDArray[np.int64]:
    """Give the points of rows in the cube; a case that delivered nothing has none."""
    known = [row["point_row"] for row in rows if row["point_row"] is not None]
    return np.array(known, dtype=np.int64)


def _finding(group: _Group, p: _Values, by_loss: NDArray[np.int64], mean: Mean | None) -> Finding:
    points = tuple(_cell(row, p, by_loss) for row in group.rows)
    telling = varying(point.place for point in points)
    return Finding(group.rows[0]["title"], points, group.sizes, telling, group.where, mean)


def _cell(row: _Row, p: _Values, by_loss: NDArray[np.int64]) -> Cell:
    """Read a row; what is not certain over everything that is said is not told as certain."""
    cell = read_cell(None, row)
    said, number = cell.verdict, row["point_row"]
    if said is not None and said.decided:
        lost = number is not None and by_loss[number] == (1 if said is Verdict.SLOWER else -1)
        if not lost and not (number is not None and p[number] <= stats.CERTAIN_ALPHA):
            said = Verdict.INCONCLUSIVE
    return replace(cell, certain=said)
