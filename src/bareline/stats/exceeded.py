"""Launches over a limit, counted: whether one platform loses more of them than the other.

If the platforms were equal, a launch that exceeded its limit could as well have been on the other
platform: all assignments of the launches to the two sides are as likely as the measured one. That
is Fisher's exact test. Where launches share a boot, whole boots are dealt out, each with the share
of its launches that were lost; where several cases are asked about together, each launch with the
share of the cases that it lost.

Such counts are coarse: one launch of eight can never be certain. The number of launches and
losses alone shows whether a row can be certain, before their sides are known, so that rows that
cannot do not weaken the rest.

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
    """Tests of a stack of cases; arrays of shape (cases,), NaN where nothing was lost or tried.

    - `p`: two-sided p-value of "both lose as many": the share of deals that are as far apart.
    - `least`: the smallest p-value that these numbers of launches and losses allow.
    """

    p: FloatArray
    least: FloatArray


def exceedance(over: ArrayLike, over_baseline: ArrayLike) -> Exceedance:
    """Test whether one side loses more launches to a limit than the other.

    - `over`, `over_baseline`: shapes (cases, n) and (cases, m); 1 for a launch that was lost, 0 for
      one that ended, the share for a boot; NaN where nothing was launched.
    """
    first = as_launch_array(over)
    second = as_launch_array(over_baseline, "baseline")
    p = np.full(first.shape[0], np.nan)
    least = p.copy()
    lost = (np.nansum(first, axis=-1) + np.nansum(second, axis=-1)) > 0
    results: dict[bytes, tuple[float, float]] = {}
    for case in np.flatnonzero(lost):
        sides = [np.sort(side[case][~np.isnan(side[case])]) for side in (first, second)]
        if not sides[0].size or not sides[1].size:
            continue
        key = sides[0].tobytes() + b"|" + sides[1].tobytes()
        if key not in results:
            results[key] = _test(*sides)
        p[case], least[case] = results[key]
    return Exceedance(p, least)


def _test(values: FloatArray, base: FloatArray) -> tuple[float, float]:
    pooled = np.concatenate((values, base))
    observed = abs(float(values.mean() - base.mean()))
    whole = bool(((pooled == 0) | (pooled == 1)).all())
    apart, weight = _counted(values, base) if whole else _dealt(pooled, values.size)
    beyond = apart >= observed - _SLACK
    farthest = apart >= apart.max() - _SLACK
    return min(1.0, float(weight[beyond].sum())), min(1.0, float(weight[farthest].sum()))


def _counted(values: FloatArray, base: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the possible distances of both shares, and their probabilities, by whole launches."""
    n = values.size
    m = base.size
    total = int(values.sum() + base.sum())
    counts = np.arange(max(0, total - m), min(n, total) + 1)
    ways = [comb(total, lost) * comb(n + m - total, n - lost) for lost in counts.tolist()]
    weight = np.array([number / comb(n + m, n) for number in ways])  # of integers of any length
    return np.abs(counts / n - (total - counts) / m), weight


def _dealt(pooled: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Return the distance of both means in each deal, and the weight of each deal."""
    if comb(pooled.size, n) <= _MOST_DEALS:
        chosen = np.array(list(combinations(range(pooled.size), n)))
    else:
        generator = np.random.default_rng(pooled.size)
        chosen = generator.permuted(np.tile(np.arange(pooled.size), (_MOST_DEALS, 1)), axis=1)[
            :, :n
        ]
        chosen[0] = np.arange(n)  # as it was measured
    sums = pooled[chosen].sum(axis=-1)
    apart = np.abs(sums / n - (pooled.sum() - sums) / (pooled.size - n))
    return apart, np.full(apart.size, 1 / apart.size)


def holm_of_testable(p_values: FloatArray, least: FloatArray, alpha: float) -> FloatArray:
    """Return Holm-adjusted p-values of rows that could be certain at all; NaN for all other rows.

    `p_values` and `least`: shape (k,), as of `exceedance`; `alpha`: the level of the test.
    """
    several = 1
    while np.count_nonzero(least <= alpha / several) > several:
        several += 1
    return holm(np.where(least <= alpha / several, p_values, np.nan))
