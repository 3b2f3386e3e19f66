"""Stacks of launches: the array shape that every function of this package takes.

A stack has the shape ``(..., n)``: the last axis has the values of the launches of one case, all
other axes enumerate cases. NaN marks a launch that is absent, so that cases with different numbers
of launches share one array. A case's own number of launches is counted, never assumed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def as_launch_array(values: ArrayLike, name: str = "values") -> FloatArray:
    """Return `values` as a float64 stack.

    - `values`: shape (..., n); finite numbers; NaN marks an absent launch.

    Raises ValueError: there is no axis of launches, or a value is infinite.
    """
    stack = np.asarray(values, dtype=np.float64)
    if stack.ndim == 0:
        raise ValueError(f"{name}: a stack needs an axis of launches, got a single number")
    if np.isinf(stack).any():
        raise ValueError(f"{name}: infinite values are not measurements; mark them absent with NaN")
    return stack


def require_same_cases(first: FloatArray, second: FloatArray) -> None:
    """Raise ValueError unless both stacks have the same cases, with any number of launches."""
    if first.shape[:-1] != second.shape[:-1]:
        raise ValueError(
            f"stacks need the same cases, got values {first.shape} and baseline {second.shape}"
        )


def require_same_blocks(first: FloatArray, second: FloatArray) -> None:
    """Raise ValueError unless both stacks have the same cases and blocks."""
    if first.shape != second.shape:
        raise ValueError(
            "values and baseline need the same shape to be compared in pairs: "
            f"values {first.shape}, baseline {second.shape}"
        )


def as_rows(stack: FloatArray) -> FloatArray:
    """Return `stack` with all its leading axes folded into one."""
    rows = int(np.prod(stack.shape[:-1], dtype=np.int64))
    return stack.reshape(rows, stack.shape[-1])


def count_launches(stack: FloatArray) -> IntArray:
    """Return the number of present launches of each case, shape ``stack.shape[:-1]``."""
    return np.asarray(stack.shape[-1] - np.isnan(stack).sum(axis=-1), dtype=np.int64)


def pick(rows: FloatArray, ranks: IntArray) -> FloatArray:
    """Return order statistics of sorted rows.

    - `rows`: shape (cases, n); sorted along the last axis, NaN last.
    - `ranks`: shape (cases, k); 1-based ranks; a rank outside ``1 .. n`` gives NaN.
    """
    n = rows.shape[-1]
    if n == 0:
        return np.full(ranks.shape, np.nan)
    index = np.clip(ranks - 1, 0, n - 1)
    picked = np.take_along_axis(rows, index, axis=-1)
    exists = (ranks >= 1) & (ranks <= n)
    return np.where(exists, picked, np.nan)


def relative(spread: FloatArray, centre: FloatArray) -> FloatArray:
    """Return ``spread / |centre|``; 0 if the spread is 0, else NaN if the centre is 0."""
    is_defined = (centre != 0) & ~np.isnan(centre)
    quotient = np.full(spread.shape, np.nan)
    np.divide(spread, np.abs(centre), out=quotient, where=is_defined)
    return np.where(spread == 0, 0.0, quotient)
