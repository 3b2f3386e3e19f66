"""Tests of many paired comparisons at once, by exchanging the platforms' names in whole blocks.

If a platform made no difference, exchanging its name with the baseline's in any block would be as
likely as the measured order, for every point at once. So the signs of whole blocks are flipped, and
the data are compared with the flipped data. No assumption is made about the dependence between
points, and six blocks suffice in a family of any size: a difference that only the exchange of all
blocks matches has the p-value 2/64.

The statistic is Student's t of a point's differences against its margin: a mean inside the margin
counts as no difference, and a mean beyond it is measured from half of the margin and divided by its
standard error. (If the mean were measured from the margin, losses of little more than the margin
would not be found among noisy points. If it were measured from zero, noisy points would not be
found among calm points.)

Ranks would not suffice. With six blocks, all points whose differences agree in sign have the same
rank sum. Among fifteen comparisons without a difference, the signs of one agree by accident. Its
rank sum is then equal to the rank sum of a tenfold loss.

References
----------
P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing, Wiley (1993), step-down maxT.
V. G. Tusher, R. Tibshirani and G. Chu, Significance analysis of microarrays applied to the
ionizing radiation response, PNAS 98 (2001) 5116-5121, doi:10.1073/pnas.091062498: the false
discovery rate by pooling flipped data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats.launch_array import (
    BoolArray,
    FloatArray,
    IntArray,
    as_launch_array,
    count_launches,
)
from bareline.vocabulary.verdicts import MIN_LAUNCHES

ALL_FLIPS_BLOCKS = 12
"""Largest number of blocks for which every flip is tried.

