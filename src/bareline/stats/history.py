"""All changes of level in the histories of many series, or the course of a series without one.

If nothing changed, the order of the runs means nothing, for all series together. The runs are put
into random orders; the highest score of any stretch of any series in them is the reference of the
scores of the data (`bareline.stats.change`). So a p-value is valid over all series, and nothing is
assumed of how they depend on each other: the nights on which the machine was busy are in all of
them. A third of the error is spent on robust scores, of rows with their outliers drawn in: heavy
tails hide a step from the plain ones. They are capped by the largest proof of an arrangement: else
a series without noise and with three outliers, which are together in one order of many, would hide
the changes of all other series.

The same test is applied again on both sides of each change, until no stretch has one.

- *likely*: p is below 5 % in this one look at the history.
- *certain*: p is below ``1 / n^2`` of a history of n runs, the new level has three runs, and a
  straight line is out of the question. The p sum to less than 10.6 % over all looks from the tenth
  run on, however many there will be.

Where runs resemble the run before them, scores are lower for it (`bareline.stats.dependence`). A
stretch that a straight line explains better drifts, and has no step.

Where a few random orders show that nothing changed, no further ones are made.

References
----------
J. Besag, P. Clifford, Sequential Monte Carlo p-values, Biometrika 78 (1991),
doi:10.1093/biomet/78.2.301 (orders until the answer is known).
R. E. Kass, A. E. Raftery, Bayes Factors, Journal of the American Statistical Association 90 (1995),
doi:10.1080/01621459.1995.10476572 (how much better a model must be).
P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing, Wiley (1993), single-step maxT.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats.change import (
    LEAST_RUNS,
    best_model,
    drawn_in,
    highest_scores,
    without_levels,
)
from bareline.stats.dependence import (
    autoregression,
    dependence_alone,
    dependence_together,
)
from bareline.stats.family import ALPHA
from bareline.stats.line import lead_over_line, line_slope
from bareline.stats.position import LevelRatio, Position, level_ratio, locate
from bareline.stats.stack import FloatArray, IntArray, as_stack
from bareline.stats.tails import Tail

MIN_RUNS = 8
"""Four runs before and four after a step are the fewest of which one order in 35 is so extreme."""

_FIRST_CERTAIN_LOOK = 10
_MOST_ORDERS = 999
_LEAST_ORDERS = 199
#: Shares of the error that the plain and the robust scores have.
_WEIGHTS = (0.65, 0.35)
#: Above this p, by the fewest orders, nothing changed.
_PLAINLY_CALM = 0.2
#: By so much Schwarz's criterion must favour levels over a line where a step is certain: a Bayes
#: factor of 20, "strong".
_STRONG = 6.0
#: Whether runs depend on each other is a question of one in twenty.
_DEPENDENCE_ORDERS = 199
#: Values that are put into random orders for one test, at most: it bounds the time of a look.
_MOST_SHUFFLED = 40_000_000
_AT_ONCE = 1 << 21


class Course(StrEnum):
    """The course of a series without a change of level."""

    FEW = "too-few-runs"
    NOTHING = "nothing-found"
    STABLE = "stable"
    DRIFTING = "drifting"
    STEPPED = "stepped"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of level of a series; runs are numbered from 0.

    - `at`: the first run of the new level; `first`, `last`: the runs that it is with 95 %.
    - `p`: the probability of such a score in any series in one look if nothing changed.
    - `ratio`: the level directly after over the level directly before it.
    """

    at: int
    first: int
    last: int
    p: float
    certain: bool
    ratio: LevelRatio


