"""The members of a family of claims: the points of a pair of platforms, and means over points.

For each member, a second test compares the numbers of launches that exceeded a time limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bareline import stats
from bareline.analysis.numbers.cube import BoolCube, FloatCube, IntCube
from bareline.analysis.numbers.pairs import PlatformPair, mean_of
from bareline.analysis.numbers.row import Estimate, finite
from bareline.vocabulary.verdicts import Verdict

Points = IntCube  #: Of one finding, by their rows in the cube.


@dataclass(frozen=True, slots=True)
class Mean:
    """The comparison of several points together, by the mean of the logarithms of their ratios.

    - `n`: the number of values that the mean is based on: blocks, or boots if launches share a
      boot.
    - `p`: the p-value of the mean, adjusted for the whole family.
    - `lost`: the number of the platform's launches that exceeded their time limit.
    - `base_lost`: the number of the baseline's launches that exceeded their time limit.
    - `by_loss`: 1 or -1 if the lost launches alone make the mean certainly worse or better, else 0.
    - `verdict`: undecided until `bareline.analysis.judgements.decide` sets it; a mean is either
      certain or undecided, never likely.
    """

    ratio: Estimate
    n: int
    points: int
    p: float
    lost: int
    tried: int
    base_lost: int
    base_tried: int
    by_loss: int
    verdict: Verdict = Verdict.INCONCLUSIVE


class Members:
    """The points of a pair of platforms that are tested, then the means over groups of points."""

    def __init__(
        self, pair: PlatformPair, tested: BoolCube, groups: Sequence[Points], weight: FloatCube
    ) -> None:
        self.pair = pair
        self.rows = np.flatnonzero(tested)
        self._weight = weight
        on_logs = np.zeros(tested.shape, dtype=np.bool_)
        if groups:
            on_logs = pair.ratio.on_logs
        self.groups = [points[tested[points]] for points in groups]
        self._with_ratio = [points[on_logs[points]] for points in self.groups]
        #: The indices of the groups that have a mean: groups with at least two points with a ratio.
        self._averaged = []
        #: For each group that has a mean, the points of the group that have a ratio.
        self._averaged_points = []
        for number, points in enumerate(self._with_ratio):
            if points.size > 1:
                self._averaged.append(number)
                self._averaged_points.append(points)

    @property
    def size(self) -> int:
        """The number of points and means."""
        return self.rows.size + len(self._averaged)

    def blank(self) -> FloatCube:
        """Return p-values before any test: 0 if the pair has no noise, else NaN."""
        return np.full(self.size, self.pair.blank_p)

    def _with_means(self, points: FloatCube, mean: Callable[[Points], Any]) -> FloatCube:
        """Append to `points` the values of the means.

        - `mean`: returns the value of a mean, from the points that it covers.
        """
        values = [mean(averaged) for averaged in self._averaged_points]
        means = np.array(values, dtype=np.float64)
        blocks = points.shape[1:]
        rows_of_means = means.reshape(len(means), *blocks)
        return np.concatenate([points, rows_of_means])

    def _means_over(self, points: FloatCube) -> FloatCube:
        """Return the rows of tested points, then the mean over the rows of each group."""
        return self._with_means(points[self.rows], lambda averaged: mean_of(points[averaged]))

    def differences(self, blocks: IntCube, until: int | None = None) -> FloatCube:
        """Return the differences of points and means in groups of blocks, shape (rows, groups).

        - `blocks`: the group of each block; the blocks of a group are exchanged together.
        - `until`: use only this number of first blocks, for an interim analysis; None: all blocks.
        """
        differences = self.pair.differences_until(until)
        return self._means_over(stats.collapsed(differences, blocks))

    def within_noise(self) -> BoolCube:
        """Return for each point and mean whether noise may explain the difference.

        This concerns only two separate runs: with common blocks, the result is always False.
        """
        points = self.pair.within_noise(self.rows)
        means = [self.pair.mean_within_noise(averaged) for averaged in self._averaged_points]
        explained = np.concatenate([points, means])
        return explained.astype(np.bool_)

    def zone(self, margin: float) -> FloatCube:
        """Return for each point and mean the difference that does not matter."""
        zone = self.pair.zone(margin)
        return self._with_means(zone[self.rows], lambda _: np.log1p(margin))

    @property
    def weight(self) -> FloatCube:
        """The factor of the test statistic of each point and mean; it is larger for means.

        A mean represents many points. With six blocks, there is often an exchange under which one
        of fifty noisy points is as extreme as the mean of the points. So the factor of a mean is
        the sixth root of the number of points. Example (simulated): fifty points are 5 % slower,
        with 5 % of noise. The probability that their mean becomes certain rises from 82 to 99 %.
        The probability that a loss at a single point becomes certain falls by 1 %.
        """

        def of_mean(points: Points) -> float:
            largest = self._weight[points].max()
            return float(largest * points.size ** (1 / 6))

        return self._with_means(self._weight[self.rows], of_mean)

    def at_points(self, members: Any, nothing: float = np.nan) -> Any:
        """Return values as an array over all points; `nothing` at points without a test."""
        values = np.full(self.pair.directed.shape, nothing, dtype=members.dtype)
        values[self.rows] = members[: self.rows.size]
        return values

    def means(self, p: FloatCube, by_loss: IntCube) -> list[Mean | None]:
        """Return the mean over each group; None for a group without a mean.

        - `p`, `by_loss`: the test results of all points and means.
        """
        means: list[Mean | None] = [None] * len(self.groups)
        count = self.rows.size
        p_of_means = p[count:].tolist()
        loss_of_means = by_loss[count:].tolist()
        for number, p_of_mean, loss in zip(self._averaged, p_of_means, loss_of_means, strict=True):
            if not np.isnan(p_of_mean):  # else there are too few launches
                means[number] = self._mean(self._with_ratio[number], p_of_mean, loss)
        return means

    def _mean(self, points: Points, p: float, by_loss: int) -> Mean | None:
        """Return the mean over points.

        The result is None if one of the platforms has no value of these points.
        """
        pair = self.pair
        interval = self._interval(points)
        if finite(interval.ratio) is None:
            return None
        lo = 0.0
        if not pair.there.lost[points].any():
            lo = interval.lo
        hi = interval.hi
        if pair.here.lost[points].any():
            hi = np.inf
        here, there = pair.ended
        return Mean(
            ratio=Estimate(interval.ratio, finite(lo) or None, finite(hi)),
            n=interval.n,
            points=points.size,
            p=p,
            lost=self._launches(here.lost, points),
            tried=self._launches(here.tried, points),
            base_lost=self._launches(there.lost, points),
            base_tried=self._launches(there.tried, points),
            by_loss=by_loss,
        )

    def _launches(self, marks: BoolCube, points: Points) -> int:
        """Count the launches in which any of `points` is marked; a launch of a case counts once."""
        cases, case_numbers = np.unique(self.pair.case[points], return_inverse=True)
        shape = (cases.size, marks.shape[-1])
        of_cases = np.zeros(shape, dtype=np.bool_)
        np.logical_or.at(of_cases, case_numbers, marks[points])
        return int(of_cases.sum())

    def _interval(self, points: Points) -> _MeanRatio:
        """Return the mean ratio of points with its interval, from all launches that ended."""
        pair = self.pair
        if pair.exact:
            return self._exact_interval(points)
        if pair.paired:
            differences = pair.differences[points]
            of_boots = stats.collapsed(differences, pair.boots.groups)
            row = mean_of(of_boots)
            no_difference = np.where(np.isnan(row), np.nan, 0.0)
            shift = stats.paired_shift(row, no_difference)
        else:
            worse, than = pair.means_of(points)
            shift = stats.unpaired_shift(worse, than, groups=pair.boots.groups)
        launches = int(min(shift.n, shift.n_baseline))
        logs = [shift.shift, shift.lo, shift.hi]
        return _MeanRatio.of_logs(np.array(logs), launches)

    def _exact_interval(self, points: Points) -> _MeanRatio:
        """Return the mean ratio of points without noise.

        The interval of the mean is the error of the models.
        """
        ratios = self.pair.ratio
        figures = [ratios.ratio[points], ratios.lo[points], ratios.hi[points]]
        logs = np.log(figures)
        fewest = int(ratios.n[points].min())
        return _MeanRatio.of_logs(np.nanmean(logs, axis=-1), fewest)

    def lost_shares(self) -> _LostShares:
        """Return for each point and mean the share of launches that each platform lost.

        Points of one case that were lost in the same launches count as one test.
        """
        ended = self.pair.ended
        sides = [np.where(side.tried, side.lost, np.nan) for side in ended]
        patterns = []
        for row in self.rows.tolist():
            losses = b"|".join(side[row].tobytes() for side in sides)
            case = b"%d:" % self.pair.case[row]
            patterns.append(case + losses)
        patterns += [b"mean %d" % number for number in self._averaged]
        here, there = (stats.collapsed(side, self.pair.boots.groups) for side in sides)
        shares = self._means_over(here)
        base_shares = self._means_over(there)
        return _LostShares(shares, base_shares, patterns)


class _MeanRatio(NamedTuple):
    """A mean ratio with its interval and number of values; an unknown end is not finite."""

    ratio: float
    lo: float
    hi: float
    n: int

    @classmethod
    def of_logs(cls, logs: FloatCube, n: int) -> _MeanRatio:
        """Return a mean ratio from the logarithms of the ratio and of the interval's ends."""
        ratio, lo, hi = np.exp(logs).tolist()
        return cls(ratio, lo, hi, n)


