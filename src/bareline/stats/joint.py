"""Family-wise correction of paired comparisons by flipping whole blocks.

Holm multiplies p-values as if the points of a family knew nothing of each other. With the few
launches of a benchmark that is fatal: six blocks give no p-value below 2/64, so that not even a
family of two could ever reject. But the points of a family share their blocks. If the platform made
no difference, exchanging the two platforms' names in any block would be as good as the order that
was run, for all points at once. So all 2^n exchanges are tried, and a point's adjusted p-value is
the share of exchanges in which the most extreme point of the family is at least as extreme as it
(step-down: the points already rejected are left out of that maximum). Points that move together, as
message sizes of one launch do, then cost little: six blocks suffice if they agree.

References
----------
P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing, Wiley (1993), step-down maxT.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bareline.stats.family import holm, labelled
from bareline.stats.pairwise import CHUNK_PAIRS
from bareline.stats.ratio import differences_of_blocks
from bareline.stats.stack import FloatArray, IntArray, count_launches

MAX_FLIPPED_BLOCKS = 12
"""Beyond 2^11 flips Holm takes over: 13 blocks let it reject in families of up to 204 points."""

# The fractions' sum stays clear of the next whole number, and rounding in float32 (sums up to 156)
# clear of the fractions.
_FRACTION = 0.98
_ROUNDING = 1e-4


def adjust_paired(
    p_values: ArrayLike,
    values: ArrayLike,
    baseline: ArrayLike,
    families: ArrayLike | None = None,
) -> FloatArray:
    """Return adjusted p-values of paired comparisons: family-wise error alpha where at most alpha.

    Families with up to `MAX_FLIPPED_BLOCKS` blocks are adjusted by joint flips, others by `holm`.

    Parameters
    ----------
    p_values : array_like, shape (k,)
        From `paired_ratio`; NaN (no test) stays NaN and does not count.
    values, baseline : array_like, shape (k, n)
        What they were computed from. Within a family the same position is the same block.
    families : array_like, shape (k,), optional
        Labels; equal labels are one family. By default all are one family.

    Raises
    ------
    ValueError
        If a p-value lies outside [0, 1] or the shapes do not match.
    """
    p, label = labelled(p_values, families)
    rows, tie = differences_of_blocks(values, baseline)
    if rows.ndim != 2 or rows.shape[0] != p.size:
        raise ValueError(f"expected {p.size} cases, one per p-value, got a stack {rows.shape}")
    adjusted = holm(p, label)
    tested = ~np.isnan(p)
    rows = np.where(np.abs(rows) <= tie[:, None], 0.0, rows)
    for members, blocks in _batches(rows, label, tested):
        # A family of one needs no adjustment.
        if blocks.shape[1] > 1 and blocks.shape[-1] <= MAX_FLIPPED_BLOCKS:
            adjusted[members] = np.maximum(_step_down(blocks), p[members])
    return adjusted


def _batches(
    rows: FloatArray, label: IntArray, tested: NDArray[np.bool_]
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield families of equal shape together: members (families, k), differences (families, k, n).

    Blocks in which a family has no difference at all are left out of it.
    """
    order = np.flatnonzero(tested)
    order = order[np.argsort(label[order], kind="stable")]
    _, start, size = np.unique(label[order], return_index=True, return_counts=True)
    if not start.size:
        return
    seen = np.logical_or.reduceat(~np.isnan(rows[order]), start, axis=0)
    shapes = np.stack((size, seen.sum(axis=-1)), axis=-1)
    for k, n in np.unique(shapes, axis=0).tolist():
        alike = np.flatnonzero((shapes == (k, n)).all(axis=-1))
        members = order[start[alike, None] + np.arange(k)]
        columns = np.argsort(~seen[alike], axis=-1, kind="stable")[:, :n]
        yield members, rows[members[:, :, None], columns[:, None, :]]


def _step_down(blocks: FloatArray) -> FloatArray:
    """Return the step-down adjusted p-values of families, shape ``blocks.shape[:-1]``."""
    families, k, n = blocks.shape
    weights, scale = _weights(blocks), _scale(count_launches(blocks))
    flips = _flips(n)
    observed = _extremeness(weights, flips[:, :1], scale)[..., 0]
    order = np.argsort(-observed, axis=-1, kind="stable")
    observed, scale = (np.take_along_axis(found, order, axis=-1) for found in (observed, scale))
    weights = np.take_along_axis(weights, order[..., None], axis=1)
    threshold = (observed - _ROUNDING * scale)[..., None]

    as_extreme = np.zeros((families, k), dtype=np.int64)
    step = max(64, CHUNK_PAIRS // (families * k))
    for first in range(0, flips.shape[-1], step):
        flipped = _extremeness(weights, flips[:, first : first + step], scale)
        # Each point against itself and all that are less extreme in the data.
        for point in range(k - 2, -1, -1):
            np.maximum(flipped[:, point], flipped[:, point + 1], out=flipped[:, point])
        as_extreme += np.count_nonzero(flipped >= threshold, axis=-1)
    p = np.maximum.accumulate(as_extreme / flips.shape[-1], axis=-1)
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, p, axis=-1)
    return adjusted


def _weights(blocks: FloatArray) -> NDArray[np.float32]:
    """Return what each block adds to its point's statistic; 0 for a difference of 0 or NaN.

    Twice the signed midrank, a whole number, plus a fraction. The fractions of a point sum to less
    than 1: its difference over its root mean square, a monotone function of Student's t. So the
    ranks decide, and among equal rank sums the clearer difference is the more extreme. With six
    blocks that matters: a point without any difference has all signs equal under two of the 64
    exchanges, and by ranks alone would there be as extreme as any other.
    """
    size = np.abs(blocks)
    smaller = (size[..., None, :] < size[..., :, None]).sum(axis=-1)
    equal = (size[..., None, :] == size[..., :, None]).sum(axis=-1)
    differences = np.nan_to_num(blocks)
    norm = np.sqrt((differences**2).sum(axis=-1, keepdims=True) * blocks.shape[-1])
    fraction = np.divide(differences, norm, out=np.zeros_like(blocks), where=norm > 0)
    ranks = np.sign(differences) * (2 * smaller + equal + 1)
    return np.asarray(ranks + _FRACTION * fraction, dtype=np.float32)


def _scale(launches: IntArray) -> NDArray[np.float32]:
    """Return 1 over the null standard deviation, so that unequal numbers of launches compare."""
    variance = launches * (launches + 1) * (2 * launches + 1) / 6.0
    return np.asarray(1.0 / np.sqrt(variance), dtype=np.float32)


@lru_cache(maxsize=MAX_FLIPPED_BLOCKS)
def _flips(n: int) -> NDArray[np.float32]:
    """Return signs, shape (n, 2^(n-1)), the observed ones first.

    The statistic is two-sided, so that the last block's sign may stay.
    """
    bits = np.arange(2 ** (n - 1)) >> np.arange(n)[:, None]
    return np.where(bits & 1, -1, 1).astype(np.float32)


def _extremeness(
    weights: NDArray[np.float32], flips: NDArray[np.float32], scale: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the absolute standardised sums of each point under each flip."""
    families, k, n = weights.shape
    sums = (weights.reshape(families * k, n) @ flips).reshape(families, k, flips.shape[-1])
    np.abs(sums, out=sums)
    sums *= scale[..., None]
    return sums
