"""Words for the suitability of a platform for a class of applications, with the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf

from bareline.analysis.judgements.evidence import Evidence
from bareline.analysis.judgements.suitability import (
    Basis,
    Judgement,
    Suitability,
    levels_of,
)
from bareline.analysis.words.amounts import lost_words, ratio_words
from bareline.vocabulary.caveats import Caveat, widest
from bareline.vocabulary.units import listing, significant

_MEANING: Mapping[Suitability, str] = {
    Suitability.SUITED: "at least 90 % of the performance is left",
    Suitability.COSTLY: "between half and 90 % of the performance is left",
    Suitability.UNSUITED: "less than half of the performance is left",
}


def figure_words(ground: Evidence) -> str:
    """Format the value of a ground (a measured or printed value), or the reason for no value."""
    text = ground.printed or ground.failure
    if text:
        return text
    if ground.figure is None and ground.cell is not None:
        return lost_words(ground.cell)
    return ratio_words(ground.figure, ground.rate)


def _words(ground: Evidence) -> str:
    return f"{ground.subject}, {figure_words(ground)}"


def reason_of(judgement: Judgement) -> str:
    """Return the reason for an answer in words, with the values on which the answer is based."""
    reason = _by_basis(judgement)
    failed = judgement.failed
    if failed:
        grounds = len(failed) + len(judgement.grounds)
        probes = _probes(failed)
        failures = f"{len(failed)} of {grounds} failed in every launch ({probes})"
        if judgement.mostly_failed:
            return f"{failures}; of the rest: {reason}"
        return f"{reason}; {failures}"
    crashed: dict[str, None] = {}
    for ground in judgement.grounds:
        lost, launches = ground.crashed
        if lost:
            crashed[f"{lost} of {launches} launches of {ground.probe} did not finish"] = None
    if crashed:
        crashes = listing(list(crashed))
        return f"{reason}; {crashes}"
    return reason


def _by_basis(judgement: Judgement) -> str:
    """Describe the kind of reason for an answer, with the values on which the answer is based."""
    grounds = judgement.shown
    match judgement.basis:
        case Basis.VOIDED:
            return f"the measurements do not apply here ({_voiding_caveats(judgement)})"
        case Basis.WITHOUT:
            failures = dict.fromkeys(ground.failure for ground in grounds)
            words = listing(list(failures))
            return f"{words}: {_probes(grounds)}"
        case Basis.ABSENT:
            return "the study measures nothing of this kind here"
        case Basis.ENDS:
            text = ", to ".join(map(_words, grounds))
            if len(grounds) > 1:
                return f"from {text}"
            return text
        case Basis.OPEN:
            limits = _limits(grounds)
            return f"{limits}{_words(grounds[0])}"
        case Basis.FEW:
            text = f"{len(grounds)} of {len(judgement.grounds)} measurements are undecided"
            return f"{text}; the widest is {_words(grounds[0])}"
        case Basis.WORST:
            return f"{_MEANING[judgement.of_measured]}; the worst is {_words(grounds[0])}"


def _voiding_caveats(judgement: Judgement) -> str:
    """Describe the caveats that exclude all measurements of a judgement."""
    caveats: list[Caveat] = []
    for ground in judgement.voided:
        caveats += ground.caveats
    voided_by = judgement.application_class.voided_by
    widest_caveats = widest(caveats)
    return "; ".join(caveat.text for caveat in widest_caveats if caveat.code in voided_by)


def _limits(grounds: Sequence[Evidence]) -> str:
    """Describe the bounds of ratios, and the answers that these allow; empty without bounds."""
    low = max(ground.lo or 0.0 for ground in grounds)
    high = max(ground.most for ground in grounds)
    limits = []
    if low:
        no_loss = " (no loss is certain)" if low == 1 else ""
        limits.append(f"at least {significant(low)}{no_loss}")
    if high < inf:
        limits.append(f"at most {significant(high)}")
    if not limits:
        return ""
    possible: dict[str, None] = {}
    for ground in grounds:
        possible.update(dict.fromkeys(f"'{answer.value}'" for answer in levels_of(ground)))
    bounds = f"{' and '.join(limits)} times worse"
    return f"{bounds}, which allows {listing(list(possible))}; the worst is "


def _probes(grounds: Iterable[Evidence]) -> str:
    names = dict.fromkeys(ground.probe or ground.subject for ground in grounds)
    return listing(list(names))
