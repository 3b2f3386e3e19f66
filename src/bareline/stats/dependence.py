"""Whether a run resembles the run before it, and how much.

The first autocorrelation is estimated from differences of neighbours, whose own one is
``-(1 - phi)/2`` for an autoregression of phi: a change of level is one large difference there and
not a long resemblance. Large differences count as 2.5 usual ones.

References
----------
J. von Neumann, Distribution of the ratio of the mean square successive difference to the variance,
Annals of Mathematical Statistics 12 (1941), doi:10.1214/aoms/1177731677.
W. James, C. Stein, Estimation with quadratic loss, Berkeley Symposium 4 (1961) (shrinkage).
"""

from __future__ import annotations

import numpy as np

from bareline.stats.change import NORMAL_MAD
from bareline.stats.stack import FloatArray

#: Beyond so many normal standard deviations a difference is a change of level or an outlier.
_LARGE = 2.5
#: An autoregression near 1 has no level that could change.
_MOST = 0.8
#: Fewer series say no more together than each alone.
_FEWEST_TOGETHER = 5
#: Shares of independent pages, and of single series, that are called dependent.
_ALPHA_TOGETHER, _ALPHA_ALONE = 0.05, 0.025


def autoregression(rows: FloatArray) -> FloatArray:
    """Return an estimate of phi for each row, shape (...); 0 where neighbours do not differ.

    - `rows`: shape (..., n); logarithms, complete. Independent runs scatter about a value near 0.
    """
    differences = np.diff(rows, axis=-1)
    usual = _LARGE * NORMAL_MAD * np.median(np.abs(differences), axis=-1, keepdims=True)
    clipped = np.clip(differences, -usual, usual)
    square = np.einsum("...i,...i->...", clipped, clipped)
    lagged = np.einsum("...i,...i->...", clipped[..., 1:], clipped[..., :-1])
    correlation = np.divide(lagged, square, out=np.full(square.shape, -0.5), where=square > 0)
    return np.asarray(1.0 + 2.0 * correlation)


def dependence_together(observed: FloatArray, shuffled: FloatArray) -> float:
    """Return phi of all series of a page together, which one alone may be too short to show.

    Whether runs depend on each other is judged without levels, which would feign it; how much is
    estimated with them, because removing levels takes a part of it away.

    - `observed`: shape (2, series); of `autoregression`, with and without levels; NaN for a series
      that is too short.
    - `shuffled`: shape (2, series, orders); the same of the runs in random orders.

    Returns 0 where it may be chance, and for few series.
    """
    usable = np.isfinite(observed[0])
    if np.sum(usable) < _FEWEST_TOGETHER:
        return 0.0
    mean = observed[:, usable].mean(axis=1)
    null = shuffled[:, usable].mean(axis=1)
    p = (1.0 + np.sum(null[1] >= mean[1])) / (null.shape[1] + 1.0)
    return float(np.clip(mean[0] - null[0].mean(), 0.0, _MOST)) if p < _ALPHA_TOGETHER else 0.0


def dependence_alone(observed: FloatArray, shuffled: FloatArray) -> FloatArray:
    """Return phi of each series by itself, 0 where it may be chance.

    - `observed`, `shuffled`: shapes (series,) and (series, orders); without levels.
    """
    p = np.mean(shuffled >= observed[:, None], axis=1)
    excess = observed - shuffled.mean(axis=1)
    # The part beyond chance was more often too large than too small.
    with np.errstate(divide="ignore", invalid="ignore"):
        shrunk = excess * (1.0 - shuffled.var(axis=1) / excess**2)
    found = np.isfinite(observed) & (p < _ALPHA_ALONE)
    return np.where(found, np.clip(shrunk, 0.0, _MOST), 0.0)
