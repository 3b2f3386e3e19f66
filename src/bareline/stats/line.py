"""The test whether a stretch of runs drifts along a straight line, has steps, or both.

Schwarz's criterion decides. Steps are added one by one, each at the run where it explains most of
the residuals.

References
----------
Y. C. Pati, R. Rezaiifar, P. S. Krishnaprasad, Orthogonal matching pursuit, Asilomar Conference 27
(1993), doi:10.1109/ACSSC.1993.342465 (steps one by one).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bareline.stats.change import LEAST_RUNS
from bareline.stats.criterion import (
    base,
    centred_time,
    criterion,
    rest_of,
    square_of,
    with_steps,
)
from bareline.stats.launch_array import FloatArray
from bareline.stats.position import LevelRatio
from bareline.stats.special import student_quantile

#: The most steps, in addition to the given ones, that may explain a stretch.
_MOST_FURTHER = 5
#: A step whose remainder is this small is a sum of the model's columns.
_DEPENDENT = 1e-6


@dataclass(frozen=True, slots=True)
class LineLead:
    """The leads of a model with levels over a line.

    A lead is Schwarz's criterion of the line minus the criterion of the model with levels.

    - `plain`: the lead over a line without steps.
    - `stepped`: the lead over a line with any number of steps.
    """

    plain: float
    stepped: float


def lead_over_line(values: FloatArray, cuts: Sequence[int]) -> LineLead:
    """Return how much better a model with levels is than a line.

    The levels begin at `cuts`. Further levels are added to the model if they make it better.

    - `values`: shape (n,); logarithms, complete.
    - `cuts`: first runs of new levels.
    """
    n = values.size
    level = base(n, drifts=False)
    line = base(n, drifts=True)
    levels = _least_criterion(values, level, cuts)
    stepped = min(
        _least_criterion(values, line, cuts),
        _least_criterion(values, line, ()),
    )
    plain = criterion(square_of(rest_of(values, line)), n, 2)
    return LineLead(plain - levels, stepped - levels)


def lead_of_steps(values: FloatArray, cuts: Sequence[int]) -> float:
    """Return how much better a line with steps at `cuts` is than a line without steps.

    The result is the difference of the Schwarz criteria of the two models. The parameters are as
    for `lead_over_line`.
    """
    n = values.size
    line = base(n, drifts=True)
    without = square_of(rest_of(values, line))
    stepped = square_of(rest_of(values, with_steps(line, cuts)))
    return criterion(without, n, 2) - criterion(stepped, n, 2 + 2 * len(cuts))


def line_slope(values: FloatArray, phi: float, cuts: Sequence[int] = ()) -> LevelRatio:
    """Return the change per run of a drifting stretch as a ratio; above 1 is upwards.

    - `cuts`: the first runs after steps upon the line.
    """
    n = values.size
    others = with_steps(base(n, drifts=False), cuts)
    time = centred_time(n)
    time_alone = rest_of(time, others)
    time_square = square_of(time_alone)
    slope = float(time_alone @ values) / time_square
    rest = rest_of(values - slope * time, others)
    freedom = max(n - others.shape[1] - 1, 1)
    variance = square_of(rest) / freedom / time_square
    error = math.sqrt(variance * (1.0 + phi) / (1.0 - phi))
    half = student_quantile(0.975, freedom) * error
    lo = math.exp(slope - half)
    hi = math.exp(slope + half)
    return LevelRatio(math.exp(slope), lo, hi)


def _least_criterion(values: FloatArray, columns: FloatArray, cuts: Sequence[int]) -> float:
    """Return the least Schwarz criterion of a model with steps at `cuts`, or with further steps."""
    n = values.size
    chosen = list(cuts)
    least = math.inf
    for _ in range(_MOST_FURTHER + 1):
        basis = _basis(columns, chosen)
        rest = _rest(values, basis)
        parameters = columns.shape[1] + 2 * len(chosen)
        least = min(least, criterion(square_of(rest), n, parameters))
        further = _next_step(rest, basis, chosen)
        if further is None:
            break
        chosen.append(further)
    return least


def further_step(values: FloatArray, columns: FloatArray, cuts: Sequence[int]) -> int | None:
    """Return the run at which one more step explains most of the residuals.

    None if every run is too near to another step, or to the first or last run.

    - `columns`: the columns of a level or a line.
    """
    basis = _basis(columns, cuts)
    return _next_step(_rest(values, basis), basis, cuts)


def _basis(columns: FloatArray, cuts: Sequence[int]) -> FloatArray:
    """Return the orthonormal columns of a model with steps."""
    basis: FloatArray = np.linalg.qr(with_steps(columns, cuts))[0]
    return basis


def _rest(values: FloatArray, basis: FloatArray) -> FloatArray:
    """Return the residuals of values after the fit of the orthonormal columns `basis`."""
    return np.asarray(values - basis @ (basis.T @ values))


def _next_step(rest: FloatArray, basis: FloatArray, chosen: Sequence[int]) -> int | None:
    """Return the result of `further_step`, from the residuals and the orthonormal columns."""
    n = rest.size
    places = np.arange(LEAST_RUNS, n - LEAST_RUNS + 1)
    for cut in chosen:
        places = places[np.abs(places - cut) >= LEAST_RUNS]
    # The sums over all runs from each one on: of the rest, and of each column of the basis.
    after = _sums_from_each(rest)[places]
    within = _sums_from_each(basis)[places]
    remainder = n - places - np.einsum("ij,ij->i", within, within)
    is_usable = remainder > _DEPENDENT * n
    if not is_usable.any():
        return None
    gain = np.where(is_usable, after**2, 0.0) / np.where(is_usable, remainder, 1.0)
    return int(places[gain.argmax()])


def _sums_from_each(values: FloatArray) -> FloatArray:
    """Return for each index the sum of the values from that index on, along the first axis."""
    backwards = np.cumsum(values[::-1], axis=0)
    return backwards[::-1]
