"""Families of tests with only their p-values: Holm's correction, and the false discovery rate.

They are used for comparisons without common blocks (two runs, imported results). The rank tests of
such comparisons reach small p-values: 0.0022 for six launches against six. For launches in blocks,
`bareline.stats.flips` has more power.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats.launch_array import FloatArray, IntArray

ALPHA = 0.05
"""Error of the verdicts "slower" and "faster": the rate of false verdicts among table rows."""

CERTAIN_ALPHA = 0.04
"""Level of claims that are certain over a whole verdict.

Flips are not exact for platforms that share a skewed baseline. At 4 % such platforms still keep the
promised error of 5 %.
"""

LOST_ALPHA = 0.0125
"""Part of the 5 % error for the test of lost launches.

Three lost launches of three against none of six have p = 1/84, six of eight against none of eight
have p = 0.007.
"""

BESIDE_LOST_ALPHA = 0.0375
"""Level of all other tests on a page with a row that could be certain by its lost launches.

Six launches need 2/64.
"""


def holm(p_values: ArrayLike, weight: ArrayLike = 1.0) -> FloatArray:
    """Return Holm-adjusted p-values.

    If all hypotheses with a p-value of at most alpha are rejected, the family-wise error is alpha.

    - `p_values`: shape (k,); NaN (no test) stays NaN and does not count.
    - `weight`: shape (k,); the relative share of the error for each test.

    Raises ValueError: a p-value is outside [0, 1] or there is more than one axis.

    References
    ----------
    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6 (1979) 65-70.
    """
    p, _ = _ordered(p_values)
    weights = np.broadcast_to(np.asarray(weight, dtype=np.float64), p.shape)
    order = np.argsort(p / weights, kind="stable")[: np.count_nonzero(~np.isnan(p))]
    adjusted = np.full(p.shape, np.nan)
    left = np.cumsum(weights[order][::-1])[::-1]
    raised = p[order] * left / weights[order]
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(raised))
    return adjusted


def false_discovery(p_values: ArrayLike) -> FloatArray:
    """Return p-values adjusted to the false discovery rate.

    If all hypotheses with a p-value of at most alpha are rejected, the false discovery rate is
    alpha.

    `p_values` and the ValueError are as for `holm`.

    References
    ----------
    Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, Journal of the Royal
    Statistical Society B 57 (1995) 289-300.
    """
    p, order = _ordered(p_values)
    adjusted = np.full(p.shape, np.nan)
    raised = p[order] * order.size / np.arange(1, order.size + 1)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(raised[::-1])[::-1])
    return adjusted


def _ordered(p_values: ArrayLike) -> tuple[FloatArray, IntArray]:
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1:
        raise ValueError(f"p-values: expected one axis, got shape {p.shape}")
    if ((p < 0) | (p > 1)).any():
        raise ValueError("p-values: expected numbers from 0 to 1")
    order = np.argsort(p, kind="stable")
    return p, order[: np.count_nonzero(~np.isnan(p))]
