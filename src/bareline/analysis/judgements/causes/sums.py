"""The sum of an explanation: its terms, the facts that share them, and the terms in excess.

A term that a rung below measured counts as measured, whatever its facts are; its facts share it. A
term that nothing measured counts as much as its facts cost.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from bareline.analysis.judgements.causes.cause import Cause, Term
from bareline.analysis.judgements.causes.share import NOTHING, Share, total
from bareline.analysis.judgements.causes.terms import LINK_FULL, MeasuredTerm
from bareline.vocabulary.units import listing, percent
from bareline.vocabulary.verdicts import DEFAULT_MARGIN

#: Terms whose facts multiply: instructions a clock, and clocks a second.
_MULTIPLY = (Term.ARITHMETIC,)


@dataclass(frozen=True, slots=True)
class TermShare:
    """The extra time of a term over the baseline's time, and the rules of causes that share it.

    - `rest`: the part of it that these causes leave.
    - `probe`, `words`: the rung that measured it, and its figure; empty where only facts bound it.
    - `predicts`: it is also a term of the prediction, and is never withdrawn.
    """

    term: Term
    share: Share
    rules: tuple[str, ...]
    rest: Share = NOTHING
    probe: str = ""
    words: str = ""
    predicts: bool = False


@dataclass(frozen=True, slots=True)
class Sum:
    """The terms of an operation's extra time, and all causes: shared out, refused, or differing."""

    terms: tuple[TermShare, ...]
    causes: tuple[Cause, ...]

    @property
    def share(self) -> Share:
        """The sum of all terms."""
        return total(term.share for term in self.terms)


def sum_of(causes: Sequence[Cause], measured: Sequence[MeasuredTerm], loss: Share) -> Sum:
    """Divide measured terms among the facts that change them, and add terms of facts alone.

    Terms that together exceed the `loss` certainly are withdrawn, as few as possible.
    """
    judged = [_judged(cause, measured) for cause in causes]
    divisions = [_Division.of(term, judged) for term in measured]
    priced = [_priced(cause, divisions) for cause in judged]
    measured_terms = {term.term for term in measured}
    by_factors, priced = _multiplied(priced, measured_terms)
    by_facts = _by_facts(priced, measured_terms)
    of_rungs = []
    for division in divisions:
        if division.matters:
            of_rungs.append(division.term)
    return _without_excess(Sum((*of_rungs, *by_factors, *by_facts), tuple(priced)), loss)


# Facts that a measurement contradicts ------------------------------------------------------------


def _judged(cause: Cause, measured: Sequence[MeasuredTerm]) -> Cause:
    """Withdraw a fact of one measured term, where the measurement contradicts it."""
    if cause.withdrawn:
        return cause
    for term in measured:
        if cause.terms != (term.term,):
            continue
        reason = _contradiction(cause, term)
        if reason:
            return replace(cause, withdrawn=reason, share=None)
    return cause


def _contradiction(cause: Cause, measured: MeasuredTerm) -> str:
    """Return why a measured term contradicts a fact; empty where it does not.

    A link that is nearly full also loses to heads, which its rate does not include: an excess of
    that size is not a contradiction.
    """
    if measured.refuses:
        return measured.refuses
    most = max(0.0, measured.share.hi)
    if most < DEFAULT_MARGIN:
        return f"it costs at most {percent(most, 2)} of the baseline's time: {measured.words}"
    if cause.share is None:
        return ""
    least = cause.share.lo
    if LINK_FULL * least <= most + DEFAULT_MARGIN:
        return ""
    cost = f"{percent(least, 3)} of the baseline's time at least"
    return f"it would cost {cost}, but {measured.words}"


# A measured term among its facts -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Division:
    """A measured term, and the part of it that each fact has, by the rule of the fact."""

    measured: MeasuredTerm
    parts: Mapping[str, Share]

    @classmethod
    def of(cls, measured: MeasuredTerm, causes: Sequence[Cause]) -> _Division:
        """Divide a term among the causes that change it.

        A term that contradicts them has no parts.
        """
        if measured.refuses:
            return cls(measured, {})
        facts = [cause for cause in causes if measured.term in cause.terms and not cause.withdrawn]
        return cls(measured, _parts(measured, facts))

    @property
    def matters(self) -> bool:
        """Whether the term may add something that is not within the margin."""
        if self.measured.predicts:
            return True
        share = self.measured.share
        if self.measured.refuses:
            most = share.value
        else:
            most = share.hi
        return most >= DEFAULT_MARGIN

    @property
    def term(self) -> TermShare:
        """The term, with the part that its facts leave."""
        measured = self.measured
        rest = measured.share
        if self.parts:
            rest = rest.less(total(self.parts.values()))
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
    """Return the part of each fact in a measured term, by its rule.

    Facts that are certainly at work have the part that the remaining facts leave. Where several may
    be at work, each may have from nothing to all that it can cost.
    """
    alone = len(facts) == 1
    certain = [cause for cause in facts if cause.certain]
    possible = [cause for cause in facts if not cause.certain]
    room = [_most(cause, measured, alone=alone) for cause in possible]
    usual = _divided(measured.share.value, room, possible)
    parts: dict[str, Share] = {}
    for cause, most, value in zip(possible, room, usual, strict=True):
        parts[cause.rule] = _possible_part(
            cause, measured, most, value, alone=alone, beside_certain=bool(certain)
        )
    for cause in certain:
        parts[cause.rule] = _remainder(cause, measured.share, parts)
        parts = {rule: share for rule, share in parts.items() if share.hi > 0}
    return parts


