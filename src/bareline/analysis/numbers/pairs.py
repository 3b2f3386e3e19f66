"""Two platforms' values of the same points, turned so that above the baseline is worse."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property, partial

import numpy as np
import polars as pl

from bareline import stats
from bareline.analysis.numbers.boots import Boots, dependent
from bareline.analysis.numbers.cube import BoolCube, Cube, FloatCube, IntCube
from bareline.vocabulary.model import Layer

#: Layers whose launches do a fixed work, so that one which exceeded its limit took at least so many
#: times as long as one of the other side. Elsewhere a launch lasts as long as its loops are told.
_FIXED_WORK = (Layer.NPB.value, Layer.APP.value)


def repeated(values: FloatCube, beside: FloatCube, *, but: BoolCube) -> FloatCube:
    """Give a platform without noise its value in every block that another one was measured in.

    A simulation prints the same whenever it is repeated, so a run does not repeat it.

    - `values`, `beside`: of the platform without noise and of the other one, shape (points,
      blocks).
    - `but`: where a value is absent for a reason: it exceeded a time limit.
    """
    alike = stats.summarize(values).median[:, None]
    there = np.isnan(values) & ~np.isnan(beside) & ~but
    filled: FloatCube = np.where(there, alike, values)
    return filled


class Pair:
    """A platform and what it is compared with.

    For rates the baseline stands on top, so that a ratio above 1, and a difference above 0, is
    worse.

    - `noiseless`: platforms that give the same value in every block.
    - `values`, `base`, of shape (points, blocks): as they were measured.
    - `paired`: whether they were measured in common blocks.
    - `exact`: neither side has noise: no test, and no least number of launches.
    - `bounded`: the ratio has an interval.
    - `boots`: which blocks are one for every test and interval, because they share a boot.
    - `lost`, `base_lost`, of shape (points, blocks): launches of both sides that
      exceeded a limit.
    - `tried`, `base_tried`, of shape (points, blocks): what was launched on both
      sides and did not crash: it gave a value, or met a limit.
    - `crashed`, `base_crashed`, of shape (points, blocks): what crashed on both
      sides: it counts as lost, and bounds nothing.
    - `case`, of shape (points,): the number of each point's case.
    """

    exact = False
    bounded = True

    def __init__(
        self, cube: Cube, platform: str, baseline: str, *, noiseless: Collection[str] = ()
    ) -> None:
        self.platform, self.baseline = platform, baseline
        self.values, self.base = cube.of(platform), cube.of(baseline)
        values, base = self.values, self.base
        if platform in noiseless:
            values = repeated(values, self.base, but=cube.lost_on(platform))
        if baseline in noiseless:
            base = repeated(base, self.values, but=cube.lost_on(baseline))
        better = cube.points.get_column("better")
        higher = (better == "higher").to_numpy()[:, None]
        self.directed: BoolCube = (better != "none").to_numpy()
        self._worse = np.where(higher, base, values)
        self._than = np.where(higher, values, base)
        sign = np.where(higher, -1, 1)
        self.lost, self.base_lost = cube.lost_on(platform), cube.lost_on(baseline)
        lost, base_lost = self.lost * sign, self.base_lost * sign
        self._beyond: Mapping[str, IntCube] = {
            "beyond": np.where(higher, base_lost, lost),
            "beyond_baseline": np.where(higher, lost, base_lost),
        }
        self.crashed, self.base_crashed = (
            cube.crashed[cube.platforms.index(name)] for name in (platform, baseline)
        )
        self.tried: BoolCube = ~np.isnan(values) | self.lost
        self.base_tried: BoolCube = ~np.isnan(base) | self.base_lost
        own_blocks: BoolCube = np.asarray(self.tried.any(axis=0))
        base_blocks: BoolCube = np.asarray(self.base_tried.any(axis=0))
        # One run is enough: what a platform lacks in a block failed or was cut there.
        self.paired = bool((own_blocks & base_blocks).any())
        self._headline = cube.points.get_column("headline").fill_null(False).to_numpy()
        self.case: IntCube = cube.points.get_column("case").to_numpy()
        # A simulation's time limit is none of the time that it simulates.
        fixed = cube.points.get_column("layer").is_in(_FIXED_WORK).to_numpy()
        self._fixed_work = fixed & self.directed & (not {platform, baseline} & set(noiseless))
        self._limit_s, self._took_s = (
            [of[cube.platforms.index(name)] for name in (platform, baseline)]
            for of in (cube.limit_s, cube.took_s)
        )
        self.boots = Boots.between(
            cube, (platform, own_blocks), (baseline, base_blocks), paired=self.paired
        )

    def ratios(self, *, confidence: float = 0.95) -> stats.Ratio:
        """Give the ratio of every point, with its interval."""
        how: Callable[..., stats.Ratio] = stats.unpaired_ratio
        if self.paired:
            how = partial(stats.paired_ratio, floor=self._floor)
        return how(
            self._worse,
            self._than,
            confidence=confidence,
            **self._beyond,
            groups=self.boots.groups,
        )

    @cached_property
    def _floor(self) -> FloatCube:
        """What the logarithm of a block's ratio is at least, by the limit that a launch met."""
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
        """What is compared in each block: differences of logarithms where all are positive."""
        return stats.differences_of_blocks(
            self._worse, self._than, **self._beyond, floor=self._floor
        )

    def logarithms(self, points: IntCube) -> tuple[FloatCube, FloatCube]:
        """Give the logarithms of some points on both sides, the one that is worse if above first.

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
        """Give of both sides what was lost or crashed, and what was launched."""
        return (
            (self.lost | self.crashed, self.tried | self.crashed),
            (self.base_lost | self.base_crashed, self.base_tried | self.base_crashed),
        )

    @cached_property
    def dependent(self) -> BoolCube:
        """Tell of which points neighbouring differences of their case resemble each other.

        Of platforms without common blocks their own series tell.
        """
        found = np.zeros(self.case.shape, dtype=np.bool_)
        rows = np.flatnonzero(self._headline)
        if self.paired and not self.exact and rows.size:
            rows = rows[np.argsort(self.case[rows], kind="stable")]
            begins = np.flatnonzero(np.diff(self.case[rows], prepend=-1))
            seen = dependent(self.differences[rows], self.boots, begins)
            found = np.isin(self.case, self.case[rows[begins]][seen])
        return found

    def losses(self) -> Iterator[pl.Series]:
        """Give, point by point, what was lost to limits, of how much, and how far limits lie."""
        lost, base_lost = (np.count_nonzero(own, axis=-1) for own in (self.lost, self.base_lost))
        tried, base_tried = (
            np.count_nonzero(own, axis=-1) for own in (self.tried, self.base_tried)
        )
        more = lost >= base_lost
        limit_s = np.where(more, *(own[self.case] for own in self._limit_s))
        took_s = [stats.summarize(own).median[self.case] for own in self._took_s]
        any_lost = (lost + base_lost) > 0
        yield pl.Series("lost", lost)
        yield pl.Series("tried", tried)
        yield pl.Series("base_lost", base_lost)
        yield pl.Series("base_tried", base_tried)
        yield pl.Series("crashed", np.count_nonzero(self.crashed, axis=-1))
        yield pl.Series("base_crashed", np.count_nonzero(self.base_crashed, axis=-1))
        yield pl.Series("limit_s", np.where(any_lost, limit_s, np.nan)).fill_nan(None)
        other_s = np.where(more, took_s[1], took_s[0])
        yield pl.Series("took_s", np.where(any_lost, other_s, np.nan)).fill_nan(None)

    def zone(self, margin: float) -> FloatCube:
        """Give the distance from no difference that does not matter, in units of `differences`."""
        return np.where(self.ratio.on_logs, np.log1p(margin), self.tolerance(margin))

    def tolerance(self, margin: float) -> FloatCube:
        """Give the difference that does not matter, in the unit of each point."""
        median = stats.summarize(self._than).median
        tolerance: FloatCube = margin * np.nan_to_num(np.abs(median))
        return tolerance
