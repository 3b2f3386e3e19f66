"""The position and the size of a change of level.

With a flat prior over the runs, the probability that the new level begins at run k is proportional
to the likelihood of two levels that meet at k, with spread and levels integrated out:

    P(k) ~ (k (n - k))^(-1/2) RSS(k)^(-(n - 2)/2).

References
----------
A. F. M. Smith, A Bayesian approach to inference about a change-point in a sequence of random
variables, Biometrika 62 (1975), doi:10.1093/biomet/62.2.407.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bareline.stats.change import LEAST_SPREAD
from bareline.stats.launch_array import FloatArray
from bareline.stats.special import student_quantile

_CONFIDENCE = 0.95
_TAIL = 0.975
#: With fewer degrees of freedom an interval would be too wide to be useful.
_LEAST_FREEDOM = 4


@dataclass(frozen=True, slots=True)
class Position:
    """The first value of a new level, and the shortest range that contains it at 95 %."""

    at: int
    first: int
    last: int

    def moved(self, runs: int) -> Position:
        """Return the position in values that begin `runs` runs earlier."""
        return Position(self.at + runs, self.first + runs, self.last + runs)


@dataclass(frozen=True, slots=True)
class LevelRatio:
    """The ratio of two levels, with its 95 % interval; NaN if there are too few runs."""

    value: float
    lo: float
    hi: float


def locate(values: FloatArray) -> Position:
    """Return the position at which two levels meet.

    - `values`: shape (n,) with n >= 2; logarithms, complete.
    """
    n = values.size
    split = np.arange(1, n)
    sizes = split * (n - split)
    centred = values - values.mean()
    sums = np.cumsum(centred)[:-1]
    rest = np.sum(centred**2) - sums**2 * n / sizes
    rest = np.maximum(rest, n * LEAST_SPREAD**2)
    log_weight = -0.5 * np.log(sizes) - 0.5 * max(n - 2, 1) * np.log(rest)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    first, last = _shortest(weight)
    return Position(int(split[weight.argmax()]), int(split[first]), int(split[last]))


def _shortest(weight: FloatArray) -> tuple[int, int]:
    """Return both ends of the shortest range around the highest weight with 95 % of all weight."""
    # A place beyond either end has less weight than any other.
    bordered = np.concatenate(([-1.0], weight, [-1.0]))
    first = int(bordered.argmax())
    last = first
    enclosed = float(bordered[first])
    while enclosed < _CONFIDENCE and last - first + 1 < weight.size:
        left = float(bordered[first - 1])
        right = float(bordered[last + 1])
        if left >= right:
            first -= 1
        else:
            last += 1
        enclosed += max(left, right)
    return first - 1, last - 1


def level_ratio(before: FloatArray, after: FloatArray, phi: float = 0.0) -> LevelRatio:
    """Return the level after a change divided by the level before the change.

    - `before`, `after`: shapes (n,) and (m,); logarithms.
    - `phi`: autoregression of the runs, which makes the interval wider.
    """
    difference = float(after.mean() - before.mean())
    freedom = before.size + after.size - 2
    if freedom < _LEAST_FREEDOM:
        return LevelRatio(math.exp(difference), math.nan, math.nan)
    rest = _square_about_mean(before) + _square_about_mean(after)
    error = math.sqrt(rest / freedom * (1.0 / before.size + 1.0 / after.size))
    widened = math.sqrt((1.0 + phi) / (1.0 - phi))
    half = student_quantile(_TAIL, freedom) * error * widened
    lo = math.exp(difference - half)
    hi = math.exp(difference + half)
    return LevelRatio(math.exp(difference), lo, hi)


def _square_about_mean(values: FloatArray) -> float:
    return float(np.sum((values - values.mean()) ** 2))
