"""Why losses are there, in words: the end of a layer's sentence.

A cause explains a loss, may explain all of it or nothing, contributes to one of which a part
remains unexplained, or differs and nothing measured its effect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from bareline.analysis.judgements.causes.cause import Word
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.words.parts import Piece, Platform, platforms_named

#: So many losses of the same causes are named; more are counted.
_NAMED = 2
_UNKNOWN = 4
_VERBS = {
    Word.EXPLAINS: "explains",
    Word.MAY_EXPLAIN: "may explain",
    Word.CONTRIBUTES: "explains a part of",
    Word.DIFFERS: "may explain",
}
_Named = Callable[[Sequence[str]], str]


def reasons_of(explanations: Sequence[Explanation], named: _Named) -> list[list[Piece]]:
    """Name the causes of losses: what explains, what contributes, what differs, what has none."""
    heaviest = sorted(explanations, key=lambda one: -one.point.size)
    by_causes: dict[tuple[str, Word | None, tuple[str, ...]], list[Explanation]] = {}
    for one in heaviest:
        names = tuple(cause.name for cause in one.bounded)
        by_causes.setdefault((one.finding.platform, one.word, names), []).append(one)
    reasons: list[list[Piece]] = []
    said = set()
    for (platform, word, names), group in by_causes.items():
        if names:
            first, *others = group
            verb = _VERBS[word or Word.CONTRIBUTES]
            begin = f" {first.words}; this {verb}"
            if (platform, first.words) in said:
                begin = f" the same {verb}"
            said.add((platform, first.words))
            rest = f"; likewise {_several(others, named)}" if others else ""
            rest += f"; not {first.withdrawn}" if first.withdrawn else ""
            text = f"{begin} {first.finding.subject}: {first.text}{rest}."
            reasons.append(["On ", Platform(platform), text])
    return [*reasons, *_differing_reasons(heaviest, named), *_unknown_reasons(heaviest, named)]


def _several(explanations: Sequence[Explanation], named: _Named) -> str:
    if len(explanations) > _NAMED:
        return f"{len(explanations)} losses"
    return named([one.finding.subject for one in explanations])


def _differing_reasons(explanations: Sequence[Explanation], named: _Named) -> list[list[Piece]]:
    found: dict[str, dict[str, list[Explanation]]] = {}
    losses = Counter(one.finding.platform for one in explanations)
    for one in explanations:
        for cause in one.differing:
            words = f"{cause.name}, as above" if cause.repeated else cause.text
            of_platform = found.setdefault(one.finding.platform, {})
            of_platform.setdefault(words, []).append(one)
    reasons: list[list[Piece]] = []
    for name, causes in found.items():
        clauses = [
            words if len(of) == losses[name] else f"{words} ({_several(of, named)})"
            for words, of in causes.items()
        ]
        text = f", effect not measured: {'; '.join(clauses)}."
        reasons.append(["Differs on ", Platform(name), text])
    return reasons


def _unknown_reasons(explanations: Sequence[Explanation], named: _Named) -> list[list[Piece]]:
    """Say of which losses no cause is known: of many the heaviest by name, as clauses name all."""
    unknown: dict[tuple[str, str], list[str]] = {}
    for one in explanations:
        if not one.known:
            key = (one.finding.platform, one.withdrawn)
            unknown.setdefault(key, []).append(one.finding.subject)
    alike: dict[tuple[str, str], list[str]] = {}
    for (platform, withdrawn), subjects in unknown.items():
        subject_words = named(subjects)
        if len(subjects) > _UNKNOWN:
            subject_words = f"{len(subjects)} losses, the largest {subjects[0]},"
        begin, end = f"No known cause for {subject_words} on ", f" (not {withdrawn})."
        alike.setdefault((begin, end if withdrawn else "."), []).append(platform)
    return [[begin, *platforms_named(names), end] for (begin, end), names in alike.items()]


def said_as_causes(explanations: Sequence[Explanation]) -> frozenset[tuple[str, str]]:
    """Give the platforms and codes of the caveats that causes of their losses say already."""
    return frozenset(
        (one.finding.platform, cause.caveat)
        for one in explanations
        for cause in one.differing
        if cause.caveat
    )
