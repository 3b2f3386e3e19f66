"""The sum of an explanation: its terms, the facts that share them, and what would be too much.

A term that a rung below measured counts as measured, whatever facts stand beside it; its facts
share it. A term that nothing measured counts as its facts say.
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
    """What a term adds to the baseline's time, and the rules of the causes that share it.

    - `rest`: what these causes leave of it.
    - `probe`, `words`: the rung that measured it, and its figure; empty where facts alone say it.
    """

    term: Term
    share: Share
    rules: tuple[str, ...]
    rest: Share = NOTHING
    probe: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Sum:
    """The terms of an operation's extra time, and all causes: shared out, refused, or differing."""

    terms: tuple[TermShare, ...]
    causes: tuple[Cause, ...]

    @property
    def share(self) -> Share:
        """What all terms add together."""
        return total(one.share for one in self.terms)


def sum_of(causes: Sequence[Cause], measured: Sequence[MeasuredTerm], loss: Share) -> Sum:
    """Share measured terms out among the facts that change them, and add what facts say alone.

    What would explain certainly more than the `loss` is withdrawn, as little as will do.
    """
    shared = list(causes)
    terms: list[TermShare] = []
    parts: dict[str, list[Share]] = {}
    for one in measured:
        shared = [_refused(cause, one) for cause in shared]
        facts = [cause for cause in shared if one.term in cause.terms and not cause.withdrawn]
        own = {} if one.refuses else _parts(one, facts)
        for rule, share in own.items():
            parts.setdefault(rule, []).append(share)
        nothing = one.share.hi if not one.refuses else one.share.value
        if nothing >= DEFAULT_MARGIN:
            rest = one.share.less(total(own.values())) if own else one.share
            terms.append(TermShare(one.term, one.share, tuple(own), rest, one.probe, one.words))
    known = {one.term for one in measured}
    unseen = {one.term for one in measured if one.refuses}
    shared = [_with_share(cause, parts, known, unseen, measured) for cause in shared]
    alone, shared = _by_facts(shared, known)
    return _without_excess(Sum((*terms, *alone), tuple(shared)), loss)


def _refused(cause: Cause, one: MeasuredTerm) -> Cause:
    """Withdraw a fact that changes one measured term alone, where the measurement contradicts it.

    A link that is nearly full loses to heads what its rate alone does not: so much is no excess.
    """
    if cause.withdrawn or cause.terms != (one.term,):
        return cause
    if one.refuses:
        return replace(cause, withdrawn=one.refuses, share=None)
    hi = max(0.0, one.share.hi)
    if hi < DEFAULT_MARGIN:
        reason = f"it costs at most {percent(hi, 2)} of the baseline's time: {one.words}"
        return replace(cause, withdrawn=reason, share=None)
    if cause.share is not None and LINK_FULL * cause.share.lo > hi + DEFAULT_MARGIN:
        least = percent(cause.share.lo, 3)
        reason = f"it would cost {least} of the baseline's time at least, but {one.words}"
        return replace(cause, withdrawn=reason, share=None)
    return cause


def _parts(one: MeasuredTerm, facts: Sequence[Cause]) -> dict[str, Share]:
    """Return what each fact has of a measured term, by its rule.

    Facts that are certainly at work have what the others leave. Where several may be at work, each
    may have from nothing to all that it can cost.
    """
    whole = one.share
    certain = [cause for cause in facts if cause.certain]
    others = [cause for cause in facts if not cause.certain]
    room = [_most(cause, one, alone=len(facts) == 1) for cause in others]
    usual = _divided(whole.value, room, others)
    alone = len(facts) == 1
    found: dict[str, Share] = {}
    for cause, most, value in zip(others, room, usual, strict=True):
        own_lo = cause.share.lo if cause.share is not None else 0.0
        lo = min(whole.lo, most) if alone else min(own_lo, most)
        hi = min(whole.hi, most)
        if certain:  # beside what is at work, a fact may have nothing
            value = min(value, hi) if cause.share is not None else 0.0
        found[cause.rule] = Share.within(min(max(0.0, lo), hi), value, hi)
    for cause in certain:
        assert cause.share is not None
        taken = total(share for rule, share in found.items())
        left = whole.less(Share(0.0, 0.0, min(taken.hi, whole.hi))).without_gain()
        most = cause.share.hi / LINK_FULL
        found[cause.rule] = Share.within(
            *(min(end, most) for end in (left.lo, left.value, left.hi))
        )
        found = {rule: share for rule, share in found.items() if share.hi > 0}
    return found


def _most(cause: Cause, one: MeasuredTerm, *, alone: bool) -> float:
    """Return the most that a fact can have of a measured term."""
    if cause.share is None:
        return one.share.hi
    if one.term in _MULTIPLY and not alone:
        # Without it all of the time were shorter by its factor.
        return (1 + one.share.hi) * (1 - 1 / (1 + cause.share.hi))
    return cause.share.hi


