"""The division of a measured term among the facts that change it.

If benchmarks of the layer below measured a term, its measured value counts, and the facts divide
this value among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bareline.analysis.judgements.causes.cause import Cause, Term
from bareline.analysis.judgements.causes.share import NOTHING, Share, total
from bareline.analysis.judgements.causes.terms import LINK_FULL, MeasuredTerm
from bareline.vocabulary.verdicts import DEFAULT_MARGIN

#: Terms whose facts are factors of a product: instructions per clock, and clocks per second.
MULTIPLY = (Term.ARITHMETIC,)


@dataclass(frozen=True, slots=True)
class TermShare:
    """The extra time of a term as a share of the baseline's time, and the rules of its causes.

    - `rest`: the part of the term that the causes of these rules do not explain.
    - `probe`: the probe that measured the term; empty if only facts limit it.
    - `words`: the probe's result in words; empty if only facts limit the term.
    - `predicts`: the term is also a term of the prediction, and is never removed from the sum.
    """

    term: Term
    share: Share
    rules: tuple[str, ...]
    rest: Share = NOTHING
    probe: str = ""
    words: str = ""
    predicts: bool = False


@dataclass(frozen=True, slots=True)
class Division:
    """A measured term and its parts: for each fact's rule, the part that the fact explains."""

    measured: MeasuredTerm
    parts: Mapping[str, Share]

    @classmethod
    def of(cls, measured: MeasuredTerm, causes: Sequence[Cause]) -> Division:
        """Divide a term among the causes that change it.

        If the term contradicts these causes, there are no parts.
        """
        if measured.refuses:
            return cls(measured, {})
        facts = [cause for cause in causes if measured.term in cause.terms and not cause.withdrawn]
        return cls(measured, _parts(measured, facts))

    @property
    def matters(self) -> bool:
        """Whether the term may exceed the margin, so that it counts."""
        if self.measured.predicts:
            return True
        share = self.measured.share
        if self.measured.refuses:
            return share.value >= DEFAULT_MARGIN
        return share.hi >= DEFAULT_MARGIN

    @property
    def term(self) -> TermShare:
        """The term with its rest: the part that its facts do not explain."""
        measured = self.measured
        rest = measured.share
        if self.parts:
            divided = total(self.parts.values())
            rest = rest.less(divided)
        return TermShare(
            measured.term,
            measured.share,
            tuple(self.parts),
            rest,
            measured.probe,
            measured.words,
            measured.predicts,
        )


def _parts(measured: MeasuredTerm, facts: Sequence[Cause]) -> dict[str, Share]:
    """Return the part of each fact in a measured term, by the name of the fact's rule.

    A fact that certainly has an effect gets the part that the uncertain facts leave. If several
    facts possibly have an effect, the part of each is from 0 to its full cost.
    """
    alone = len(facts) == 1
    certain = [cause for cause in facts if cause.certain]
    possible = [_PossibleFact(cause, measured, alone) for cause in facts if not cause.certain]
    usual_parts = _divided(measured.share.value, possible)
    parts: dict[str, Share] = {}
    for fact, usual in zip(possible, usual_parts, strict=True):
        part = fact.part(usual, beside_certain=bool(certain))
        parts[fact.cause.rule] = part
    for cause in certain:
        remainder = _remainder(cause, measured.share, parts)
        parts[cause.rule] = remainder
        parts = {rule: share for rule, share in parts.items() if share.hi > 0}
    return parts


@dataclass(frozen=True, slots=True)
class _PossibleFact:
    """A fact that possibly has an effect, and the measured term that it changes.

    - `alone`: no other fact changes the term.
    """

    cause: Cause
    measured: MeasuredTerm
    alone: bool

    def part(self, usual: float, *, beside_certain: bool) -> Share:
        """Return the part of the term that the fact explains.

        - `usual`: the part of the term's estimate that was assigned to the fact.
        - `beside_certain`: another fact certainly has an effect, so that the part may be 0.
        """
        cost = self.cause.share
        lo = self._least
        hi = min(self.measured.share.hi, self.most)
        if cost is not None and self._is_factor:
            usual = min(usual, cost.hi)
            lo = 0.0
            hi = self.measured.share.hi
        if beside_certain:
            usual = min(usual, hi)
            if cost is None:
                usual = 0.0
        return Share.within(lo, usual, hi)

    @property
    def most(self) -> float:
        """The largest part of the term that the fact may explain."""
        cost = self.cause.share
        if cost is None:
            return self.measured.share.hi
        if self.measured.term in MULTIPLY and not self.alone:
            return within_product(cost, self.measured.share)
        return cost.hi

    @property
    def _least(self) -> float:
        """The smallest part of the term that the fact may explain.

        This part is never larger than the term's estimate, even if the fact's cost is larger than
        the whole term.
        """
        whole = self.measured.share
        least = 0.0
        if self.alone:
            least = max(0.0, whole.lo)
        elif self.cause.share is not None:
            least = max(0.0, self.cause.share.lo)
        value = max(0.0, whole.value)
        return min(least, self.most, whole.hi, value)

    @property
    def _is_factor(self) -> bool:
        """Whether an unknown factor also slows the computing that the fact slows.

        This is so if the fact's cost is certainly lower than the measured term of computing. The
        unknown factor multiplies the fact's cost, so that the fact may explain any part of the
        term.
        """
        cost = self.cause.share
        if not self.alone or cost is None:
            return False
        if self.measured.term is not Term.COMPUTING:
            return False
        return cost.hi < self.measured.share.lo


def _remainder(cause: Cause, whole: Share, parts: Mapping[str, Share]) -> Share:
    """Return the part of a term that other facts leave to a cause with a certain effect."""
    assert cause.share is not None
    taken = min(total(parts.values()).hi, whole.hi)
    untaken = whole.less(Share(0.0, 0.0, taken))
    left = untaken.without_gain()
    most = cause.share.hi / LINK_FULL
    return Share.within(min(left.lo, most), min(left.value, most), min(left.hi, most))


def within_product(factor: Share, whole: Share) -> float:
    """Return the largest part of a product's extra time that a factor may cause.

    This is the time that the product saves without the factor, divided by the baseline's time.
    """
    without_factor = 1 / (1 + factor.hi)
    return (1 + whole.hi) * (1 - without_factor)


def _divided(whole: float, facts: Sequence[_PossibleFact]) -> list[float]:
    """Divide a share among facts.

    A fact with a known cost gets this cost. The facts without a known cost get equal parts of the
    rest.
    """
    whole = max(0.0, whole)
    values = [0.0] * len(facts)
    silent: list[tuple[float, int]] = []
    for number, fact in enumerate(facts):
        cost = fact.cause.share
        if cost is not None and cost.lo > 0:
            values[number] = min(fact.most, cost.value, whole)
        else:
            silent.append((fact.most, number))
    rest = max(0.0, whole - sum(values))
    # Facts with the least room come first, so that the rest gets the part that they cannot take.
    silent.sort()
    for position, (most, number) in enumerate(silent):
        even = rest / (len(silent) - position)
        values[number] = min(most, even)
        rest -= values[number]
    return values
