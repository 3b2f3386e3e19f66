"""Checks of the assumptions of an interval on a series: drift, dependence, two modes.

Each check is made for false alarms in about one of a hundred calm series (`tests/stats/test_series`
measures it), and requires that the effect is large enough to matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats.launch_array import BoolArray, FloatArray, as_launch_array, count_launches
from bareline.vocabulary.verdicts import DEFAULT_MARGIN, MIN_LAUNCHES

#: Fewest launches that show the kind of order, or groups. From six on any order at all
#: is looked for, with the exact distribution of ranks: it makes an interval too narrow.
_FEWEST = 10
#: A normal deviate with a tail of half a per cent on either side.
_CRITICAL = 2.58
#: The gap between two groups over the spread inside them, by which calm noise rarely splits.
_APART = 6.0


@dataclass(frozen=True, slots=True)
class SeriesTraits:
    """Properties of series of launches, in their order; bool arrays of shape (series,)."""

    drifting: BoolArray
    dependent: BoolArray
    two_modes: BoolArray


def look(values: ArrayLike, *, least: float = math.log1p(DEFAULT_MARGIN)) -> SeriesTraits:
    """Look at series of logarithms.

    - `values`: shape (series, n); in the order of the launches; NaN marks an absent one.
    - `least`: a drift or a gap below it does not matter.
    """
    rows = as_launch_array(values)
    n = count_launches(rows)
    traits = [np.zeros(n.shape, dtype=np.bool_) for _ in range(3)]
    for size in np.unique(n[n >= MIN_LAUNCHES]).tolist():
        of_size = np.flatnonzero(n == size)
        present = np.argsort(np.isnan(rows[of_size]), axis=-1, kind="stable")[:, :size]
        series = np.take_along_axis(rows[of_size], present, axis=-1)
        drifting = _drifts(series, least)
        dependent = _depends(series, least)
        if size < _FEWEST:
            traits[1][of_size] = dependent | drifting
            continue
        # A drifting series is dependent for that reason alone.
        seen = (drifting, ~drifting & dependent, _two_modes(series, least))
        for whole, part in zip(traits, seen, strict=True):
            whole[of_size] = part
    return SeriesTraits(*traits)


def _ranks(series: FloatArray) -> FloatArray:
    ranks = np.argsort(np.argsort(series, axis=-1, kind="stable"), axis=-1)
    return np.asarray(ranks - (series.shape[-1] - 1) / 2)


def _drifts(series: FloatArray, least: float) -> BoolArray:
    """Return which series drift: they correlate with their order, and their end thirds differ."""
    n = series.shape[-1]
    third = n // 3
    change = np.median(series[:, -third:], axis=-1) - np.median(series[:, :third], axis=-1)
    return np.asarray((np.abs(change) > least) & (_trend(_ranks(series)) >= _critical(n)[0]))


def _trend(ranks: FloatArray) -> FloatArray:
    """Return Spearman's correlation with the order, either way, of ranks about their mean."""
    order = np.arange(ranks.shape[-1]) - (ranks.shape[-1] - 1) / 2
    return np.asarray(np.abs(ranks @ order) / (order**2).sum())


def _depends(series: FloatArray, least: float) -> BoolArray:
    """Return which series are autocorrelated, by their ranks, which outliers cannot feign."""
    resembling = _neighbours(_ranks(series)) >= _critical(series.shape[-1])[1]
    return np.asarray(resembling & (np.ptp(series, axis=-1) > least))


def _neighbours(ranks: FloatArray) -> FloatArray:
    """Return the lag-1 autocorrelation of ranks about their mean."""
    lagged = (ranks[:, 1:] * ranks[:, :-1]).sum(axis=-1)
    return np.asarray(lagged / (ranks**2).sum(axis=-1))


@lru_cache(maxsize=64)
def _critical(n: int) -> tuple[float, float]:
    """Return the trend and the autocorrelation that few independent series reach."""
    if n >= _FEWEST:
        # Under independence the autocorrelation's mean is -1/n and its variance about 1/n.
        return _CRITICAL / math.sqrt(n - 1), _CRITICAL / math.sqrt(n) - 1 / n
    orders = np.array(list(permutations(range(n)))) - (n - 1) / 2
    trend = np.sort(_trend(orders))
    neighbours = np.sort(_neighbours(orders))
    return _reached_by_few(trend), _reached_by_few(neighbours)


def _reached_by_few(ordered: FloatArray) -> float:
    """Return the smallest value that at most one of 200 reaches."""
    above = ordered[ordered > ordered[-1 - ordered.size // 200] + 1e-9]
    return float(above[0] - 1e-9) if above.size else math.inf


def _two_modes(series: FloatArray, least: float) -> BoolArray:
    """Return which series have two modes: two groups, a fifth of the launches each, far apart."""
    ordered = np.sort(series, axis=-1)
    n = ordered.shape[-1]
    fewest = math.ceil(n / 5)
    gaps = np.diff(ordered, axis=-1)[:, fewest - 1 : n - fewest]
    split = fewest + np.argmax(gaps, axis=-1)
    gap = gaps.max(axis=-1)
    lower = np.arange(n) < split[:, None]
    spread = np.maximum(ordered.std(axis=-1, where=lower), ordered.std(axis=-1, where=~lower))
    return np.asarray((gap > least) & (gap > _APART * spread))
