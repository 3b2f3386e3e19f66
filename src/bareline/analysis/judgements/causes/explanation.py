"""An explanation: the causes of one loss, what they explain together, and what is left.

Causes that rest on one measurement are one factor; factors of different things multiply, parts of a
program's time add up. What would explain more than was lost is withdrawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from bareline.analysis.judgements.causes.cause import DECADE, Cause, Word
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Estimate, Row, with_interval
from bareline.vocabulary.units import listing, significant
from bareline.vocabulary.verdicts import DEFAULT_MARGIN

_Bounds = tuple[float, float | None]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What explains the worst certain loss of a finding, and why other causes are absent."""

    finding: Finding
    point: Row
    causes: tuple[Cause, ...]
    absent: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def standing(self) -> tuple[Cause, ...]:
        """The causes that nothing contradicts."""
        return tuple(cause for cause in self.causes if not cause.withdrawn)

    @property
    def known(self) -> bool:
        """Whether any cause is known."""
        return bool(self.standing)

    @property
    def bounded(self) -> tuple[Cause, ...]:
        """The standing causes of which something bounds what they cost, if that says anything."""
        if self.point.exact:  # between simulations nothing but what was given can differ
            return self.standing
        found = tuple(cause for cause in self.standing if cause.bounded)
        lo, hi = product(found)
        return () if hi is not None and hi / lo > DECADE else found

    @property
    def differing(self) -> tuple[Cause, ...]:
        """The standing causes whose effect was not measured."""
        bounded = self.bounded
        return tuple(cause for cause in self.standing if cause not in bounded)

    @property
    def explained(self) -> _Bounds:
        """Bounds of the factor that the causes explain together; above perhaps by none."""
        return product(self.bounded) if self.bounded else (1.0, None)

    @property
    def measured(self) -> Estimate:
        """The ratio that is explained."""
        assert self.point.ratio is not None
        return self.point.ratio

    @property
    def residual(self) -> tuple[float | None, float | None]:
        """Bounds of what is left: measured over explained."""
        return _over(_ends(self.measured), self.explained)

    @property
    def word(self) -> Word | None:
        """What its causes do together; None where none is known."""
        if not self.bounded:
            return Word.DIFFERS if self.standing else None
        if self.point.exact:
            return Word.EXPLAINS
        if not _may_be_one(*self.residual):
            return Word.CONTRIBUTES
        # What may cost nothing is a possible cause, however well its most fits.
        return Word.MAY_EXPLAIN if self.explained[0] <= 1 + DEFAULT_MARGIN else Word.EXPLAINS

    def word_of(self, cause: Cause) -> Word | None:
        """Give what one of its causes does; None where it is withdrawn."""
        if cause.withdrawn:
            return None
        return self.word if cause in self.bounded else Word.DIFFERS

    @property
    def words(self) -> str:
        """What bounded causes say; what several of them rest on is said once."""
        measured = dict.fromkeys(cause.measured for cause in self.bounded if cause.measured)
        words = dict.fromkeys(cause.words for cause in self.bounded)
        clauses = [*(one for one in words if one not in measured), *measured]
        return "; ".join(clauses) if any(" and " in one for one in clauses) else listing(clauses)

    @property
    def withdrawn(self) -> str:
        """What is no cause after all, each with its reason; empty where nothing was withdrawn."""
        return "; ".join(f"{one.name}: {one.withdrawn}" for one in self.causes if one.withdrawn)

    @property
    def text(self) -> str:
        """Measured, explained and residual in words; what remains comes first where much does."""
        measured = f"measured {with_interval(self.measured)}"
        lo, hi = self.explained
        if self.point.exact:
            return f"simulated {with_interval(self.measured)}, by what was given alone"
        match self.word:
            case Word.EXPLAINS:
                return f"expected {_range(lo, hi)} times, {measured}"
            case Word.MAY_EXPLAIN:
                return f"expected {_at_most(hi)}, {measured}"
            case Word.CONTRIBUTES:
                expected = _at_most(hi) if lo <= 1 + DEFAULT_MARGIN else f"{_range(lo, hi)} times"
                remains = f"{_range(*self.residual)} times remain unexplained"
                return f"{measured}, expected {expected}: {remains}"
            case Word.DIFFERS:
                return f"{measured}, effect not measured"
            case None:
                return "no known cause"


