"""A loss as a sum, in a sentence: the times on both platforms, the terms, and the rest."""

from __future__ import annotations

from bareline.analysis.judgements.causes.cause import Cause, Term
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.causes.work import PINGPONG, STREAMS
from bareline.analysis.numbers.row import with_interval
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import format_size, format_value, listing

#: The nouns for shares of terms that no fact explains.
_NOUNS = {
    Term.START: "the start of its messages",
    Term.BYTES: "its bytes on the way",
    Term.COPIES: "copies of its messages",
    Term.ARITHMETIC: "its arithmetic",
    Term.CORES: "its cores",
    Term.MEMORY: "its memory",
    Term.FILES: "its files",
    Term.COMPUTING: "its computing",
    Term.MESSAGES: "its messages",
    Term.ALGORITHMS: "the algorithms of its collectives",
    Term.MODEL: "what its model was given",
}


def sum_sentence(one: Explanation) -> str:
    """Return the sum of a loss in words, without the platform and without a full stop."""
    pieces = [_cause_piece(one, cause) for cause in one.sized]
    pieces += [_rest_piece(one, term.term, term.words) for term in one.rests]
    return f"{_head(one)}: {listing([*pieces, _left(one)])}"


def _head(one: Explanation) -> str:
    """Describe both times: ``a message of 6 KiB takes 59.0 us instead of 10.0 us``."""
    place, base_s = one.point.place, one.base_s
    if base_s is None or place.probe in STREAMS:
        times = with_interval(one.measured)
        if one.finding.rate:
            return f"{one.finding.subject} is {times} times lower"
        return f"{one.finding.subject} takes {times} times as long"
    size = place.size_bytes
    title = "a message" if place.probe == PINGPONG else one.finding.title
    label = f" of {format_size(size)}" if size is not None else ""
    if not label and (own := one.finding.label(one.point)):
        label = f" ({own})"
    own_s = format_value(base_s * one.measured.value, "s")
    where = f" {one.finding.where}" if one.finding.where else ""
    return f"{title}{label}{where} takes {own_s} instead of {format_value(base_s, 's')}"


def _cause_piece(one: Explanation, cause: Cause) -> str:
    assert cause.share is not None
    amount = one.amount(cause.share)
    beside = f" (or {listing(list(cause.beside))})" if cause.beside else ""
    if cause.noun:
        return f"{amount} are {cause.noun}{beside}"
    return f"{amount} because {cause.words}{beside}"


def _rest_piece(one: Explanation, term: Term, words: str) -> str:
    rest = next(known.rest for known in one.terms if known.term is term)
    how = f" ({words})" if words else ""
    return f"{one.amount(rest)} are {_NOUNS[term]}{how}"


def _left(one: Explanation) -> str:
    """Describe the rest, with the probes to run where the rung below is missing."""
    if one.point.exact:
        return "nothing else was given otherwise"
    amount = one.amount(one.left)
    if one.left.holds(0.0, one.margin):
        return f"{amount} are left over"
    if probes := one.probes_to_run:
        return f"{amount} need {probes_words(one, probes)}"
    return f"{amount} are not explained"


def probes_words(one: Explanation, probes: tuple[str, ...]) -> str:
    """Name probes to run: ```net.sockperf` between the nodes``."""
    names = listing([f"`{probe}`" for probe in probes])
    return f"{names} between the nodes" if one.finding.layer is Layer.MPI else names
