"""Compute the time of messages from a start-up time, the time of the bytes and the steps of a tree.

Explanations of losses and predictions of programs use only these functions, so that both divide a
measured time in the same way. A time between two measured sizes is interpolated linearly. Beyond
the largest size, the line through the last two sizes is extended.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Times = Sequence[float] | npt.NDArray[np.float64]


def time_at(sizes: Times, times: Times, size: float) -> float:
    """Return the time of a message of `size` bytes in s.

    - `sizes`: measured sizes in bytes, ascending.
    - `times`: the times of these sizes in s.
    """
    count = len(sizes)
    if count == 1 or size <= sizes[0]:
        return float(times[0])
    above = min(bisect_left(sizes, size), count - 1)
    below = above - 1
    slope = (times[above] - times[below]) / (sizes[above] - sizes[below])
    if size > sizes[-1]:
        slope = max(0.0, slope)
        return float(times[-1] + slope * (size - sizes[-1]))
    return float(times[below] + slope * (size - sizes[below]))


def start_of(times: Times) -> float:
    """Return the start-up time of a message: the time at the smallest measured size."""
    return float(times[0])


def beyond_start(sizes: Times, times: Times, size: float) -> float:
    """Return the time of a message's bytes in s: its whole time minus the start-up time."""
    return time_at(sizes, times, size) - start_of(times)


def tree_steps(ranks: int) -> int:
    """Return the number of messages that follow one another in a tree of ranks, at least 1."""
    return math.ceil(math.log2(max(2, ranks)))
