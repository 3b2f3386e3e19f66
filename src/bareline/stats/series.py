"""Checks of the assumptions behind an interval of a series: drift, dependence, two modes.

Each check has a false alarm in about one of a hundred calm series (`tests/stats/test_series`
measures the rate), and requires that the effect is large enough to matter.
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
#: The gap between two groups divided by their spread; calm noise rarely has such a gap.
_APART = 6.0
#: Values that differ by rounding are the same.
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class SeriesTraits:
    """The properties of series of launches in time order: bool arrays of shape (series,)."""

    drifting: BoolArray
    dependent: BoolArray
    two_modes: BoolArray


def look(values: ArrayLike, *, least: float = math.log1p(DEFAULT_MARGIN)) -> SeriesTraits:
    """Return the traits of series of logarithms.

    - `values`: shape (series, n); in the order of the launches; NaN marks an absent launch.
    - `least`: a drift or a gap below this value does not matter.
    """
    rows = as_launch_array(values)
    n = count_launches(rows)
    nothing = np.zeros(n.shape, dtype=np.bool_)
    traits = SeriesTraits(nothing, nothing.copy(), nothing.copy())
    for size in np.unique(n[n >= MIN_LAUNCHES]).tolist():
        of_size = np.flatnonzero(n == size)
        series = _present(rows[of_size], size)
        drifting = _drifts(series, least)
        dependent = _depends(series, least)
        if size < _FEWEST:
            traits.dependent[of_size] = dependent | drifting
            continue
        traits.drifting[of_size] = drifting
        # A drifting series is dependent for that reason alone.
        traits.dependent[of_size] = dependent & ~drifting
        traits.two_modes[of_size] = _two_modes(series, least)
    return traits


def _present(rows: FloatArray, size: int) -> FloatArray:
    """Return the present values of rows that have `size` present values each, in their order."""
    present_first = np.argsort(np.isnan(rows), axis=-1, kind="stable")
    return np.take_along_axis(rows, present_first[:, :size], axis=-1)


def _order(n: int) -> FloatArray:
    """Return the numbers of n launches minus their mean."""
    return np.asarray(np.arange(n) - (n - 1) / 2, dtype=np.float64)


def _ranks(series: FloatArray) -> FloatArray:
    """Return the rank of each launch in its series, minus the mean rank."""
    order = np.argsort(series, axis=-1, kind="stable")
    ranks = np.argsort(order, axis=-1)
    return np.asarray(ranks - (series.shape[-1] - 1) / 2)


def _drifts(series: FloatArray, least: float) -> BoolArray:
    """Return which series drift: values rise or fall, and first and last third differ."""
    n = series.shape[-1]
    third = n // 3
    begin = np.median(series[:, :third], axis=-1)
    end = np.median(series[:, -third:], axis=-1)
    correlates = _trend(_ranks(series)) >= _critical(n).trend
    return np.asarray((np.abs(end - begin) > least) & correlates)


def _trend(ranks: FloatArray) -> FloatArray:
    """Return the absolute value of Spearman's correlation with the order, from centred ranks."""
    order = _order(ranks.shape[-1])
    return np.asarray(np.abs(ranks @ order) / (order**2).sum())


def _depends(series: FloatArray, least: float) -> BoolArray:
    """Return which series are autocorrelated.

    Ranks are correlated instead of values, so that outliers do not matter.
    """
    critical = _critical(series.shape[-1])
    resembling = _neighbours(_ranks(series)) >= critical.neighbours
    return np.asarray(resembling & (np.ptp(series, axis=-1) > least))


def _neighbours(ranks: FloatArray) -> FloatArray:
    """Return the lag-1 autocorrelation of centred ranks."""
    lagged = (ranks[:, 1:] * ranks[:, :-1]).sum(axis=-1)
    return np.asarray(lagged / (ranks**2).sum(axis=-1))


@dataclass(frozen=True, slots=True)
class _Critical:
    """The values of trend and autocorrelation that few independent series reach."""

    trend: float
    neighbours: float


@lru_cache(maxsize=64)
def _critical(n: int) -> _Critical:
    """Return the critical values of series of n launches."""
    if n >= _FEWEST:
        # Under independence the autocorrelation's mean is -1/n and its variance about 1/n.
        trend = _CRITICAL / math.sqrt(n - 1)
        return _Critical(trend, _CRITICAL / math.sqrt(n) - 1 / n)
    orders = np.array(list(permutations(range(n)))) - (n - 1) / 2
    return _Critical(_reached_by_few(_trend(orders)), _reached_by_few(_neighbours(orders)))


def _reached_by_few(values: FloatArray) -> float:
    """Return the smallest value that at most one of 200 values reaches."""
    ascending = np.sort(values)
    reached = ascending[-1 - ascending.size // 200]
    above = ascending[ascending > reached + _SLACK]
    if not above.size:
        return math.inf
    return float(above[0] - _SLACK)


def _two_modes(series: FloatArray, least: float) -> BoolArray:
    """Return which series have two modes: two distant groups of at least n/5 launches."""
    ordered = np.sort(series, axis=-1)
    n = ordered.shape[-1]
    fewest = math.ceil(n / 5)
    gaps = np.diff(ordered, axis=-1)[:, fewest - 1 : n - fewest]
    gap = gaps.max(axis=-1)
    split = fewest + np.argmax(gaps, axis=-1)
    is_lower = np.arange(n) < split[:, None]
    lower_spread = ordered.std(axis=-1, where=is_lower)
    upper_spread = ordered.std(axis=-1, where=~is_lower)
    spread = np.maximum(lower_spread, upper_spread)
    return np.asarray((gap > least) & (gap > _APART * spread))
