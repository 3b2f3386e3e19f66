"""Why a platform suits a class of applications or does not, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

from bareline.analysis.judgements.grounds import Ground
from bareline.analysis.judgements.suitability import Basis, Judgement, Suitability
from bareline.analysis.words.amounts import lost_words, ratio_words
from bareline.vocabulary.caveats import widest
from bareline.vocabulary.units import listing, significant

_MEANING: Mapping[Suitability, str] = {
    Suitability.SUITED: "at least 90 % of the performance is left",
    Suitability.COSTLY: "between half and 90 % of the performance is left",
    Suitability.UNSUITED: "less than half of the performance is left",
}


def figure_words(ground: Ground) -> str:
    """Format the figure of a ground, or why there is none."""
    if text := ground.printed or ground.failure:
        return text
    if ground.figure is None and ground.cell is not None:
        return lost_words(ground.cell)
    return ratio_words(ground.figure, ground.rate)


def _words(ground: Ground) -> str:
    return f"{ground.subject}, {figure_words(ground)}"


def reason_of(judgement: Judgement) -> str:
    """Return the answer in words, with its figures."""
    reason = _by_basis(judgement)
    failed, every = judgement.failed, len(judgement.failed) + len(judgement.grounds)
    if failed:
        failures = f"{len(failed)} of {every} failed in every launch ({_probes(failed)})"
        mostly = judgement.mostly_failed
        return f"{failures}; of the rest: {reason}" if mostly else f"{reason}; {failures}"
    crashed = dict.fromkeys(
        f"{g.crashed[0]} of {g.crashed[1]} launches of {g.probe} did not finish"
        for g in judgement.grounds
        if g.crashed[0]
    )
    return f"{reason}; {listing(list(crashed))}" if crashed else reason


def _by_basis(judgement: Judgement) -> str:
    shown, every = judgement.shown, judgement.grounds
    match judgement.basis:
        case Basis.VOIDED:
            caveats = widest(caveat for ground in judgement.voided for caveat in ground.caveats)
            voided_by = judgement.application_class.voided_by
            why = "; ".join(c.text for c in caveats if c.code in voided_by)
            return f"the measurements do not apply here ({why})"
        case Basis.WITHOUT:
            words = listing(list(dict.fromkeys(ground.failure for ground in shown)))
            return f"{words}: {_probes(shown)}"
        case Basis.ABSENT:
            return "the study measures nothing of this kind here"
        case Basis.ENDS:
            text = ", to ".join(map(_words, shown))
            return f"from {text}" if len(shown) > 1 else text
        case Basis.OPEN:
            low = max(ground.lo or 0.0 for ground in shown)
            high = max(inf if ground.hi is None else ground.hi for ground in shown)
            limits = [f"at least {significant(low)}"] if low else []
            limits += [] if high == inf else [f"at most {significant(high)}"]
            text = f"{' and '.join(limits)} times worse, inconclusive: " if limits else ""
            return f"{text}{_words(shown[0])}"
        case Basis.FEW:
            text = f"{len(shown)} of {len(every)} measurements are inconclusive"
            return f"{text}; the widest: {_words(shown[0])}"
        case Basis.WORST:
            return f"{_MEANING[judgement.of_measured]}; worst: {_words(shown[0])}"


def _probes(grounds: Iterable[Ground]) -> str:
    return listing(list(dict.fromkeys(ground.probe or ground.subject for ground in grounds)))