class _LostShares(NamedTuple):
    """The share of lost launches in each block on both platforms, for each point and mean.

    - `patterns`: a key for each point and mean; points of one case that lost the same launches have
      equal keys.
    """

    platform: FloatCube
    baseline: FloatCube
    patterns: list[bytes]


class WithLosses(NamedTuple):
    """For each pair: the p-values of points and means, and the results of their lost launches.

    - `by_loss`: 1 or -1 if lost launches alone make a point or mean certainly worse or better, else
      0.
    """

    p: list[FloatCube]
    by_loss: list[IntCube]


def with_losses(
    members: Sequence[Members],
    p: list[FloatCube],
    alpha: float,
    adjust: Callable[[FloatCube, FloatCube], FloatCube],
    *,
    spent: float | None = None,
    looks: int = 1,
) -> WithLosses:
    """Combine p-values of measured values with the tests of lost launches.

    If the number of lost launches alone could make any row certain, the error probability is
    divided between the two kinds of test.

    - `p`: the p-values of measured values, which are compared with `alpha`.
    - `adjust`: returns the p-values of losses, adjusted for the number of tests. Its arguments are
      the p-values and the smallest possible p-values.
    - `spent`: the probability of any error if p-values up to `alpha` count as certain; None if it
      is equal to `alpha`.
    - `looks`: the number of interim analyses of the data.
    """
    tests = _loss_tests(members)
    adjusted = looks * tests.adjusted(adjust)
    sizes = [member.size for member in members]
    ends = np.cumsum(sizes)[:-1]
    certain_losses = np.where(adjusted <= stats.LOST_ALPHA, tests.worse, 0)
    by_loss = np.split(certain_losses, ends)
    if np.isnan(adjusted).all():
        return WithLosses(p, by_loss)
    factor = (spent or alpha) / stats.BESIDE_LOST_ALPHA
    factor_of_losses = alpha / stats.LOST_ALPHA
    combined = []
    p_of_all_losses = np.split(adjusted, ends)
    for p_of_pair, p_of_losses in zip(p, p_of_all_losses, strict=True):
        of_values = np.minimum(1.0, p_of_pair * factor)
        of_losses = np.minimum(1.0, p_of_losses * factor_of_losses)
        combined.append(np.fmin(of_values, of_losses))
    return WithLosses(combined, by_loss)


