"""Write the answer: a paragraph for each platform, beginning with the study's question.

The platform with the largest loss comes first. After the rows in the question, the paragraph
describes other layers that are worse, gains, launches that did not end, and undecided rows with
their intervals. Without a question it names the worst finding of each layer. "Equal" is written
only if every planned point is equal.
"""

from __future__ import annotations

from collections.abc import Sequence

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.words.answer_losses import (
    change_clause,
    clauses_of_layers,
    clauses_of_programs,
)
from bareline.analysis.words.answer_rest import (
    clauses_of_crashes,
    clauses_of_open_cells,
    clauses_of_the_rest,
    clauses_of_undelivered,
)
from bareline.analysis.words.answer_scope import AnswerScope
from bareline.analysis.words.parts import (
    Break,
    Piece,
    PlatformName,
    Sentence,
    capitalized,
    joined,
    platforms_named,
    sentence,
)
from bareline.analysis.words.remarks import (
    disturbances,
    failed_cases,
    incomparable,
    one_machine,
    simulations,
)
from bareline.vocabulary.units import listing
from bareline.vocabulary.verdicts import Verdict

#: With more platforms than this, a clause contains figures only: the table below has the details.
_MOST_PLATFORMS = 3
_NOTHING: Piece = "nothing could be compared"
_NEXT = Break(" ")

_Clause = list[Piece]


def answer(scope: AnswerScope, platforms: Sequence[str], baseline: str) -> Sentence:
    """Answer the question for each platform; the platforms with the largest losses come first."""
    clauses: list[_Clause] = []
    for words, names in _platforms_by_words(scope, platforms).items():
        clauses.append(["On ", *platforms_named(names), " ", *words.parts, "."])
    body = joined(clauses or [[f"{_NOTHING}."]], between=_NEXT, last=_NEXT)
    return sentence(*body, _NEXT, *_against(scope, platforms, baseline))


def _platforms_by_words(scope: AnswerScope, platforms: Sequence[str]) -> dict[Sentence, list[str]]:
    """Return the platforms for each text; platforms with equal words share a text.

    Every platform with a finding is included.
    """
    brief = len(platforms) > _MOST_PLATFORMS
    measured = {finding.platform for finding in scope.findings}
    scopes = {name: scope.of(name) for name in platforms}
    by_loss = sorted(platforms, key=lambda name: scopes[name].size, reverse=True)
    by_words: dict[Sentence, list[str]] = {}
    for name in by_loss:
        if name not in measured:
            continue
        words = _words_of_platform(scopes[name], brief=brief) or [_NOTHING]
        text = sentence(*words)
        by_words.setdefault(text, []).append(name)
    return by_words


def _against(scope: AnswerScope, platforms: Sequence[str], baseline: str) -> _Clause:
    """Return the clause that names the baseline, with remarks about all platforms."""
    clause: _Clause = ["Compared with ", PlatformName(baseline)]
    failed, planned = failed_cases(scope.findings, baseline=True)
    if failed:
        clause.append(f", where {failed} of {planned} cases failed")
    clause += simulations(scope.findings, platforms, baseline)
    for disturbance in disturbances(scope.findings):
        clause.append(f"; {disturbance}")
    remark = one_machine(scope.findings)
    clause.append(f"{remark}.")
    return clause


def _words_of_platform(scope: AnswerScope, *, brief: bool) -> _Clause:
    losses = scope.cells_with(Verdict.SLOWER)
    gains = scope.cells_with(Verdict.FASTER)
    means = scope.means
    described = {(cell.layer, cell.place.probe) for cell in (*losses, *gains)}
    described |= {(finding.layer, finding.probe) for finding in means}

    parts = clauses_of_programs(scope, losses, worse=True, brief=brief)
    parts += [change_clause(scope, finding, finding.verdict) for finding in means]
    parts += clauses_of_open_cells(scope)
    also_worse = bool(losses) or _any_has(means, Verdict.SLOWER)
    parts += clauses_of_layers(scope, Verdict.SLOWER, described, also=also_worse, first=not parts)
    parts += clauses_of_programs(scope, gains, worse=False, brief=brief)
    also_better = bool(gains) or _any_has(means, Verdict.FASTER)
    parts += clauses_of_layers(scope, Verdict.FASTER, described, also=also_better, first=not parts)
    parts += clauses_of_undelivered(scope)
    parts += clauses_of_crashes(scope)
    parts += clauses_of_the_rest(scope, whole=not parts)
    for reason, layers in incomparable(scope.findings).items():
        names = list(dict.fromkeys(layers))
        verb = "is" if len(names) == 1 else "are"
        parts.append([f"{listing(names)} {verb} not comparable ({reason})"])
    skipped = dict.fromkeys(finding.title for finding in scope.findings_with(Verdict.SKIPPED))
    if skipped:
        verb = "was" if len(skipped) == 1 else "were"
        parts.append([f"{listing(list(skipped))} {verb} skipped"])
    further = [capitalized(part) for part in parts[1:]]
    return joined([*parts[:1], *further], between=". ", last=". ")


def _any_has(findings: Sequence[Finding], verdict: Verdict) -> bool:
    return any(finding.verdict is verdict for finding in findings)
