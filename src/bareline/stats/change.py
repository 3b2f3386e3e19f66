"""Where a series of runs changes its level: one value a run, many series at once.

If nothing changed, the order of the runs means nothing, for all series together. So the runs are
put into random orders, and the largest step of any series in them is what the largest steps of the
data are held against: a series' p-value holds over all series, and nothing is assumed of how they
depend on each other (the nights on which the machine was busy are in all of them).

A step at a run is Student's t of the logarithms before and after it, its difference measured from
half of the margin, as in `bareline.stats.flips`; smaller ones than the margin count as none.

References
----------
P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing, Wiley (1993), single-step maxT.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats.stack import FloatArray, IntArray, as_stack

MIN_RUNS = 8
"""Four runs before and four after a step are the fewest of which one order in 35 is so extreme."""

_LEAST_RUNS = 3
"""A level is that of at least so many runs."""

_ORDERS = 1999
_AT_ONCE = 1 << 22
#: Runs that give one value time and again would have no spread to measure a step by.
_LEAST_SPREAD = 1e-4
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class ChangePoints:
    """The largest step of each series.

    - `at`: shape (series,); the first run of the new level; 0 without a step beyond the margin.
    - `p`: shape (series,); probability of such a step in any of the series if nothing changed.
    """

    at: IntArray
    p: FloatArray


def largest_steps(values: ArrayLike, *, margin: float, seed: int = 0) -> ChangePoints:
    """Find the largest step of each series, and how probable it is without any change.

    - `values`: shape (series, runs); positive, in the order of time; NaN where a run lacks it.
    - `margin`: relative difference that does not matter.
    """
    stack = as_stack(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(stack > 0, np.log(np.where(stack > 0, stack, 1.0)), np.nan)
    series, runs = logs.shape
    none = ChangePoints(np.zeros(series, dtype=np.int64), np.ones(series))
    if runs < MIN_RUNS or series == 0:
        return none
    zone = float(np.log1p(margin))
    steps = _steps(logs[:, None, :], zone)[:, 0, :]
    largest, at = steps.max(axis=1), steps.argmax(axis=1) + _LEAST_RUNS
    orders = np.random.default_rng(seed).permuted(np.tile(np.arange(runs), (_ORDERS, 1)), axis=1)
    part = max(1, _AT_ONCE // (series * runs))
    highest = np.concatenate(
        [
            _steps(logs[:, orders[begin : begin + part]], zone).max(axis=(0, 2))
            for begin in range(0, _ORDERS, part)
        ]
    )
    as_large = (highest[None, :] >= largest[:, None] * (1.0 - _SLACK)).sum(axis=1)
    p = np.where(largest > 0.0, (1.0 + as_large) / (_ORDERS + 1.0), 1.0)
    return ChangePoints(np.where(largest > 0.0, at, 0), p)


def _steps(logs: FloatArray, zone: float) -> FloatArray:
    """Return the t of each possible step, shape (..., runs - 5); 0 within the margin."""
    there = np.isfinite(logs)
    filled = np.where(there, logs, 0.0)
    count = np.cumsum(there, axis=-1, dtype=np.float64)
    total, square = np.cumsum(filled, axis=-1), np.cumsum(filled**2, axis=-1)
    cut = slice(_LEAST_RUNS - 1, logs.shape[-1] - _LEAST_RUNS)
    before, sum_before, square_before = count[..., cut], total[..., cut], square[..., cut]
    after = count[..., -1:] - before
    sum_after, square_after = total[..., -1:] - sum_before, square[..., -1:] - square_before
    enough = (before >= _LEAST_RUNS) & (after >= _LEAST_RUNS)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.abs(sum_after / after - sum_before / before)
        rest = square_before - sum_before**2 / before + square_after - sum_after**2 / after
        variance = np.maximum(rest / (before + after - 2.0), _LEAST_SPREAD**2)
        t = (size - zone / 2.0) / np.sqrt(variance * (1.0 / before + 1.0 / after))
    return np.where(enough & (size > zone), t, 0.0)
