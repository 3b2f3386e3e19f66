"""Launches that were lost to a time limit: each is slower than all measured launches.

A launch that exceeded its time limit was slower than every measured launch. Without it, a platform
looks faster than it is: with the slowest 20 % left out, a 95 % interval of 30 launches contains the
truth in 78 % of the cases. With the launch at infinity, the platform looks slower than it is. The
certain range is between these two estimates. For the lower bound of a difference, the launch gets
the slowest measured value, or the limit if the limit can be compared with the values. For the upper
bound it gets infinity, which may leave the bound open.

In blocks the bounds are order statistics of the differences, as for the sign test. Wilcoxon's test
averages pairs of differences, and one infinite difference is in many of these averages. So this
test would have no bound if 16 % or more of the launches are lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bareline.stats import null_distribution
from bareline.stats.boots import collapsed
from bareline.stats.launch_array import FloatArray, IntArray, count_launches, pick
from bareline.stats.shift import unpaired_shift
from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: Represents infinity on any scale; from here on a bound is open.
_FAR = 1e12
_OPEN = 1e6  # a boot of many launches may have lost one of them


@dataclass(frozen=True, slots=True)
class LostBounds:
    """The least and the greatest possible difference; every field has the shape of the cases.

    - `shift`, `lo`, `hi`: estimate and interval; infinite if lost launches leave the value open.
    - `nearest`: the known end of the estimate if lost launches leave its other end open; else NaN.
    - `p`: two-sided p-value of "no difference", computed as if lost launches were the weakest
      possible evidence against it.
    - `n`, `n_baseline`: launches, including the lost launches.
    - `level`: confidence level that the interval achieves.
    """

    shift: FloatArray
    nearest: FloatArray
    lo: FloatArray
    hi: FloatArray
    p: FloatArray
    n: IntArray
    n_baseline: IntArray
    level: FloatArray


def extremes(values: FloatArray, beyond: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the values with lost launches at the least and at the greatest possible value.

    - `values`: shape (cases, n); NaN if a launch is absent or lost.
    - `beyond`: shape (cases, n); 1 if the launch is larger than all measured launches, -1 if
      smaller.
    """
    absent = np.isnan(values)
    lost = absent & (beyond != 0)
    if not lost.any():
        return values, values
    largest = np.where(absent, -np.inf, values).max(axis=-1, keepdims=True)
    smallest = np.where(absent, np.inf, values).min(axis=-1, keepdims=True)
    # Without a measured launch, nothing is known of a lost one.
    largest = np.where(np.isfinite(largest), largest, -_FAR)
    smallest = np.where(np.isfinite(smallest), smallest, _FAR)
    least = np.where(lost, np.where(beyond > 0, largest, -_FAR), values)
    most = np.where(lost, np.where(beyond > 0, _FAR, smallest), values)
    return least, most


def nearest_differences(
    first: FloatArray,
    second: FloatArray,
    beyond: IntArray,
    beyond_baseline: IntArray,
    floor: FloatArray,
) -> FloatArray:
    """Return the difference of each block: with a lost launch, the possible one closest to 0."""
    least, most = _differences(first, second, beyond, beyond_baseline, floor)
    return np.where(least > 0, least, np.where(most < 0, most, 0.0 * (least + most)))