def product(causes: Iterable[Cause]) -> _Bounds:
    """Give the bounds of the factor that causes explain together."""
    groups = groups_of(causes)
    factors = [_factor(group) for group in groups if not group[0].part]
    parts = [_factor(group) for group in groups if group[0].part]
    if parts:
        his = [hi for _, hi in parts]
        most = None if None in his else 1 + sum(hi - 1 for hi in his if hi is not None)
        factors.append((1 + sum(lo - 1 for lo, _ in parts), most))
    his = [hi for _, hi in factors]
    most = None if None in his else math.prod(hi for hi in his if hi is not None)
    return math.prod(lo for lo, _ in factors), most


def groups_of(causes: Iterable[Cause]) -> list[tuple[Cause, ...]]:
    """Put together the causes that rest on one measurement; of the others each is alone."""
    groups: dict[object, list[Cause]] = {}
    for number, cause in enumerate(causes):
        groups.setdefault(cause.measurement or number, []).append(cause)
    return [tuple(group) for group in groups.values()]


def _factor(group: Sequence[Cause]) -> _Bounds:
    his = [cause.hi for cause in group]
    most = None if None in his else max(hi for hi in his if hi is not None)
    return min(cause.lo for cause in group), most


def without_excess(causes: Sequence[Cause], ratio: Estimate) -> tuple[Cause, ...]:
    """Withdraw causes that explain more than was measured, as few as will do."""
    standing = [cause for cause in causes if not cause.withdrawn and cause.bounded]
    reasons: dict[int, str] = {}
    while standing and _excessive(standing, ratio):
        ranked = []
        for group in groups_of(standing):
            others = [cause for cause in standing if cause not in group]
            fits = not _excessive(others, ratio) and _may_be_one(
                *_over(_ends(ratio), product(others))
            )
            lo, _ = _factor(group)
            # First what leaves no residual, then facts before measurements, then the largest.
            rank = (not (others and fits), bool(group[0].measurement), -lo)
            ranked += [(rank, group, others)] if lo > 1 else []
        _, wrong, standing = min(ranked, key=lambda one: one[0])
        reasons.update((id(cause), _excess(wrong, standing, ratio)) for cause in wrong)
    return tuple(
        replace(cause, withdrawn=reasons[id(cause)]) if id(cause) in reasons else cause
        for cause in causes
    )


def _excessive(causes: Sequence[Cause], ratio: Estimate) -> bool:
    _, most = _over(_ends(ratio), product(causes))
    return most is not None and most < 1 / (1 + DEFAULT_MARGIN)


def _excess(group: Sequence[Cause], others: Sequence[Cause], ratio: Estimate) -> str:
    alone = _factor(group)
    _, most = _ends(ratio)
    if most is not None and alone[0] > most:
        return f"it would cost {_range(*alone)} times, more than was measured"
    beside = listing([cause.name for cause in others])
    together = _range(*product([*group, *others]))
    return f"with {beside} it would cost {together} times, more than was measured"


def _ends(ratio: Estimate) -> tuple[float | None, float | None]:
    """Give the ends of a measured ratio; one without an interval is exact, as of a model."""
    if ratio.lo is None and ratio.hi is None:
        return ratio.value, ratio.value
    return ratio.lo, ratio.hi


def _over(
    measured: tuple[float | None, float | None], explained: _Bounds
) -> tuple[float | None, float | None]:
    (low, high), (lo, hi) = measured, explained
    return None if low is None or hi is None else low / hi, None if high is None else high / lo


def _may_be_one(lo: float | None, hi: float | None) -> bool:
    """Tell whether a residual whose bounds are known holds 1, but for what does not matter."""
    if lo is None or hi is None:
        return False
    return lo <= 1 + DEFAULT_MARGIN and hi >= 1 / (1 + DEFAULT_MARGIN)


def _at_most(hi: float | None) -> str:
    return "any amount" if hi is None else f"at most {significant(hi)} times"


def _range(lo: float | None, hi: float | None) -> str:
    if lo is None:
        return "of unknown size" if hi is None else f"at most {significant(hi)}"
    if hi is None:
        return f"at least {significant(lo)}"
    low, high = significant(lo), significant(hi)
    return low if low == high else f"{low} to {high}"
