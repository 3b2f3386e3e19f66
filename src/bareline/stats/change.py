"""How strongly a stretch of runs asks for a change of level: one value a run, many rows at once.

A row is compared with two models. A *step* is one level before a run and another one from it on. An
*excursion* is one level that is left at a run and returned to at a later one; a test for steps
alone is blind to it. The score of a model is its log likelihood ratio over a single level,

    score = nu/2 log(1 + t^2/nu),    nu = n - 2,

with Student's t of the two groups, whose difference counts from half of the margin; a difference
within the margin scores 0. An excursion has one position more, and pays log n for it.

References
----------
A. B. Olshen, E. S. Venkatraman, R. Lucito, M. Wigler, Circular binary segmentation for the
analysis of array-based DNA copy number data, Biostatistics 5 (2004),
doi:10.1093/biostatistics/kxh008.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bareline.stats.stack import FloatArray, IntArray

LEAST_RUNS = 3
"""A level is that of at least so many runs."""

#: Runs that give one value time and again would have no spread to measure a step by.
LEAST_SPREAD = 1e-4
NORMAL_MAD = 1.4826
"""The standard deviation of a normal distribution by its median absolute deviation."""

#: Outliers are drawn in to so many standard deviations, and to no fewer margins.
_FAR = 3.0
_FAR_ZONES = 1.5
#: Lengths of excursions grow by this factor: their ends are refined afterwards.
_GROWTH = 1.25


@dataclass(frozen=True, slots=True)
class BestModel:
    """The model that explains each row best.

    - `score`: shape (rows,); 0 where no difference is beyond the margin.
    - `begin`, `end`: shape (rows,); the group that differs is ``begin <= run < end``; a step has
      ``end == n``.
    """

    score: FloatArray
    begin: IntArray
    end: IntArray


def highest_scores(rows: FloatArray, zone: float, phi: FloatArray | float = 0.0) -> FloatArray:
    """Return the highest plain and the highest robust score of each row, shape (2, ...).

    A robust score is that of the row with its outliers drawn in (`drawn_in`), and at most the
    logarithm of the number of ways to choose the group.

    - `rows`: shape (..., n); logarithms, complete.
    - `zone`: logarithm of the margin.
    - `phi`: shape (...); autoregression of each row: its t is divided by
      ``sqrt((1 + phi) / (1 - phi))``, as its levels are known the worse.
    """
    plain = _highest(rows, zone, phi)
    robust = _highest(drawn_in(rows, zone), zone, phi, capped=True)
    return np.stack((plain, robust))


def drawn_in(rows: FloatArray, zone: float) -> FloatArray:
    """Return rows whose outliers are at their bounds: three normal standard deviations by the MAD.

    The order of the runs plays no part, so that random orders remain a fair reference. Bounds are
    no nearer than one and a half margins, or an outlier would lie within the margin.
    """
    middle = np.median(rows, axis=-1, keepdims=True)
    spread = NORMAL_MAD * np.median(np.abs(rows - middle), axis=-1, keepdims=True)
    bound = np.maximum(_FAR * spread, _FAR_ZONES * zone)
    return np.clip(rows, middle - bound, middle + bound)


def _highest(
    rows: FloatArray, zone: float, phi: FloatArray | float, *, capped: bool = False
) -> FloatArray:
    """Return the highest score of each row, capped or not, shape (...)."""
    sums, total_square = _moments(rows)
    n = rows.shape[-1]
    share = np.asarray((1.0 - phi) / (1.0 + phi))
    steps = _step_scores(sums, total_square, zone, share)
    if capped:
        caps = [_log_ways(n, count) - math.log(2.0) for count in _counts(n)]
        steps = np.minimum(steps, caps)
    highest = steps.max(axis=-1)
    for length in _lengths(n):
        apart = np.abs(_excursion_sums(sums, length)).max(axis=-1)
        score = _score(apart, length, n, total_square, zone, share)
        if capped:
            score = np.minimum(score, _log_ways(n, length))
        np.maximum(highest, score - math.log(n), out=highest)
    return np.asarray(highest)


def _log_ways(n: int, count: int) -> float:
    """Return the logarithm of the number of ways to choose some of n runs."""
    return math.lgamma(n + 1) - math.lgamma(count + 1) - math.lgamma(n - count + 1)


def _counts(n: int) -> range:
    """Return the numbers of runs that may be before a step."""
    return range(LEAST_RUNS, n - LEAST_RUNS + 1)


def best_model(rows: FloatArray, zone: float, phi: FloatArray | float = 0.0) -> BestModel:
    """Return the model with the highest score of each row; parameters as `highest_scores`."""
    sums, total_square = _moments(rows)
    n = rows.shape[-1]
    share = np.asarray((1.0 - phi) / (1.0 + phi))
    steps = _step_scores(sums, total_square, zone, share)
    score = steps.max(axis=-1)
    begin = steps.argmax(axis=-1) + LEAST_RUNS
    end = np.full(score.shape, n)
    for length in _lengths(n):
        apart = np.abs(_excursion_sums(sums, length))
        highest = _score(apart.max(axis=-1), length, n, total_square, zone, share)
        found = highest - math.log(n)
        better = found > score
        first = apart.argmax(axis=-1) + LEAST_RUNS
        score = np.where(better, found, score)
        begin = np.where(better, first, begin)
        end = np.where(better, first + length, end)
    return BestModel(np.maximum(score, 0.0), begin, end)


def without_levels(rows: FloatArray, model: BestModel) -> FloatArray:
    """Return rows, shape (rows, n), without the levels of their best models, where they score."""
    runs = np.arange(rows.shape[-1])
    inside = (runs >= model.begin[:, None]) & (runs < model.end[:, None])
    within = np.mean(rows, axis=-1, where=inside, keepdims=True)
    without = np.mean(rows, axis=-1, where=~inside, keepdims=True)
    levels = np.where(inside, within, without)
    return rows - np.where(model.score[:, None] > 0, levels, 0.0)


def _moments(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sums of the first 0 .. n values about the mean, and the sum of all squares."""
    centred = rows - rows.mean(axis=-1, keepdims=True)
    sums = np.zeros((*rows.shape[:-1], rows.shape[-1] + 1))
    np.cumsum(centred, axis=-1, out=sums[..., 1:])
    return sums, np.einsum("...i,...i->...", centred, centred)


