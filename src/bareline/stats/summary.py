"""Summary of one case: the median of its launches with an exact interval, and their spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats import null_distribution
from bareline.stats.launch_array import (
    BoolArray,
    FloatArray,
    IntArray,
    as_launch_array,
    as_rows,
    count_launches,
    pick,
    relative,
)
from bareline.vocabulary.verdicts import MIN_LAUNCHES

TUKEY_FENCE = 1.5


@dataclass(frozen=True, slots=True)
class SampleSummary:
    """Summaries of a stack of cases; every field has the shape of the stack's leading axes.

    - `n`: launches present.
    - `median`: in the unit of the values; NaN when n is 0.
    - `lo`, `hi`: order-statistic interval of the median; NaN when n < 6.
    - `level`: confidence level that the interval achieves, at least the requested level; NaN when n
      < 6.
    - `p5`, `p95`: percentiles of the launches, interpolated linearly; NaN when n is 0.
    - `iqr_over_median`: interquartile range divided by |median|; NaN if the median is 0 but
      the range is not.
    - `outliers`: number of launches beyond 1.5 interquartile ranges from the quartiles; they are
      not removed.
    """

    n: IntArray
    median: FloatArray
    lo: FloatArray
    hi: FloatArray
    level: FloatArray
    p5: FloatArray
    p95: FloatArray
    iqr_over_median: FloatArray
    outliers: IntArray


def summarize(values: ArrayLike, *, confidence: float = 0.95) -> SampleSummary:
    """Return summaries of a stack of cases.

    The interval runs from the k-th smallest to the k-th largest value with the largest k that keeps
    ``2 P(Binomial(n, 1/2) <= k - 1) <= 1 - confidence``. Launches must be independent, but their
    distribution does not matter.

    References
    ----------
    T. Hoefler and R. Belli, Scientific Benchmarking of Parallel Computing Systems, SC'15,
    doi:10.1145/2807591.2807644. J. W. Tukey, Exploratory Data Analysis, Addison-Wesley (1977).
    """
    stack = as_launch_array(values)
    rows = np.sort(as_rows(stack), axis=-1)
    n = count_launches(rows)
    lo, hi, level = _interval(rows, n, confidence)
    quantile = {q: _quantile(rows, n, q) for q in (0.05, 0.25, 0.5, 0.75, 0.95)}
    iqr = quantile[0.75] - quantile[0.25]
    reach = TUKEY_FENCE * iqr
    lower_fence = quantile[0.25] - reach
    upper_fence = quantile[0.75] + reach
    outside = (rows < lower_fence[:, None]) | (rows > upper_fence[:, None])
    shape = stack.shape[:-1]
    return SampleSummary(
        n=n.reshape(shape),
        median=quantile[0.5].reshape(shape),
        lo=lo.reshape(shape),
        hi=hi.reshape(shape),
        level=level.reshape(shape),
        p5=quantile[0.05].reshape(shape),
        p95=quantile[0.95].reshape(shape),
        iqr_over_median=relative(iqr, quantile[0.5]).reshape(shape),
        outliers=np.asarray(outside.sum(axis=-1), dtype=np.int64).reshape(shape),
    )


def relative_half_width(values: ArrayLike, *, confidence: float = 0.95) -> FloatArray:
    """Return half the width of the median's interval, divided by |median|.

    0 if the half width is 0; NaN if n < 6, or if the median is 0 but the half width is not.
    """
    stack = as_launch_array(values)
    rows = np.sort(as_rows(stack), axis=-1)
    n = count_launches(rows)
    lo, hi, _ = _interval(rows, n, confidence)
    return relative((hi - lo) / 2.0, _quantile(rows, n, 0.5)).reshape(stack.shape[:-1])


def reached(values: ArrayLike, target: ArrayLike, *, confidence: float = 0.95) -> BoolArray:
    """Return whether each case is measured precisely enough to stop, shape (...).

    A case is precise enough if it has at least six launches and the relative half-width of the
    median's interval is at most `target` (0.02 is 2 %). Only precision is examined: stopping on a
    p-value or on a verdict would make p-value and verdict meaningless.
    """
    width = relative_half_width(values, confidence=confidence)
    return np.asarray(width <= np.asarray(target, dtype=np.float64), dtype=np.bool_)


def _interval(
    rows: FloatArray, n: IntArray, confidence: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    sizes, which = np.unique(n, return_inverse=True)
    rank = np.zeros(sizes.size, dtype=np.int64)
    level = np.full(sizes.size, np.nan)
    for i, size in enumerate(sizes.tolist()):
        if size >= MIN_LAUNCHES:
            null = null_distribution.sign(size)
            rank[i] = null.interval_rank(confidence)
            level[i] = null.level(int(rank[i]))
    lowest = rank[which]
    highest = np.where(lowest > 0, n + 1 - lowest, 0)
    ends = pick(rows, np.stack((lowest, highest), axis=-1))
    return ends[:, 0], ends[:, 1], level[which]


def _quantile(rows: FloatArray, n: IntArray, probability: float) -> FloatArray:
    """Return the linearly interpolated quantile (Hyndman and Fan's type 7) of sorted rows."""
    position = probability * np.maximum(n - 1, 0)
    below = np.floor(position).astype(np.int64)
    ranks = np.stack((below + 1, np.minimum(below + 2, n)), axis=-1)
    lower, upper = pick(rows, ranks).T
    fraction = position - below
    between = lower + fraction * (upper - lower)
    return np.asarray(np.where(fraction > 0, between, lower))
