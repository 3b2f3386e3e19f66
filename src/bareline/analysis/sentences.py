"""The verdict in words: for each layer, how much worse, how sure, and where it comes from.

What is certain comes first, largest first; then what is equal, what cannot be told, what was not
measured and what is not comparable, each by name: nothing is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bareline.analysis.amounts import baseline_value, named, said, span, undecided
from bareline.analysis.causes import Explanation
from bareline.analysis.findings import Finding, weight
from bareline.analysis.parts import (
    Amount,
    Break,
    Evidence,
    Lead,
    Piece,
    Platform,
    Sentence,
    joined,
    percent,
    platforms_named,
    sentence,
)
from bareline.vocabulary.caveats import briefs
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import listing
from bareline.vocabulary.verdicts import Verdict

_Clause = list[Piece]


def statements(
    findings: Sequence[Finding], explanations: Sequence[Explanation], *, margin: float
) -> list[Sentence]:
    """Put the verdict into words: one sentence per layer, layers with a certain change first."""
    told: dict[int, list[Sentence]] = {0: [], 1: [], 2: []}
    for layer in Layer:
        group = [finding for finding in findings if finding.layer is layer]
        if group:
            own = [found for found in explanations if found.finding.layer is layer]
            reasons = [(Break(" "), *reason) for reason in _reasons(own, _Names(group))]
            clauses = joined(tell(group, margin), between=Break(), last=Break())
            told[_rank(group)].append(
                sentence(Lead(layer.words), clauses, ".", *reasons, evidence(group))
            )
    return [said_of for rank in sorted(told) for said_of in told[rank]]


def _rank(group: Sequence[Finding]) -> int:
    """Put certain changes first, and what cannot be compared last."""
    if any(finding.verdict.decided for finding in group):
        return 0
    return 2 if all(finding.verdict is Verdict.NOT_COMPARABLE for finding in group) else 1


def evidence(group: Sequence[Finding]) -> Evidence:
    """Link to where the figures of findings stand, with the launches behind what is said."""
    shown = [finding for finding in group if finding.verdict.decided] or group
    counts = [point.n for finding in shown for point in finding.compared if point.n]
    anchor = max(shown, key=weight).anchor
    return Evidence(anchor, min(counts), max(counts)) if counts else Evidence(anchor)


def tell(
    findings: Sequence[Finding], margin: float, *, with_platforms: bool = True
) -> list[_Clause]:
    """Say what findings say, a clause for each kind of verdict and each changed subject.

    Parameters
    ----------
    with_platforms
        Name each finding's platform; a sentence about a single one does so in its lead.
    """

    def on(found: Iterable[Finding]) -> list[Piece]:
        return [" on ", *platforms_named(part.platform for part in found)] if with_platforms else []

    def of(verdict: Verdict) -> list[Finding]:
        return [finding for finding in findings if finding.verdict is verdict]

    name = _Names(findings)
    clauses = _decided([part for part in findings if part.verdict.decided], margin, on)
    clauses += _equal(of(Verdict.EQUIVALENT), margin, on, name)
    clauses += _alike(
        "cannot tell", of(Verdict.INCONCLUSIVE), lambda part: undecided(part, margin), on, name
    )
    for head, verdict in _LACKING.items():
        clauses += _alike(head, of(verdict), lambda part: part.reason, on, name)
    return clauses + _doubts(findings, on)


_LACKING = {
    "not measured": Verdict.FAILED,
    "not measured on both": Verdict.MISSING,
    "not comparable": Verdict.NOT_COMPARABLE,
    "left out": Verdict.DOES_NOT_FIT,
}
_On = Callable[[Iterable[Finding]], list[Piece]]


class _Names:
    """Names a probe once where all of its classes of sizes are said together."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._titles = {finding.subject: finding.title for finding in findings}

    def of(self, subjects: Sequence[str]) -> str:
        """List subjects."""
        named = []
        for subject in subjects:
            title = self._titles[subject]
            classes = {other for other, own in self._titles.items() if own == title}
            whole = len(classes) > 1 and classes <= set(subjects)
            named.append(title if whole else subject)
        return listing(list(dict.fromkeys(named)))


def _decided(findings: Sequence[Finding], margin: float, on: _On) -> list[_Clause]:
    """Say certain changes, a clause for each subject, the largest first."""
    by_subject: dict[str, list[Finding]] = {}
    for finding in sorted(findings, key=weight, reverse=True):
        by_subject.setdefault(finding.subject, []).append(finding)
    clauses = []
    for subject, group in by_subject.items():
        told: dict[Sentence, list[Finding]] = {}
        for finding in group:
            told.setdefault(sentence(_change(finding, margin, on)), []).append(finding)
        clauses.append([f"{subject} is ", *joined([[*words.parts] for words in told])])
    return clauses


