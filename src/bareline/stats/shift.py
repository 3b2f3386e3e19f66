"""The Hodges-Lehmann shift between two platforms, on the scale of the given values.

The paired shift is the pseudomedian of the differences of a block's two launches: the median of
their Walsh averages, with the interval from inverting Wilcoxon's signed-rank test. The unpaired
shift is the median of all differences between two samples, with the interval from inverting Mann
and Whitney's test.

The p-value comes from the same inversion: at the same level the interval excludes 0 exactly when
the p-value is at most 1 - confidence. Pairwise values that tie with 0 count for the null
hypothesis, as if every tie were broken in its favour. So the level is kept, and identical data have
p = 1.

References
----------
J. L. Hodges and E. L. Lehmann, Estimates of location based on rank tests, Annals of Mathematical
Statistics 34 (1963) 598-611, doi:10.1214/aoms/1177704172.
M. Hollander, D. A. Wolfe and E. Chicken, Nonparametric Statistical Methods, 3rd edition, Wiley
(2014), sections 3.1-3.3 and 4.1-4.3, doi:10.1002/9781119196037.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats import null_distribution
from bareline.stats.boots import collapsed
from bareline.stats.launch_array import (
    FloatArray,
    IntArray,
    as_launch_array,
    as_rows,
    count_launches,
    require_same_blocks,
    require_same_cases,
)
from bareline.stats.null_distribution import NullDistribution
from bareline.stats.pairwise import Pairwise, differences, walsh_averages
from bareline.vocabulary.verdicts import MIN_LAUNCHES

ROUNDING = 1e-12
"""Relative difference up to which two values are the same measurement, apart from rounding."""


@dataclass(frozen=True, slots=True)
class Shift:
    """Shifts of a stack of cases; every field has the shape of the stack's leading axes.

    - `shift`: Hodges-Lehmann estimate of values minus baseline, in their unit; NaN without data.
    - `lo`, `hi`: the interval of `shift`; NaN when either side has fewer than 6 launches.
    - `p`: two-sided p-value of "no shift"; NaN when either side has fewer than 6 launches.
    - `n`, `n_baseline`: launches used. When paired, both are the number of complete blocks.
    - `level`: confidence level that the interval achieves.
    """

    shift: FloatArray
    lo: FloatArray
    hi: FloatArray
    p: FloatArray
    n: IntArray
    n_baseline: IntArray
    level: FloatArray


def paired_shift(
    values: ArrayLike,
    baseline: ArrayLike,
    *,
    confidence: float = 0.95,
    rounding: ArrayLike | None = None,
    groups: IntArray | None = None,
) -> Shift:
    """Return the paired Hodges-Lehmann shift of `values` from `baseline`.

    - `values`, `baseline`: shape (..., n); a position on the last axis is a block; a block with NaN
      in one of them is left out.
    - `rounding`: shape (...); shifts up to this size count as 0; the default is 1e-12 of the
      largest value.
    - `groups`: shape (n,); the boot of each block (`bareline.stats.boots.grouped`): the mean
      difference of a boot is one value, and `n` counts boots.
    """
    first = as_launch_array(values)
    second = as_launch_array(baseline, "baseline")
    require_same_blocks(first, second)
    rows = as_rows(first - second)
    if groups is not None:
        rows = collapsed(rows, groups)
    tie = _given_or_default(rounding, first, second)
    n = count_launches(rows)

    def pairwise(ranks: IntArray) -> Pairwise:
        return walsh_averages(rows, ranks, tie)

    shift = _infer(
        n,
        n,
        lambda k, _: null_distribution.signed_rank(k),
        pairwise,
        confidence=confidence,
        tie=tie,
    )
    return _reshape(shift, first.shape[:-1])


def unpaired_shift(
    values: ArrayLike,
    baseline: ArrayLike,
    *,
    confidence: float = 0.95,
    rounding: ArrayLike | None = None,
    groups: IntArray | None = None,
) -> Shift:
    """Return the two-sample Hodges-Lehmann shift of `values` from `baseline`.

    - `values`, `baseline`: shapes (..., n) and (..., m); independent launches.
    - `rounding`: as in `paired_shift`.
    - `groups`: shape (n,); as in `paired_shift`, for both sides, which then have the same number of
      blocks.
    """
    first = as_launch_array(values)
    second = as_launch_array(baseline, "baseline")
    require_same_cases(first, second)
    rows = as_rows(first)
    baseline_rows = as_rows(second)
    if groups is not None:
        rows = collapsed(rows, groups)
        baseline_rows = collapsed(baseline_rows, groups)
    tie = _given_or_default(rounding, first, second)
    n = count_launches(rows)
    m = count_launches(baseline_rows)

    def pairwise(ranks: IntArray) -> Pairwise:
        return differences(rows, baseline_rows, ranks, tie)

    shift = _infer(n, m, null_distribution.mann_whitney, pairwise, confidence=confidence, tie=tie)
    return _reshape(shift, first.shape[:-1])


def _infer(
    n: IntArray,
    m: IntArray,
    null_of: Callable[[int, int], NullDistribution],
    pairwise: Callable[[IntArray], Pairwise],
    *,
    confidence: float,
    tie: FloatArray,
) -> Shift:
    """Return the shifts with intervals and p-values.

    There is one null distribution for each distinct pair of sample sizes.
    """
    sizes, which = np.unique(np.stack((n, m), axis=-1), axis=0, return_inverse=True)
    which = which.reshape(-1)
    nulls = [null_of(i, j) for i, j in sizes.tolist()]
    enough = sizes.min(axis=-1) >= MIN_LAUNCHES
    size_rank = np.zeros(enough.size, dtype=np.int64)
    size_level = np.full(enough.size, np.nan)
    for i in np.flatnonzero(enough).tolist():
        size_rank[i] = nulls[i].interval_rank(confidence)
        size_level[i] = nulls[i].level(int(size_rank[i]))

    k = size_rank[which]
    total = np.array([null.size for null in nulls], dtype=np.int64)[which]
    middle = np.where(total > 0, total // 2 + 1, 0)
    ranks = (k, (total + 1) // 2, middle, np.where(k > 0, total + 1 - k, 0))
    statistics = pairwise(np.stack(ranks, axis=-1))
    shifts = np.where(np.abs(statistics.values) <= tie[:, None], 0.0, statistics.values)

    p = np.full(n.shape, np.nan)
    tail = np.minimum(statistics.not_above, statistics.not_below)
    for i in np.flatnonzero(enough).tolist():
        p[which == i] = nulls[i].two_sided_p(tail[which == i])
    centre = (shifts[:, 1] + shifts[:, 2]) / 2.0
    return Shift(centre, shifts[:, 0], shifts[:, 3], p, n, m, size_level[which])


def rounding_of(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return, for each case, the largest difference that counts as rounding."""
    largest = np.zeros(first.shape[:-1])
    for stack in (first, second):
        np.maximum(largest, np.abs(np.nan_to_num(stack)).max(axis=-1, initial=0.0), out=largest)
    return np.asarray(ROUNDING * largest)


def _given_or_default(given: ArrayLike | None, first: FloatArray, second: FloatArray) -> FloatArray:
    if given is None:
        return rounding_of(first, second).reshape(-1)
    return np.broadcast_to(np.asarray(given, dtype=np.float64), first.shape[:-1]).reshape(-1)


def _reshape(shift: Shift, shape: tuple[int, ...]) -> Shift:
    return Shift(*(getattr(shift, field.name).reshape(shape) for field in fields(Shift)))
