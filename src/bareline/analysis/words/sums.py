"""Describe a loss as a sum: the times on both platforms, the terms, and the unexplained rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bareline.analysis.judgements.causes.cause import Cause, Term
from bareline.analysis.judgements.causes.division import TermShare
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.causes.programs import REPLAY
from bareline.analysis.judgements.causes.share import Share
from bareline.analysis.judgements.causes.work import OVERHEAD, PINGPONG, STREAMS
from bareline.analysis.numbers.row import with_interval
from bareline.analysis.words.parts import capital
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import format_size, format_value, listing

#: The nouns for shares of terms that no fact explains.
_NOUNS = {
    Term.START: "message latency",
    Term.BYTES: "message bandwidth",
    Term.COPIES: "copies of messages",
    Term.ARITHMETIC: "arithmetic",
    Term.CORES: "the number of cores",
    Term.MEMORY: "memory",
    Term.FILES: "files",
    Term.COMPUTING: "computing",
    Term.MESSAGES: "MPI messages",
    Term.ALGORITHMS: "collective algorithms",
    Term.MODEL: "the parameters of the model",
}


def sum_sentences(explanation: Explanation) -> str:
    """Describe a loss and its division into terms, without the platform and the last full stop."""
    return f"{_head(explanation)}. {_division(explanation)}"


def cause_names(explanation: Explanation) -> tuple[str, ...]:
    """Name the causes and terms that the sentence of a loss lists, without figures."""
    causes = [f"the {cause.name}" for cause in explanation.sized]
    terms = [_NOUNS[term.term] for term in explanation.rests]
    return (*causes, *terms)


def _division(explanation: Explanation) -> str:
    """Describe the parts of a loss: ``Of these 49 us, 47 us are due to the link rate; ...``."""
    words_of_terms = [term.words for term in explanation.rests if term.words]
    replayed = any(term.words == REPLAY for term in explanation.terms)
    same_words = len(words_of_terms) > 1 and len(set(words_of_terms)) == 1
    parts = [_cause_part(explanation, cause) for cause in explanation.sized]
    brief = replayed or same_words
    parts += [_rest_part(explanation, term, brief=brief) for term in explanation.rests]
    if _exceeds_whole(explanation):
        text = _sufficient(explanation, parts, replayed=replayed)
    elif explanation.timed and not parts:
        text = capital(_left(explanation))
    else:
        text = _divided(explanation, parts, replayed=replayed)
    if same_words and not replayed:
        text += f" ({listing(_nouns_with_words(explanation))}: {words_of_terms[0]})"
    return text


def _divided(explanation: Explanation, parts: Sequence[_DividedPart], *, replayed: bool) -> str:
    """Name the parts of a loss that is at least as large as its largest cause, and the rest."""
    text = f"Of {_whole(explanation)}, "
    if replayed:
        text += f"{REPLAY}, "
    if parts:
        first, *further = parts
        begin = f"{first.amount} {_verb(explanation)} due to {first.noun}"
        text += listing([begin, *map(_further, further)]) + "; "
    return text + _left(explanation)


def _exceeds_whole(explanation: Explanation) -> bool:
    """Whether the largest cause would cost more time than the loss."""
    if not explanation.sized:
        return False
    share = explanation.sized[0].share
    assert share is not None
    return share.value > explanation.extra.value + explanation.margin


def _sufficient(explanation: Explanation, parts: Sequence[_DividedPart], *, replayed: bool) -> str:
    """Describe a loss that its largest cause alone can explain, and the costs of all parts."""
    first, *further = parts
    noun = capital(first.noun)
    if further:
        noun += " alone"
    whole = _whole(explanation)
    if replayed:
        whole += f", {REPLAY}"
    costs = [f"its cost is estimated as {first.amount}"]
    costs += [f"that of {part.noun} as {part.amount}" for part in further]
    verb = "can explain all"
    if _verb(explanation) == "may be":
        verb = "may explain all or none"
    text = f"{noun} {verb} of {whole}: {listing(costs)}"
    left = explanation.left
    if explanation.point.exact or left.hi <= 0:
        return f"{text}; {_left(explanation)}"
    return text


def _verb(explanation: Explanation) -> str:
    """Return the verb for the largest part: "may be" if its lower bound is 0, else "are"."""
    shares = [cause.share for cause in explanation.sized]
    shares += [term.rest for term in explanation.rests]
    largest = shares[0]
    assert largest is not None
    if largest.lo <= 0:
        return "may be"
    return "are"


class _DividedPart(NamedTuple):
    """A part of a loss and its cause or term, in words."""

    amount: str
    noun: str


def _further(part: _DividedPart) -> str:
    return f"{part.amount} to {part.noun}"


def _amount(explanation: Explanation, share: Share) -> str:
    """Format a part of a loss; for an estimate of 0 or less, only the upper bound."""
    if share.value <= 0 < share.hi < float("inf"):
        return f"at most {explanation.amount(Share.exactly(share.hi))}"
    return explanation.amount(share)


def _nouns_with_words(explanation: Explanation) -> list[str]:
    return [_NOUNS[term.term] for term in explanation.rests if term.words]


def _whole(explanation: Explanation) -> str:
    """Name the loss that is divided: ``these 49 us``, or "the extra time" if it is not in s."""
    base_s = explanation.base_s
    if explanation.point.place.probe in STREAMS:
        return "the extra time per byte"
    if base_s is None:
        return "the extra time"
    return f"these {format_value(base_s * explanation.extra.value, 's')}"


def _head(explanation: Explanation) -> str:
    """Describe the two times: ``MPI_Bcast of 6 KiB takes 59.0 us instead of 10.0 us``."""
    finding = explanation.finding
    place = explanation.point.place
    base_s = explanation.base_s
    if base_s is None or place.probe in STREAMS:
        times = with_interval(explanation.measured)
        if finding.rate:
            return f"{finding.subject} is {times} times lower"
        return f"{finding.subject} takes {times} times as long"
    operation = _operation(explanation)
    subject = f"{operation} {finding.where}".rstrip()
    verb = "takes"
    source = ""
    if place.probe == OVERHEAD:
        verb = "is"
    if finding.rate and place.size_bytes is not None:
        source = f" (from {finding.title})"
    time_s = format_value(base_s * explanation.measured.value, "s")
    base_text = format_value(base_s, "s")
    return f"{subject} {verb} {time_s} instead of {base_text}{source}"


def _operation(explanation: Explanation) -> str:
    """Name the operation: ``an MPI ping-pong message of 6 KiB``."""
    place = explanation.point.place
    finding = explanation.finding
    title = finding.title
    if place.probe == PINGPONG:
        title = "an MPI ping-pong message"
    elif finding.rate and place.size_bytes is not None:
        title = "a message"
    if place.size_bytes is not None:
        return f"{title} of {format_size(place.size_bytes)}"
    label = finding.label(explanation.point)
    if label:
        return f"{title} ({label})"
    return title


def _cause_part(explanation: Explanation, cause: Cause) -> _DividedPart:
    """Return the share of a cause, with the names of the causes to which it may equally belong."""
    assert cause.share is not None
    noun = cause.noun or f"the {cause.name} ({cause.words})"
    noun += "".join(f" or the {other}" for other in cause.beside)
    return _DividedPart(_amount(explanation, cause.share), noun)


def _rest_part(explanation: Explanation, term: TermShare, *, brief: bool) -> _DividedPart:
    """Return the part of a term that its facts do not explain.

    - `brief`: leave out the measurement of the term.
    """
    noun = _NOUNS[term.term]
    if term.words and not brief:
        noun += f" ({term.words})"
    return _DividedPart(_amount(explanation, term.rest), noun)


def _left(explanation: Explanation) -> str:
    """Describe the unexplained rest, with the probes to run if a measurement is missing."""
    if explanation.point.exact:
        return "no other input of the model differs"
    left = explanation.left
    if left.value < 0 and left.hi <= 0:
        return f"the estimates exceed the loss by {explanation.amount(left.negated())}"
    text = f"{_amount(explanation, left)} are unexplained"
    if left.holds(0.0, explanation.margin):
        return text
    probes = explanation.probes_to_run
    if probes:
        return f"{text} (measure {probes_words(explanation, probes)} to explain them)"
    return text


def probes_words(explanation: Explanation, probes: tuple[str, ...]) -> str:
    """Name probes to run: ```net.sockperf` between the nodes``."""
    quoted_probes = [f"`{probe}`" for probe in probes]
    names = listing(quoted_probes)
    if explanation.finding.layer is Layer.MPI:
        return f"{names} between the nodes"
    return names
