"""All changes of level in the histories of many series, or the course of a series without changes.

If nothing changed, the order of the runs has no meaning, for all series together. The runs are put
into random orders. The highest score of any stretch of any series in these orders is the reference
for the scores of the data (`bareline.stats.stretches`, `bareline.stats.change`). So a p-value is
valid over all series, without an assumption about the dependence between series: a night on which
the machine was busy is in all series. Robust scores are computed after outliers were moved to
bounds, because heavy tails hide a step from the plain scores. They are capped by the strongest
evidence that an order can give. Otherwise a series without noise and with three outliers, which are
neighbours in some orders, would hide the changes of all other series.

The same test is applied again on both sides of each change, until no stretch has a change.

- *likely*: p is below 5 % in this one test (look) of the history.
- *certain*: p is below ``1 / n^2`` of a history of n runs, the new level has at least three runs,
  and a straight line does not explain the stretch. The limits ``1 / n^2`` of all looks from the
  tenth run on add up to less than 10.6 %.

If runs depend on the previous run, the scores are reduced (`bareline.stats.dependence`). For the
test whether a change is certain, they are also reduced if the dependence may be chance.

A stretch that a straight line explains better drifts. The residuals from the line are tested again,
for steps upon it. Runs that depend on each other also look like levels: a change must explain a
stretch better than an autoregression without a change. A page of m series has m chances to take a
line or an autoregression for a step. So a change must be better by a Bayes factor of m, and of m^2
if the other model is a line.

If a few random orders show that nothing changed, no further orders are made.

References
----------
J. Besag, P. Clifford, Sequential Monte Carlo p-values, Biometrika 78 (1991),
doi:10.1093/biomet/78.2.301 (orders until the answer is known).
R. E. Kass, A. E. Raftery, Bayes Factors, Journal of the American Statistical Association 90 (1995),
doi:10.1080/01621459.1995.10476572 (how much better a model must be).
J. Ville, Étude critique de la notion de collectif, Gauthier-Villars (1939) (a ratio of likelihoods
that is looked at again and again).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats.change import LEAST_RUNS, drawn_in
from bareline.stats.criterion import without_spikes
from bareline.stats.dependence import lead_over_wandering
from bareline.stats.family import ALPHA
from bareline.stats.launch_array import FloatArray, as_launch_array
from bareline.stats.line import lead_of_steps, lead_over_line, line_slope
from bareline.stats.position import LevelRatio, Position, level_ratio, locate
from bareline.stats.stretches import (
    LEAST_ORDERS,
    MIN_RUNS,
    OrderTest,
    Stretch,
    Tested,
    family_p,
)

_FIRST_CERTAIN_LOOK = 10
#: If the fewest orders give a larger p than this, nothing changed.
_PLAINLY_CALM = 0.2
#: By so much Schwarz's criterion must favour a line with steps over levels: a Bayes factor of 20,
#: "strong".
_STRONG = 6.0
#: The lead of a certain step over a line and over dependence: a Bayes factor of 150, "very strong".
#: Every run brings another look, and a Bayes factor against the true model ever exceeds B with a
#: probability of at most 1 / B.
_VERY_STRONG = 10.0


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

    - `at`: the first run of the new level.
    - `first`, `last`: the range that contains this run with 95 % probability.
    - `p`: the probability that any series reaches such a score in one test if nothing changed.
    - `ratio`: the level directly after the change divided by the level directly before it.
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
    - `slope`: relative change per run of the latest drifting stretch, with its 95 % interval; None
      if no stretch drifts.
    - `phi`: autoregression of the runs; 0 if none is found.
    """

    course: Course
    changes: tuple[Change, ...]
    p: float
    phi: float
    slope: LevelRatio | None = None


@dataclass(frozen=True, slots=True)
class _Cut:
    """The evidence for a change at a run: its p, and whether the change is certain."""

    p: float
    certain: bool


@dataclass(frozen=True, slots=True)
class _Rivals:
    """The leads of a model with changes over other models: differences of Schwarz's criterion.

    - `wandering`: the lead over a model of dependent runs without a change.
    - `line`: the lead over a straight line.
    - `stepped_line`: the lead over a line with steps; None if the changes are steps upon a line.
    """

    wandering: float
    line: float
    stepped_line: float | None

    @property
    def least(self) -> float:
        """The lead of the model with changes over the better of the two models without a change."""
        return min(self.wandering, self.line)

    def is_line(self, least_lead: float) -> bool:
        """Whether a line, with or without steps, explains the stretch better than levels."""
        if self.stepped_line is None:
            return False
        return self.line < least_lead or self.stepped_line < -_STRONG


def _wandering_chances(runs: int) -> float:
    """Return the lead that a model with changes reaches by chance if `runs` runs do not change."""
    return 2.0 * math.log(max(runs / MIN_RUNS, 1.0))