def _step_scores(
    sums: FloatArray, total_square: FloatArray, zone: float, share: FloatArray
) -> FloatArray:
    n = sums.shape[-1] - 1
    before = np.array(_counts(n))
    apart = np.abs(sums[..., LEAST_RUNS : n - LEAST_RUNS + 1])
    return _score(apart, before, n, total_square[..., None], zone, share[..., None])


def _lengths(n: int) -> list[int]:
    """Return the lengths of excursions that leave a level of enough runs on both sides."""
    found = []
    length = LEAST_RUNS
    while length <= n - 2 * LEAST_RUNS:
        found.append(length)
        length = max(length + 1, int(length * _GROWTH))
    return found


def _excursion_sums(sums: FloatArray, length: int) -> FloatArray:
    """Return the sum, about the mean, of each possible excursion of a length."""
    n = sums.shape[-1] - 1
    last = n - LEAST_RUNS - length
    return sums[..., LEAST_RUNS + length : last + length + 1] - sums[..., LEAST_RUNS : last + 1]


def _score(
    apart: FloatArray,
    count: int | IntArray,
    n: int,
    total_square: FloatArray,
    zone: float,
    share: FloatArray,
) -> FloatArray:
    """Return the score of a group of `count` runs, whose values about the mean sum to `apart`.

    - `share`: independent runs in each run.
    """
    scale = 1.0 / count + 1.0 / (n - count)
    size = apart * scale
    freedom = n - 2
    variance = np.maximum((total_square - apart * size) / freedom, LEAST_SPREAD**2)
    beyond = np.maximum(size - zone / 2.0, 0.0)
    t_square = share * beyond * beyond / (variance * scale)
    score = 0.5 * freedom * np.log1p(t_square / freedom)
    return np.where(size > zone, score, 0.0)
