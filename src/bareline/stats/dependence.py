"""The dependence of each run on the previous run.

The first autocorrelation is estimated from the differences of neighbours. Their first
autocorrelation is ``-(1 - phi)/2`` for an autoregression of phi. A change of level is only one
large difference, and not a long dependence. A large difference is reduced to 2.5 times the usual
difference.

References
----------
J. von Neumann, Distribution of the ratio of the mean square successive difference to the variance,
Annals of Mathematical Statistics 12 (1941), doi:10.1214/aoms/1177731677.
W. James, C. Stein, Estimation with quadratic loss, Berkeley Symposium 4 (1961) (shrinkage).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bareline.stats.change import NORMAL_MAD
from bareline.stats.criterion import base, criterion, rest_of, square_of, with_steps
from bareline.stats.launch_array import FloatArray, IntArray
from bareline.stats.line import further_step

#: Beyond these normal standard deviations a difference is a change of level or an outlier.
_LARGE = 2.5
#: An autoregression near 1 has no level that could change.
_MOST = 0.8
#: Levels that fit n runs take away this share / n of phi, but leave some of it (simulated: 10 to
#: 100 runs).
_LESSENED = 7.0
_LEAST_LEFT = 0.3
#: Fewer series together show no more than each alone: a change of one series would count.
_FEWEST_TOGETHER = 5
#: A single series with fewer runs does not show its dependence.
_LEAST_ALONE = 20
#: The share of single series that are called dependent by themselves.
_ALPHA_ALONE = 0.1


@dataclass(frozen=True, slots=True)
class Dependence:
    """The autoregression of each series, shape (series,).

    - `evident`: the estimated autoregression; 0 if it may be chance.
    - `possible`: the estimated autoregression, even if it may be chance.
    """

    evident: FloatArray
    possible: FloatArray


def autoregression(rows: FloatArray) -> FloatArray:
    """Return an estimate of phi for each row, shape (...); 0 if neighbours do not differ.

    - `rows`: shape (..., n); logarithms, complete. For independent runs the estimates scatter about
      a value near 0.
    """
    differences = np.diff(rows, axis=-1)
    usual = _LARGE * NORMAL_MAD * np.median(np.abs(differences), axis=-1, keepdims=True)
    clipped = np.clip(differences, -usual, usual)
    square = np.einsum("...i,...i->...", clipped, clipped)
    lagged = np.einsum("...i,...i->...", clipped[..., 1:], clipped[..., :-1])
    correlation = np.divide(lagged, square, out=np.full(square.shape, -0.5), where=square > 0)
    return np.asarray(1.0 + 2.0 * correlation)


def dependence(runs: IntArray, observed: FloatArray, shuffled: FloatArray) -> Dependence:
    """Return the dependence between runs, from each series alone and from all series together.

    - `runs`: shape (series,); the number of runs of each series.
    - `observed`: shape (series,); `autoregression` of the runs without their levels, because
      changes of level look like dependence; NaN for a series that is too short.
    - `shuffled`: shape (series, orders); the same estimate for random orders of the runs.
    """
    usable = np.isfinite(observed)
    lessened = np.maximum(1.0 - _LESSENED / np.maximum(runs, 1), _LEAST_LEFT)
    together = np.zeros(observed.shape)
    if np.sum(usable) >= _FEWEST_TOGETHER:
        together += _shrunk(observed[usable].mean(), shuffled[usable].mean(axis=0))
    p = np.mean(shuffled >= observed[:, None], axis=1)
    is_evident_alone = (p < _ALPHA_ALONE) & (runs >= _LEAST_ALONE)
    alone = np.where(is_evident_alone, _shrunk(observed, shuffled), 0.0)
    evident = np.maximum(together, alone) / lessened
    excess = (observed - shuffled.mean(axis=1)) / lessened
    possible = np.maximum(evident, excess)
    return Dependence(
        evident=np.where(usable, np.minimum(evident, _MOST), 0.0),
        possible=np.where(usable, np.clip(possible, 0.0, _MOST), 0.0),
    )


def lead_over_wandering(values: FloatArray, cuts: Sequence[int], *, drifts: bool) -> float:
    """Return the lead of a model with changes over a model of dependent runs without changes.

    The lead is the Schwarz criterion of the second model minus that of the first model. The first
    model has the changes at `cuts`, or one more change; its runs may also depend on each other.

    - `values`: shape (n,); logarithms, complete.
    - `cuts`: first runs of new levels.
    - `drifts`: whether the changes are steps upon a line.
    """
    n = values.size
    columns = base(n, drifts=drifts)
    changes = _criterion_of_changes(values, columns, cuts)
    further = further_step(values, columns, cuts)
    if further is not None:
        one_more = _criterion_of_changes(values, columns, [*cuts, further])
        changes = min(changes, one_more)
    without = _square_of_steps(rest_of(values, columns))
    wandering = criterion(without, n, columns.shape[1] + 1)
    return wandering - changes


def _criterion_of_changes(values: FloatArray, columns: FloatArray, cuts: Sequence[int]) -> float:
    """Return Schwarz's criterion of a model with changes, with or without dependence between runs.

    The smaller criterion of the two is returned.
    """
    rest = rest_of(values, with_steps(columns, cuts))
    parameters = columns.shape[1] + 2 * len(cuts)
    return min(
        criterion(square_of(rest), values.size, parameters),
        criterion(_square_of_steps(rest), values.size, parameters + 1),
    )


def _lag_one(rest: FloatArray) -> float:
    """Return the coefficient of the regression of each run on the run before it."""
    before = rest[:-1]
    square = square_of(before)
    if square <= 0:
        return 0.0
    return float(rest[1:] @ before) / square


def _square_of_steps(rest: FloatArray) -> float:
    """Return the sum of squares of the parts of `rest` that the previous runs do not explain."""
    phi = float(np.clip(_lag_one(rest), 0.0, 1.0))
    first = (1.0 - phi**2) * float(rest[0] ** 2)
    return square_of(rest[1:] - phi * rest[:-1]) + first


def _shrunk(observed: FloatArray, shuffled: FloatArray) -> FloatArray:
    """Return phi minus the part that chance explains.

    The estimate alone was more often too large than too small.

    - `observed`, `shuffled`: shapes (...,) and (..., orders).
    """
    excess = observed - shuffled.mean(axis=-1)
    chance = shuffled.var(axis=-1)
    positive = np.maximum(excess, 1e-9)
    return np.asarray(np.maximum(excess - chance / positive, 0.0))
