"""The units (nodes, links, switches) of a fleet that deviate from the other units with certainty.

Every launch gives one value of every unit. The signs of a unit's own launches cannot decide among
thousands of units: ten launches reach p = 2/1024, and a fleet of 1,024 nodes needs 0.00005. The
other units help: the differences between launches of healthy units are known from thousands of
residuals. So a unit's shift is compared with trimmed means of residuals that are drawn from all
units; each mean has as many residuals as the unit has launches. The shift and the means are divided
by a scale: half of it is the noise of the unit, and half is the typical noise of the fleet. So a
noisy unit needs a larger shift. Beyond the draws, the tail is assumed to fall exponentially, which
is slower than the true tail.

Healthy units also differ. A unit is tested against a fence: the margin, or the variation of the
estimates of all units, whichever is larger.

References
----------
V. G. Tusher, R. Tibshirani and G. Chu, Significance analysis of microarrays applied to the ionizing
radiation response, PNAS 98 (2001) 5116-5121, doi:10.1073/pnas.091062498 (the scale in two parts).
P. J. Huber and E. M. Ronchetti, Robust Statistics, 2nd edition, Wiley (2009),
doi:10.1002/9780470434697 (trimmed means, median absolute deviation).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from bareline.stats.launch_array import FloatArray, IntArray
from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: The number of draws.
_DRAWS = 200_000
#: The number of draws at a time.
_PIECE = 100_000
#: The number of the most extreme draws, which fit the tail.
_TAIL = 400
#: The smallest p-value that the draws can resolve.
_SMALLEST_P = 1e-9
#: Up to this number of units, each is compared with the median of the remaining units, not of all.
_FEW = 64
#: Median absolute deviation of a normal distribution of standard deviation 1, inverted.
_MAD_TO_SIGMA = 1.4826
_SEED = 20260301


@dataclass(frozen=True, slots=True)
class Deviations:
    """Deviations of units from the rest of the fleet, on the scale of the values.

    - `shift`, `lo`, `hi`: trimmed mean of the deviation over launches, with an interval that is
      valid for all units of all families at once; NaN below 6 launches.
    - `p`: p-value of "the unit's deviation is within the fence".
    - `fence`: the largest deviation of a healthy unit.
    """

    shift: FloatArray
    lo: FloatArray
    hi: FloatArray
    p: FloatArray
    n: FloatArray
    fence: float


def deviations(values: FloatArray, *, margin: float, alpha: float, tests: int) -> Deviations:
    """Return the deviation of every unit from the other units of the fleet.

    - `values`: shape (units, launches); logarithms, larger is worse; NaN if a unit lacks a launch.
    - `margin`: deviations up to this size never count, on the scale of the values.
    - `alpha`: the error over `tests` tests, which include the tests of these units.
    """
    level = alpha / tests
    centred = values - _others(values)
    n = np.count_nonzero(~np.isnan(centred), axis=1)
    enough = n >= MIN_LAUNCHES
    shift, spread = _estimates(centred, n)
    fence = max(margin, _between(shift[enough], level))
    typical = float(np.median(spread[enough])) if enough.any() else 0.0
    pool = _residuals(centred[enough], shift[enough], n[enough])
    lo = np.full(len(n), np.nan)
    hi = lo.copy()
    p = lo.copy()
    for count in np.unique(n[enough]):
        tail = _Tail.drawn(pool, int(count), typical)
        units = enough & (n == count)
        scale = _scale(spread[units], typical)
        width = tail.reaches(level) * scale
        lo[units] = shift[units] - width
        hi[units] = shift[units] + width
        p[units] = tail.p(_beyond(shift[units], fence, scale))
    estimate = np.where(enough, shift, np.nan)
    return Deviations(estimate, lo, hi, p, n.astype(np.float64), fence)


def _residuals(centred: FloatArray, shift: FloatArray, n: IntArray) -> FloatArray:
    """Return launches' differences from their unit's shift, enlarged to the size of errors."""
    grown = np.sqrt(n / np.maximum(n - 1, 1))  # residuals are smaller than errors by this
    residuals = (centred - shift[:, None]) * grown[:, None]
    return residuals[~np.isnan(residuals)]


def _beyond(shift: FloatArray, fence: float, scale: FloatArray) -> FloatArray:
    """Return how far shifts are beyond the fence, divided by their scales; 0 within the fence."""
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = np.where(shift > fence, (shift - fence) / scale, 0.0)
    return np.nan_to_num(beyond)


def _others(values: FloatArray) -> FloatArray:
    """Return the reference of each unit in each launch: the median of the other units."""
    if len(values) > _FEW:
        return np.broadcast_to(_median(values), values.shape)
    medians = []
    for unit in range(len(values)):
        others = np.delete(values, unit, axis=0)
        medians.append(_median(others))
    return np.stack(medians)


def _median(values: FloatArray) -> FloatArray:
    present = ~np.isnan(values).all(axis=0)
    medians = np.full(values.shape[1], np.nan)
    medians[present] = np.nanmedian(values[:, present], axis=0)
    return medians


def _estimates(rows: FloatArray, n: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the shift of each unit and the spread of its launches, shapes (units,)."""
    shift = np.full(len(rows), np.nan)
    spread = np.full(len(rows), np.nan)
    ordered = np.sort(rows, axis=1)  # absent values come last
    for count in np.unique(n[n > 1]):
        units = n == count
        shift[units], spread[units] = _trimmed(ordered[units, : int(count)])
    return shift, spread


