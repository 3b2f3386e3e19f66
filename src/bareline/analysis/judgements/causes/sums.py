"""The sum of an explanation: its terms, the facts that divide them, and terms that are too large.

If benchmarks of the layer below measured a term, the measured value counts, and the term's facts
divide this value. If nothing measured a term, it is as large as the costs of its facts.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from bareline.analysis.judgements.causes.cause import Cause, Term
from bareline.analysis.judgements.causes.division import (
    MULTIPLY,
    Division,
    TermShare,
    within_product,
)
from bareline.analysis.judgements.causes.share import Share, total
from bareline.analysis.judgements.causes.terms import LINK_FULL, MeasuredTerm
from bareline.vocabulary.units import listing, percent
from bareline.vocabulary.verdicts import DEFAULT_MARGIN


@dataclass(frozen=True, slots=True)
class Sum:
    """The terms of an operation's extra time, and all causes, including contradicted causes."""

    terms: tuple[TermShare, ...]
    causes: tuple[Cause, ...]

    @property
    def share(self) -> Share:
        """The sum of all terms."""
        return total(term.share for term in self.terms)


def sum_of(causes: Sequence[Cause], measured: Sequence[MeasuredTerm], loss: Share) -> Sum:
    """Divide measured terms among the facts that change them; add the terms that only facts bound.

    If the terms together certainly exceed `loss`, as few of them as possible are removed.
    """
    judged = [_judged(cause, measured) for cause in causes]
    divisions = [Division.of(term, judged) for term in measured]
    relevant = [_without_negligible(cause, divisions, loss) for cause in judged]
    divisions = [Division.of(term, relevant) for term in measured]
    priced = [_priced(cause, divisions) for cause in relevant]
    measured_terms = {term.term for term in measured}
    by_factors, priced = _multiplied(priced, measured_terms)
    by_facts = _by_facts(priced, measured_terms)
    of_rungs = []
    for division in divisions:
        if division.matters:
            of_rungs.append(division.term)
    terms = (*of_rungs, *by_factors, *by_facts)
    all_causes = tuple(priced)
    return _without_excess(Sum(terms, all_causes), loss)


# Facts that a measurement contradicts ------------------------------------------------------------


def _judged(cause: Cause, measured: Sequence[MeasuredTerm]) -> Cause:
    """Return the cause; it is withdrawn if the measurement of its only term contradicts it."""
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
    """Return why a measured term contradicts a fact; empty if it does not.

    A nearly full link also spends time on headers, which the rate does not include: an excess of
    this size is not a contradiction.
    """
    if measured.refuses:
        return measured.refuses
    most = max(0.0, measured.share.hi)
    if most < DEFAULT_MARGIN:
        cost = f"{percent(most, 2)} of the baseline's time"
        return (
            f"its cost is at most {cost}; this follows from the measurement that {measured.words}"
        )
    if cause.share is None:
        return ""
    least = cause.share.lo
    if LINK_FULL * least <= most + DEFAULT_MARGIN:
        return ""
    cost = f"at least {percent(least, 3)} of the baseline's time"
    return f"the cost would be {cost}, but {measured.words}"


def _without_negligible(cause: Cause, divisions: Sequence[Division], loss: Share) -> Cause:
    """Return the cause, withdrawn if its parts of measured terms explain nearly nothing of a loss.

    The limit is the margin multiplied by the loss, because the loss may be far above the margin.
    """
    parts = _parts_of(cause, divisions)
    if not parts or cause.withdrawn:
        return cause
    most = total(parts).hi
    if most >= DEFAULT_MARGIN * loss.lo:
        return cause
    cost = f"{percent(most, 2)} of the baseline's time"
    return replace(cause, withdrawn=f"its cost is at most {cost}", share=None)


def _parts_of(cause: Cause, divisions: Sequence[Division]) -> list[Share]:
    """Return the parts of measured terms that a cause explains."""
    parts = []
    for division in divisions:
        if cause.rule in division.parts:
            parts.append(division.parts[cause.rule])
    return parts


