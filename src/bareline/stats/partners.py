"""Comparison of two separate runs, whose launches are paired by their order.

Two runs share no blocks. The first launch of one run is therefore paired with the first launch of
the other run, the second with the second, for all rows at once. If one run has more launches,
consecutive launches of it are averaged. If nothing differs and the noise of each run is symmetric
(or has one shape in both), exchanging the runs' names in any pair is as likely as the measured
order. So the pairs are tested like blocks (`bareline.stats.flips`): all rows together, from six
launches on, in a family of any size.

The spreads of the two runs may differ. Reassigning all launches to the runs has more resolution,
but mixes the noise of both runs. If one run was four times as noisy as the other, 16 to 22 of 100
pages with 60 rows made a false claim, although Welch's t was used. With pairs, only 2 to 4 pages
made a false claim (``benchmarks/two_runs.py``).

Skewed noise of unequal width has no such symmetry: with pairs alone, up to 37 of 100 pages without
any difference had a false claim. The effect of such noise is not larger than the spread of the
launches. So a row that is `within_noise` is never certain for two runs. This rule hides hardly any
loss that pairs find: a difference that six or ten launches can decide among many rows is far
outside of their spread.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats.boots import collapsed
from bareline.stats.launch_array import (
    BoolArray,
    FloatArray,
    IntArray,
    as_launch_array,
    require_same_blocks,
)

APART_SPREADS = 1.5
"""Least distance of the medians of two certainly different runs, in spreads of launches."""
_FEWEST_ALIKE = 4
"""Least number of rows of a kind whose median spread is used for each of these rows."""


def partnered(values: ArrayLike, baseline: ArrayLike, groups: IntArray) -> FloatArray:
    """Return differences of launches paired by their order, shape (k, blocks).

    - `values`, `baseline`: shape (k, blocks); NaN if the run has no launch there. No block has
      launches of both runs.
    - `groups`: shape (blocks,); the boot of each block (`bareline.stats.boots.grouped`). The mean
      of a boot counts as one launch.

    Each difference is stored at the block of the baseline's launch (of a boot: at its first block);
    all other values are NaN.

    Raises ValueError: the stacks have different shapes.
    """
    stack = as_launch_array(values)
    base_stack = as_launch_array(baseline, "baseline")
    require_same_blocks(stack, base_stack)
    own_at = _launched(stack, groups)
    base_at = _launched(base_stack, groups)
    differences = np.full(base_stack.shape, np.nan)
    pairs = min(own_at.size, base_at.size)
    if not pairs:
        return differences
    first_block = np.unique(groups, return_index=True)[1]
    partner = _partner(base_at.size, pairs)
    begins = np.unique(partner, return_index=True)[1]
    own_means = collapsed(collapsed(stack, groups)[..., own_at], _partner(own_at.size, pairs))
    base_means = collapsed(collapsed(base_stack, groups)[..., base_at], partner)
    differences[..., first_block[base_at[begins]]] = own_means - base_means
    return differences


def within_noise(
    values: ArrayLike, baseline: ArrayLike, groups: IntArray, kind: IntArray
) -> BoolArray:
    """Return for each row whether noise may explain the distance of two runs' medians, shape (k,).

    - `values`, `baseline`, `groups`: as for `partnered`.
    - `kind`: shape (k,); rows with the same number have similar noise; a row with -1 is similar to
      no other row.

    The spread of a row is the larger interquartile range of the two runs. It counts as at least the
    median spread of the row's kind, or of all rows if the kind has fewer than four, because a row
    with a small spread by chance would look different.
    """
    means = collapsed(values, groups)
    base_means = collapsed(baseline, groups)
    own_low, own_middle, own_high = _quartiles(means)
    base_low, base_middle, base_high = _quartiles(base_means)
    spread = np.fmax(own_high - own_low, base_high - base_low)
    least = _spread_of_alike(spread, kind)
    apart = np.abs(own_middle - base_middle)
    return np.asarray(apart <= APART_SPREADS * np.fmax(spread, least))


def _quartiles(rows: FloatArray) -> FloatArray:
    """Return the quartiles of each row, shape (3, k); NaN if a row has no launch."""
    quartiles = np.full((3, rows.shape[0]), np.nan)
    there = (~np.isnan(rows)).any(axis=-1)
    if there.any():
        quartiles[:, there] = np.nanquantile(rows[there], [0.25, 0.5, 0.75], axis=-1)
    return quartiles


def _spread_of_alike(spread: FloatArray, kind: IntArray) -> FloatArray:
    """Return for each row the median spread of its kind, or of all rows if the kind is small."""
    usable = ~np.isnan(spread) & (kind >= 0)
    least = np.zeros(spread.shape)
    if not usable.any():
        return least
    least[kind >= 0] = np.median(spread[usable])
    for number in np.unique(kind[usable]):
        alike = usable & (kind == number)
        if np.count_nonzero(alike) >= _FEWEST_ALIKE:
            least[kind == number] = np.median(spread[alike])
    return least


def _launched(values: FloatArray, groups: IntArray) -> IntArray:
    """Return the groups of blocks (boots) with at least one launch, in their order."""
    there = (~np.isnan(values)).any(axis=tuple(range(values.ndim - 1)))
    return np.unique(groups[there])


def _partner(launches: int, pairs: int) -> IntArray:
    """Return the pair of each launch; consecutive launches share a pair."""
    return np.arange(launches) * pairs // launches