@dataclass(frozen=True, slots=True)
class SeriesCourse:
    """The course of one series.

    - `p`: the smallest p of its stretches.
    - `slope`: relative change per run where it is drifting, with its 95 % interval; else None.
    - `phi`: autoregression of its runs; 0 where none is found.
    """

    course: Course
    changes: tuple[Change, ...]
    p: float
    phi: float
    slope: LevelRatio | None = None


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Present runs of a series that are tested together, by their numbers."""

    series: int
    runs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Cut:
    """Why there is a change at a run: its p, and whether a line is out of the question."""

    p: float
    no_line: bool


@dataclass(frozen=True, slots=True)
class _Tested:
    """A stretch with its best model.

    - `scores`: plain and robust, shape (2,); `null`: the same in each random order, (2, orders).
    - `floor`: the share of all orders that put the same runs together.
    """

    stretch: _Stretch
    scores: FloatArray
    null: FloatArray
    cuts: tuple[int, ...]
    floor: float


def alpha_of_look(runs: int) -> float:
    """Return the p below which a change is certain in a history of so many runs."""
    return 1.0 / runs**2 if runs >= _FIRST_CERTAIN_LOOK else 0.0


def find_changes(values: ArrayLike, *, margin: float, seed: int = 0) -> list[SeriesCourse]:
    """Return the course of each series.

    - `values`: shape (series, runs); positive, in the order of time; NaN where a run lacks it.
    - `margin`: relative difference that does not matter.
    """
    stack = as_stack(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(stack > 0, np.log(np.where(stack > 0, stack, 1.0)), np.nan)
    return _Search(logs, float(np.log1p(margin)), seed).courses()


class _Search:
    def __init__(self, logs: FloatArray, zone: float, seed: int) -> None:
        series, runs = logs.shape
        self._logs = logs
        self._zone = zone
        orders = _MOST_SHUFFLED // max(1, series * runs)
        orders = min(max(orders, _LEAST_ORDERS), _MOST_ORDERS)
        self._keys = np.random.default_rng(seed).random((orders, runs))
        self._whole = [_stretch_of(number, row) for number, row in enumerate(logs)]
        self._phi = self._dependence()

    def courses(self) -> list[SeriesCourse]:
        tested = self._test_whole([one for one in self._whole if len(one.runs) >= MIN_RUNS])
        cuts: dict[int, dict[int, _Cut]] = defaultdict(dict)
        drifting: dict[int, _Stretch] = {}
        least_p: dict[int, float] = defaultdict(lambda: 1.0)
        while True:
            split, closed = self._split(tested, cuts, drifting, least_p)
            if not split:
                break
            tested = [*closed, *self._test(split)]
        return [
            self._course(one, cuts[one.series], drifting.get(one.series), least_p[one.series])
            for one in self._whole
        ]

    def _test_whole(self, stretches: Sequence[_Stretch]) -> list[_Tested]:
        """Test whole series, with all orders only if a few do not show that nothing changed."""
        tested = self._test(stretches, _LEAST_ORDERS)
        if min(_family_p(tested), default=1.0) >= _PLAINLY_CALM:
            return tested
        return self._test(stretches)

    def _split(
        self,
        tested: Sequence[_Tested],
        cuts: dict[int, dict[int, _Cut]],
        drifting: dict[int, _Stretch],
        least_p: dict[int, float],
    ) -> tuple[list[_Stretch], list[_Tested]]:
        """Return new stretches on both sides of changes, and the unchanged ones."""
        parts: list[_Stretch] = []
        closed: list[_Tested] = []
        for one, p in zip(tested, _family_p(tested), strict=True):
            series = one.stretch.series
            least_p[series] = min(least_p[series], p)
            if p >= ALPHA:
                closed.append(one)
                continue
            values = drawn_in(self._values(one.stretch), self._zone)
            lead = lead_over_line(values, one.cuts)
            if lead < 0:
                closed.append(one)
                drifting[series] = one.stretch
                continue
            runs = one.stretch.runs
            cut = _Cut(p, lead >= _STRONG)
            cuts[series] |= {runs[at]: cut for at in one.cuts}
            pairs = pairwise([0, *one.cuts, len(runs)])
            parts += [_Stretch(series, runs[begin:end]) for begin, end in pairs]
        return parts, closed

    # Testing ---------------------------------------------------------------------------------

    def _test(self, stretches: Sequence[_Stretch], most_orders: int | None = None) -> list[_Tested]:
        """Test stretches; those that are too short to part are left out."""
        alike: dict[tuple[int, ...], list[_Stretch]] = defaultdict(list)
        for one in stretches:
            if len(one.runs) >= 2 * LEAST_RUNS:
                alike[one.runs].append(one)
        found = []
        for runs, group in alike.items():
            orders = np.argsort(self._keys[:most_orders, runs], axis=1)
            rows = np.stack([self._values(one) for one in group])
            phi = self._phi[[one.series for one in group]]
            model = best_model(drawn_in(rows, self._zone), self._zone, phi)
            scores = highest_scores(rows, self._zone, phi)
            null = self._shuffled_scores(rows, orders)
            for at, one in enumerate(group):
                begin, end = int(model.begin[at]), int(model.end[at])
                cuts = tuple(cut for cut in (begin, end) if cut < len(runs))
                floor = 2.0 / math.comb(len(runs), end - begin)
                found.append(_Tested(one, scores[:, at], null[:, at], cuts, floor))
        return found

    def _shuffled_scores(self, rows: FloatArray, orders: IntArray) -> FloatArray:
        """Return the highest scores of each row in each order, shape (2, rows, orders)."""
        part = max(1, _AT_ONCE // rows.size)
        return np.concatenate(
            [
                highest_scores(rows[:, orders[begin : begin + part]], self._zone)
                for begin in range(0, len(orders), part)
            ],
            axis=2,
        )

    def _values(self, stretch: _Stretch) -> FloatArray:
        return self._logs[stretch.series, list(stretch.runs)]

    def _dependence(self) -> FloatArray:
        """Return the autoregression of each series, by the runs as they are and without levels."""
        orders = self._keys[:_DEPENDENCE_ORDERS]
        shape = (2, len(self._whole), len(orders))
        observed, shuffled = np.full(shape[:2], np.nan), np.zeros(shape)
        for number, one in enumerate(self._whole):
            if len(one.runs) >= MIN_RUNS:
                values = self._values(one)
                rows = np.concatenate((values[None], values[np.argsort(orders[:, one.runs])]))
                rest = without_levels(rows, best_model(rows, self._zone))
                for which, own in enumerate((rows, rest)):
                    phi = autoregression(own)
                    observed[which, number] = phi[0]
                    shuffled[which, number] = phi[1:]
        together = dependence_together(observed, shuffled)
        alone = dependence_alone(observed[1], shuffled[1])
        return np.maximum(together, alone)

    # The courses -----------------------------------------------------------------------------

    def _course(
        self,
        whole: _Stretch,
        cuts: Mapping[int, _Cut],
        drifting: _Stretch | None,
        least_p: float,
    ) -> SeriesCourse:
        phi = float(self._phi[whole.series])
        if len(whole.runs) < MIN_RUNS:
            return SeriesCourse(Course.FEW, (), 1.0, phi)
        changes = self._changes(whole, cuts)
        slope = None
        course = Course.STEPPED if changes else Course.NOTHING
        if drifting is not None:
            course = Course.DRIFTING
            slope = line_slope(self._values(drifting), phi)
        elif not changes and self._is_stable(whole, phi):
            course = Course.STABLE
        return SeriesCourse(course, changes, least_p, phi, slope)

    def _changes(self, whole: _Stretch, cuts: Mapping[int, _Cut]) -> tuple[Change, ...]:
        """Return the changes at some runs, each placed between its neighbours."""
        runs, values = np.array(whole.runs), self._values(whole)
        reasons = [cuts[run] for run in sorted(cuts)]
        places = [int(np.searchsorted(runs, run)) for run in sorted(cuts)]
        placed = self._placed(values, places)
        # Two changes with less than a level between them are one, which was cut twice.
        while (near := too_near(placed)) is not None:
            dropped = near if reasons[near].p > reasons[near + 1].p else near + 1
            del reasons[dropped], places[dropped]
            placed = self._placed(values, places)
        ends = [0, *(one.at for one in placed), values.size]
        alpha = alpha_of_look(self._logs.shape[1])
        phi = float(self._phi[whole.series])
        changes = []
        for number, (place, reason) in enumerate(zip(placed, reasons, strict=True)):
            before = values[ends[number] : place.at]
            after = values[place.at : ends[number + 2]]
            ratio = level_ratio(before, after, phi)
            certain = reason.p < alpha and reason.no_line
            certain = certain and min(before.size, after.size) >= LEAST_RUNS
            at, first, last = (int(runs[one]) for one in (place.at, place.first, place.last))
            changes.append(Change(at, first, last, reason.p, certain, ratio))
        return tuple(changes)

    def _placed(self, values: FloatArray, places: Sequence[int]) -> list[Position]:
        """Return where changes near some places lie, each between its neighbours."""
        placed: list[Position] = []
        for number in range(len(places)):
            begin = placed[-1].at if placed else 0
            end = places[number + 1] if number + 1 < len(places) else values.size
            here = locate(self._within_levels(values[begin:end], places[number] - begin))
            placed.append(Position(*(begin + one for one in (here.at, here.first, here.last))))
        return placed

    def _within_levels(self, values: FloatArray, place: int) -> FloatArray:
        """Return values with those drawn in that are far outside both levels about a place."""
        parts = values[:place], values[place:]
        levels = [float(np.median(part)) for part in parts if part.size]
        rests = [drawn_in(part, self._zone) - np.median(part) for part in parts if part.size]
        bound = max(float(np.max(np.abs(rest))) for rest in rests)
        return np.clip(values, min(levels) - bound, max(levels) + bound)

    def _is_stable(self, whole: _Stretch, phi: float) -> bool:
        """Whether the two halves are certainly equal within the margin."""
        values = self._values(whole)
        half = values.size // 2
        ratio = level_ratio(values[:half], values[half:], phi)
        bound = math.exp(self._zone)
        return 1.0 / bound < ratio.lo and ratio.hi < bound


def too_near(placed: Sequence[Position]) -> int | None:
    """Return the number of the first change whose level has too few runs; None without one."""
    for number, (one, later) in enumerate(pairwise(placed)):
        if later.at - one.at < LEAST_RUNS:
            return number
    return None


def _stretch_of(series: int, row: FloatArray) -> _Stretch:
    return _Stretch(series, tuple(np.flatnonzero(np.isfinite(row)).tolist()))


def _family_p(tested: Sequence[_Tested]) -> list[float]:
    """Return the probability of each stretch's scores in any of them: a weighted Bonferroni."""
    if not tested:
        return []
    null = np.max([one.null for one in tested], axis=0)
    scores = np.array([one.scores for one in tested])
    found = np.ones(len(tested))
    floors = np.array([one.floor for one in tested])
    for which, weight in enumerate(_WEIGHTS):
        own = scores[:, which]
        p = np.maximum(np.exp(Tail.of(null[which]).log_p(own)), floors)
        found = np.minimum(found, np.where(own > 0, p, 1.0) / weight)
    return [float(p) for p in found]
