"""Distribution functions that the rank statistics and the forecast need, on numpy alone.

A library with these functions would be larger than all of bareline with its other dependencies, and
would be loaded at the start of every comparison.

References
----------
M. Abramowitz and I. A. Stegun (eds.), Handbook of Mathematical Functions, National Bureau of
Standards (1964), 26.4.17 (Wilson and Hilferty's chi-square) and 26.7.5 (Student's t by the normal
quantile).
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from bareline.stats.launch_array import FloatArray, IntArray

_NORMAL = NormalDist()
_ERFC = np.frompyfunc(math.erfc, 1, 1)
_QUANTILE = np.frompyfunc(_NORMAL.inv_cdf, 1, 1)


def normal_cdf(x: npt.ArrayLike) -> FloatArray:
    """Return P(X <= x) of the standard normal distribution; tails keep their relative precision."""
    return np.asarray(0.5 * _ERFC(-np.asarray(x) / math.sqrt(2.0)), dtype=np.float64)


def normal_quantile(p: FloatArray) -> FloatArray:
    """Return the standard normal quantiles of probabilities in (0, 1)."""
    return np.asarray(_QUANTILE(p), dtype=np.float64)


def binomial_half_cdf(k: IntArray, n: int) -> FloatArray:
    """Return P(K <= k) of Binomial(n, 1/2) for integers k, also outside 0 .. n."""
    return _binomial_half(n)[np.clip(k, -1, n) + 1]


@lru_cache(maxsize=64)
def _binomial_half(n: int) -> FloatArray:
    """Return P(K <= k), k = -1 .. n.

    The larger half is computed by symmetry, so that rounding does not affect the tails.
    """
    k = np.arange(1, n // 2 + 1, dtype=np.float64)
    # From one k to the next, the ways to choose k of n grow by (n - k + 1)/k.
    log_growth = np.log((n - k + 1) / k)
    log_ways = np.concatenate(([0.0], np.cumsum(log_growth)))
    probability = np.exp(log_ways - n * math.log(2.0))
    lower = np.cumsum(probability)
    mirrored = lower[: (n + 1) // 2][::-1]
    upper = 1.0 - mirrored
    cdf = np.concatenate(([0.0], np.minimum(lower, 1.0), upper[1:], [1.0]))
    return cdf[: n + 2]


def student_quantile(p: float, freedom: int) -> float:
    """Return the quantile of Student's t.

    With five or more degrees of freedom the error is below 0.5 % for 0.005 < p < 0.995. The caller
    prints a forecast as a range of a factor of two, so that more precision is not needed.
    """
    x = _NORMAL.inv_cdf(p)
    terms = (
        (x**3 + x) / 4.0,
        (5.0 * x**5 + 16.0 * x**3 + 3.0 * x) / 96.0,
        (3.0 * x**7 + 19.0 * x**5 + 17.0 * x**3 - 15.0 * x) / 384.0,
        (79.0 * x**9 + 776.0 * x**7 + 1482.0 * x**5 - 1920.0 * x**3 - 945.0 * x) / 92160.0,
    )
    correction = math.fsum(term / freedom**power for power, term in enumerate(terms, start=1))
    return x + correction


def chi_square_quantile(p: FloatArray, freedom: int) -> FloatArray:
    """Return approximate quantiles of chi-square.

    For five or more degrees of freedom, the error is at most 2 % if p is between 0.05 and 0.95, and
    at most 8 % if p is between 0.01 and 0.99. The formula treats the cube root of chi-square as
    normal.
    """
    variance = 2.0 / (9.0 * freedom)
    root = 1.0 - variance + normal_quantile(p) * math.sqrt(variance)
    return freedom * root**3
