"""Families of tests: Holm's correction, and when it can reject at all.

A family is one question asked at several points, usually the message-size curve of one metric on
one platform against the baseline. A rank test of n launches has a smallest possible p-value, and
Holm multiplies the smallest of a family of m by m: where that product exceeds the level, no data
whatever can give a verdict "slower" or "faster". `can_reject` tells it, so that the caller can say
so.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bareline.stats import null_distribution
from bareline.stats.stack import MIN_LAUNCHES, BoolArray, FloatArray

ALPHA = 0.05
"""Family-wise error of the verdicts "slower" and "faster"."""


def holm(p_values: ArrayLike, families: ArrayLike | None = None) -> FloatArray:
    """Return Holm-adjusted p-values: those at most alpha are rejected at family-wise error alpha.

    Parameters
    ----------
    p_values : array_like, shape (k,)
        NaN (no test) stays NaN and does not count.
    families : array_like, shape (k,), optional
        Labels; equal labels are one family. By default all are one family.

    Raises
    ------
    ValueError
        If a p-value lies outside [0, 1] or the shapes do not match.

    References
    ----------
    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6 (1979) 65-70.
    """
    p, label = labelled(p_values, families)
    adjusted = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.lexsort((p[tested], label[tested]))]
    if not order.size:
        return adjusted
    _, start, size = np.unique(label[order], return_index=True, return_counts=True)
    place = np.arange(order.size) - np.repeat(start, size)
    raised = np.minimum(1.0, p[order] * (np.repeat(size, size) - place))
    adjusted[order] = _running_maximum(raised, np.repeat(np.arange(size.size), size))
    return adjusted


def family_size(p_values: ArrayLike, families: ArrayLike | None = None) -> NDArray[np.int64]:
    """Return, for each p-value, how many tests its family holds (NaN p-values are no tests)."""
    p, label = labelled(p_values, families)
    tests = np.bincount(label, weights=~np.isnan(p))
    return np.asarray(tests[label], dtype=np.int64)


def smallest_p(n: ArrayLike, n_baseline: ArrayLike | None = None) -> FloatArray:
    """Return the smallest two-sided p-value that n launches can give; NaN below six.

    Parameters
    ----------
    n : array_like of int
        Complete blocks, or launches of one side.
    n_baseline : array_like of int, optional
        Launches of the other side; without it the test is the paired one.
    """
    first = np.asarray(n, dtype=np.int64)
    second = first if n_baseline is None else np.asarray(n_baseline, dtype=np.int64)
    first, second = np.broadcast_arrays(first, second)
    sizes, which = np.unique(
        np.stack((first.ravel(), second.ravel()), axis=-1), axis=0, return_inverse=True
    )
    smallest = np.full(sizes.shape[0], np.nan)
    for i, (left, right) in enumerate(sizes.tolist()):
        if min(left, right) >= MIN_LAUNCHES:
            paired = n_baseline is None
            null = (
                null_distribution.signed_rank(left)
                if paired
                else null_distribution.mann_whitney(left, right)
            )
            smallest[i] = null.two_sided_p(np.zeros(1, dtype=np.int64))[0]
    return smallest[which.reshape(-1)].reshape(first.shape)


def can_reject(smallest: ArrayLike, size: ArrayLike, *, alpha: float = ALPHA) -> BoolArray:
    """Return whether Holm's first step can reject in a family of `size` tests.

    Parameters
    ----------
    smallest : array_like
        Smallest possible p-value, from `smallest_p`.
    size : array_like of int
        Tests in the family, from `family_size`.
    """
    needed = np.asarray(smallest, dtype=np.float64) * np.asarray(size)
    return np.asarray(needed <= alpha, dtype=np.bool_)


def labelled(
    p_values: ArrayLike, families: ArrayLike | None
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return checked p-values and their families as numbers 0, 1, 2 ..."""
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1:
        raise ValueError(f"p-values: expected one axis, got shape {p.shape}")
    if ((p < 0) | (p > 1)).any():
        raise ValueError("p-values: expected numbers from 0 to 1")
    if families is None:
        return p, np.zeros(p.shape, dtype=np.int64)
    labels = np.asarray(families)
    if labels.shape != p.shape:
        raise ValueError(f"families: expected one label per p-value, got shape {labels.shape}")
    _, codes = np.unique(labels, return_inverse=True)
    return p, np.asarray(codes, dtype=np.int64)


def _running_maximum(values: FloatArray, group: NDArray[np.int64]) -> FloatArray:
    """Return the running maximum within each group; groups are contiguous and increasing.

    The values' ranks are integers, so a group's offset is added and taken off without rounding.
    """
    distinct, rank = np.unique(values, return_inverse=True)
    offset = group * np.int64(distinct.size)
    return np.asarray(distinct[np.maximum.accumulate(rank + offset) - offset])
