"""What an interval assumes and a series of launches may contradict: drift, dependence, two modes.

Each check is made for false alarms in about one of a hundred calm series (`tests/stats/test_series`
measures it), and asks that what it sees is larger than what matters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats.stack import BoolArray, FloatArray, as_stack, count_launches
from bareline.vocabulary.verdicts import DEFAULT_MARGIN

#: Fewest launches that show anything of their order, or of groups.
_FEWEST = 10
#: A normal deviate with a tail of half a per cent on either side.
_CRITICAL = 2.58
#: The gap between two groups over the spread inside them, by which calm noise rarely splits.
_APART = 6.0


@dataclass(frozen=True, slots=True)
class Series:
    """What series of launches, in their order, show; bool arrays of shape (series,)."""

    drifting: BoolArray
    dependent: BoolArray
    two_modes: BoolArray


def look(values: ArrayLike, *, least: float = math.log1p(DEFAULT_MARGIN)) -> Series:
    """Look at series of logarithms.

    Parameters
    ----------
    values : array_like, shape (series, n)
        In the order of the launches; NaN marks an absent one.
    least
        A drift or a gap below it does not matter.
    """
    rows = as_stack(values)
    n = count_launches(rows)
    found = [np.zeros(n.shape, dtype=np.bool_) for _ in range(3)]
    for size in np.unique(n[n >= _FEWEST]).tolist():
        own = np.flatnonzero(n == size)
        present = np.argsort(np.isnan(rows[own]), axis=-1, kind="stable")[:, :size]
        series = np.take_along_axis(rows[own], present, axis=-1)
        drifting = _drifts(series, least)
        # What drifts is dependent for that reason alone.
        seen = (drifting, ~drifting & _depends(series, least), _two_modes(series, least))
        for whole, part in zip(found, seen, strict=True):
            whole[own] = part
    return Series(*found)


def _ranks(series: FloatArray) -> FloatArray:
    """Return ranks about their mean."""
    ranks = np.argsort(np.argsort(series, axis=-1, kind="stable"), axis=-1)
    return np.asarray(ranks - (series.shape[-1] - 1) / 2)


def _drifts(series: FloatArray, least: float) -> BoolArray:
    """Spearman's correlation with the order, and thirds that lie apart."""
    n = series.shape[-1]
    third = n // 3
    change = np.median(series[:, -third:], axis=-1) - np.median(series[:, :third], axis=-1)
    order = np.arange(n) - (n - 1) / 2
    correlation = (_ranks(series) @ order) / (order**2).sum()
    return np.asarray(
        (np.abs(change) > least) & (np.abs(correlation) > _CRITICAL / math.sqrt(n - 1))
    )


def _depends(series: FloatArray, least: float) -> BoolArray:
    """Lag-1 autocorrelation of the ranks, which outliers cannot feign."""
    n = series.shape[-1]
    ranks = _ranks(series)
    lagged = (ranks[:, 1:] * ranks[:, :-1]).sum(axis=-1) / (ranks**2).sum(axis=-1)
    # Under independence its mean is -1/n and its variance about 1/n.
    resembling = (lagged + 1 / n) * math.sqrt(n) > _CRITICAL
    return np.asarray(resembling & (np.ptp(series, axis=-1) > least))


def _two_modes(series: FloatArray, least: float) -> BoolArray:
    """A gap that is wide against the spread of both groups, each with a fifth of the launches."""
    ordered = np.sort(series, axis=-1)
    n = ordered.shape[-1]
    fewest = math.ceil(n / 5)
    gaps = np.diff(ordered, axis=-1)[:, fewest - 1 : n - fewest]
    split = fewest + np.argmax(gaps, axis=-1)
    gap = gaps.max(axis=-1)
    lower = np.arange(n) < split[:, None]
    spread = np.maximum(ordered.std(axis=-1, where=lower), ordered.std(axis=-1, where=~lower))
    return np.asarray((gap > least) & (gap > _APART * spread))
