"""Whether a run resembles the run before it, and series that no longer do.

The first autocorrelation is estimated from differences of neighbours, whose own one is
``-(1 - phi)/2`` for an autoregression of phi: a change of level is one large difference there and
not a long resemblance. Large differences count as 2.5 usual ones.

References
----------
J. von Neumann, Distribution of the ratio of the mean square successive difference to the variance,
Annals of Mathematical Statistics 12 (1941), doi:10.1214/aoms/1177731677.
D. Cochrane, G. H. Orcutt, Application of least squares regression to relationships containing
auto-correlated error terms, JASA 44 (1949), doi:10.1080/01621459.1949.10483290 (`innovations`).
"""

from __future__ import annotations

import numpy as np

from bareline.stats.stack import FloatArray

#: Beyond so many normal standard deviations a difference is a change of level or an outlier.
_LARGE = 2.5
_NORMAL_MAD = 1.4826
#: An autoregression near 1 has no level that could change.
_MOST = 0.9
#: Shares of independent pages, and of single series, that are called dependent.
_ALPHA_TOGETHER, _ALPHA_ALONE = 0.05, 0.025


def autoregression(rows: FloatArray) -> FloatArray:
    """Return an estimate of phi for each row, shape (...); 0 where neighbours do not differ.

    - `rows`: shape (..., n); logarithms, complete. Independent runs scatter about a value near 0.
    """
    differences = np.diff(rows, axis=-1)
    usual = _LARGE * _NORMAL_MAD * np.median(np.abs(differences), axis=-1, keepdims=True)
    clipped = np.clip(differences, -usual, usual)
    square = np.einsum("...i,...i->...", clipped, clipped)
    lagged = np.einsum("...i,...i->...", clipped[..., 1:], clipped[..., :-1])
    correlation = np.divide(lagged, square, out=np.full(square.shape, -0.5), where=square > 0)
    return np.asarray(1.0 + 2.0 * correlation)


def dependence_together(observed: FloatArray, shuffled: FloatArray) -> float:
    """Return phi of all series of a page together, which one alone may be too short to show.

    - `observed`: shape (series,); of `autoregression`; NaN for a series that is too short.
    - `shuffled`: shape (series, orders); the same of the runs in random orders.

    Returns 0 where it may be chance.
    """
    usable = np.isfinite(observed)
    if not usable.any():
        return 0.0
    mean = float(observed[usable].mean())
    null = shuffled[usable].mean(axis=0)
    p = (1.0 + np.sum(null >= mean)) / (null.size + 1.0)
    return float(np.clip(mean - null.mean(), 0.0, _MOST)) if p < _ALPHA_TOGETHER else 0.0


def dependence_alone(observed: FloatArray, shuffled: FloatArray) -> FloatArray:
    """Return phi of each series by itself, 0 where it may be chance; parameters as above."""
    null = np.mean(shuffled >= observed[:, None], axis=1)
    excess = np.clip(observed - shuffled.mean(axis=1), 0.0, _MOST)
    return np.where(np.isfinite(observed) & (null < _ALPHA_ALONE), excess, 0.0)


def innovations(rows: FloatArray, phi: float) -> FloatArray:
    """Return ``(x_t - phi x_(t-1)) / (1 - phi)``, shape (..., n - 1): independent, same levels."""
    return np.asarray((rows[..., 1:] - phi * rows[..., :-1]) / (1.0 - phi))
