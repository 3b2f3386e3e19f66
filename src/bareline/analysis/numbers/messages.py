"""The cost of messages: a start, bytes beyond it, and the steps of a tree.

Explanations of losses and predictions of programs use these functions alone, so that both divide a
measured time in the same way. A time is measured at some sizes; between two sizes it is on the line
between them, and beyond the largest size the last line goes on.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Times = Sequence[float] | npt.NDArray[np.float64]


def time_at(sizes: Times, times: Times, size: float) -> float:
    """Return the time of a message in s.

    - `sizes`: measured sizes in bytes, ascending; `times`: their times in s.
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
    """Return the start of a message: the time of the smallest measured one."""
    return float(times[0])


def beyond_start(sizes: Times, times: Times, size: float) -> float:
    """Return the time of the bytes of a message in s: all beyond its start."""
    return time_at(sizes, times, size) - start_of(times)


def tree_steps(ranks: int) -> int:
    """Return the messages of a tree of ranks that follow one another, at least one."""
    return math.ceil(math.log2(max(2, ranks)))