def _change(finding: Finding, margin: float, on: _On) -> _Clause:
    """Say how much worse or better a finding's points are, and what the others do."""
    slower, faster = finding.of(Verdict.SLOWER), finding.of(Verdict.FASTER)
    compared = len(finding.compared)
    pieces: list[Piece] = []
    aside: list[list[Piece]] = []
    for points in filter(None, (slower, faster)):
        if pieces:
            pieces.append(" and ")
        pieces += said(points, finding.rate)
        if len(points) < compared:
            single = len(points) == 1 and points[0].label
            pieces.append(
                f" at {points[0].label}" if single else f" at {len(points)} of {compared} points"
            )
        if naming := named(points):
            aside.append(naming)
        aside.append([f"{finding.baseline} {baseline_value(points[0])}"])
    same = len(finding.of(Verdict.EQUIVALENT))
    open_points = len(finding.of(Verdict.INCONCLUSIVE))
    if same:
        aside.append([f"equal within {percent(margin)} at {same}"])
    if open_points:
        aside.append([f"undecided at {open_points}"])
    return [*pieces, *on([finding]), " (", *joined(aside, last=", "), ")"]


def _equal(findings: Sequence[Finding], margin: float, on: _On, name: _Names) -> list[_Clause]:
    """Say what is equal, and the point that lies farthest from it."""
    if not findings:
        return []
    clause: _Clause = [Amount(f"equal within {percent(margin)}"), ": "]
    by_platforms: dict[Sentence, list[str]] = {}
    for subject in dict.fromkeys(finding.subject for finding in findings):
        group = [finding for finding in findings if finding.subject == subject]
        by_platforms.setdefault(sentence(*on(group)), []).append(subject)
    parts = [[name.of(subjects), *where.parts] for where, subjects in by_platforms.items()]
    farthest = max(findings, key=weight)
    worst = farthest.worst
    shown: list[Piece] = []
    if worst is not None and worst.ratio is not None and worst.lo and worst.hi:
        shown = [f" (farthest: {', '.join(filter(None, [farthest.subject, worst.label]))}"]
        shown += [*on([farthest]), f", {span(worst.lo, worst.hi, farthest.rate)})"]
    return [[*clause, *joined(parts), *shown]]


def _alike(
    head: str, findings: Sequence[Finding], why: Callable[[Finding], str], on: _On, name: _Names
) -> list[_Clause]:
    """Collect findings of one kind in one clause, with the reason for each."""
    if not findings:
        return []
    told: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        told.setdefault((finding.subject, why(finding)), []).append(finding)
    merged: dict[tuple[str, Sentence], list[str]] = {}
    for (subject, reason), group in told.items():
        merged.setdefault((reason, sentence(*on(group))), []).append(subject)
    parts: list[_Clause] = [
        [name.of(subjects), *where.parts, f" ({reason})" if reason else ""]
        for (reason, where), subjects in merged.items()
    ]
    return [[f"{head}: ", *joined(parts)]]


def _doubts(findings: Sequence[Finding], on: _On) -> list[_Clause]:
    """Say the caveats that matter of what was compared, and what some points lack."""
    compared = [finding for finding in findings if finding.compared]
    held: dict[str, list[Finding]] = {}
    for brief, alike in briefs(c for part in compared for c in part.caveats).items():
        held[brief] = [part for part in compared if not alike.isdisjoint(part.caveats)]
    for finding in compared:
        lacking = len(finding.points) - len(finding.compared)
        if lacking:
            text = f"{lacking} of {len(finding.points)} points of {finding.subject} not compared"
            held.setdefault(text, []).append(finding)
    if not held:
        return []
    parts: list[_Clause] = [[brief, *on(group)] for brief, group in held.items()]
    return [["caveats: ", *joined(parts)]]


def _reasons(explanations: Sequence[Explanation], name: _Names) -> list[list[Piece]]:
    """Name the causes of losses, by the heaviest loss of each platform, and what has none."""
    told: dict[tuple[str, tuple[str, ...]], Explanation] = {}
    unknown: dict[str, list[str]] = {}
    for found in sorted(explanations, key=lambda one: -one.point.size):
        finding = found.finding
        if found.known:
            names = tuple(cause.name for cause in found.standing)
            told.setdefault((finding.platform, names), found)
        else:
            withdrawn = "; ".join(f"{c.name}: {c.withdrawn}" for c in found.causes if c.withdrawn)
            why = f" (not {withdrawn})" if withdrawn else ""
            unknown.setdefault(f"{finding.platform}{why}", []).append(finding.subject)
    reasons: list[list[Piece]] = []
    for (platform, _), found in told.items():
        words = listing([cause.words for cause in found.standing])
        reasons.append(
            ["Cause on ", Platform(platform), f": {words} ({found.finding.subject}: {found.text})."]
        )
    for where, subjects in unknown.items():
        reasons.append([f"No known cause for {name.of(subjects)} on {where}."])
    return reasons


def step_sentence(before: str, name: str, findings: Sequence[Finding], margin: float) -> Sentence:
    """Say in one sentence what a step of a ladder changes.

    Parameters
    ----------
    before, name
        The platform before the step, and the one after it.
    findings
        About `name` compared with `before`.
    """
    told = joined(tell(findings, margin, with_platforms=False), between=Break(), last=Break())
    lead = Lead(f"From {before} to {name}")
    return sentence(lead, told, ".", evidence(findings))
