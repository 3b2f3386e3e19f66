"""Tests of stretches of runs for changes of level, by random orders of the runs.

The same orders are used for all series, so that no assumption is made about the dependence between
series. The highest score of any stretch in an order is the reference of all scores.

References
----------
P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing, Wiley (1993), single-step maxT.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bareline.stats.change import (
    LEAST_RUNS,
    best_model,
    drawn_in,
    highest_scores,
    without_levels,
    without_line,
)
from bareline.stats.dependence import Dependence, autoregression, dependence
from bareline.stats.launch_array import FloatArray, IntArray
from bareline.stats.tails import Tail

MIN_RUNS = 8
"""The least number of runs of a stretch: four before and four after a step.

Only one order in 35 is as extreme as such a step.
"""
LEAST_ORDERS = 199
"""The number of random orders that usually suffices to show that nothing changed."""

_MOST_ORDERS = 999
#: Weights of the plain and the robust scores.
_WEIGHTS = (0.65, 0.35)
#: Random orders that show how much runs resemble each other by chance.
_DEPENDENCE_ORDERS = 199
#: Values that are put into random orders for one test, at most: it bounds the time of a look.
_MOST_SHUFFLED = 40_000_000
#: The fewest runs in which steps upon a line are looked for.
_LEAST_DRIFTING = 20
_AT_ONCE = 1 << 21


@dataclass(frozen=True, slots=True)
class Stretch:
    """Runs of a series that are tested together.

    - `runs`: the numbers of the runs, without runs that lack the series.
    - `drifts`: whether steps upon a line are tested, instead of steps from a level.
    """

    series: int
    runs: tuple[int, ...]
    drifts: bool = False


@dataclass(frozen=True, slots=True)
class Tested:
    """A stretch with its best model and its scores.

    - `scores`: plain and robust score, shape (2,).
    - `null`: the scores in each random order, shape (2, orders).
    - `strict_scores`: the scores with the estimated dependence between runs, even if this
      dependence may be chance.
    - `floor`: the share of all orders in which the same runs form the group that differs.
    """

    stretch: Stretch
    scores: FloatArray
    strict_scores: FloatArray
    null: FloatArray
    cuts: tuple[int, ...]
    floor: float


def stretch_of(series: int, row: FloatArray) -> Stretch:
    """Return the stretch of all present runs of a series."""
    return Stretch(series, tuple(np.flatnonzero(np.isfinite(row)).tolist()))


class OrderTest:
    """Test whether consecutive runs (a stretch) of a series differ from it, by random orders.

    - `logs`: shape (series, runs); NaN if a run lacks a series.
    - `zone`: logarithm of the margin.
    """

    def __init__(self, logs: FloatArray, zone: float, seed: int) -> None:
        self._logs = logs
        self._zone = zone
        orders = _MOST_SHUFFLED // max(1, logs.size)
        orders = min(max(orders, LEAST_ORDERS), _MOST_ORDERS)
        self._keys = np.random.default_rng(seed).random((orders, logs.shape[1]))
        self.whole = [stretch_of(number, row) for number, row in enumerate(logs)]
        self.dependence = self._find_dependence()

    def values(self, stretch: Stretch) -> FloatArray:
        """Return the logarithms of a stretch, shape (n,)."""
        return self._logs[stretch.series, list(stretch.runs)]

    def test(self, stretches: Sequence[Stretch], most_orders: int | None = None) -> list[Tested]:
        """Return the tested stretches; stretches that are too short to be divided are left out."""
        alike: dict[tuple[tuple[int, ...], bool], list[Stretch]] = defaultdict(list)
        for stretch in stretches:
            least = _LEAST_DRIFTING if stretch.drifts else 2 * LEAST_RUNS
            if len(stretch.runs) >= least:
                alike[stretch.runs, stretch.drifts].append(stretch)
        tested: list[Tested] = []
        for group in alike.values():
            tested += self._test_group(group, most_orders)
        return tested

    def _test_group(self, group: Sequence[Stretch], most_orders: int | None) -> list[Tested]:
        """Return the tests of stretches that have the same runs."""
        runs = group[0].runs
        drifts = group[0].drifts
        rows = np.stack([self.values(stretch) for stretch in group])
        if drifts:
            rows = without_line(rows)
        series = [stretch.series for stretch in group]
        phi = self.dependence.evident[series]
        possible = self.dependence.possible[series]
        model = best_model(drawn_in(rows, self._zone), self._zone, phi, drifts=drifts)
        scores = highest_scores(rows, self._zone, phi, drifts=drifts)
        strict_scores = highest_scores(rows, self._zone, possible, drifts=drifts)
        orders = np.argsort(self._keys[:most_orders, runs], axis=1)
        null = self._shuffled_scores(rows, orders, drifts=drifts)
        tested = []
        for number, stretch in enumerate(group):
            begin = int(model.begin[number])
            end = int(model.end[number])
            tested.append(
                Tested(
                    stretch=stretch,
                    scores=scores[:, number],
                    strict_scores=strict_scores[:, number],
                    null=null[:, number],
                    cuts=tuple(cut for cut in (begin, end) if cut < len(runs)),
                    floor=2.0 / math.comb(len(runs), end - begin),
                )
            )
        return tested

    def _shuffled_scores(self, rows: FloatArray, orders: IntArray, *, drifts: bool) -> FloatArray:
        """Return the highest scores of each row in each order, shape (2, rows, orders)."""
        count = max(1, _AT_ONCE // rows.size)
        parts = []
        for begin in range(0, len(orders), count):
            shuffled = rows[:, orders[begin : begin + count]]
            parts.append(highest_scores(shuffled, self._zone, drifts=drifts))
        return np.concatenate(parts, axis=2)

    def _find_dependence(self) -> Dependence:
        """Return the autoregression of each series."""
        keys = self._keys[:_DEPENDENCE_ORDERS]
        runs = np.array([len(stretch.runs) for stretch in self.whole])
        observed = np.full(runs.shape, np.nan)
        shuffled = np.zeros((*runs.shape, len(keys)))
        for number, stretch in enumerate(self.whole):
            if len(stretch.runs) < MIN_RUNS:
                continue
            values = self.values(stretch)[None]
            rest = without_levels(values, best_model(values, self._zone))
            reordered = rest[0][np.argsort(keys[:, stretch.runs])]
            model = best_model(reordered, self._zone)
            observed[number] = autoregression(rest)[0]
            shuffled[number] = autoregression(without_levels(reordered, model))
        return dependence(runs, observed, shuffled)


def family_p(tested: Sequence[Tested], *, strict: bool = False) -> list[float]:
    """Return for each stretch the probability that any stretch reaches its scores by chance.

    The larger evidence of plain and robust scores is compared with the same quantity in the random
    orders. The two kinds of scores mostly agree, so the sum of their errors would be too large.

    - `strict`: whether `Tested.strict_scores` are used.
    """
    if not tested:
        return []
    null = np.max([result.null for result in tested], axis=0)
    scores = np.array([result.scores for result in tested])
    if strict:
        scores = np.array([result.strict_scores for result in tested])
    floors = np.array([result.floor for result in tested])
    tails = [Tail.of(kind_scores) for kind_scores in null]
    of_orders = Tail.of(_evidence(tails, null))
    p = np.exp(of_orders.log_p(_evidence(tails, scores.T)))
    has_scores = scores.any(axis=1)
    values: list[float] = np.where(has_scores, np.maximum(p, floors), 1.0).tolist()
    return values


def _evidence(tails: Sequence[Tail], scores: FloatArray) -> FloatArray:
    """Return the larger of the weighted evidence of plain and robust scores.

    The arguments have shape (2, ...), plain scores first.
    """
    weighted = []
    for weight, tail, kind_scores in zip(_WEIGHTS, tails, scores, strict=True):
        weighted.append(math.log(weight) - tail.log_p(kind_scores))
    return np.asarray(np.maximum(np.max(weighted, axis=0), 0.0))
