"""A loss as a sum, in a sentence: the times on both platforms, the terms, and the rest."""

from __future__ import annotations

from bareline.analysis.judgements.causes.cause import Cause, Term
from bareline.analysis.judgements.causes.division import TermShare
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
    Term.MODEL: "the parameters of its model",
}


def sum_sentence(explanation: Explanation) -> str:
    """Return the sum of a loss in words, without the platform and without a full stop."""
    pieces = [_cause_piece(explanation, cause) for cause in explanation.sized]
    pieces += [_rest_piece(explanation, term) for term in explanation.rests]
    return f"{_head(explanation)}: {listing([*pieces, _left(explanation)])}"


def _head(explanation: Explanation) -> str:
    """Describe both times: ``a message of 6 KiB takes 59.0 us instead of 10.0 us``."""
    finding = explanation.finding
    place = explanation.point.place
    base_s = explanation.base_s
    if base_s is None or place.probe in STREAMS:
        times = with_interval(explanation.measured)
        if finding.rate:
            return f"{finding.subject} is {times} times lower"
        return f"{finding.subject} takes {times} times as long"
    subject = f"{_operation(explanation)} {finding.where}".rstrip()
    time_s = format_value(base_s * explanation.measured.value, "s")
    return f"{subject} takes {time_s} instead of {format_value(base_s, 's')}"


def _operation(explanation: Explanation) -> str:
    """Name the operation: ``a message of 6 KiB``."""
    place = explanation.point.place
    finding = explanation.finding
    title = "a message"
    if place.probe != PINGPONG:
        title = finding.title
    if place.size_bytes is not None:
        return f"{title} of {format_size(place.size_bytes)}"
    label = finding.label(explanation.point)
    if label:
        return f"{title} ({label})"
    return title


def _cause_piece(explanation: Explanation, cause: Cause) -> str:
    """Describe the share of a cause, and the causes to which it may equally belong."""
    assert cause.share is not None
    amount = explanation.amount(cause.share)
    piece = f"{amount} because {cause.words}"
    if cause.noun:
        piece = f"{amount} are {cause.noun}"
    if cause.beside:
        piece += f" (or {listing(list(cause.beside))})"
    return piece


def _rest_piece(explanation: Explanation, term: TermShare) -> str:
    """Describe the part of a term that its facts leave."""
    piece = f"{explanation.amount(term.rest)} are {_NOUNS[term.term]}"
    if term.words:
        return f"{piece} ({term.words})"
    return piece


def _left(explanation: Explanation) -> str:
    """Describe the rest, with the probes to run where the rung below is missing."""
    if explanation.point.exact:
        return "nothing else was given otherwise"
    amount = explanation.amount(explanation.left)
    if explanation.left.holds(0.0, explanation.margin):
        return f"{amount} are left over"
    probes = explanation.probes_to_run
    if probes:
        return f"{amount} need {probes_words(explanation, probes)}"
    return f"{amount} are not explained"


def probes_words(explanation: Explanation, probes: tuple[str, ...]) -> str:
    """Name probes to run: ```net.sockperf` between the nodes``."""
    names = listing([f"`{probe}`" for probe in probes])
    if explanation.finding.layer is Layer.MPI:
        return f"{names} between the nodes"
    return names