def _trimmed(ordered: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean of the middle half of each row, and the row's standard deviation."""
    n = ordered.shape[1]
    cut = n // 4
    middle = ordered[:, cut : n - cut]
    return middle.mean(axis=1), ordered.std(axis=1, ddof=1)


def _scale(spread: FloatArray, typical: float) -> FloatArray:
    return np.sqrt((spread**2 + typical**2) / 2)


def _between(shift: FloatArray, level: float) -> float:
    """Return the variation of the estimates of healthy units; 0 below three units.

    With two units, half of the fleet may deviate. The median absolute deviation of n units has
    itself a relative uncertainty of about 1 / sqrt(n).
    """
    if len(shift) < 3:
        return 0.0
    distances = np.abs(shift - np.median(shift))
    mad = float(np.median(distances))
    deviate = -NormalDist().inv_cdf(level)
    uncertainty = 1 + 1 / math.sqrt(len(shift))
    return _MAD_TO_SIGMA * mad * deviate * uncertainty


@dataclass(frozen=True, slots=True)
class _Tail:
    """The upper tail of a healthy unit's standardised shift.

    - `extreme`: the largest values out of `draws` random draws, ascending.
    - `mean_excess`: the mean distance of the extreme draws from the smallest extreme draw.
    """

    extreme: FloatArray
    draws: int
    mean_excess: float

    @classmethod
    def drawn(cls, pool: FloatArray, count: int, typical: float) -> _Tail:
        """Return the tail for units of `count` launches whose residuals are as in `pool`."""
        generator = np.random.default_rng(_SEED)
        extreme = np.zeros(0)
        for _ in range(_DRAWS // _PIECE):
            rows = np.sort(generator.choice(pool, (_PIECE, count)), axis=1)
            shift, spread = _trimmed(rows)
            with np.errstate(divide="ignore", invalid="ignore"):
                standardised = np.nan_to_num(np.abs(shift) / _scale(spread, typical))
            ascending = np.sort(np.concatenate([extreme, standardised]))
            extreme = ascending[-_TAIL:]
        # Both tails were drawn: twice as many draws of either.
        return cls(extreme, 2 * _DRAWS, float((extreme - extreme[0]).mean()))

    @property
    def share(self) -> float:
        """The share of the draws that are in the tail."""
        return len(self.extreme) / self.draws

    def p(self, reached: FloatArray) -> FloatArray:
        """Return the probability that a healthy unit's shift is at least `reached`.

        If `reached` is below the tail, the result is 1, an upper bound.
        """
        begin = self.extreme[0]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            by_fall = self.share * np.exp(-(reached - begin) / self.mean_excess)
        smaller = np.searchsorted(self.extreme, reached, side="left")
        by_draws = (1 - smaller / len(self.extreme)) * self.share
        p = np.where(reached > begin, np.maximum(by_draws, by_fall), 1.0)
        probability: FloatArray = np.maximum(np.nan_to_num(p, nan=1.0), _SMALLEST_P)
        return probability

    def reaches(self, level: float) -> float:
        """Return the quantile of a healthy unit's shift at `level`."""
        if level < self.share:
            return float(self.extreme[0] + self.mean_excess * np.log(self.share / level))
        larger = max(1, int(level * self.draws))
        index = max(len(self.extreme) - larger, 0)
        return float(self.extreme[index])
