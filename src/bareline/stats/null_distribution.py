"""Null distributions of the three rank statistics: sign, signed-rank and Mann-Whitney.

Each distribution is symmetric, so one lower tail serves both sides. A distribution-free interval
from the k-th smallest to the k-th largest of a case's values (or pairwise values) misses the truth
with probability ``2 P(T <= k - 1)``; `interval_rank` finds the largest k that keeps the level.

References
----------
M. Hollander, D. A. Wolfe and E. Chicken, Nonparametric Statistical Methods, 3rd edition, Wiley
(2014), sections 3.1, 3.3, 3.6, 4.1 and 4.3, doi:10.1002/9781119196037.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bareline.stats.launch_array import FloatArray, IntArray
from bareline.stats.special import binomial_half_cdf, normal_cdf

EXACT_SIGNED_RANK = 50
EXACT_MANN_WHITNEY = 50
"""Largest number of launches per side for the exact distribution.

With more launches, the normal tail below 5 % has an error of under 5e-4.
"""

# Tails are sums of float64 products: one that equals the level exactly must not fail by rounding.
_SLACK = 1e-12


@dataclass(frozen=True, slots=True)
class NullDistribution:
    """A symmetric null distribution on ``0 .. size``; `lower` is vectorised ``P(T <= t)``."""

    size: int
    lower: Callable[[IntArray], FloatArray]

    def interval_rank(self, confidence: float) -> int:
        """Return the largest k with ``2 P(T <= k - 1) <= 1 - confidence``; 0 if there is none."""
        tail = (1.0 - confidence) / 2.0 + _SLACK
        below = -1
        above = self.size // 2 + 1
        while above - below > 1:
            middle = (below + above) // 2
            if self._at(middle) <= tail:
                below = middle
            else:
                above = middle
        return below + 1

    def level(self, rank: int) -> float:
        """Return the confidence level of the interval with a `rank`; NaN for rank 0."""
        return 1.0 - 2.0 * self._at(rank - 1) if rank > 0 else math.nan

    def two_sided_p(self, tail: IntArray) -> FloatArray:
        """Return the two-sided p-values of lower tail values, at most 1."""
        return np.minimum(1.0, 2.0 * self.lower(tail))

    def _at(self, value: int) -> float:
        return float(self.lower(np.array([value], dtype=np.int64))[0])


@lru_cache(maxsize=1024)
def sign(n: int) -> NullDistribution:
    """Return the distribution of the number of n values below the median: Binomial(n, 1/2)."""
    return NullDistribution(n, lambda t: binomial_half_cdf(t, n))


@lru_cache(maxsize=1024)
def signed_rank(n: int) -> NullDistribution:
    """Return Wilcoxon's signed-rank distribution, without ties.

    It is exact up to `EXACT_SIGNED_RANK` values, and normal with continuity correction for more.
    """
    size = n * (n + 1) // 2
    if n > EXACT_SIGNED_RANK:
        return _normal(size, variance=n * (n + 1) * (2 * n + 1) / 24.0)
    probability = np.ones(1)
    for rank in range(1, n + 1):
        grown = np.zeros(probability.size + rank)
        grown[: probability.size] += 0.5 * probability
        grown[rank:] += 0.5 * probability
        probability = grown
    return _tabulated(probability)


@lru_cache(maxsize=4096)
def mann_whitney(n: int, m: int) -> NullDistribution:
    """Return the distribution of Mann and Whitney's U for samples of n and m, without ties.

    It is exact up to `EXACT_MANN_WHITNEY` values on each side, and normal with continuity
    correction for more.
    """
    if max(n, m) > EXACT_MANN_WHITNEY:
        return _normal(n * m, variance=n * m * (n + m + 1) / 12.0)
    return _tabulated(_mann_whitney_probability(max(n, m), min(n, m)))


@lru_cache(maxsize=4096)
def _mann_whitney_probability(n: int, m: int) -> FloatArray:
    """Return P(U = u), u = 0 .. n m, for n >= m, by a recursion over the largest observation.

    The largest observation belongs to the first sample with probability n / (n + m), and then adds
    m to U. Only positive terms are summed, so even the far tails keep full relative precision.
    """
    if m == 0:
        return np.ones(1)
    probability = np.zeros(n * m + 1)
    from_first = _mann_whitney_probability(max(n - 1, m), min(n - 1, m))
    from_second = _mann_whitney_probability(n, m - 1)
    probability[m:] += n / (n + m) * from_first
    probability[: from_second.size] += m / (n + m) * from_second
    return probability


def _tabulated(probability: FloatArray) -> NullDistribution:
    cumulative = np.concatenate(([0.0], np.minimum(1.0, np.cumsum(probability))))
    size = probability.size - 1
    return NullDistribution(size, lambda t: cumulative[np.clip(t, -1, size) + 1])


def _normal(size: int, variance: float) -> NullDistribution:
    def lower(t: IntArray) -> FloatArray:
        return np.where(t < 0, 0.0, normal_cdf((t + 0.5 - size / 2.0) / math.sqrt(variance)))

    return NullDistribution(size, lower)