def _priced(cause: Cause, divisions: Sequence[Division]) -> Cause:
    """Return a cause with its share: the sum of the cause's parts of measured terms.

    The cause is withdrawn if all terms that the cause changes contradict it. The cause has no share
    if its terms were measured, but no part of these terms is due to the cause.
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
        return replace(cause, withdrawn=" and ".join(reasons), share=None)
    parts = _parts_of(cause, divisions)
    if parts:
        return replace(cause, share=total(parts))
    if of_terms:
        return replace(cause, share=None)
    return cause


# Terms that no rung measured ---------------------------------------------------------------------


def _multiplied(
    causes: Sequence[Cause], measured: Collection[Term]
) -> tuple[list[TermShare], list[Cause]]:
    """Return the terms in which the factors of several facts are multiplied, and all causes.

    A cause may explain up to its own share multiplied by the factors of all other causes.
    """
    terms: list[TermShare] = []
    changed = list(causes)
    for term in MULTIPLY:
        if term in measured:
            continue
        factors = {}
        for number, cause in enumerate(causes):
            if term in cause.terms and cause.share is not None and not cause.withdrawn:
                factors[number] = cause.share
        if not factors:
            continue
        whole = _product([*factors.values()])
        rules = tuple(causes[number].rule for number in factors)
        terms.append(TermShare(term, whole, rules))
        for number, factor in factors.items():
            within_whole = within_product(factor, whole)
            most = max(factor.hi, within_whole)
            share = replace(factor, hi=most)
            changed[number] = replace(causes[number], share=share)
    return terms, changed


def _by_facts(causes: Sequence[Cause], measured: Collection[Term]) -> list[TermShare]:
    """Return the terms whose cost is known only from facts."""
    elsewhere = {*measured, *MULTIPLY}
    terms: list[TermShare] = []
    for cause in causes:
        if cause.share is None:
            continue
        if cause.withdrawn:
            continue
        if elsewhere.intersection(cause.terms):
            continue
        if cause.terms:
            term = cause.terms[0]
        else:
            term = Term.MODEL
        terms.append(TermShare(term, cause.share, (cause.rule,)))
    return terms


def _product(factors: Sequence[Share]) -> Share:
    """Return the extra time of several factors together: 0.5 and 0.2 give 0.8 (1.5 * 1.2 = 1.8)."""
    return Share(
        math.prod(1 + factor.value for factor in factors) - 1,
        math.prod(1 + factor.lo for factor in factors) - 1,
        math.prod(1 + factor.hi for factor in factors) - 1,
    )


# Terms that would add more than was lost ---------------------------------------------------------


def _without_excess(whole: Sum, loss: Share) -> Sum:
    """Withdraw as few terms as possible so that the sum does not certainly exceed the loss."""
    terms = list(whole.terms)
    causes = list(whole.causes)
    while _excessive(terms, loss):
        costly = [term for term in terms if term.share.lo > 0 and not term.predicts]
        if not costly:
            break
        wrong = min(costly, key=lambda term: _rank(term, terms, loss))
        terms.remove(wrong)
        reason = _excess(wrong, _names_of(terms), loss)
        causes = [_refuted(cause, wrong, reason) for cause in causes]
    return Sum(tuple(terms), tuple(causes))


def _names_of(terms: Sequence[TermShare]) -> list[str]:
    """Return the rules of terms, or the terms' probes if they have no rules."""
    rules: list[str] = []
    for term in terms:
        rules += term.rules
    if rules:
        return rules
    return [term.probe for term in terms]


def _refuted(cause: Cause, wrong: TermShare, reason: str) -> Cause:
    """Return a cause; it is withdrawn for `reason` if it explains a part of the term `wrong`."""
    if cause.rule not in wrong.rules:
        return cause
    return replace(cause, withdrawn=reason, share=None)


def _rank(term: TermShare, terms: Sequence[TermShare], loss: Share) -> tuple[bool, bool, float]:
    """Return a key to choose the term to remove; the term with the smallest key is the first.

    A term without which the sum equals the loss comes first. Among the remaining terms, terms that
    only facts bound come before measured terms, and larger terms before smaller terms.
    """
    others = [other for other in terms if other is not term]
    share_of_others = total(other.share for other in others)
    left = loss.less(share_of_others)
    fits = not _excessive(others, loss) and left.holds(0.0, DEFAULT_MARGIN)
    return not (others and fits), bool(term.probe), -term.share.lo


def _excessive(terms: Sequence[TermShare], loss: Share) -> bool:
    """Whether the sum of terms certainly exceeds a loss."""
    least = total(term.share for term in terms).lo
    margin = DEFAULT_MARGIN * (1 + loss.hi)
    return least > loss.hi + margin


def _excess(wrong: TermShare, others: Sequence[str], loss: Share) -> str:
    least = percent(wrong.share.lo, 3)
    amount = f"at least {least} of the baseline's time"
    if wrong.share.lo > loss.hi or not others:
        return f"the cost would be {amount}, more than was measured"
    names = listing(list(others))
    return f"the cost would be {amount}, and with {names} more than was measured"