def _divided(whole: float, room: Sequence[float], facts: Sequence[Cause]) -> list[float]:
    """Divide a share: first what facts say that they cost, then the rest evenly."""
    room_left = max(0.0, whole)
    values = [
        min(most, cause.share.value, room_left)
        if cause.share is not None and cause.share.lo > 0
        else None
        for cause, most in zip(facts, room, strict=True)
    ]
    rest = max(0.0, whole - sum(value for value in values if value is not None))
    open_ones = sorted((most, number) for number, most in enumerate(room) if values[number] is None)
    for position, (most, number) in enumerate(open_ones):
        own = min(most, rest / (len(open_ones) - position))
        values[number] = own
        rest -= own
    return [value or 0.0 for value in values]


def _with_share(
    cause: Cause,
    parts: Mapping[str, Sequence[Share]],
    known: Collection[Term],
    unseen: Collection[Term],
    measured: Sequence[MeasuredTerm],
) -> Cause:
    if cause.withdrawn or not cause.terms:
        return cause
    if unseen and set(cause.terms) <= set(unseen):
        reasons = dict.fromkeys(one.refuses for one in measured if one.term in cause.terms)
        return replace(cause, withdrawn="; ".join(filter(None, reasons)), share=None)
    if cause.rule in parts:
        return replace(cause, share=total(parts[cause.rule]))
    if cause.share is not None and set(cause.terms) & set(known):
        return replace(cause, share=None)
    return cause


def _by_facts(
    causes: Sequence[Cause], known: Collection[Term]
) -> tuple[list[TermShare], list[Cause]]:
    """Return the terms that no rung measured, as facts alone say, and all causes."""
    found: list[TermShare] = []
    changed = list(causes)
    for term in _MULTIPLY:
        group = [
            number
            for number, cause in enumerate(causes)
            if term in cause.terms and term not in known and _counts(cause)
        ]
        shares = [share for number in group if (share := causes[number].share) is not None]
        if group:
            whole = _product(shares)
            rules = tuple(causes[number].rule for number in group)
            found.append(TermShare(term, whole, rules))
            for number, share in zip(group, shares, strict=True):
                most = max(share.hi, (1 + whole.hi) * (1 - 1 / (1 + share.hi)))
                changed[number] = replace(causes[number], share=replace(share, hi=most))
    for cause in causes:
        alone = _counts(cause) and not set(cause.terms) & {*known, *_MULTIPLY}
        if alone and cause.share is not None:
            term = cause.terms[0] if cause.terms else Term.MODEL
            found.append(TermShare(term, cause.share, (cause.rule,)))
    return found, changed


def _counts(cause: Cause) -> bool:
    return cause.share is not None and not cause.withdrawn


def _product(shares: Sequence[Share]) -> Share:
    ends = [[1 + end for end in (one.value, one.lo, one.hi)] for one in shares]
    return Share(*(math.prod(column) - 1 for column in zip(*ends, strict=True)))


def _without_excess(whole: Sum, loss: Share) -> Sum:
    """Withdraw terms that add certainly more than was lost, as few as will do."""
    terms, causes = list(whole.terms), list(whole.causes)
    while terms and _excessive(terms, loss):
        costly = [one for one in terms if one.share.lo > 0]
        wrong = min(costly, key=lambda one: _rank(one, terms, loss))
        terms.remove(wrong)
        others = [name for one in terms for name in one.rules] or [one.probe for one in terms]
        reason = _excess(wrong, others, loss)
        causes = [
            replace(cause, withdrawn=reason, share=None) if cause.rule in wrong.rules else cause
            for cause in causes
        ]
    return Sum(tuple(terms), tuple(causes))


def _rank(one: TermShare, terms: Sequence[TermShare], loss: Share) -> tuple[bool, bool, float]:
    """Order terms to withdraw: what leaves nothing over, facts before measurements, the largest."""
    others = [other for other in terms if other is not one]
    left = loss.less(total(other.share for other in others))
    fits = not _excessive(others, loss) and left.holds(0.0, DEFAULT_MARGIN)
    return not (others and fits), bool(one.probe), -one.share.lo


def _excessive(terms: Sequence[TermShare], loss: Share) -> bool:
    least = total(one.share for one in terms).lo
    return least > loss.hi + DEFAULT_MARGIN * (1 + loss.hi)


def _excess(wrong: TermShare, others: Sequence[str], loss: Share) -> str:
    amount = f"{percent(wrong.share.lo, 3)} of the baseline's time at least"
    if wrong.share.lo > loss.hi or not others:
        return f"it would cost {amount}, more than was measured"
    return f"with {listing(list(others))} it would cost more than was measured: {amount} by itself"