def _possible_part(
    cause: Cause,
    measured: MeasuredTerm,
    most: float,
    usual: float,
    *,
    alone: bool,
    beside_certain: bool,
) -> Share:
    """Return the part of a fact that may be at work.

    - `most`: the most that it can have; `usual`: its part of the term's value.
    - `alone`: no other fact changes the term.
    - `beside_certain`: another fact is certainly at work, so that this one may have nothing.
    """
    bounds = _bounds(cause, measured.share, most, alone=alone)
    value = usual
    if cause.share is not None and _is_factor(cause, measured, alone=alone):
        value = min(value, cause.share.hi)
        bounds = Share(value, 0.0, measured.share.hi)
    if beside_certain:
        if cause.share is None:
            value = 0.0
        else:
            value = min(value, bounds.hi)
    return Share.within(bounds.lo, value, bounds.hi)


def _bounds(cause: Cause, whole: Share, most: float, *, alone: bool) -> Share:
    """Return the least and the most that a fact has of a term.

    A fact with a larger cost than was measured has at least the measured value, not its upper end.
    """
    if alone:
        least = whole.lo
    elif cause.share is not None:
        least = cause.share.lo
    else:
        least = 0.0
    hi = min(whole.hi, most)
    lo = min(max(0.0, least), most, hi, max(0.0, whole.value))
    return Share(lo, lo, hi)


def _remainder(cause: Cause, whole: Share, parts: Mapping[str, Share]) -> Share:
    """Return the part of a term that the other facts leave to one that is certainly at work."""
    assert cause.share is not None
    taken = min(total(parts.values()).hi, whole.hi)
    left = whole.less(Share(0.0, 0.0, taken)).without_gain()
    most = cause.share.hi / LINK_FULL
    return Share.within(min(left.lo, most), min(left.value, most), min(left.hi, most))


def _is_factor(cause: Cause, measured: MeasuredTerm, *, alone: bool) -> bool:
    """Whether a fact of computing costs certainly less than the term: another factor multiplies it.

    It may then have any part of the term, although by itself it costs no more than its bound.
    """
    if not alone or cause.share is None or measured.term is not Term.COMPUTING:
        return False
    return cause.share.hi < measured.share.lo


def _most(cause: Cause, measured: MeasuredTerm, *, alone: bool) -> float:
    """Return the most that a fact can have of a measured term."""
    if cause.share is None:
        return measured.share.hi
    if measured.term in _MULTIPLY and not alone:
        return _within_product(cause.share, measured.share)
    return cause.share.hi


def _within_product(factor: Share, whole: Share) -> float:
    """Return the most that a factor has of a product: without it all is shorter by the factor."""
    return (1 + whole.hi) * (1 - 1 / (1 + factor.hi))


def _divided(whole: float, room: Sequence[float], facts: Sequence[Cause]) -> list[float]:
    """Divide a share: first the known costs of facts, then the rest evenly.

    - `room`: the most that each fact can have.
    """
    whole = max(0.0, whole)
    values = [0.0] * len(facts)
    silent: list[tuple[float, int]] = []
    for number, (cause, most) in enumerate(zip(facts, room, strict=True)):
        if cause.share is not None and cause.share.lo > 0:
            values[number] = min(most, cause.share.value, whole)
        else:
            silent.append((most, number))
    rest = max(0.0, whole - sum(values))
    # Facts with the least room come first, so that the rest gets the part that they cannot take.
    for position, (most, number) in enumerate(sorted(silent)):
        values[number] = min(most, rest / (len(silent) - position))
        rest -= values[number]
    return values