def alpha_of_look(runs: int) -> float:
    """Return the p below which a change is certain in a history of `runs` runs."""
    return 1.0 / runs**2 if runs >= _FIRST_CERTAIN_LOOK else 0.0


def find_changes(values: ArrayLike, *, margin: float, seed: int = 0) -> list[SeriesCourse]:
    """Return the course of each series.

    - `values`: shape (series, runs); positive, in the order of time; NaN if a run lacks a series.
    - `margin`: relative difference that does not matter.
    """
    stack = as_launch_array(values)
    is_positive = stack > 0
    logs = np.where(is_positive, np.log(np.where(is_positive, stack, 1.0)), np.nan)
    return _Search(logs, float(np.log1p(margin)), seed).courses()


@dataclass(slots=True)
class _Findings:
    """The findings about one series: its changes by run, its drifting stretches, its least p."""

    cuts: dict[int, _Cut] = field(default_factory=dict)
    drifting: list[Stretch] = field(default_factory=list)
    least_p: float = 1.0


class _Search:
    """The search for all changes of level of some series.

    - `logs`: shape (series, runs); `zone`: logarithm of the margin.
    """

    def __init__(self, logs: FloatArray, zone: float, seed: int) -> None:
        series, runs = logs.shape
        self._zone = zone
        self._test = OrderTest(logs, zone, seed)
        self._alpha = alpha_of_look(runs)
        self._least_lead = 4.0 * math.log(max(series, 1))
        self._findings = [_Findings() for _ in range(series)]

    def courses(self) -> list[SeriesCourse]:
        """Return the course of each series."""
        whole = self._test.whole
        tested = self._test_whole([stretch for stretch in whole if len(stretch.runs) >= MIN_RUNS])
        while True:
            split, closed = self._split(tested)
            if not split:
                break
            tested = [*closed, *self._test.test(split)]
        return [self._course(stretch) for stretch in whole]

    def _test_whole(self, stretches: Sequence[Stretch]) -> list[Tested]:
        """Return tests of whole series by random orders of their runs.

        If a few orders show that nothing changed, no further orders are used.
        """
        tested = self._test.test(stretches, LEAST_ORDERS)
        if min(family_p(tested), default=1.0) >= _PLAINLY_CALM:
            return tested
        return self._test.test(stretches)

    def _split(self, tested: Sequence[Tested]) -> tuple[list[Stretch], list[Tested]]:
        """Return the new stretches to test, and the tested stretches without a change.

        New stretches are the parts on both sides of a change, and drifting stretches that may have
        steps.
        """
        parts: list[Stretch] = []
        closed: list[Tested] = []
        plain = family_p(tested)
        strict = family_p(tested, strict=True)
        for result, p, strict_p in zip(tested, plain, strict, strict=True):
            findings = self._findings[result.stretch.series]
            findings.least_p = min(findings.least_p, p)
            further = self._parts(result, p, strict_p) if p < ALPHA else []
            if further:
                parts += further
            else:
                closed.append(result)
        return parts, closed

    def _parts(self, tested: Tested, p: float, strict_p: float) -> list[Stretch]:
        """Return the stretches between changes; empty if there is neither a change nor a drift.

        A stretch that drifts is returned undivided, for a test of steps upon its line.
        """
        stretch = tested.stretch
        findings = self._findings[stretch.series]
        rivals = self._rivals(tested)
        if rivals.is_line(self._least_lead):
            findings.drifting.append(stretch)
            return [replace(stretch, drifts=True)]
        runs = stretch.runs
        if rivals.wandering < self._least_lead / 2.0 + _wandering_chances(len(runs)):
            return []
        certain = strict_p < self._alpha and rivals.least >= self._least_lead + _VERY_STRONG
        for place in tested.cuts:
            findings.cuts[runs[place]] = _Cut(p, certain)
        pairs = pairwise([0, *tested.cuts, len(runs)])
        return [replace(stretch, runs=runs[begin:end]) for begin, end in pairs]

    def _rivals(self, tested: Tested) -> _Rivals:
        """Return how much better changes explain a stretch of runs than other models do."""
        stretch = tested.stretch
        values = without_spikes(self._test.values(stretch), self._zone)
        wandering = lead_over_wandering(values, tested.cuts, drifts=stretch.drifts)
        if stretch.drifts:
            return _Rivals(wandering, lead_of_steps(values, tested.cuts), None)
        lead = lead_over_line(values, tested.cuts)
        return _Rivals(wandering, lead.plain, lead.stepped)

    # The courses -----------------------------------------------------------------------------

    def _course(self, whole: Stretch) -> SeriesCourse:
        findings = self._findings[whole.series]
        phi = self._phi(whole)
        if len(whole.runs) < MIN_RUNS:
            return SeriesCourse(Course.FEW, (), 1.0, phi)
        values = self._test.values(whole)
        slope = None
        for stretch in sorted(findings.drifting, key=lambda drifting: drifting.runs):
            slope = self._slope(stretch)
            begin = whole.runs.index(stretch.runs[0])
            values = _without_drift(values, begin, stretch, slope)
        changes = self._changes(whole, values)
        course = Course.STEPPED if changes else Course.NOTHING
        if slope is not None:
            course = Course.DRIFTING
        elif not changes and self._is_stable(values, phi):
            course = Course.STABLE
        return SeriesCourse(course, changes, findings.least_p, phi, slope)

    def _phi(self, stretch: Stretch) -> float:
        """Return the autoregression of a stretch's series."""
        return float(self._test.dependence.evident[stretch.series])

    def _slope(self, stretch: Stretch) -> LevelRatio:
        """Return the change per run of a drifting stretch of runs; its steps do not count."""
        runs = stretch.runs
        changed = self._findings[stretch.series].cuts
        cuts = [runs.index(run) for run in sorted(changed) if run in runs[1:]]
        values = without_spikes(self._test.values(stretch), self._zone)
        return line_slope(values, self._phi(stretch), cuts)

    def _changes(self, whole: Stretch, values: FloatArray) -> tuple[Change, ...]:
        """Return the changes of a series; each is located between the changes next to it.

        - `values`: the values of the series' runs, without any drift.
        """
        placed, reasons = self._placed_apart(whole, values)
        ends = [0, *(position.at for position in placed), values.size]
        phi = self._phi(whole)
        changes = []
        for number, (place, reason) in enumerate(zip(placed, reasons, strict=True)):
            before = values[ends[number] : place.at]
            after = values[place.at : ends[number + 2]]
            certain = reason.certain and min(before.size, after.size) >= LEAST_RUNS
            changes.append(
                Change(
                    at=whole.runs[place.at],
                    first=whole.runs[place.first],
                    last=whole.runs[place.last],
                    p=reason.p,
                    certain=certain,
                    ratio=level_ratio(before, after, phi),
                )
            )
        return tuple(changes)

    def _placed_apart(
        self, whole: Stretch, values: FloatArray
    ) -> tuple[list[Position], list[_Cut]]:
        """Return the positions of a series' changes and their evidence.

        If a level between two changes has too few runs, the change with the larger p is dropped.
        """
        cuts = self._findings[whole.series].cuts
        changed = sorted(cuts)
        reasons = [cuts[run] for run in changed]
        places = np.searchsorted(whole.runs, changed).tolist()
        placed = self._placed(values, places)
        # Two changes with less than a level between them are one, which was cut twice.
        while (near := too_near(placed)) is not None:
            dropped = near if reasons[near].p > reasons[near + 1].p else near + 1
            del reasons[dropped]
            del places[dropped]
            placed = self._placed(values, places)
        return placed, reasons

    def _placed(self, values: FloatArray, places: Sequence[int]) -> list[Position]:
        """Return the position of each change near `places`, between the changes next to it."""
        placed: list[Position] = []
        begin = 0
        ends = [*places, values.size][1:]
        for place, end in zip(places, ends, strict=True):
            within = self._within_levels(values[begin:end], place - begin)
            position = locate(within).moved(begin)
            placed.append(position)
            begin = position.at
        return placed

    def _within_levels(self, values: FloatArray, place: int) -> FloatArray:
        """Return the values; values far from the levels before and after `place` are clipped."""
        levels = []
        bounds = []
        for part in (values[:place], values[place:]):
            if part.size:
                level = np.median(part)
                rest = drawn_in(part, self._zone) - level
                levels.append(float(level))
                bounds.append(float(np.max(np.abs(rest))))
        bound = max(bounds)
        return np.clip(values, min(levels) - bound, max(levels) + bound)

    def _is_stable(self, values: FloatArray, phi: float) -> bool:
        """Whether the first and the second half are certainly equal within the margin."""
        half = values.size // 2
        ratio = level_ratio(values[:half], values[half:], phi)
        bound = math.exp(self._zone)
        return 1.0 / bound < ratio.lo and ratio.hi < bound


def too_near(placed: Sequence[Position]) -> int | None:
    """Return the index of the first change too near to the next change; None if there is none."""
    for number, (earlier, later) in enumerate(pairwise(placed)):
        if later.at - earlier.at < LEAST_RUNS:
            return number
    return None


def _without_drift(
    values: FloatArray, begin: int, stretch: Stretch, slope: LevelRatio
) -> FloatArray:
    """Return the values of a series without the drift of a stretch that begins at index `begin`.

    Later runs keep their distance from the last run of the stretch.
    """
    drifted = np.clip(np.arange(values.size) - begin, 0, len(stretch.runs) - 1)
    return values - math.log(slope.value) * drifted