With more blocks, a fixed random choice of flips is tried.
"""

_CHOSEN_FLIPS = 4096
MANY_BLOCKS = 4096
"""Number of blocks above which the signs are made in parts, which need less memory."""

#: Statistics in memory at once (32 MiB), and statistics computed at once, in a processor's cache.
_AT_ONCE = 1 << 22
_IN_CACHE = 1 << 14
#: The most statistics that are computed for the p-values of a family.
_MOST_STATISTICS = 1 << 24
#: Statistics that are pooled for a false discovery rate; more would not change it.
_POOLED = 1 << 20
#: Flips that a pool has at least: with fewer than 20 the data's own would weigh 5 %.
_FEWEST_POOLED_FLIPS = 64

#: A flip that gives the same figure by other sums must count as equal.
_SLACK = 1e-9

Side = Literal["both", "above"]


def family_wise_p(
    differences: ArrayLike,
    zone: ArrayLike = 0.0,
    *,
    side: Side = "both",
    weight: ArrayLike = 1.0,
) -> FloatArray:
    """Return step-down adjusted p-values over all rows, shape (k,); NaN below six blocks.

    If rows with p of at most alpha are claims, the chance of any false claim is at most alpha.

    - `differences`: shape (k, n); one row per comparison, one column per block; NaN if a row lacks
      a block.
    - `zone`: shape (k,); the largest distance from 0 that does not matter, in the unit of each row.
    - `side`: "both" tests whether a row differs from 0, "above" whether it is larger than 0.
    - `weight`: shape (k,); factor of each row's Student's t before rows are compared. With a larger
      weight, an informative row is found even if noisy rows are more extreme. A weight that is
      fixed beforehand changes the power, never the error rate.
    """
    table = _Table.of(differences, zone)
    adjusted = np.full(table.tested.shape, np.nan)
    if not table.tested.any():
        return adjusted
    weights = np.broadcast_to(np.asarray(weight, dtype=np.float64), adjusted.shape)
    tested = np.flatnonzero(table.tested)
    observed = table.statistic(tested, side, weights).observed
    # Least extreme first: an accumulated maximum covers a row and all less extreme rows.
    order = tested[np.argsort(-observed, kind="stable")[::-1]]
    statistic = table.statistic(order, side, weights)
    threshold = _threshold(statistic.observed)[:, None]
    most = max(512, _MOST_STATISTICS // observed.size)
    as_extreme = np.zeros(observed.size, dtype=np.int64)
    total = 0
    for flipped in statistic.flipped(most):
        np.maximum.accumulate(flipped, axis=0, out=flipped)
        as_extreme += np.count_nonzero(flipped >= threshold, axis=-1)
        total += flipped.shape[-1]
    # A more extreme row has no larger p-value.
    most_extreme_first = as_extreme[::-1] / total
    adjusted[order] = np.maximum.accumulate(most_extreme_first)[::-1]
    return adjusted


def false_discovery_q(differences: ArrayLike, zone: ArrayLike = 0.0) -> FloatArray:
    """Return the q-value of each row.

    It is the expected share of false claims if this row and all more extreme rows are claims.

    The arguments are as for `family_wise_p`. The result has shape (k,), and is NaN below six blocks
    and 1 inside the zone.
    """
    table = _Table.of(differences, zone)
    q_values = np.full(table.tested.shape, np.nan)
    if not table.tested.any():
        return q_values
    tested = np.flatnonzero(table.tested)
    statistic = table.statistic(tested, "both", np.ones(q_values.shape))
    observed = statistic.observed
    ascending = np.sort(observed)
    thresholds = _threshold(ascending)
    most = max(_FEWEST_POOLED_FLIPS, _POOLED // observed.size)
    beyond = np.zeros(observed.size, dtype=np.int64)
    total = 0
    for flipped in statistic.flipped(most):
        pool = np.sort(flipped[flipped >= thresholds[0]], axis=None)
        beyond += pool.size - np.searchsorted(pool, thresholds, side="left")
        total += flipped.shape[-1]
    claims = observed.size - np.searchsorted(ascending, thresholds, side="left")
    rate = np.minimum(1.0, beyond / total / claims)
    rate[ascending <= 0] = 1.0
    # A row is no worse than any that is less extreme.
    q = np.minimum.accumulate(rate)
    q_values[tested] = q[np.searchsorted(ascending, observed, side="left")]
    return q_values


@dataclass(frozen=True, slots=True)
class _Table:
    """The rows of differences, their zones (margins), and which rows have enough blocks."""

    rows: FloatArray
    zones: FloatArray
    tested: BoolArray

    @classmethod
    def of(cls, differences: ArrayLike, zone: ArrayLike) -> _Table:
        """Return the table without blocks that no row has.

        Raises ValueError: the differences are not rows.
        """
        rows = as_launch_array(differences, "differences")
        if rows.ndim != 2:
            raise ValueError(f"differences: expected rows of blocks, got shape {rows.shape}")
        zones = np.broadcast_to(np.asarray(zone, dtype=np.float64), rows.shape[:1])
        # Blocks that no row has would only multiply the flips.
        is_empty = np.isnan(rows).all(axis=0)
        rows = rows[:, ~is_empty]
        return cls(rows, zones, count_launches(rows) >= MIN_LAUNCHES)

    def statistic(self, chosen: IntArray, side: Side, weights: FloatArray) -> _Statistic:
        """Return the statistic of the chosen rows, in their order."""
        return _Statistic(self.rows[chosen], self.zones[chosen], side, weights[chosen])


def _threshold(observed: FloatArray) -> FloatArray:
    """Return the thresholds from which on a statistic counts as equal to the observed statistic."""
    finite = np.where(np.isinf(observed), 0.0, observed)
    return observed - _SLACK * np.abs(finite)


class _Statistic:
    """The statistic of rows of differences, for the observed and for flipped signs."""

    def __init__(
        self, rows: FloatArray, zones: FloatArray, side: Side, weights: FloatArray
    ) -> None:
        self._values = np.nan_to_num(rows)
        self._n = count_launches(rows).astype(np.float64)[:, None]
        # Flipping changes the mean, never the sum of squares.
        self._mean_square = (self._values**2).sum(axis=-1, keepdims=True) / self._n
        self._zones = zones[:, None]
        self._side = side
        self._weights = None if (weights == 1).all() else weights[:, None] ** 2
        self._alike = bool((self._n == self._n[0]).all())
        self.observed: FloatArray = self._of(np.ones((rows.shape[-1], 1)))[:, 0]

    def flipped(self, most: int) -> Iterator[FloatArray]:
        """Yield statistics, shape (k, flips), of at most `most` flips, the observed signs first."""
        n = self._values.shape[-1]
        if n > MANY_BLOCKS:
            yield from map(self._of, flips_of_many(n, most))
            return
        flips = _at_most(flips_of(n, self._side), most)
        step = max(16, _AT_ONCE // self._n.size)
        for first in range(0, flips.shape[-1], step):
            yield self._of(flips[:, first : first + step])

    def _of(self, flips: FloatArray) -> FloatArray:
        """Return the squared distance of each mean from half of its zone (margin).

        The distance is divided by its standard error before it is squared, and its sign is kept. A
        mean inside the zone counts as 0. Only comparisons of the result matter, and it is a
        monotone function of Student's t.
        """
        statistics = np.empty((self._n.size, flips.shape[-1]))
        step = max(1, _IN_CACHE // flips.shape[-1])
        for first in range(0, self._n.size, step):
            part = slice(first, first + step)
            self._compute(part, flips, statistics[part])
        if not self._alike:
            statistics = self._as_deviates(statistics)
        if self._weights is not None:
            statistics *= self._weights
        return statistics

    def _compute(self, part: slice, flips: FloatArray, statistics: FloatArray) -> None:
        """Write the statistics of the rows in `part` into `statistics`."""
        n = self._n[part]
        mean_square = self._mean_square[part]
        mean = self._values[part] @ flips
        mean /= n
        np.square(mean, out=statistics)
        variance = mean_square - statistics
        # Sums of equal figures leave rounding, not spread.
        variance[variance <= 1e-14 * mean_square] = 0.0
        variance /= n - 1
        is_none = self._square_beyond_zone(mean, self._zones[part], statistics)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistics /= variance
        statistics[is_none] = 0.0

    def _square_beyond_zone(
        self, mean: FloatArray, zones: FloatArray, squares: FloatArray
    ) -> BoolArray:
        """Write squared distances of means from their zones; return which means count as 0.

        `mean` is overwritten.
        """
        if self._side == "both":
            np.abs(mean, out=mean)
            is_none: BoolArray = mean <= zones
            mean -= zones / 2
            np.square(mean, out=squares)
            return is_none
        mean -= zones
        is_none = mean == 0
        np.abs(mean, out=squares)
        squares *= mean
        return is_none

    def _as_deviates(self, squared: FloatArray) -> FloatArray:
        """Return squared t of different degrees of freedom as squared normal deviates.

        The approximation is from D. L. Wallace (1959).
        """
        freedom = self._n - 1
        scale = (8 * freedom + 1) / (8 * freedom + 3)
        deviates = scale**2 * freedom * np.log1p(np.abs(squared) / freedom)
        return np.copysign(deviates, squared)


def _at_most(flips: FloatArray, most: int) -> FloatArray:
    """Return at most `most` flips: the observed signs first, then a random choice (fixed seed)."""
    count = flips.shape[-1]
    if count <= most:
        return flips
    chosen = np.random.default_rng(most).choice(count - 1, most - 1, replace=False)
    return flips[:, np.concatenate(([0], 1 + np.sort(chosen)))]


def flips_of_many(n: int, most: int = _CHOSEN_FLIPS) -> Iterator[FloatArray]:
    """Yield random choices of the signs of many blocks (flips), the observed signs first.

    Each array has shape (n, flips). All choices in one array would need gigabytes.
    """
    count = min(most, _CHOSEN_FLIPS)
    step = max(1, _AT_ONCE // n)
    for first in range(0, count, step):
        generator = np.random.default_rng([n, first])
        shape = (n, min(step, count - first))
        heads = generator.integers(0, 2, shape, dtype=np.int8)
        signs = np.where(heads, 1.0, -1.0)
        if first == 0:
            signs[:, 0] = 1.0
        yield signs


@lru_cache(maxsize=32)
def flips_of(n: int, side: Side, most: int = _CHOSEN_FLIPS) -> FloatArray:
    """Return choices of the blocks' signs (flips), shape (n, flips), the observed signs first.

    A two-sided statistic does not change if all signs change, so the sign of the last block is
    fixed for it.
    """
    free = n - 1 if side == "both" else n
    if n <= ALL_FLIPS_BLOCKS:
        bits = np.arange(2**free) >> np.arange(n)[:, None]
        return np.where(bits & 1, -1.0, 1.0)
    signs = np.random.default_rng(n).choice([-1.0, 1.0], (n, most))
    signs[:, 0] = 1.0
    return signs
