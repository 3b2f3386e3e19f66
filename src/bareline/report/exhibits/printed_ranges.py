"""Published ranges of ratios, compared with the ratios of a run.

A ratio counts only if the run could have missed the range. Ratios that follow from the parameters
of a simulated platform do not count: the slowdown of its computation is a parameter, and messages
within a node cost the same on all simulated platforms. Ratios of computations that were recorded
while other programs ran do not count either, because they depend on the machine's load. A bound is
a range with one open end. Because a ratio is inside a bound more easily, bounds are counted
separately.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bareline.analysis.judgements.losses import is_disturbed, is_given
from bareline.analysis.numbers.row import Row
from bareline.published.catalogue import conditions
from bareline.report.content.published import PublishedPoint
from bareline.vocabulary.units import plain

#: A printed number becomes a range by this factor, because it was read off a figure or rounded.
SINGLE = 1.25


@dataclass(frozen=True, slots=True)
class RangeComparison:
    """A cell's ratio (above 1 is worse) and a published range; an open end of the range is None."""

    ratio: float
    low: float | None
    high: float | None
    cell: Row

    @property
    def is_given(self) -> bool:
        """Whether the ratio follows from a parameter of the simulated platform."""
        return is_given(self.cell)

    @property
    def is_disturbed(self) -> bool:
        """Whether the ratio is of a computation that was recorded on a busy machine."""
        return is_disturbed(self.cell)

    @property
    def counts(self) -> bool:
        """Whether the ratio counts: it is neither a given parameter nor from a busy machine."""
        return not (self.is_given or self.is_disturbed)

    @property
    def inside(self) -> bool:
        """Whether the ratio is inside the range."""
        low = self.low or 0.0
        high = math.inf if self.high is None else self.high
        return low <= self.ratio <= high

    @property
    def is_bound(self) -> bool:
        """Whether one end of the range is open."""
        return self.low is None or self.high is None

    @property
    def off(self) -> float:
        """The factor between the ratio and the middle of the range; at least 1."""
        ends = [end for end in (self.low, self.high) if end]
        middle = math.exp(statistics.fmean(map(math.log, ends)))
        return math.exp(abs(math.log(self.ratio / middle)))


@dataclass(frozen=True, slots=True)
class RatioLine:
    """A published ratio, compared with each result of the run to which it applies."""

    point: PublishedPoint
    comparisons: tuple[RangeComparison, ...]

    @classmethod
    def of(cls, point: PublishedPoint, ratios: Iterable[tuple[Row, float]]) -> RatioLine:
        """Return the line of a published ratio with the given cells and their ratios."""
        low, high = range_of(point)
        return cls(point, tuple(RangeComparison(ratio, low, high, cell) for cell, ratio in ratios))

    @property
    def counting(self) -> tuple[RangeComparison, ...]:
        """The comparisons whose result counts for the score."""
        return tuple(comparison for comparison in self.comparisons if comparison.counts)

    @property
    def inside(self) -> int:
        """The number of comparisons that count and whose ratio is inside the range."""
        return sum(comparison.inside for comparison in self.counting)

    @property
    def kind(self) -> str:
        """How the comparisons are counted: as "a range", as "a bound", or why they do not count."""
        if not self.counting:
            return "given, not counted" if self.comparisons[0].is_given else "busy, not counted"
        return "a bound" if self.comparisons[0].is_bound else "a range"

    @property
    def span(self) -> str:
        """The range of the run's ratios, in words."""
        ratios = [comparison.ratio for comparison in self.comparisons]
        low = min(ratios)
        high = max(ratios)
        return plain(low) if low == high else f"{plain(low)} to {plain(high)}"

    @property
    def title(self) -> str:
        """The benchmark, metric, platform and condition of the published ratio."""
        ratio = self.point.ratio
        quantity = f"{ratio.benchmark} {ratio.metric.replace('_', ' ')}"
        parts = (quantity, self.point.platform, conditions(ratio.conditions))
        return ", ".join(filter(None, parts))


