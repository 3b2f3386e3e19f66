"""The position and the size of a change of level.

With a flat prior over the runs, the probability that the new level begins at run k is proportional
to the likelihood of the two levels there, spread and levels integrated out:

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
    """The first value of a new level, and the shortest stretch that has it with 95 %."""

    at: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class LevelRatio:
    """A level over another one, with its 95 % interval; NaN where too few runs give none."""

    value: float
    lo: float
    hi: float


def locate(values: FloatArray) -> Position:
    """Return where two levels part, shape (n,) with n >= 2; logarithms, complete."""
    n = values.size
    split = np.arange(1, n)
    centred = values - values.mean()
    sums = np.cumsum(centred)[:-1]
    rest = np.sum(centred**2) - sums**2 * n / (split * (n - split))
    rest = np.maximum(rest, n * LEAST_SPREAD**2)
    log_weight = -0.5 * np.log(split * (n - split)) - 0.5 * max(n - 2, 1) * np.log(rest)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    first, last = _shortest(weight)
    return Position(int(split[weight.argmax()]), int(split[first]), int(split[last]))


def _shortest(weight: FloatArray) -> tuple[int, int]:
    """Return the ends of the stretch about the highest weight that reaches the confidence."""
    first = last = int(weight.argmax())
    enclosed = float(weight[first])
    while enclosed < _CONFIDENCE and (first > 0 or last < weight.size - 1):
        left = float(weight[first - 1]) if first > 0 else -1.0
        right = float(weight[last + 1]) if last < weight.size - 1 else -1.0
        if left >= right:
            first -= 1
            enclosed += left
        else:
            last += 1
            enclosed += right
    return first, last


def level_ratio(before: FloatArray, after: FloatArray, phi: float = 0.0) -> LevelRatio:
    """Return the level after a change over the level before it.

    - `before`, `after`: shapes (n,) and (m,); logarithms.
    - `phi`: autoregression of the runs, for which the interval is wider.
    """
    difference = float(after.mean() - before.mean())
    freedom = before.size + after.size - 2
    if freedom < _LEAST_FREEDOM:
        return LevelRatio(math.exp(difference), math.nan, math.nan)
    rest = np.sum((before - before.mean()) ** 2) + np.sum((after - after.mean()) ** 2)
    error = math.sqrt(float(rest) / freedom * (1.0 / before.size + 1.0 / after.size))
    half = student_quantile(_TAIL, freedom) * error * math.sqrt((1.0 + phi) / (1.0 - phi))
    return LevelRatio(
        math.exp(difference), math.exp(difference - half), math.exp(difference + half)
    )
