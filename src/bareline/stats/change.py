"""The evidence for a change of level in a stretch of runs: one value per run, many rows at once.

A row is compared with two models. A *step* is one level before a run and another level from that
run on. An *excursion* is a level that the row leaves at a run and returns to at a later run; a test
for steps alone does not find excursions. The score of a model is its log likelihood ratio to a
single level,

    score = nu/2 log(1 + t^2/nu),    nu = n - 2,

with Student's t of the two groups of runs. Their difference is measured from half of the margin; a
difference within the margin scores 0. An excursion has one more position than a step, for which log
n is subtracted.

If a stretch drifts, a straight line replaces the single level, and both models are steps upon the
line.

If each run depends on the previous run with an autoregression phi, a level of L runs is known as
well as from ``L / f`` independent runs, with

    f = (1 + phi)/(1 - phi) - 2 phi (1 - phi^L) / (L (1 - phi)^2).

A short level loses less by the dependence than a long level.

References
----------
G. E. P. Box, G. M. Jenkins, G. C. Reinsel, Time Series Analysis, 4th edition, Wiley (2008), section
2.1 (the variance of a mean of dependent values).
A. B. Olshen, E. S. Venkatraman, R. Lucito, M. Wigler, Circular binary segmentation for the
analysis of array-based DNA copy number data, Biostatistics 5 (2004),
doi:10.1093/biostatistics/kxh008.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bareline.stats.launch_array import BoolArray, FloatArray, IntArray

LEAST_RUNS = 3
"""The least number of runs that make a level."""

#: Runs that give the same value again and again would have no spread to measure a step by.
LEAST_SPREAD = 1e-4
NORMAL_MAD = 1.4826
"""The standard deviation of a normal distribution over its median absolute deviation."""

#: Outliers are drawn in to this many standard deviations, and at least this many margins.
_FAR = 3.0
_FAR_ZONES = 1.5
#: Lengths of excursions grow by this factor: their ends are refined afterwards.
_GROWTH = 1.25


@dataclass(frozen=True, slots=True)
class BestModel:
    """The model with the highest score of each row.

    - `score`: shape (rows,); 0 if no difference is beyond the margin.
    - `begin`, `end`: shape (rows,); the group that differs is ``begin <= run < end``; a step has
      ``end == n``.
    """

    score: FloatArray
    begin: IntArray
    end: IntArray


def highest_scores(
    rows: FloatArray, zone: float, phi: FloatArray | float = 0.0, *, drifts: bool = False
) -> FloatArray:
    """Return the highest plain and the highest robust score of each row, shape (2, ...).

    A robust score is the score of the row after its outliers were moved to bounds (`drawn_in`). It
    is at most the logarithm of the number of ways to choose the group of runs that differs.

    - `rows`: shape (..., n); logarithms, complete.
    - `zone`: logarithm of the margin.
    - `phi`: shape (...); autoregression of each row.
    - `drifts`: whether steps upon a line are scored, instead of steps from a level.
    """
    plain = _Moments.of(rows, zone, phi, drifts=drifts).highest()
    centred = without_line(rows) if drifts else rows
    robust = _Moments.of(drawn_in(centred, zone), zone, phi, drifts=drifts).highest(capped=True)
    return np.stack((plain, robust))


def drawn_in(rows: FloatArray, zone: float) -> FloatArray:
    """Return the rows with outliers moved to bounds of three standard deviations.

    The standard deviation is estimated from the median absolute deviation.

    The bounds do not depend on the order of the runs, so that random orders remain a fair
    reference. They are at least one and a half margins from the median, because otherwise an
    outlier would be within the margin.
    """
    middle = np.median(rows, axis=-1, keepdims=True)
    distances = np.abs(rows - middle)
    spread = NORMAL_MAD * np.median(distances, axis=-1, keepdims=True)
    bound = np.maximum(_FAR * spread, _FAR_ZONES * zone)
    return np.clip(rows, middle - bound, middle + bound)


def without_line(rows: FloatArray) -> FloatArray:
    """Return the rows minus the straight line of each row, shape (..., n)."""
    n = rows.shape[-1]
    time = np.arange(n) - (n - 1) / 2.0
    centred = rows - rows.mean(axis=-1, keepdims=True)
    slope = centred @ time / (time @ time)
    return np.asarray(centred - slope[..., None] * time)


def best_model(
    rows: FloatArray, zone: float, phi: FloatArray | float = 0.0, *, drifts: bool = False
) -> BestModel:
    """Return the model with the highest score of each row; parameters as for `highest_scores`."""
    moments = _Moments.of(rows, zone, phi, drifts=drifts)
    n = rows.shape[-1]
    steps = moments.step_scores()
    score = steps.max(axis=-1)
    begin = steps.argmax(axis=-1) + LEAST_RUNS
    end = np.full(score.shape, n)
    for length in _lengths(n):
        highest, first = moments.best_excursion(length)
        better = highest > score
        score = np.where(better, highest, score)
        begin = np.where(better, first, begin)
        end = np.where(better, first + length, end)
    return BestModel(np.maximum(score, 0.0), begin, end)


def without_levels(rows: FloatArray, model: BestModel) -> FloatArray:
    """Return the rows minus the levels of their best models, shape (rows, n).

    Rows whose model scores 0 keep their level. A level is a median, because an outlier or a single
    run of the next level would change a mean for all runs.
    """
    runs = np.arange(rows.shape[-1])
    inside = (runs >= model.begin[:, None]) & (runs < model.end[:, None])
    level_inside = _median_where(rows, inside)
    level_outside = _median_where(rows, ~inside)
    levels = np.where(inside, level_inside, level_outside)
    scores = model.score[:, None] > 0
    return rows - np.where(scores, levels, 0.0)


def _median_where(rows: FloatArray, chosen: BoolArray) -> FloatArray:
    """Return the median of the chosen values of each row, shape (rows, 1)."""
    chosen_first = np.where(chosen, rows, np.inf)
    ascending = np.sort(chosen_first, axis=1)
    count = chosen.sum(axis=1, keepdims=True)
    lower = np.maximum(count - 1, 0) // 2
    below = np.take_along_axis(ascending, lower, axis=1)
    above = np.take_along_axis(ascending, count // 2, axis=1)
    return np.asarray((below + above) / 2.0)


@dataclass(frozen=True, slots=True)
class _Moments:
    """Sums over the runs of each row, from which every score is computed.

    - `sums`: shape (..., n + 1); sums of the first 0 .. n values about the level or the line.
    - `total_square`: shape (...); sum of squares of all values about the level or the line.
    - `phi`: shape (..., 1), or 0 for all rows.
    """

    sums: FloatArray
    total_square: FloatArray
    zone: float
    phi: FloatArray | float
    drifts: bool

    @classmethod
    def of(
        cls, rows: FloatArray, zone: float, phi: FloatArray | float, *, drifts: bool
    ) -> _Moments:
        """Return the sums of rows; parameters as for `highest_scores`."""
        centred = without_line(rows) if drifts else rows - rows.mean(axis=-1, keepdims=True)
        *stack, n = rows.shape
        sums = np.zeros((*stack, n + 1))
        np.cumsum(centred, axis=-1, out=sums[..., 1:])
        total_square = np.einsum("...i,...i->...", centred, centred)
        by_group = np.asarray(phi)[..., None] if np.any(phi) else 0.0
        return cls(sums, total_square, zone, by_group, drifts)

    @property
    def n(self) -> int:
        """The number of runs."""
        return int(self.sums.shape[-1]) - 1

    def highest(self, *, capped: bool = False) -> FloatArray:
        """Return the highest score of each row, shape (...).

        - `capped`: whether a score is at most the logarithm of the number of ways to choose the
          group of runs that differs.
        """
        n = self.n
        steps = self.step_scores()
        if capped:
            ways = np.array([_log_ways(n, count) for count in _counts(n).tolist()])
            steps = np.minimum(steps, ways - math.log(2.0))
        highest = steps.max(axis=-1)
        for length in _lengths(n):
            score, _ = self.best_excursion(length)
            if capped:
                cap = _log_ways(n, length) - math.log(n)
                score = np.minimum(score, cap)
            np.maximum(highest, score, out=highest)
        return np.asarray(highest)

    def step_scores(self) -> FloatArray:
        """Return the score of a step at each run from the third on, shape (..., runs)."""
        before = _counts(self.n)
        apart = np.abs(self.sums[..., before])
        return self._scores(apart, np.zeros_like(before), before)

    def best_excursion(self, length: int) -> tuple[FloatArray, IntArray]:
        """Return the highest score of a temporary level of `length` runs, and its first run."""
        apart = self._excursion_sums(length)
        count = np.array([length])
        if self.drifts:
            begin = np.arange(LEAST_RUNS, LEAST_RUNS + apart.shape[-1])
            scores = self._scores(apart, begin, count)
            best = scores.argmax(axis=-1)
        else:
            # From a level, the excursion with the largest sum has the highest score.
            best = apart.argmax(axis=-1)
            largest = np.take_along_axis(apart, best[..., None], axis=-1)
            scores = self._scores(largest, np.array([LEAST_RUNS]), count)
        return scores.max(axis=-1) - math.log(self.n), best + LEAST_RUNS

    def _excursion_sums(self, length: int) -> FloatArray:
        """Return the absolute sum of each group of `length` runs, shape (..., groups)."""
        last = self.n - LEAST_RUNS - length
        at_begin = self.sums[..., LEAST_RUNS : last + 1]
        at_end = self.sums[..., LEAST_RUNS + length : last + length + 1]
        return np.abs(at_end - at_begin)

    def _scores(self, apart: FloatArray, begin: IntArray, count: IntArray) -> FloatArray:
        """Return the scores of groups of `count` runs from `begin` on.

        - `apart`: shape (..., groups); the absolute sum of the values of each group.
        - `begin`, `count`: shape (groups,) or (1,).
        """
        scale = 1.0 / self._norms(begin, count)
        size = apart * scale
        parameters = 3 if self.drifts else 2
        freedom = self.n - parameters
        rest = self.total_square[..., None] - apart * size
        variance = np.maximum(rest / freedom, LEAST_SPREAD**2)
        beyond = np.maximum(size - self.zone / 2.0, 0.0)
        t_square = beyond * beyond / (variance * scale)
        if np.any(self.phi):
            t_square = t_square * _independent_share(count, self.n, self.phi)
        score = 0.5 * freedom * np.log1p(t_square / freedom)
        return np.where(size > self.zone, score, 0.0)

    def _norms(self, begin: IntArray, count: IntArray) -> FloatArray:
        """Return the sum of squares of the residuals of each group's indicator.

        The indicator is 1 in the group and 0 outside. A level or a line is fitted to it, and
        subtracted.
        """
        n = self.n
        about_level = count * (n - count) / n
        if not self.drifts:
            return np.asarray(about_level)
        time_sum = count * (begin + (count - n) / 2.0)
        by_line = time_sum**2 * 12.0 / (n**3 - n)
        return np.asarray(about_level - by_line)


def _independent_share(count: IntArray, n: int, phi: FloatArray | float) -> FloatArray:
    """Return the factor by which dependence between runs reduces t^2 of a group.

    - `phi`: shape (..., 1); the result has shape (..., groups).
    """
    inside = _repetitions(count, phi)
    outside = _repetitions(n - count, phi)
    others = n - count
    independent = 1.0 / count + 1.0 / others
    dependent = inside / count + outside / others
    # A level of few runs follows these runs, so that their spread looks smaller.
    spread = np.maximum(n - inside - outside, 1.0) / (n - 2.0)
    return np.asarray(independent / dependent * np.minimum(spread, 1.0))


def _repetitions(count: IntArray, phi: FloatArray | float) -> FloatArray:
    """Return the number of runs that count as one independent run in the mean of `count` runs."""
    rest = 1.0 - np.asarray(phi)
    of_long_level = (2.0 - rest) / rest
    fewer_neighbours = 2.0 * phi * (1.0 - phi**count) / (count * rest**2)
    return np.asarray(of_long_level - fewer_neighbours)


def _log_ways(n: int, count: int) -> float:
    """Return the logarithm of the number of ways to choose `count` of n runs."""
    orders = math.lgamma(n + 1)
    return orders - math.lgamma(count + 1) - math.lgamma(n - count + 1)


def _counts(n: int) -> IntArray:
    """Return the possible numbers of runs before a step."""
    return np.arange(LEAST_RUNS, n - LEAST_RUNS + 1)


def _lengths(n: int) -> list[int]:
    """Return the lengths of an excursion (temporary level) that leave a level before and after."""
    lengths = []
    length = LEAST_RUNS
    while length <= n - 2 * LEAST_RUNS:
        lengths.append(length)
        length = max(length + 1, int(length * _GROWTH))
    return lengths
