"""Adaptive stopping: enough launches when the median's interval is narrow enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats.stack import BoolArray
from bareline.stats.summary import relative_half_width


def reached(values: ArrayLike, target: ArrayLike, *, confidence: float = 0.95) -> BoolArray:
    """Return whether each case is measured precisely enough to stop.

    True when there are at least six launches and the relative half-width of the median's interval
    is at most `target`. It looks at precision only: stopping on a p-value or on a verdict would
    make both meaningless.

    - `values`: shape (..., n); one value per launch; NaN marks an absent launch.
    - `target`: shape (...); relative half-width: 0.02 is 2 %.
    - `confidence`: level of the interval.
    """
    width = relative_half_width(values, confidence=confidence)
    return np.asarray(width <= np.asarray(target, dtype=np.float64), dtype=np.bool_)
