"""Two platforms' values of the same points, turned so that above the baseline is worse.

A record contains the number of the boot of its platform. Launches of one boot are not independent,
so a boot is one value of every test and interval, and the unit that is exchanged between two
platforms. With fewer than six boots too few exchanges exist: then launches are the unit, and the
result is valid for these boots only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import polars as pl

from bareline import stats
from bareline.analysis.numbers.cube import BoolCube, Cube, FloatCube, IntCube
from bareline.vocabulary.model import Layer
from bareline.vocabulary.verdicts import MIN_LAUNCHES

Side = tuple[str, BoolCube]  #: A platform's name, and the blocks in which it was launched.


@dataclass(frozen=True, slots=True)
class Boots:
    """The independent units in the comparison of two platforms.

    - `groups`: of each block; blocks of one group are one value. Each block is alone where
      nothing boots, and where there are too few boots.
    - `count`: independent boots: groups of blocks that share none; None where nothing boots.
    - `few`: the claims are about these boots alone.
    """

    groups: IntCube
    count: int | None
    few: bool

    @classmethod
    def between(cls, cube: Cube, platform: Side, baseline: Side, *, paired: bool) -> Boots:
        """Return the boots of two platforms; without common blocks each platform has its own."""
        blocks = cube.values.shape[-1]
        alone = np.arange(blocks)
        names = (platform[0], baseline[0])
        at, boot = cube.boots_of(names)
        if not at.size:
            return cls(alone, None, False)
        groups = stats.grouped(blocks, at, boot)
        if paired:
            sides = [platform[1] & baseline[1]]
        else:
            sides = [own for name, own in (platform, baseline) if cube.boots_of([name])[0].size]
        counts = [int(np.unique(groups[own]).size) for own in sides]
        shared = [
            count < MIN_LAUNCHES and count < np.count_nonzero(own)
            for count, own in zip(counts, sides, strict=True)
        ]
        return cls(alone if any(shared) else groups, min(counts), any(shared))


def of_launches(values: FloatCube, begins: IntCube) -> FloatCube:
    """Return the mean of a launch's points, each from its own mean; shape (cases, blocks)."""
    there = ~np.isnan(values)
    apart = np.where(there, values, 0.0)
    apart -= apart.sum(axis=-1, keepdims=True) / np.maximum(there.sum(axis=-1, keepdims=True), 1)
    totals = np.add.reduceat(np.where(there, apart, 0.0), begins, axis=0)
    counts = np.add.reduceat(there, begins, axis=0, dtype=np.int64)
    means: FloatCube = np.divide(
        totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0
    )
    return means


#: Layers of a fixed work, where a limit bounds the ratio; in other layers loops last a set time.
_FIXED_WORK = (Layer.NPB.value, Layer.APP.value)

#: The kind of noise of a point or mean whose spread is unrelated to that of any other point.
_LIKE_NO_OTHER = -1


def _kinds_of_noise(cube: Cube) -> IntCube:
    """Return a number for each point; equal numbers share a kind of noise (layer, headline)."""
    kinds = cube.points.select("layer", "headline").to_struct("kind")
    return kinds.rank("dense").cast(pl.Int64).to_numpy()


def mean_of(rows: FloatCube) -> FloatCube:
    """Return the mean over points of each block; NaN where no point was measured."""
    there = ~np.isnan(rows)
    count = there.sum(axis=0)
    total = np.where(there, rows, 0.0).sum(axis=0)
    mean: FloatCube = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean


def repeat_values(values: FloatCube, beside: FloatCube, *, but: BoolCube) -> FloatCube:
    """Return the values of a platform without noise in every block where another one has values.

    Launches that exceeded a time limit (`but`) stay absent. Shapes are (points, blocks).
    """
    there = np.isnan(values) & ~np.isnan(beside) & ~but
    return np.where(there, stats.summarize(values).median[:, None], values)


