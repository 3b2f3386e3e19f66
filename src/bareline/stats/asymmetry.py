"""The test whether differences of blocks are skewed about their median, over many rows.

If two platforms do not differ at all, exchanging their names in a block is as likely as the
measured order. If their noise is skewed and of unequal width (one platform has rare slow launches,
the other has none), the exchange is not as likely, although the medians may be equal. The
differences then have a tail to one side, and tests report a loss more often than their error rate
allows (`benchmarks/asymmetry.py`). A single row of ten blocks hardly shows a tail, but tails of
many rows on the same side do.

The statistic is the sum of the rows' sample skewness, so that a difference between the platforms
has no effect. For comparison, it is also computed for other signs of the blocks: if a block has the
sign -1, its deviations from the rows' medians change sign in all rows at once. So no assumption is
made about the dependence between rows. A single disturbed block is not evidence of skewed noise,
because its deviation is as large with either sign.

References
----------
R. H. Randles, M. A. Fligner, G. E. Policello and D. A. Wolfe, An asymptotically distribution-free
test for symmetry versus asymmetry, Journal of the American Statistical Association 75 (1980)
168-172, doi:10.1080/01621459.1980.10477448 (the same question for one row).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats.flips import MANY_BLOCKS, flips_of, flips_of_many
from bareline.stats.launch_array import BoolArray, FloatArray, as_launch_array, count_launches
from bareline.stats.summary import summarize

ASYMMETRY_BLOCKS = 7
"""Fewest blocks that can show a skew: six have 32 flips, and only the largest of them passes."""
ASYMMETRY_ALPHA = 0.05
"""Level at which a page reports a skew."""

_CHOSEN_FLIPS = 2048
#: More rows would show nothing new.
_MOST_ROWS = 2000
_SLACK = 1e-9


def asymmetry_p(differences: ArrayLike) -> float:
    """Return the p-value of "the rows of differences are symmetric about their middles".

    - `differences`: shape (k, n); one row per comparison, one column per block; NaN if a row lacks
      a block. Rows with fewer than seven blocks are left out; the result is NaN if no row is left.
    """
    rows = as_launch_array(differences, "differences")
    if rows.ndim != 2:
        raise ValueError(f"differences: expected rows of blocks, got shape {rows.shape}")
    rows = rows[count_launches(rows) >= ASYMMETRY_BLOCKS]
    # Blocks that no row has would only multiply the flips.
    is_empty = np.isnan(rows).all(axis=0)
    rows = rows[:, ~is_empty]
    if not rows.size:
        return float("nan")
    count = min(len(rows), _MOST_ROWS)
    chosen = np.linspace(0, len(rows) - 1, count).astype(int)
    sums = []
    for signs in _flips(rows.shape[-1]):
        skewness = _skewness(rows[chosen], signs)
        sums.append(np.abs(skewness.sum(axis=0)))
    sizes = np.concatenate(sums)
    observed = sizes[0] * (1 - _SLACK)
    return float(np.mean(sizes >= observed))


def _flips(blocks: int) -> Iterator[FloatArray]:
    """Yield choices of the blocks' signs, shape (blocks, choices), the observed signs first."""
    if blocks > MANY_BLOCKS:
        yield from flips_of_many(blocks, _CHOSEN_FLIPS)
    else:
        yield flips_of(blocks, "both", _CHOSEN_FLIPS)


def within_spread(values: ArrayLike, baseline: ArrayLike) -> BoolArray:
    """Return for each case whether its two medians are within the spread of launches, shape (k,).

    Skewed noise with equal medians cannot cause a difference of the medians beyond this spread. The
    spread is the larger interquartile range of the two platforms, relative to the median. It is at
    least the median spread of all cases, because a case with a small spread by chance would look
    different.

    - `values`, `baseline`: shape (k, n); launches of similar cases.
    """
    first = summarize(values)
    second = summarize(baseline)
    spread = np.fmax(first.iqr_over_median, second.iqr_over_median)
    finite = spread[~np.isnan(spread)]
    typical = np.median(finite) if finite.size else 0.0
    distance = np.abs(first.median - second.median)
    least = np.minimum(np.abs(first.median), np.abs(second.median))
    return np.asarray(distance <= np.fmax(spread, typical) * least)


def _skewness(rows: FloatArray, signs: FloatArray) -> FloatArray:
    """Return the skewness of each row for each choice of the blocks' signs, shape (k, flips).

    It is 0 if the deviations have no spread.
    """
    n = count_launches(rows)[:, None]
    middle = np.nanmedian(rows, axis=-1, keepdims=True)
    deviations = np.nan_to_num(rows - middle)
    mean = deviations @ signs / n
    square = (deviations**2).sum(axis=-1, keepdims=True) / n
    cube = deviations**3 @ signs / n
    third_moment = cube - 3 * mean * square + 2 * mean**3
    variance = square - mean**2
    is_flat = variance <= 1e-14 * square
    scale = np.where(is_flat, 1.0, variance) ** 1.5
    return np.asarray(np.where(is_flat, 0.0, third_moment / scale))