@dataclass(frozen=True, slots=True)
class _LossTests:
    """The tests of lost launches, with an entry for each point and mean.

    - `p`: the p-values; NaN without a lost launch.
    - `least`: the smallest possible p-values.
    - `worse`: 1 if the platform lost more launches, -1 if the baseline did, else 0.
    - `first`: for each entry the number of the first entry with the same pattern of losses.
    """

    p: FloatCube
    least: FloatCube
    worse: IntCube
    first: IntCube

    def adjusted(self, adjust: Callable[[FloatCube, FloatCube], FloatCube]) -> FloatCube:
        """Return the p-values, adjusted for the number of different patterns of lost launches."""
        numbers = np.arange(self.first.size)
        different = np.flatnonzero(self.first == numbers)
        adjusted = np.full(self.first.size, np.nan)
        p_of_different = adjust(self.p[different], self.least[different])
        adjusted[different] = p_of_different
        return adjusted[self.first]


def _loss_tests(members: Sequence[Members]) -> _LossTests:
    """Test the lost launches of all points and means."""
    p = []
    least = []
    worse = []
    patterns: list[bytes] = []
    for number, member in enumerate(members):
        if not _has_losses(member.pair):
            untested = np.full(member.size, np.nan)
            p.append(untested)
            least.append(untested)
            neither = np.zeros(member.size, dtype=np.int64)
            worse.append(neither)
            patterns += [b"%d/%d" % (number, row) for row in range(member.size)]
            continue
        shares = member.lost_shares()
        test = stats.exceedance(shares.platform, shares.baseline)
        p.append(test.p)
        least.append(test.least)
        share_here = mean_of(shares.platform.T)
        share_there = mean_of(shares.baseline.T)
        difference = share_here - share_there
        known_difference = np.nan_to_num(difference)
        direction = np.sign(known_difference)
        worse.append(direction.astype(np.int64))
        patterns += [b"%d/" % number + pattern for pattern in shares.patterns]
    return _LossTests(
        p=np.concatenate(p),
        least=np.concatenate(least),
        worse=np.concatenate(worse),
        first=_first_of_each(patterns),
    )


def _has_losses(pair: PlatformPair) -> bool:
    if pair.exact:
        return False
    return any(side.lost.any() for side in pair.ended)


def _first_of_each(patterns: Sequence[bytes]) -> IntCube:
    """Return for each pattern the index of the first equal pattern."""
    first: dict[bytes, int] = {}
    for number, pattern in enumerate(patterns):
        first.setdefault(pattern, number)
    numbers = [first[pattern] for pattern in patterns]
    return np.array(numbers, dtype=np.int64)
