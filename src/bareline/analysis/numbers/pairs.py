"""The values of a platform and its baseline at the same points; a ratio above 1 means worse.

Launches of one boot are not independent: see `bareline.analysis.numbers.boots`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from functools import cached_property, partial

import numpy as np
import polars as pl

from bareline import stats
from bareline.analysis.numbers.boots import Boots
from bareline.analysis.numbers.cube import BoolCube, Cube, FloatCube, IntCube
from bareline.analysis.numbers.sides import EndedBadly, Side, launches_of
from bareline.vocabulary.model import Layer


def of_launches(values: FloatCube, begins: IntCube) -> FloatCube:
    """Return for each launch of a case the mean over its points, shape (cases, blocks).

    First, each point's mean over all launches is subtracted from the point's values.

    - `begins`: the first row of each case in `values`.
    """
    there = ~np.isnan(values)
    apart = np.where(there, values, 0.0)
    counts_of_points = np.maximum(there.sum(axis=-1, keepdims=True), 1)
    apart -= apart.sum(axis=-1, keepdims=True) / counts_of_points
    without_gaps = np.where(there, apart, 0.0)
    totals = np.add.reduceat(without_gaps, begins, axis=0)
    counts = np.add.reduceat(there, begins, axis=0, dtype=np.int64)
    return _quotient(totals, counts)


def _quotient(totals: FloatCube, counts: IntCube) -> FloatCube:
    """Return totals divided by counts; NaN for a count of 0."""
    undefined = np.full(totals.shape, np.nan)
    quotient: FloatCube = np.divide(totals, counts, out=undefined, where=counts > 0)
    return quotient


#: Layers with a fixed amount of work, so that a time limit bounds the ratio. In all other layers,
#: loops last a given time.
_FIXED_WORK = (Layer.NPB.value, Layer.APP.value)

#: The kind of noise of a point or mean whose spread is unrelated to that of any other point.
_LIKE_NO_OTHER = -1


def _kinds_of_noise(cube: Cube) -> IntCube:
    """Return a number for each point; points with the same kind of noise have equal numbers.

    Two points are assumed to have the same kind of noise if they belong to the same layer, and if
    both or neither of them are headline points.
    """
    kinds = cube.points.select("layer", "headline").to_struct("kind")
    numbers = kinds.rank("dense").cast(pl.Int64)
    return numbers.to_numpy()


def mean_of(rows: FloatCube) -> FloatCube:
    """Return the mean over the points of each block; NaN if no point was measured in the block."""
    there = ~np.isnan(rows)
    totals = np.where(there, rows, 0.0).sum(axis=0)
    return _quotient(totals, there.sum(axis=0))


class PlatformPair:
    """The values of a platform and its baseline.

    For rates the baseline is the numerator, so that for every metric a ratio above 1, or a
    difference above 0, is worse.

    - `here`: the launches of the platform.
    - `there`: the launches of the baseline.
    - `noiseless`: the platforms that return the same value in every block.
    - `exact`: neither platform has noise, so that no test and no smallest number of launches is
      needed.
    - `case`: the number of each point's case.
    - `blocks`: the number of each block in its run.
    """

    exact = False
    bounded = True
    #: How the programs of both platforms were compiled if this differs, else "".
    unlike_build = ""

    def __init__(
        self, cube: Cube, platform: str, baseline: str, *, noiseless: Collection[str] = ()
    ) -> None:
        self.platform = platform
        self.baseline = baseline
        self.blocks: IntCube = cube.blocks
        self.case: IntCube = cube.points.get_column("case").to_numpy()
        headline = cube.points.get_column("headline").fill_null(False)
        self._headline = headline.to_numpy()
        self._kind = _kinds_of_noise(cube)
        self.here = Side.of(cube, platform)
        self.there = Side.of(cube, baseline)
        if platform in noiseless:
            self.here.repeat(self.there)
        if baseline in noiseless:
            self.there.repeat(self.here)
        self._turn_for_worse(cube)

        launched = self.here.launched
        base_launched = self.there.launched
        # One run is enough: a value that a platform lacks in a block failed or was cut there.
        common_blocks = launched.blocks & base_launched.blocks
        self.paired = bool(common_blocks.any())
        self.boots = Boots.between(cube, launched, base_launched, paired=self.paired)
        # A simulation's time limit is not a limit of the simulated time.
        measured = not {platform, baseline} & set(noiseless)
        is_fixed = cube.points.get_column("layer").is_in(_FIXED_WORK)
        fixed = is_fixed.to_numpy()
        self._fixed_work = fixed & self.directed & measured

    @property
    def exchanged_blocks(self) -> BoolCube:
        """The blocks in which both platforms were launched.

        If there are no common blocks, these are the blocks of launches that were paired by their
        order.
        """
        if self.paired:
            return self.here.launched.blocks & self.there.launched.blocks
        return np.asarray(~np.isnan(self.differences).all(axis=0))

    @property
    def blank_p(self) -> float:
        """The p-value of a point that was not tested: 0 if the pair has no noise, else NaN."""
        if self.exact:
            return 0.0
        return math.nan

    def _turn_for_worse(self, cube: Cube) -> None:
        """Set numerators, denominators and signs so that a ratio above 1 is always worse."""
        better = cube.points.get_column("better")
        self.directed: BoolCube = (better != "none").to_numpy()
        self._turned: BoolCube = (better == "higher").to_numpy()
        higher = self._turned[:, None]
        self._worse = np.where(higher, self.there.compared, self.here.compared)
        self._than = np.where(higher, self.here.compared, self.there.compared)
        sign = np.where(higher, -1, 1)
        self._beyond: Mapping[str, IntCube] = {
            "beyond": np.where(higher, self.there.lost, self.here.lost) * sign,
            "beyond_baseline": np.where(higher, self.here.lost, self.there.lost) * sign,
        }

    def ratios(self, *, confidence: float = 0.95) -> stats.Ratio:
        """Return the ratio of every point, with its interval."""
        ratio: Callable[..., stats.Ratio] = stats.unpaired_ratio
        if self.paired:
            ratio = partial(stats.paired_ratio, floor=self._floor)
        return ratio(
            self._worse,
            self._than,
            confidence=confidence,
            groups=self.boots.groups,
            **self._beyond,
        )

    @cached_property
    def _floor(self) -> FloatCube:
        """The smallest log-ratio that a lost launch can have; 0 if the launch has no bound.

        A launch is lost if it exceeded its time limit. The bound is the limit divided by the
        duration of the other platform's launch in the same block.
        """
        floor = np.zeros(self.here.values.shape)
        self._raise_floor(floor, self.here, self.there)
        self._raise_floor(floor, self.there, self.here)
        return floor

    def _raise_floor(self, floor: FloatCube, side: Side, other: Side) -> None:
        """Write to `floor` the bounds of the launches that the platform `side` lost.

        Only launches of points with a fixed amount of work have a bound.
        """
        if not side.lost.any():
            return
        with np.errstate(divide="ignore"):
            distances = np.log(side.limit_s[:, None] / other.took_s)
            least = distances[self.case]
        has_bound = np.isfinite(least) & (least > 0)
        bounded = side.lost & self._fixed_work[:, None] & has_bound
        floor[bounded] = least[bounded]

    @cached_property
    def ratio(self) -> stats.Ratio:
        """The ratio of every point, with its 95 % interval."""
        return self.ratios()

    @cached_property
    def shift(self) -> stats.Shift:
        """The difference of every point, with its 95 % interval."""
        if self.paired:
            shift = stats.paired_shift
        else:
            shift = stats.unpaired_shift
        return shift(self._worse, self._than, groups=self.boots.groups)

    @cached_property
    def differences(self) -> FloatCube:
        """The differences between the compared values of each block.

        These are differences of logarithms. If a value of the point is not positive, they are
        differences of the values. If the platforms have no common blocks, launches are paired by
        their order (`bareline.stats.partnered`).
        """
        if not self.paired:
            return self._partnered
        return stats.differences_of_blocks(
            self._worse, self._than, **self._beyond, floor=self._floor
        )

    def differences_until(self, blocks: int | None) -> FloatCube:
        """Return the differences of a run's first blocks (None: all), NaN in later blocks."""
        if blocks is None:
            return self.differences
        return np.where(self.blocks < blocks, self.differences, np.nan)

    @cached_property
    def _sides(self) -> tuple[FloatCube, FloatCube]:
        """The compared values of the launches: the numerators and the denominators of the ratios.

        Higher numerators are worse. The values are logarithms, but plain values for a point with a
        value that is not positive.
        """
        worse = self._worse.copy()
        than = self._than.copy()
        on_logs = np.flatnonzero(self.ratio.on_logs)
        worse[on_logs], than[on_logs] = self.logarithms(on_logs)
        return worse, than

    def within_noise(self, rows: IntCube, limit: float = 1.0) -> BoolCube:
        """Return for each point whether noise may explain its ratio's distance from `limit`.

        This matters only for two separate runs. If the platforms have common blocks, the result is
        False for all points, because then the permutation test is enough.
        """
        if self.paired or self.exact:
            return np.zeros(rows.shape, dtype=np.bool_)
        worse, than = self._sides
        kinds = np.where(self.ratio.on_logs, self._kind, _LIKE_NO_OTHER)
        log_of_limit = np.log(limit)
        beyond_limit = worse[rows] - log_of_limit
        return stats.within_noise(beyond_limit, than[rows], self.boots.groups, kinds[rows])

    def mean_within_noise(self, rows: IntCube) -> bool:
        """Whether noise may explain the difference of the points' means in two separate runs."""
        if self.paired or self.exact:
            return False
        worse, than = self.means_of(rows)
        kind = np.array([_LIKE_NO_OTHER])
        within = stats.within_noise(worse[None], than[None], self.boots.groups, kind)
        return bool(within.item())

    def means_of(self, rows: IntCube) -> tuple[FloatCube, FloatCube]:
        """Return the means over points of each launch, for numerators and for denominators.

        First, each point's mean over the launches of both platforms is subtracted, so that a launch
        without some of the points remains comparable with the rest.
        """
        worse, than = self.logarithms(rows)
        both = np.concatenate([worse, than], axis=-1)
        middle = mean_of(both.T)[:, None]
        worse_apart = worse - middle
        than_apart = than - middle
        return mean_of(worse_apart), mean_of(than_apart)

    @property
    def _partnered(self) -> FloatCube:
        """The differences of launches that are paired by their order.

        Rounding errors count as 0.
        """
        worse, than = self._sides
        turned = self._turned[:, None]
        values = np.where(turned, than, worse)
        base = np.where(turned, worse, than)
        sign = np.where(turned, -1.0, 1.0)
        apart_by_order = stats.partnered(values, base, self.boots.groups)
        apart = apart_by_order * sign
        rounding_of_values = stats.rounding_of(worse, than)
        rounding = np.where(self.ratio.on_logs, stats.ROUNDING, rounding_of_values)
        within_rounding = np.abs(apart) <= rounding[:, None]
        return np.where(within_rounding, 0.0, apart)

    def logarithms(self, points: IntCube) -> tuple[FloatCube, FloatCube]:
        """Return the logarithms of numerators and of denominators; higher numerators are worse.

        A launch that was lost to a time limit counts as the slowest measured launch.
        """
        beyond = self._beyond["beyond"][points]
        worse = _slowest_where_lost(self._worse[points], beyond)
        beyond_baseline = self._beyond["beyond_baseline"][points]
        than = _slowest_where_lost(self._than[points], beyond_baseline)
        return worse, than

    @cached_property
    def delta(self) -> FloatCube:
        """Cliff's delta of every point; above 0 the platform is worse."""
        return stats.cliffs_delta(self._worse, self._than)

    @property
    def ended(self) -> tuple[EndedBadly, EndedBadly]:
        """Marks of lost or crashed launches, and of all launches, on both platforms."""
        return self.here.ended_badly, self.there.ended_badly

    @cached_property
    def dependent(self) -> BoolCube:
        """Whether the launches of each point's case drift, or depend on preceding launches.

        The test uses differences within blocks, which contain no drift that both platforms share.
        Without common blocks the result is False.
        """
        rows = np.flatnonzero(self._headline)
        if not self.paired or self.exact or not rows.size:
            return np.zeros(self.case.shape, dtype=np.bool_)
        order = np.argsort(self.case[rows], kind="stable")
        rows = rows[order]
        steps = np.diff(self.case[rows], prepend=-1)
        begins = np.flatnonzero(steps)
        differences = stats.collapsed(self.differences[rows], self.boots.groups)
        launches = of_launches(differences, begins)
        series = stats.look(launches)
        cases = self.case[rows[begins]]
        dependent_cases = cases[series.dependent | series.drifting]
        return np.isin(self.case, dependent_cases)

    @property
    def losses(self) -> dict[str, FloatCube | IntCube]:
        """The numbers of launches that each point lost to time limits, and these limits.

        The keys are fields of `LostLaunches`.
        """
        here = self.here
        there = self.there
        lost = launches_of(here.lost)
        base_lost = launches_of(there.lost)
        more_here = lost >= base_lost
        limit_here_s = here.limit_s[self.case]
        limit_there_s = there.limit_s[self.case]
        limit_s = np.where(more_here, limit_here_s, limit_there_s)
        base_took_s = there.typical_took_s[self.case]
        took_s = here.typical_took_s[self.case]
        other_took_s = np.where(more_here, base_took_s, took_s)
        lost_anywhere = (lost + base_lost) > 0
        return {
            "lost": lost,
            "base_lost": base_lost,
            "tried": launches_of(here.tried),
            "base_tried": launches_of(there.tried),
            "crashed": launches_of(here.crashed),
            "base_crashed": launches_of(there.crashed),
            "limit_s": np.where(lost_anywhere, limit_s, np.nan),
            "took_s": np.where(lost_anywhere, other_took_s, np.nan),
        }

    def zone(self, margin: float) -> FloatCube:
        """Return for each point the difference that does not matter, in units of `differences`."""
        tolerance = self.tolerance(margin)
        return np.where(self.ratio.on_logs, np.log1p(margin), tolerance)

    def tolerance(self, margin: float) -> FloatCube:
        """Return for each point the difference that does not matter, in the unit of its metric."""
        medians = stats.summarize(self._than).median
        return margin * np.nan_to_num(np.abs(medians))


def _slowest_where_lost(values: FloatCube, beyond: IntCube) -> FloatCube:
    """Return logarithms; a launch beyond a time limit gets the most extreme value of its row.

    - `beyond`: above 0 if the launch counts as the largest value, below 0 as the smallest, else 0.
    """
    logs = np.log(values)
    largest = np.fmax.reduce(logs, axis=-1, keepdims=True)
    logs = np.where(beyond > 0, largest, logs)
    smallest = np.fmin.reduce(logs, axis=-1, keepdims=True)
    return np.where(beyond < 0, smallest, logs)
