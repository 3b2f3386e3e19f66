"""Why losses are there, in words: the end of a layer's sentence.

On each platform the heaviest loss of a layer is described as a sum: its terms, the facts that
differ, and the rest. The other losses of the layer are named with the part that the same sum
explains of them. A fact without a term is listed as also different.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bareline.analysis.judgements.causes.cause import CauseStatus
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.causes.work import PINGPONG
from bareline.analysis.words.parts import Piece, PlatformName, platforms_named
from bareline.analysis.words.sums import probes_words, sum_sentence
from bareline.vocabulary.grouping import grouped_by

#: The most losses of the same causes that are named; more are counted.
_NAMED = 2
_UNKNOWN = 4
_Named = Callable[[Sequence[str]], str]


def reasons_of(explanations: Sequence[Explanation], named: _Named) -> list[list[Piece]]:
    """Explain the losses of one layer: a sentence for each platform, then the differences."""
    heaviest_first = sorted(explanations, key=_order)
    by_platform = grouped_by(heaviest_first, lambda explained: explained.finding.platform)
    reasons: list[list[Piece]] = []
    for platform, group in by_platform.items():
        with_terms = [explained for explained in group if explained.terms]
        if with_terms:
            reasons.append(["On ", PlatformName(platform), f" {_sums(with_terms, named)}."])
    differing = [explained for explained in heaviest_first if explained.differing]
    for platform, group in grouped_by(differing, lambda part: part.finding.platform).items():
        reasons.append(_differing_reason(group, named, losses=len(by_platform[platform])))
    return [*reasons, *_unknown_reasons(heaviest_first, named)]


def _order(explained: Explanation) -> tuple[bool, bool, float]:
    """Order losses: messages first, which readers know, then times, the largest loss first."""
    finding = explained.finding
    return finding.probe != PINGPONG, finding.rate, -explained.point.size


def _sums(group: Sequence[Explanation], named: _Named) -> str:
    """Describe the sum of the heaviest loss, and how far the same sum explains further losses."""
    heaviest = group[0]
    further = group[1:]
    whole = [explained for explained in further if explained.word is not CauseStatus.CONTRIBUTES]
    partial = [explained for explained in further if explained.word is CauseStatus.CONTRIBUTES]
    text = sum_sentence(heaviest)
    if whole:
        text += f"; the same sum holds for {_several(whole, named)}"
    if partial:
        text += f"; of {_several(partial, named)} it explains {_explained_parts(partial)}"
        if not whole and len(partial) == 1:
            text += f" ({sum_sentence(partial[0])})"
    if heaviest.withdrawn:
        text += f"; not {heaviest.withdrawn}"
    return text


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
    return named([explained.finding.subject for explained in explanations])


def _differing_reason(
    explanations: Sequence[Explanation], named: _Named, *, losses: int
) -> list[Piece]:
    """List the facts of a platform that differ and have no term; the losses unless it is all."""
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
            clause = f"{words} ({_several(explained_losses, named)})"
        clauses.append(clause)
    text = f", effect not measured: {'; '.join(clauses)}."
    return ["Also different on ", PlatformName(explanations[0].finding.platform), text]


class _Unknown(NamedTuple):
    """The common features of losses without an explanation."""

    platform: str
    withdrawn: str
    probes: str

    @classmethod
    def of(cls, explained: Explanation) -> _Unknown:
        probes = explained.probes_to_run
        words = ""
        if probes:
            words = probes_words(explained, probes)
        return cls(explained.finding.platform, explained.withdrawn, words)


def _unknown_reasons(explanations: Sequence[Explanation], named: _Named) -> list[list[Piece]]:
    """List the losses without an explanation: the probe to run, or that there is no known cause."""
    unknown = [explained for explained in explanations if not explained.known]
    platforms_by_words: dict[tuple[str, str], list[str]] = {}
    for common, group in grouped_by(unknown, _Unknown.of).items():
        subjects = [explained.finding.subject for explained in group]
        losses = named(subjects)
        if len(subjects) > _UNKNOWN:
            losses = f"{len(subjects)} losses, the largest {subjects[0]},"
        begin = f"No known cause for {losses} on "
        end = ""
        if common.probes:
            begin = f"To explain {losses} on "
            end = f", run {common.probes}"
        if common.withdrawn:
            end += f" (not {common.withdrawn})"
        platforms_by_words.setdefault((begin, f"{end}."), []).append(common.platform)
    reasons: list[list[Piece]] = []
    for (begin, end), platforms in platforms_by_words.items():
        reasons.append([begin, *platforms_named(platforms), end])
    return reasons


def said_as_causes(explanations: Sequence[Explanation]) -> frozenset[tuple[str, str]]:
    """Return platforms and codes of the caveats that the causes of their losses already cover."""
    covered = set()
    for explained in explanations:
        for cause in explained.standing:
            if cause.caveat:
                covered.add((explained.finding.platform, cause.caveat))
    return frozenset(covered)
