"""The test whether more launches exceed their limit on one platform than on another.

If the platforms are equal, a launch that exceeded its limit could as well have been on the other
platform: all assignments of the launches to the two platforms (deals) are as likely as the measured
assignment. This is Fisher's exact test. If launches share a boot, whole boots are assigned, each
with the share of its launches that were lost. If several cases are tested together, launches are
assigned, each with the share of the cases that were lost in it.

Such counts are coarse: one lost launch of eight can never be a certain difference. The total
numbers of launches and losses show whether a row (a case) can reach certainty at all. Rows that
cannot reach it do not weaken the test of other rows.

References
----------
R. A. Fisher, The logic of inductive inference, Journal of the Royal Statistical Society 98 (1935)
39-82, doi:10.2307/2342435.
R. E. Tarone, A modified Bonferroni method for discrete data, Biometrics 46 (1990) 515-522,
doi:10.2307/2531456.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats.family import holm
from bareline.stats.launch_array import FloatArray, as_launch_array

#: Up to this number of ways to deal launches out, all are tried; beyond, as many random ones.
_MOST_DEALS = 20_000
#: Shares that differ by rounding are the same.
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Exceedance:
    """Tests of a stack of cases; arrays of shape (cases,), NaN if nothing was lost or launched.

    - `p`: two-sided p-value of "both platforms lose equally many launches": the share of the deals
      (assignments of the launches to the platforms) with at least as large a difference.
    - `least`: the smallest p-value that these numbers of launches and losses allow.
    """

    p: FloatArray
    least: FloatArray


def exceedance(over: ArrayLike, over_baseline: ArrayLike) -> Exceedance:
    """Return the test whether one platform loses more launches than the other platform.

    - `over`, `over_baseline`: shapes (cases, n) and (cases, m). A value is for one launch (1 if it
      was lost, 0 if it ended), or for one boot (the share of its launches that were lost). It is
      NaN if there was no launch.
    """
    first = as_launch_array(over)
    second = as_launch_array(over_baseline, "baseline")
    p = np.full(first.shape[0], np.nan)
    least = p.copy()
    lost = np.nansum(first, axis=-1) + np.nansum(second, axis=-1)
    results: dict[tuple[bytes, bytes], _Result] = {}
    for case in np.flatnonzero(lost > 0):
        values = _ascending(first[case])
        base = _ascending(second[case])
        if not values.size or not base.size:
            continue
        key = (values.tobytes(), base.tobytes())
        if key not in results:
            results[key] = _test(values, base)
        p[case] = results[key].p
        least[case] = results[key].least
    return Exceedance(p, least)


def _ascending(row: FloatArray) -> FloatArray:
    """Return the values of a case that are not NaN, in rising order."""
    return np.sort(row[~np.isnan(row)])


@dataclass(frozen=True, slots=True)
class _Result:
    """The test of one case; the fields are as in `Exceedance`."""

    p: float
    least: float


@dataclass(frozen=True, slots=True)
class _Deals:
    """The possible assignments of the launches to the two platforms (deals).

    - `apart`: the possible absolute differences between the platforms' shares of lost launches.
    - `weight`: the probability of each difference in `apart`.
    """

    apart: FloatArray
    weight: FloatArray

    def p(self, reached: float) -> float:
        """Return the probability of a difference of at least `reached`."""
        beyond = self.apart >= reached - _SLACK
        return min(1.0, float(self.weight[beyond].sum()))


def _test(values: FloatArray, base: FloatArray) -> _Result:
    pooled = np.concatenate((values, base))
    is_whole = bool(((pooled == 0) | (pooled == 1)).all())
    deals = _counted(values, base) if is_whole else _dealt(pooled, values.size)
    observed = abs(float(values.mean() - base.mean()))
    return _Result(deals.p(observed), deals.p(float(deals.apart.max())))


def _counted(values: FloatArray, base: FloatArray) -> _Deals:
    """Return the possible assignments of launches to platforms, if each value is one launch."""
    n = values.size
    m = base.size
    total = int(values.sum() + base.sum())
    counts = np.arange(max(0, total - m), min(n, total) + 1)
    all_ways = comb(n + m, n)
    weight = []
    for lost in counts.tolist():
        ways = comb(total, lost) * comb(n + m - total, n - lost)
        weight.append(ways / all_ways)  # of integers of any length
    apart = np.abs(counts / n - (total - counts) / m)
    return _Deals(apart, np.array(weight))


def _dealt(pooled: FloatArray, n: int) -> _Deals:
    """Return equally likely assignments of `n` values to one platform and the rest to the other."""
    size = pooled.size
    if comb(size, n) <= _MOST_DEALS:
        chosen = np.array(list(combinations(range(size), n)))
    else:
        orders = np.tile(np.arange(size), (_MOST_DEALS, 1))
        chosen = np.random.default_rng(size).permuted(orders, axis=1)[:, :n]
        chosen[0] = np.arange(n)  # as it was measured
    sums = pooled[chosen].sum(axis=-1)
    rest = pooled.sum() - sums
    apart = np.abs(sums / n - rest / (size - n))
    return _Deals(apart, np.full(apart.size, 1 / apart.size))


def holm_of_testable(p_values: FloatArray, least: FloatArray, alpha: float) -> FloatArray:
    """Return Holm-adjusted p-values of the rows that can reach certainty; NaN for other rows.

    - `p_values`, `least`: shape (k,), as in `Exceedance`.
    - `alpha`: the level of the test.
    """
    several = 1
    while np.count_nonzero(least <= alpha / several) > several:
        several += 1
    return holm(np.where(least <= alpha / several, p_values, np.nan))
