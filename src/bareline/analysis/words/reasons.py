"""Why losses are there, in words: the end of a layer's sentence.

On each platform the heaviest loss of a layer is described as a sum: its terms, the facts that
differ, and the rest. The other losses of the layer are named with the part that the same sum
explains of them. A fact without a term is listed as also different.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from bareline.analysis.judgements.causes.cause import Word
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.causes.work import PINGPONG
from bareline.analysis.words.parts import Piece, Platform, platforms_named
from bareline.analysis.words.sums import probes_words, sum_sentence

#: The most losses of the same causes that are named; more are counted.
_NAMED = 2
_UNKNOWN = 4
_Named = Callable[[Sequence[str]], str]


def reasons_of(explanations: Sequence[Explanation], named: _Named) -> list[list[Piece]]:
    """Explain the losses of one layer: a sentence for each platform, then the differences."""
    heaviest = sorted(explanations, key=_heaviest)
    reasons: list[list[Piece]] = []
    for platform in dict.fromkeys(one.finding.platform for one in heaviest):
        group = [one for one in heaviest if one.finding.platform == platform and one.terms]
        if group:
            reasons.append(["On ", Platform(platform), f" {_sums(group, named)}."])
    return [*reasons, *_differing_reasons(heaviest, named), *_unknown_reasons(heaviest, named)]


def _heaviest(one: Explanation) -> tuple[bool, bool, float]:
    """Order losses: messages first, which readers know, then times, the largest loss first."""
    return one.finding.probe != PINGPONG, one.finding.rate, -one.point.size


def _sums(group: Sequence[Explanation], named: _Named) -> str:
    first, *others = group
    text = sum_sentence(first)
    whole = [one for one in others if one.word is not Word.CONTRIBUTES]
    rest = [one for one in others if one.word is Word.CONTRIBUTES]
    if whole:
        text += f"; the same sum holds for {_several(whole, named)}"
    if rest:
        least = min(rest, key=lambda one: one.explained_part)
        text += f"; of {_several(rest, named)} it explains {_parts(rest)}"
        text += f" ({sum_sentence(least)})" if not whole and len(rest) == 1 else ""
    return text + (f"; not {first.withdrawn}" if first.withdrawn else "")


def _parts(explanations: Sequence[Explanation]) -> str:
    parts = sorted(round(100 * one.explained_part) for one in explanations)
    return f"{parts[0]} %" if parts[0] == parts[-1] else f"{parts[0]} to {parts[-1]} %"


def _several(explanations: Sequence[Explanation], named: _Named) -> str:
    if len(explanations) > _NAMED:
        return f"{len(explanations)} more losses"
    return named([one.finding.subject for one in explanations])


def _differing_reasons(explanations: Sequence[Explanation], named: _Named) -> list[list[Piece]]:
    found: dict[str, dict[str, list[Explanation]]] = {}
    losses = Counter(one.finding.platform for one in explanations)
    for one in explanations:
        for cause in one.differing:
            words = f"{cause.name}, as above" if cause.repeated else cause.words
            of_platform = found.setdefault(one.finding.platform, {})
            of_platform.setdefault(words, []).append(one)
    reasons: list[list[Piece]] = []
    for name, causes in found.items():
        clauses = [
            words if len(of) == losses[name] else f"{words} ({_several(of, named)})"
            for words, of in causes.items()
        ]
        text = f", effect not measured: {'; '.join(clauses)}."
        reasons.append(["Also different on ", Platform(name), text])
    return reasons


def _unknown_reasons(explanations: Sequence[Explanation], named: _Named) -> list[list[Piece]]:
    """List the losses without an explanation: the probe to run, or that there is no known cause."""
    unknown: dict[tuple[str, str, str], list[str]] = {}
    for one in explanations:
        if not one.known:
            probes = one.probes_to_run
            run = probes_words(one, probes) if probes else ""
            key = (one.finding.platform, one.withdrawn, run)
            unknown.setdefault(key, []).append(one.finding.subject)
    alike: dict[tuple[str, str], list[str]] = {}
    for (platform, withdrawn, run), subjects in unknown.items():
        words = named(subjects)
        if len(subjects) > _UNKNOWN:
            words = f"{len(subjects)} losses, the largest {subjects[0]},"
        begin = f"To explain {words} on " if run else f"No known cause for {words} on "
        end = f", run {run}" if run else ""
        end += f" (not {withdrawn})." if withdrawn else "."
        alike.setdefault((begin, end), []).append(platform)
    return [[begin, *platforms_named(names), end] for (begin, end), names in alike.items()]


def said_as_causes(explanations: Sequence[Explanation]) -> frozenset[tuple[str, str]]:
    """Return platforms and codes of the caveats that the causes of their losses already cover."""
    return frozenset(
        (one.finding.platform, cause.caveat)
        for one in explanations
        for cause in one.standing
        if cause.caveat
    )
