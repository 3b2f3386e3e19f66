"""Findings: how each probe compares on each platform, according to all of its points.

A finding combines the points of one probe, or of one class of its message sizes, on one platform.
It claims only results that every point supports. It is "equal" if all points were measured on both
platforms and are equivalent (an intersection-union test, which needs no correction). Otherwise it
has a range and names the worst point. Points of different parameters, ranks or kernels remain
separate and are never averaged, except for `Finding.mean`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from bareline.analysis.numbers.members import Mean
from bareline.analysis.numbers.row import UNDELIVERED, Estimate, Row
from bareline.analysis.numbers.sizes import SizeClass
from bareline.vocabulary.caveats import FAILED_TRIALS, Caveat
from bareline.vocabulary.model import Layer
from bareline.vocabulary.verdicts import Grade, Verdict, grade_of, sure_words

#: The common verdict of several points or findings is the first verdict in this list that any of
#: them has.
ORDER = (
    Verdict.SLOWER, Verdict.MIXED, Verdict.FASTER, Verdict.FAILED, Verdict.INCONCLUSIVE,
    Verdict.MISSING, Verdict.EQUIVALENT, Verdict.NOT_COMPARABLE, Verdict.SKIPPED,
    Verdict.DOES_NOT_FIT,
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """The comparison of one probe, or of one class of its points, on one platform.

    - `points`: every point, including points that could not be compared.
    - `sizes`: the class of sizes in words; empty if the probe has only one class.
    - `where`: the layout in words; empty if the probe has only one layout.
    - `mean`: the comparison of all points together; None if fewer than two points have a ratio.
    """

    title: str
    points: tuple[Row, ...]
    sizes: SizeClass | None = None
    telling: tuple[str, ...] = ()
    where: str = ""
    mean: Mean | None = None

    @property
    def layer(self) -> Layer:
        """The layer of the probe."""
        return self.points[0].layer

    @property
    def probe(self) -> str:
        """The name of the probe."""
        return self.points[0].place.probe

    @property
    def platform(self) -> str:
        """The platform on which the probe was measured."""
        return self.points[0].platform

    @property
    def baseline(self) -> str:
        """The platform with which `platform` is compared."""
        return self.points[0].baseline

    @property
    def rate(self) -> bool:
        """Whether a higher value is better; a worse rate is called "lower" instead of "slower"."""
        return self.points[0].rate

    @cached_property
    def nodes(self) -> int | None:
        """The number of nodes on which the probe ran; None if unknown, or if points differ."""
        used = set()
        for point in self.points:
            if point.place.used:
                used.add(point.place.used)
        if len(used) == 1:
            return used.pop()
        return None

    @property
    def subject(self) -> str:
        """The probe, size class and layout in words."""
        sizes = ""
        if self.sizes:
            sizes = self.sizes.words
        parts = [self.title, sizes, self.where]
        return " ".join(filter(None, parts))

    def label(self, point: Row) -> str:
        """Describe how a point differs from the finding's other points, e.g. ``triad, 4 ranks``."""
        return point.place.words_of(self.telling)

    @property
    def anchor(self) -> str:
        """The name of the link to the finding's evidence on the page."""
        return f"layer-{self.layer.value}"

    @cached_property
    def caveats(self) -> tuple[Caveat, ...]:
        """The caveats of the points, in a fixed order.

        Numbers of failed trials are summed over all cases.
        """
        caveats: dict[Caveat, None] = {}
        lost_in_cases = {}
        for point in self.points:
            caveats |= dict.fromkeys(point.caveats)
            failed = point.n_failed + point.n_failed_baseline
            lost_in_cases[point.place.case] = failed
        others = [caveat for caveat in caveats if caveat.code != FAILED_TRIALS]
        lost = sum(lost_in_cases.values())
        if lost:
            others.append(Caveat(FAILED_TRIALS, some=lost))
        return tuple(others)

    @property
    def own_caveats(self) -> tuple[Caveat, ...]:
        """The caveats of the platform's points, without caveats that the baseline also has."""
        caveats: dict[Caveat, None] = {}
        for point in self.points:
            caveats |= dict.fromkeys(point.own_caveats)
        return tuple(caveats)

    @property
    def reason(self) -> str:
        """Why some points cannot be compared; empty if all points can be compared."""
        reasons = dict.fromkeys(point.reason for point in self.points)
        return "; ".join(filter(None, reasons))

    @cached_property
    def compared(self) -> list[Row]:
        """The points that both platforms measured."""
        return [point for point in self.points if point.compared]

    @cached_property
    def undelivered(self) -> list[Row]:
        """The planned points without a result: they failed or are missing on one platform."""
        return [point for point in self.points if point.verdict in UNDELIVERED]

    @property
    def exact(self) -> bool:
        """Whether both platforms are simulated, so that more launches would show nothing new."""
        return any(point.exact for point in self.points)

    @cached_property
    def verdict(self) -> Verdict:
        """The common verdict of all points.

        A difference outranks missing results, which outrank equality.
        """
        if self.by_mean:
            assert self.mean is not None
            return self.mean.verdict
        each = {point.verdict for point in self.points}
        if {Verdict.SLOWER, Verdict.FASTER} <= each:
            return Verdict.MIXED
        for verdict in ORDER:
            if verdict in each:
                return verdict
        return Verdict.MISSING

    @cached_property
    def by_mean(self) -> bool:
        """Whether the mean of the points differs certainly, but no single point does."""
        if self.mean is None or not self.mean.verdict.decided:
            return False
        claimed = (Grade.CERTAIN, Grade.LIKELY)
        claims = [p for p in self.points if p.grade in claimed]
        alone = any(point.grade is Grade.CERTAIN for point in claims)
        if alone:
            return False
        return all(point.verdict is self.mean.verdict for point in claims)

    @property
    def grade(self) -> Grade:
        """The grade of the verdict; a mixed finding has the grade of its losses."""
        return self.grade_toward(self.verdict)

    def grade_toward(self, verdict: Verdict) -> Grade:
        """Return the grade of a verdict.

        This is the grade of the mean if the mean decides, otherwise of the most certain point. A
        mixed verdict has the grade of its losses, not of its gains.
        """
        if self.by_mean:
            return grade_of(verdict, sure=not self.few_boots)
        side = verdict
        if verdict is Verdict.MIXED:
            side = Verdict.SLOWER
        grades = set()
        for point in self.points:
            if point.verdict is side:
                grades.add(point.grade)
        return grade_of(verdict, sure=Grade.CERTAIN in grades)

    @property
    def few_boots(self) -> bool:
        """Whether the platforms booted so rarely that the finding is valid for these boots only."""
        return self.points[0].few_boots

    def sure_words(self, verdict: Verdict) -> str:
        """Return the word that precedes the amount of a verdict: "likely ", or empty if certain."""
        return sure_words(self.grade_toward(verdict), few_boots=self.few_boots)

    def of(self, verdict: Verdict) -> list[Row]:
        """Return the points with a verdict, certain points first, then by distance from 1."""
        points = [point for point in self.points if point.verdict is verdict]
        return sorted(
            points, key=lambda p: (p.grade is not Grade.CERTAIN, p.ratio is None, -p.size)
        )

    @cached_property
    def worst(self) -> Row | None:
        """The most important point.

        It is the worst loss; without a loss, the largest gain; without both, the point farthest
        from 1.
        """
        for verdict in (Verdict.SLOWER, Verdict.FASTER):
            if points := self.of(verdict):
                return points[0]
        return max(self.compared, key=lambda point: point.size, default=None)

    @property
    def ratio(self) -> Estimate | None:
        """The ratio of the worst point, or of the mean if only the mean is certain."""
        if self.by_mean and self.mean is not None:
            return self.mean.ratio
        if self.worst:
            return self.worst.ratio
        return None

    @property
    def n(self) -> int:
        """The smallest number of launches of any point."""
        return min((point.n_both for point in self.compared), default=0)

    @property
    def weight(self) -> float:
        """The size of the difference, for sorting.

        This is the size of the mean if the mean decides, else of the worst point.
        """
        if self.by_mean and self.mean is not None:
            ratio = self.mean.ratio.value
            return abs(math.log(ratio))
        if self.worst:
            return self.worst.size
        return 0.0
