"""The reasons for losses in words: the end of a layer's sentence.

On each platform, the largest loss of a layer is described as a sum of its terms, with the facts
that differ and the unexplained rest. Further losses of the layer are named, with the part that the
same causes explain. A fact whose cost is unknown is listed under "Also different".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bareline.analysis.judgements.causes.cause import CauseStatus
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.causes.work import PINGPONG
from bareline.analysis.words.parts import Piece, PlatformName, capital, platforms_named
from bareline.analysis.words.sums import cause_names, probes_words, sum_sentences
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.units import listing

#: Up to this number, losses with the same causes are named; more losses are counted.
_NAMED = 6
_UNKNOWN = 4
_Named = Callable[[Sequence[str]], str]


def reasons_of(explanations: Sequence[Explanation], named: _Named) -> list[list[Piece]]:
    """Explain the losses of a layer: a sentence for each platform, then facts that also differ."""
    heaviest_first = sorted(explanations, key=_order)
    by_platform = grouped_by(heaviest_first, lambda explained: explained.finding.platform)
    reasons: list[list[Piece]] = []
    for platform, group in by_platform.items():
        with_terms = [explained for explained in group if explained.terms]
        if with_terms:
            sums = _sums(with_terms, named)
            reasons.append(["On ", PlatformName(platform), f" {sums}."])
    differing = [explained for explained in heaviest_first if explained.differing]
    differing_by_platform = grouped_by(differing, lambda part: part.finding.platform)
    for platform, group in differing_by_platform.items():
        losses = len(by_platform[platform])
        reasons.append(_differing_reason(group, named, losses=losses))
    return [*reasons, *_unknown_reasons(heaviest_first, named)]


def _order(explained: Explanation) -> tuple[bool, bool, float]:
    """Return a key to sort losses: messages first, then times, and the largest loss first."""
    finding = explained.finding
    return finding.probe != PINGPONG, finding.rate, -explained.point.size


def _sums(group: Sequence[Explanation], named: _Named) -> str:
    """Describe the sum of the largest loss, and how much causes explain of further losses."""
    heaviest = group[0]
    further = group[1:]
    sentences = [sum_sentences(heaviest), *_no_causes(heaviest, " of this loss")]
    partial = [explained for explained in further if explained.word is CauseStatus.CONTRIBUTES]
    same_causes_first = sorted(further, key=lambda loss: cause_names(loss) != cause_names(heaviest))
    for causes, losses in grouped_by(same_causes_first, cause_names).items():
        if not causes:
            sentences.append(_unexplained(losses, named))
            continue
        subject = listing(causes)
        plural = len(causes) > 1
        if causes == cause_names(heaviest):
            subject = _same_causes(heaviest)
        sentences.append(capital(f"{subject} {_explains(losses, named, plural=plural)}"))
    if len(partial) == len(further) == 1:
        sentences.append(capital(sum_sentences(partial[0])))
    return ". ".join(sentences)


def _unexplained(losses: Sequence[Explanation], named: _Named) -> str:
    """Name losses for which no cause is left."""
    verb = "is" if len(losses) == 1 else "are"
    return capital(f"{_several(losses, named)} {verb} not explained")


def _same_causes(explained: Explanation) -> str:
    """Return "the same cause", or the plural, for a sentence about further losses."""
    if len(cause_names(explained)) == 1:
        return "the same cause"
    return "the same causes"


def _explains(losses: Sequence[Explanation], named: _Named, *, plural: bool) -> str:
    """Describe how much the same causes explain of some losses: all, possibly all, or a part.

    - `plural`: there are several causes.
    """
    verb = "explains"
    if plural:
        verb = "explain"
    by_status = grouped_by(losses, lambda explained: explained.word)
    clauses = []
    for status in (CauseStatus.EXPLAINS, CauseStatus.MAY_EXPLAIN, CauseStatus.CONTRIBUTES):
        with_status = by_status.get(status, [])
        if not with_status:
            continue
        subjects = _several(with_status, named)
        if status is CauseStatus.EXPLAINS:
            clauses.append(f"{verb} {subjects}")
        elif status is CauseStatus.MAY_EXPLAIN:
            clauses.append(f"may explain {subjects}")
        else:
            clauses.append(f"{verb} {_explained_parts(with_status)} of {subjects}")
    return ", and ".join(clauses)


def _no_causes(explained: Explanation, of_loss: str = "") -> list[str]:
    """Return a sentence, without its full stop, for each withdrawn cause of a loss.

    - `of_loss`: words for the loss, if other sentences are about other losses.
    """
    sentences = []
    for cause in explained.causes:
        if cause.withdrawn:
            verb = "are" if cause.name.endswith("s") else "is"
            sentences.append(
                f"The {cause.name} {verb} not a cause{of_loss} because {cause.withdrawn}"
            )
    return sentences


def _explained_parts(explanations: Sequence[Explanation]) -> str:
    parts = [round(100 * explained.explained_part) for explained in explanations]
    least = min(parts)
    most = max(parts)
    if least == most:
        return f"{least} %"
    return f"{least} to {most} %"


def _several(explanations: Sequence[Explanation], named: _Named) -> str:
    """Name the subjects of a few losses, or count them."""
    if len(explanations) > _NAMED:
        return f"{len(explanations)} more losses"
    noun = "loss" if len(explanations) == 1 else "losses"
    return f"the {noun} of {named([explained.finding.subject for explained in explanations])}"


def _differing_reason(
    explanations: Sequence[Explanation], named: _Named, *, losses: int
) -> list[Piece]:
    """List the differing facts of a platform whose cost is unknown.

    - `losses`: the number of the platform's losses. If a fact concerns only some of them,
      these losses are named.
    """
    losses_by_words: dict[str, list[Explanation]] = {}
    for explained in explanations:
        for cause in explained.differing:
            if cause.repeated:
                words = f"{cause.name}, as above"
            else:
                words = cause.words
            losses_by_words.setdefault(words, []).append(explained)
    clauses = []
    for words, explained_losses in losses_by_words.items():
        clause = words
        if len(explained_losses) < losses:
            losses_words = _several(explained_losses, named)
            clause = f"{words} ({losses_words})"
        clauses.append(clause)
    text = f", effect not measured: {'; '.join(clauses)}."
    platform = explanations[0].finding.platform
    return ["Also different on ", PlatformName(platform), text]


class _Unknown(NamedTuple):
    """The features that several losses without an explanation have in common."""

    platform: str
    no_causes: tuple[str, ...]
    probes: str

    @classmethod
    def of(cls, explained: Explanation) -> _Unknown:
        probes = explained.probes_to_run
        words = ""
        if probes:
            words = probes_words(explained, probes)
        return cls(explained.finding.platform, tuple(_no_causes(explained)), words)


def _unknown_reasons(explanations: Sequence[Explanation], named: _Named) -> list[list[Piece]]:
    """Describe losses without an explanation; name the probe to run if a measurement is missing."""
    unknown = [explained for explained in explanations if not explained.known]
    platforms_by_words: dict[tuple[str, str], list[str]] = {}
    for common, group in grouped_by(unknown, _Unknown.of).items():
        begin = f"{_losses(group, named)} on "
        one_loss = len(group) == 1
        if common.probes:
            verb = "is" if one_loss else "are"
            end = f" {verb} not explained; measure {common.probes}."
        else:
            verb = "has" if one_loss else "have"
            end = f" {verb} no known cause."
        end += "".join(f" {text}." for text in common.no_causes)
        platforms_by_words.setdefault((begin, end), []).append(common.platform)
    reasons: list[list[Piece]] = []
    for (begin, end), platforms in platforms_by_words.items():
        platform_names = platforms_named(platforms)
        reasons.append([begin, *platform_names, end])
    return reasons


def _losses(group: Sequence[Explanation], named: _Named) -> str:
    """Name losses without an explanation: ``The loss of MPI_Bcast``; many losses are counted."""
    subjects = [explained.finding.subject for explained in group]
    if len(subjects) > _UNKNOWN:
        return f"{len(subjects)} losses (the largest is that of {subjects[0]})"
    noun = "loss" if len(subjects) == 1 else "losses"
    return f"The {noun} of {named(subjects)}"


def said_as_causes(explanations: Sequence[Explanation]) -> frozenset[tuple[str, str]]:
    """Return the platform and code of each caveat that a cause of a loss already describes."""
    covered = set()
    for explained in explanations:
        for cause in explained.standing:
            if cause.caveat:
                platform_and_caveat = (explained.finding.platform, cause.caveat)
                covered.add(platform_and_caveat)
    return frozenset(covered)
