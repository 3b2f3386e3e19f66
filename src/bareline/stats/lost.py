"""Launches lost to a limit: their values are unknown, but slower than all measured ones.

A launch that exceeded its time limit was slower than every one that was measured. To leave it out
makes a platform look faster than it is: with the slowest 20 % gone, a 95 % interval of 30 launches
contains the truth in 78 % of the cases. To put it at infinity makes it look slower. The certain
range is between them: the lower bound of a difference is taken with the launch at the slowest that
was measured, or at the limit itself where that can be compared, the upper one with it at infinity,
where it may leave the bound open.

In blocks the bounds are order statistics of the differences (the sign test's): infinite ones would
spread through the averages of Wilcoxon's, which then has no bound from 16 % lost on.
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
    """The least and the largest possible difference; every field has the shape of the cases.

    - `shift`, `lo`, `hi`: estimate and interval; infinite where lost launches leave them open.
    - `nearest`: where they leave the estimate open, the end of it that is known: NaN if none is.
    - `p`: two-sided p-value of "no difference", as if the lost launches spoke against it least.
    - `n`, `n_baseline`: launches, those lost included.
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
    """Return values with lost launches at the least and at the most that they can be.

    - `values`: shape (cases, n); NaN where a launch is absent or lost.
    - `beyond`: shape (cases, n); 1 for a launch that is larger than all, -1 for a smaller one.
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
    """Return differences of blocks, with lost launches as close to no difference as they can be."""
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
    """Bound the median difference of blocks, or of boots; arrays of shape (cases, n).

    `floor` is the least difference, either way, of a block of which one launch was lost.
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
    """Bound the shift of samples (cases, n) and (cases, m); without blocks there is no `floor`."""
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
    """Return the least and the most that each block's difference can be."""
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
    """Return the estimate between its ends, and the end that is known of one that is open."""
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