def _priced(cause: Cause, divisions: Sequence[_Division]) -> Cause:
    """Return a cause with its parts of measured terms; withdrawn where all of its terms acquit it.

    A cause whose term was measured, and that has no part of it, has no share of its own either.
    """
    if cause.withdrawn or not cause.terms:
        return cause
    of_terms = []
    for part in divisions:
        if part.measured.term in cause.terms:
            of_terms.append(part.measured)
    refusals = {}
    for measured in of_terms:
        if measured.refuses:
            refusals[measured.term] = measured.refuses
    if refusals.keys() == set(cause.terms):
        reasons = dict.fromkeys(refusals.values())
        return replace(cause, withdrawn="; ".join(reasons), share=None)
    parts = []
    for part in divisions:
        if cause.rule in part.parts:
            parts.append(part.parts[cause.rule])
    if parts:
        return replace(cause, share=total(parts))
    if of_terms:
        return replace(cause, share=None)
    return cause


# Terms that no rung measured ---------------------------------------------------------------------


def _multiplied(
    causes: Sequence[Cause], measured: Collection[Term]
) -> tuple[list[TermShare], list[Cause]]:
    """Return the terms of facts that multiply each other, and all causes.

    Of a product each factor may have up to its own share times all other factors.
    """
    terms: list[TermShare] = []
    changed = list(causes)
    for term in _MULTIPLY:
        if term in measured:
            continue
        factors = {}
        for number, cause in enumerate(causes):
            if term in cause.terms and cause.share is not None and not cause.withdrawn:
                factors[number] = cause.share
        if not factors:
            continue
        whole = _product([*factors.values()])
        terms.append(TermShare(term, whole, tuple(causes[number].rule for number in factors)))
        for number, factor in factors.items():
            most = max(factor.hi, _within_product(factor, whole))
            changed[number] = replace(causes[number], share=replace(factor, hi=most))
    return terms, changed


def _by_facts(causes: Sequence[Cause], measured: Collection[Term]) -> list[TermShare]:
    """Return the terms whose cost only facts bound."""
    elsewhere = {*measured, *_MULTIPLY}
    terms: list[TermShare] = []
    for cause in causes:
        if cause.share is None or cause.withdrawn or elsewhere.intersection(cause.terms):
            continue
        if cause.terms:
            term = cause.terms[0]
        else:
            term = Term.MODEL
        terms.append(TermShare(term, cause.share, (cause.rule,)))
    return terms


def _product(factors: Sequence[Share]) -> Share:
    """Return the extra time of factors together: 0.5 and 0.2 more are 0.8 more."""
    return Share(
        math.prod(1 + factor.value for factor in factors) - 1,
        math.prod(1 + factor.lo for factor in factors) - 1,
        math.prod(1 + factor.hi for factor in factors) - 1,
    )


# Terms that would add more than was lost ---------------------------------------------------------


def _without_excess(whole: Sum, loss: Share) -> Sum:
    """Withdraw terms that together certainly exceed the loss, as few as possible."""
    terms = list(whole.terms)
    causes = list(whole.causes)
    while _excessive(terms, loss):
        costly = [term for term in terms if term.share.lo > 0 and not term.predicts]
        if not costly:
            break
        wrong = min(costly, key=lambda term: _rank(term, terms, loss))
        terms.remove(wrong)
        rules = [rule for term in terms for rule in term.rules]
        others = rules or [term.probe for term in terms]
        reason = _excess(wrong, others, loss)
        causes = [_refuted(cause, wrong, reason) for cause in causes]
    return Sum(tuple(terms), tuple(causes))


def _refuted(cause: Cause, wrong: TermShare, reason: str) -> Cause:
    """Return a cause, withdrawn if it shares a term that is wrong."""
    if cause.rule not in wrong.rules:
        return cause
    return replace(cause, withdrawn=reason, share=None)


def _rank(term: TermShare, terms: Sequence[TermShare], loss: Share) -> tuple[bool, bool, float]:
    """Order terms to withdraw: if no rest is left then, facts before measurements, the largest."""
    others = [other for other in terms if other is not term]
    left = loss.less(total(other.share for other in others))
    fits = not _excessive(others, loss) and left.holds(0.0, DEFAULT_MARGIN)
    return not (others and fits), bool(term.probe), -term.share.lo


def _excessive(terms: Sequence[TermShare], loss: Share) -> bool:
    """Whether terms together certainly exceed a loss."""
    least = total(term.share for term in terms).lo
    return least > loss.hi + DEFAULT_MARGIN * (1 + loss.hi)


def _excess(wrong: TermShare, others: Sequence[str], loss: Share) -> str:
    amount = f"{percent(wrong.share.lo, 3)} of the baseline's time at least"
    if wrong.share.lo > loss.hi or not others:
        return f"it would cost {amount}, more than was measured"
    return f"with {listing(list(others))} it would cost more than was measured: {amount} by itself"