class PlatformPair:
    """A platform and its baseline.

    For rates the baseline is the numerator, so that a ratio above 1, and a difference above 0, is
    worse. Of shape (points, blocks), and with `base_` in front the baseline's:

    - `values`: as they were measured (`base`).
    - `lost`: launches that exceeded a limit. A `crashed` launch counts as lost, without a bound.
    - `tried`: launches that did not crash: each gave a value, or met a limit.

    - `noiseless`: platforms that give the same value in every block.
    - `exact`: neither side has noise: no test, and no least number of launches.
    - `case`: the number of each point's case.
    - `blocks`: the number of each block in its run.
    """

    exact = False
    bounded = True
    #: How the programs of both were compiled, where that differs; else "".
    unlike_build = ""

    def __init__(
        self, cube: Cube, platform: str, baseline: str, *, noiseless: Collection[str] = ()
    ) -> None:
        self.platform, self.baseline = platform, baseline
        self.blocks: IntCube = cube.blocks
        sides = [cube.platforms.index(name) for name in (platform, baseline)]
        self.values, self.base = (cube.values[side] for side in sides)
        self.lost, self.base_lost = (cube.lost[side] for side in sides)
        self.crashed, self.base_crashed = (cube.crashed[side] for side in sides)
        self._limit_s, self._took_s = cube.limit_s[sides], cube.took_s[sides]
        values, base = self.values, self.base
        if platform in noiseless:
            values = repeat_values(values, self.base, but=self.lost)
        if baseline in noiseless:
            base = repeat_values(base, self.values, but=self.base_lost)
        better = cube.points.get_column("better")
        higher = (better == "higher").to_numpy()[:, None]
        self._turned: BoolCube = higher[:, 0]
        self.directed: BoolCube = (better != "none").to_numpy()
        self._worse, self._than = np.where(higher, (base, values), (values, base))
        sign = np.where(higher, -1, 1)
        lost, base_lost = self.lost * sign, self.base_lost * sign
        self._beyond: Mapping[str, IntCube] = {
            "beyond": np.where(higher, base_lost, lost),
            "beyond_baseline": np.where(higher, lost, base_lost),
        }
        self.tried: BoolCube = ~np.isnan(values) | self.lost
        self.base_tried: BoolCube = ~np.isnan(base) | self.base_lost
        own_blocks, base_blocks = self.tried.any(axis=0), self.base_tried.any(axis=0)
        # One run is enough: a value that a platform lacks in a block failed or was cut there.
        self.paired = bool((own_blocks & base_blocks).any())
        self._headline = cube.points.get_column("headline").fill_null(False).to_numpy()
        self.case: IntCube = cube.points.get_column("case").to_numpy()
        self._kind = _kinds_of_noise(cube)
        # A simulation's time limit is not a limit of the simulated time.
        fixed = cube.points.get_column("layer").is_in(_FIXED_WORK).to_numpy()
        self._fixed_work = fixed & self.directed & (not {platform, baseline} & set(noiseless))
        self.boots = Boots.between(
            cube, (platform, own_blocks), (baseline, base_blocks), paired=self.paired
        )

    def ratios(self, *, confidence: float = 0.95) -> stats.Ratio:
        """Return the ratio of every point, with its interval."""
        how: Callable[..., stats.Ratio] = stats.unpaired_ratio
        if self.paired:
            how = partial(stats.paired_ratio, floor=self._floor)
        return how(
            self._worse, self._than, confidence=confidence, **self._beyond, groups=self.boots.groups
        )

    @cached_property
    def _floor(self) -> FloatCube:
        floor = np.zeros(self.values.shape)
        for lost, limit_s, took_s in zip(
            (self.lost, self.base_lost), self._limit_s, reversed(self._took_s), strict=True
        ):
            if lost.any():
                with np.errstate(divide="ignore"):
                    least = np.log(limit_s[:, None] / took_s)[self.case]
                known = lost & self._fixed_work[:, None] & (least > 0) & np.isfinite(least)
                floor[known] = least[known]
        return floor

    @cached_property
    def ratio(self) -> stats.Ratio:
        """The ratio of every point, with its 95 % interval."""
        return self.ratios()

    @cached_property
    def shift(self) -> stats.Shift:
        """The difference of every point, with its 95 % interval."""
        how = stats.paired_shift if self.paired else stats.unpaired_shift
        return how(self._worse, self._than, groups=self.boots.groups)

    @cached_property
    def differences(self) -> FloatCube:
        """The compared values of each block: differences of logarithms where all are positive.

        Where both share no blocks, launches are paired by their order: `bareline.stats.partnered`.
        """
        if not self.paired:
            return self._partnered
        return stats.differences_of_blocks(
            self._worse, self._than, **self._beyond, floor=self._floor
        )

    def differences_until(self, blocks: int | None) -> FloatCube:
        """Return the differences of a run's first blocks, NaN in later blocks; None for all."""
        if blocks is None:
            return self.differences
        return np.where(self.blocks < blocks, self.differences, np.nan)

    @cached_property
    def _sides(self) -> tuple[FloatCube, FloatCube]:
        """The compared values of each launch, first of the side that is worse where it is higher.

        Logarithms, or the values themselves where one is not positive.
        """
        worse, than = self._worse.copy(), self._than.copy()
        on_logs = np.flatnonzero(self.ratio.on_logs)
        worse[on_logs], than[on_logs] = self.logarithms(on_logs)
        return worse, than

    def within_noise(self, rows: IntCube, limit: float = 1.0) -> BoolCube:
        """Return for each point of two separate runs whether noise may explain its distance.

        - `limit`: the ratio from which the distance counts.

        False for all points in common blocks: exchanging names is enough there.
        """
        if self.paired or self.exact:
            return np.zeros(rows.shape, dtype=np.bool_)
        worse, than = self._sides
        kind = np.where(self.ratio.on_logs, self._kind, _LIKE_NO_OTHER)[rows]
        return stats.within_noise(worse[rows] - np.log(limit), than[rows], self.boots.groups, kind)

    def mean_within_noise(self, rows: IntCube) -> bool:
        """Whether the means of points of two separate runs differ by no more than their noise."""
        if self.paired or self.exact:
            return False
        worse, than = self.means_of(rows)
        kind = np.array([_LIKE_NO_OTHER])
        return bool(stats.within_noise(worse[None], than[None], self.boots.groups, kind).item())

    def means_of(self, rows: IntCube) -> tuple[FloatCube, FloatCube]:
        """Return the mean of points in each launch of both sides, each point from its own mean.

        So launches that lack some of the points remain comparable with the rest.
        """
        worse, than = self.logarithms(rows)
        middle = mean_of(np.concatenate([worse, than], axis=-1).T)[:, None]
        return mean_of(worse - middle), mean_of(than - middle)

    @property
    def _partnered(self) -> FloatCube:
        worse, than = self._sides
        turned = self._turned[:, None]
        own, base = np.where(turned, than, worse), np.where(turned, worse, than)
        apart = stats.partnered(own, base, self.boots.groups) * np.where(turned, -1.0, 1.0)
        rounding = np.where(self.ratio.on_logs, stats.ROUNDING, stats.rounding_of(worse, than))
        return np.where(np.abs(apart) <= rounding[:, None], 0.0, apart)

    def logarithms(self, points: IntCube) -> tuple[FloatCube, FloatCube]:
        """Return logarithms of some points, first of the side that is worse where it is higher.

        A launch lost to a limit counts as the slowest that was measured.
        """
        sides = []
        for values, beyond in (
            (self._worse, self._beyond["beyond"]),
            (self._than, self._beyond["beyond_baseline"]),
        ):
            logs = np.log(values[points])
            for lost, end in ((beyond[points] > 0, np.fmax), (beyond[points] < 0, np.fmin)):
                farthest = end.reduce(logs, axis=-1, keepdims=True)
                logs = np.where(lost, farthest, logs)
            sides.append(logs)
        return sides[0], sides[1]

    @cached_property
    def delta(self) -> FloatCube:
        """Cliff's delta of every point, above 0 is worse."""
        return stats.cliffs_delta(self._worse, self._than)

    @property
    def ended(self) -> tuple[tuple[BoolCube, BoolCube], tuple[BoolCube, BoolCube]]:
        """The lost or crashed launches, and all launches, of both sides."""
        return (
            (self.lost | self.crashed, self.tried | self.crashed),
            (self.base_lost | self.base_crashed, self.base_tried | self.base_crashed),
        )

    @cached_property
    def dependent(self) -> BoolCube:
        """Whether a point has a drift, or neighbouring differences that resemble each other.

        Blocks remove a drift of both platforms; without common blocks their series are compared.
        """
        found = np.zeros(self.case.shape, dtype=np.bool_)
        rows = np.flatnonzero(self._headline)
        if self.paired and not self.exact and rows.size:
            rows = rows[np.argsort(self.case[rows], kind="stable")]
            begins = np.flatnonzero(np.diff(self.case[rows], prepend=-1))
            differences = stats.collapsed(self.differences[rows], self.boots.groups)
            seen = stats.look(of_launches(differences, begins))
            found = np.isin(self.case, self.case[rows[begins]][seen.dependent | seen.drifting])
        return found

    @property
    def losses(self) -> dict[str, FloatCube | IntCube]:
        """The launches that each point lost to limits, and the limits: `LostLaunches`."""
        names = ("lost", "base_lost", "tried", "base_tried", "crashed", "base_crashed")
        counts = {name: np.count_nonzero(getattr(self, name), axis=-1) for name in names}
        more = counts["lost"] >= counts["base_lost"]
        lost = (counts["lost"] + counts["base_lost"]) > 0
        took_s = stats.summarize(self._took_s).median[:, self.case]
        limit_s = np.where(more, *self._limit_s[:, self.case])
        return counts | {
            "limit_s": np.where(lost, limit_s, np.nan),
            "took_s": np.where(lost, np.where(more, *took_s[::-1]), np.nan),
        }

    def zone(self, margin: float) -> FloatCube:
        """Return the distance from a difference that does not matter, in units of `differences`."""
        return np.where(self.ratio.on_logs, np.log1p(margin), self.tolerance(margin))

    def tolerance(self, margin: float) -> FloatCube:
        """Return the difference that does not matter, in the unit of each point."""
        return margin * np.nan_to_num(np.abs(stats.summarize(self._than).median))
