"""A straight line beside levels: whether a stretch of runs drifts or steps.

Schwarz's criterion decides: each level and each cut is a parameter.

References
----------
G. Schwarz, Estimating the dimension of a model, Annals of Statistics 6 (1978),
doi:10.1214/aos/1176344136 (a line or levels).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bareline.stats.change import LEAST_RUNS, LEAST_SPREAD
from bareline.stats.position import LevelRatio
from bareline.stats.special import student_quantile
from bareline.stats.stack import FloatArray


def lead_over_line(values: FloatArray, cuts: Sequence[int]) -> float:
    """Return by how much levels, even with one cut more, explain a stretch better than a line.

    - `values`: shape (n,); logarithms, complete.
    - `cuts`: first runs of new levels.
    """
    n = values.size
    line = _criterion(_line(values)[1], n, 2)
    further = [
        sorted([*cuts, cut])
        for cut in range(LEAST_RUNS, n - LEAST_RUNS + 1)
        if min(abs(cut - own) for own in cuts) >= LEAST_RUNS
    ]
    levels = min(
        _criterion(_rest_of_levels(values, own), n, 2 * len(own) + 1)
        for own in (list(cuts), *further)
    )
    return line - levels


def line_slope(values: FloatArray, phi: float) -> LevelRatio:
    """Return how much a drifting stretch changes per run, above 1 upwards."""
    slope, rest = _line(values)
    n = values.size
    error = math.sqrt(rest / (n - 2) * 12.0 / (n**3 - n) * (1.0 + phi) / (1.0 - phi))
    half = student_quantile(0.975, n - 2) * error
    return LevelRatio(math.exp(slope), math.exp(slope - half), math.exp(slope + half))


def _rest_of_levels(values: FloatArray, cuts: Sequence[int]) -> float:
    """Return the sum of squares that levels between cuts leave."""
    ends = [0, *cuts, values.size]
    levels = [values[begin:end] for begin, end in pairwise(ends)]
    return sum(float(np.sum((level - level.mean()) ** 2)) for level in levels)


def _criterion(rest: float, n: int, parameters: int) -> float:
    """Return Schwarz's criterion of a model by the sum of squares that it leaves."""
    return n * math.log(max(rest, n * LEAST_SPREAD**2)) + parameters * math.log(n)


def _line(values: FloatArray) -> tuple[float, float]:
    """Return the slope of a straight line, and the sum of squares that it leaves."""
    time = np.arange(values.size) - (values.size - 1) / 2
    centred = values - values.mean()
    slope = float(time @ centred / (time @ time))
    return slope, float(np.sum((centred - slope * time) ** 2))
