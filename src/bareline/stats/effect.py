"""Cliff's delta: the degree to which the launches of two platforms are separate."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats.launch_array import (
    FloatArray,
    as_launch_array,
    as_rows,
    count_launches,
    require_same_cases,
)
from bareline.stats.pairwise import CHUNK_PAIRS, EXPAND_LIMIT


def cliffs_delta(values: ArrayLike, baseline: ArrayLike) -> FloatArray:
    """Return P(value > baseline) - P(value < baseline) over all pairs of launches.

    The stacks have shapes (..., n) and (..., m). The result is from -1 (every value is below every
    baseline value) to 1, and NaN without data.

    References
    ----------
    N. Cliff, Dominance statistics: ordinal analyses to answer ordinal questions, Psychological
    Bulletin 114 (1993) 494-509, doi:10.1037/0033-2909.114.3.494.
    """
    first = as_launch_array(values)
    second = as_launch_array(baseline, "baseline")
    require_same_cases(first, second)
    rows = as_rows(first)
    baseline_rows = as_rows(second)
    pairs = count_launches(rows) * count_launches(baseline_rows)
    if rows.shape[-1] * baseline_rows.shape[-1] <= EXPAND_LIMIT:
        dominance = _by_grid(rows, baseline_rows)
    else:
        dominance = _by_search(rows, baseline_rows)
    delta = np.full(pairs.shape, np.nan)
    np.divide(dominance, pairs, out=delta, where=pairs > 0)
    return delta.reshape(first.shape[:-1])


def _by_grid(rows: FloatArray, baseline: FloatArray) -> FloatArray:
    dominance = np.zeros(rows.shape[0])
    step = max(1, CHUNK_PAIRS // max(1, rows.shape[-1] * baseline.shape[-1]))
    for start in range(0, rows.shape[0], step):
        chunk = slice(start, start + step)
        above = rows[chunk, :, None]
        below = baseline[chunk, None, :]
        dominance[chunk] = np.count_nonzero(above > below, axis=(1, 2))
        dominance[chunk] -= np.count_nonzero(above < below, axis=(1, 2))
    return dominance


def _by_search(rows: FloatArray, baseline: FloatArray) -> FloatArray:
    dominance = np.zeros(rows.shape[0])
    for case in range(rows.shape[0]):
        ordered = np.sort(baseline[case][~np.isnan(baseline[case])])
        present = rows[case][~np.isnan(rows[case])]
        smaller = int(np.searchsorted(ordered, present, side="left").sum())
        not_larger = int(np.searchsorted(ordered, present, side="right").sum())
        dominance[case] = smaller - (present.size * ordered.size - not_larger)
    return dominance