def paired_bounds(
    first: FloatArray,
    second: FloatArray,
    beyond: IntArray,
    beyond_baseline: IntArray,
    floor: FloatArray,
    *,
    confidence: float,
    groups: IntArray | None,
) -> LostBounds:
    """Return bounds of the median difference of blocks, or of boots.

    The arrays have shape (cases, n).

    - `floor`: the least absolute difference of a block in which one of the two launches is lost; 0
      if it is unknown.
    """
    ends = _differences(first, second, beyond, beyond_baseline, floor)
    if groups is not None:
        ends = collapsed(ends[0], groups), collapsed(ends[1], groups)
    least, most = (np.sort(end, axis=-1) for end in ends)
    n = count_launches(least)
    rank = np.zeros_like(n)
    level = np.full(n.shape, np.nan)
    p = np.full(n.shape, np.nan)
    for size in np.unique(n[n >= MIN_LAUNCHES]).tolist():
        null = null_distribution.sign(size)
        of_size = n == size
        rank[of_size] = null.interval_rank(confidence)
        level[of_size] = null.level(int(rank[of_size][0]))
        above = (least[of_size] > 0).sum(axis=-1)
        below = (most[of_size] < 0).sum(axis=-1)
        p[of_size] = null.two_sided_p(size - np.maximum(above, below))
    middle = np.stack(((n + 1) // 2, n // 2 + 1), axis=-1)
    shift, nearest = _centre(*(pick(end, middle).mean(axis=-1) for end in (least, most)))
    lo = pick(least, rank[:, None])[:, 0]
    hi = pick(most, np.where(rank > 0, n + 1 - rank, 0)[:, None])[:, 0]
    return LostBounds(shift, nearest, _opened(lo), _opened(hi), p, n, n, level)


def unpaired_bounds(
    first: FloatArray,
    second: FloatArray,
    beyond: IntArray,
    beyond_baseline: IntArray,
    floor: FloatArray,
    *,
    confidence: float,
    groups: IntArray | None,
) -> LostBounds:
    """Return bounds of the shift between samples (cases, n) and (cases, m).

    `floor` is ignored, because there are no blocks.
    """
    del floor
    ends = [*extremes(first, beyond), *extremes(second, beyond_baseline)]
    if groups is not None:
        ends = [collapsed(end, groups) for end in ends]
    first_least, first_most, second_least, second_most = ends
    below = unpaired_shift(first_least, second_most, confidence=confidence, rounding=0.0)
    above = unpaired_shift(first_most, second_least, confidence=confidence, rounding=0.0)
    p = np.where(below.shift > 0, below.p, np.where(above.shift < 0, above.p, 1.0))
    shift, nearest = _centre(below.shift, above.shift)
    return LostBounds(
        shift,
        nearest,
        _opened(below.lo),
        _opened(above.hi),
        np.where(np.isnan(below.p), np.nan, p),
        below.n,
        below.n_baseline,
        below.level,
    )


def _differences(
    first: FloatArray,
    second: FloatArray,
    beyond: IntArray,
    beyond_baseline: IntArray,
    floor: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest possible difference of each block."""
    first_least, first_most = extremes(first, beyond)
    second_least, second_most = extremes(second, beyond_baseline)
    least = first_least - second_most
    most = first_most - second_least
    first_lost = np.isnan(first)
    second_lost = np.isnan(second)
    up = np.where(first_lost, beyond, 0) - np.where(second_lost, beyond_baseline, 0)
    bounded = (floor > 0) & (first_lost != second_lost)  # where both were lost nothing is known
    least = np.where(bounded & (up > 0), np.fmax(least, floor), least)
    most = np.where(bounded & (up < 0), np.fmin(most, -floor), most)
    return least, most


def _centre(least: FloatArray, most: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the estimate of each case, and its known end if only one end is known.

    The estimate is the middle of its least and its greatest possible value. It is infinite if one
    of these two ends is open, and NaN if both are open. The known end is NaN unless exactly one end
    is open.
    """
    least = _opened(least)
    most = _opened(most)
    above = np.isposinf(most)
    below = np.isneginf(least)
    unknown = above & below
    shift = np.where(unknown, np.nan, np.where(unknown, 0.0, least) + np.where(unknown, 0.0, most))
    shift /= 2.0
    nearest = np.full(least.shape, np.nan)
    only = above & ~below
    nearest[only] = least[only]
    only = below & ~above
    nearest[only] = most[only]
    return shift, nearest


def _opened(values: FloatArray) -> FloatArray:
    far = np.abs(np.nan_to_num(values)) > _OPEN
    return np.where(far, np.copysign(np.inf, values), values)
