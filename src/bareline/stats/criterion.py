"""Models of a stretch of runs (a level or a line, with steps), and their quality by a criterion.

Schwarz's criterion is lower for the better model. The parameters are the two ends of a line, and
the size and the position of each step. Twice the logarithm of the Bayes factor of two models is the
difference of their criteria.

References
----------
G. Schwarz, Estimating the dimension of a model, Annals of Statistics 6 (1978),
doi:10.1214/aos/1176344136.
R. E. Kass, A. E. Raftery, Bayes Factors, Journal of the American Statistical Association 90 (1995),
doi:10.1080/01621459.1995.10476572.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bareline.stats.change import LEAST_SPREAD, drawn_in
from bareline.stats.launch_array import FloatArray

#: A run is an outlier among itself and this number of runs on either side.
_ABOUT = 2


def criterion(square: float, n: int, parameters: int) -> float:
    """Return Schwarz's criterion of a model.

    - `square`: the sum of squares of the residuals of n runs.
    """
    return n * math.log(max(square, n * LEAST_SPREAD**2)) + parameters * math.log(n)


def centred_time(n: int) -> FloatArray:
    """Return the numbers of n runs minus their mean."""
    return np.asarray(np.arange(n) - (n - 1) / 2.0, dtype=np.float64)


def base(n: int, *, drifts: bool) -> FloatArray:
    """Return the columns of a level, shape (n, 1), or of a line if `drifts`, shape (n, 2)."""
    columns = [np.ones(n)]
    if drifts:
        columns.append(centred_time(n))
    return np.stack(columns, axis=1)


def with_steps(columns: FloatArray, cuts: Sequence[int]) -> FloatArray:
    """Return the columns of a model with one more column for each step."""
    n = len(columns)
    steps = np.arange(n)[:, None] >= np.array(cuts, dtype=int)[None]
    return np.concatenate((columns, steps), axis=1)


def rest_of(values: FloatArray, columns: FloatArray) -> FloatArray:
    """Return the residuals of values after the fit of a model, shape (n,)."""
    basis = np.linalg.qr(columns)[0]
    return np.asarray(values - basis @ (basis.T @ values))


def square_of(rest: FloatArray) -> float:
    """Return the sum of squares of residuals."""
    return float(rest @ rest)


def without_spikes(values: FloatArray, zone: float) -> FloatArray:
    """Return the values with outliers moved towards their neighbours; a level of three runs stays.

    - `values`: shape (n,); logarithms, complete.
    - `zone`: logarithm of the margin.
    """
    bordered = np.pad(values, _ABOUT, constant_values=np.nan)
    about = np.lib.stride_tricks.sliding_window_view(bordered, 2 * _ABOUT + 1)
    middle = np.nanmedian(about, axis=1)
    return np.asarray(middle + drawn_in(values - middle, zone))