def range_of(point: PublishedPoint) -> tuple[float | None, float | None]:
    """Return the ends of the range with which ratios are compared; an open end is None.

    A single printed number becomes a range around this number.
    """
    if point.low is not None and point.low == point.high:
        return point.middle / SINGLE, point.middle * SINGLE
    return point.low, point.high


@dataclass(frozen=True, slots=True)
class RangeScore:
    """Numbers of ratios that count and do not count, and of ratios inside their range.

    - `counted`: ratios that are compared with a range with two ends.
    - `inside`: the part of `counted` that is inside the range.
    - `bounds`: ratios that are compared with a range with an open end.
    - `bounds_inside`: the part of `bounds` that is inside the range.
    - `given`: ratios that do not count because they are parameters of a simulated platform.
    - `disturbed`: ratios that do not count because they were recorded on a busy machine.
    - `off`: the median factor between a counted ratio and the middle of its range.
    - `coin`: the number of ratios to expect inside by chance, if ratios were uniform on a log scale
      from `least` to `most`, which is the range of all ratios printed for these platforms.
    """

    inside: int
    counted: int
    bounds_inside: int
    bounds: int
    given: int
    disturbed: int
    off: float
    coin: float
    least: float
    most: float

    @property
    def words(self) -> str:
        """The score in sentences."""
        parts = [
            f"{self.inside} of {self.counted} points lie inside the printed range, "
            f"{self.counted - self.inside} outside."
        ]
        if self.counted:
            parts.append(
                f"Half of them are within {self.off:.2g} times of its middle; a coin, drawn "
                f"evenly from {self.least:.3g} to {self.most:.3g} times, would have "
                f"{self.coin:.1f} inside."
            )
        if self.bounds:
            parts.append(f"Of {self.bounds} that meet a bound on one side {self.bounds_inside} do.")
        if self.given:
            parts.append(
                f"{self.given} more are not counted: a simulated platform is given how long it "
                "computes, and what messages cost within a node."
            )
        if self.disturbed:
            parts.append(
                f"{self.disturbed} more are not counted: their computation was recorded while "
                "other programs ran; run it again on a machine at rest."
            )
        return " ".join(parts)


def score(comparisons: Sequence[RangeComparison], printed: Sequence[float] = ()) -> RangeScore:
    """Return the score of the comparisons.

    - `printed`: the ends of all printed ranges, including ranges for which the run has no value.
    """
    given = sum(comparison.is_given for comparison in comparisons)
    counting = [comparison for comparison in comparisons if comparison.counts]
    ranges = [comparison for comparison in counting if not comparison.is_bound]
    bounds = [comparison for comparison in counting if comparison.is_bound]
    ends = [*_ends(ranges), *(end for end in printed if end > 0)]
    least = min(ends, default=1.0)
    most = max(ends, default=1.0)
    off = statistics.median(comparison.off for comparison in ranges) if ranges else 1.0
    return RangeScore(
        inside=sum(comparison.inside for comparison in ranges),
        counted=len(ranges),
        bounds_inside=sum(comparison.inside for comparison in bounds),
        bounds=len(bounds),
        given=given,
        disturbed=len(comparisons) - len(ranges) - len(bounds) - given,
        off=off,
        coin=_inside_by_chance(ranges, math.log(most / least) or 1.0),
        least=least,
        most=most,
    )


def _ends(ranges: Iterable[RangeComparison]) -> list[float]:
    ends: list[float] = []
    for comparison in ranges:
        ends += [end for end in (comparison.low, comparison.high) if end]
    return ends


def _inside_by_chance(ranges: Iterable[RangeComparison], log_span: float) -> float:
    """Return how many ratios would be in their ranges if they were uniform on a log scale."""
    chances: list[float] = []
    for comparison in ranges:
        if comparison.low and comparison.high:
            chances.append(math.log(comparison.high / comparison.low) / log_span)
    return sum(chances)
