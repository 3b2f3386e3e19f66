"""The verdict in words: for each layer the size of the loss, its certainty and its causes.

Certain differences come first, the largest first. Then follow the findings that are equal,
undecided, not measured or not comparable. All of them are named.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Row
from bareline.analysis.words.amounts import reach, span, width
from bareline.analysis.words.changes import change_clauses, other_points
from bareline.analysis.words.outlook import outlook_words
from bareline.analysis.words.parts import (
    Amount,
    Break,
    Lead,
    Link,
    Piece,
    Sentence,
    capital,
    joined,
    sentence,
)
from bareline.analysis.words.reasons import reasons_of, said_as_causes
from bareline.analysis.words.remarks import launches_words, seen_range, undecided_yet
from bareline.analysis.words.subjects import SubjectNames, Wording
from bareline.vocabulary.caveats import Caveat, briefs
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import percent
from bareline.vocabulary.verdicts import DecisionRule, Verdict

_Clause = list[Piece]
#: The largest number of findings that are described although they have too few launches.
_MOST_SEEN = 3
#: The words before the names of findings without figures, with the verdict of these findings.
_LACKING = {
    "failed": Verdict.FAILED,
    "skipped": Verdict.SKIPPED,
    "not measured on both": Verdict.MISSING,
    "not comparable": Verdict.NOT_COMPARABLE,
    "left out": Verdict.DOES_NOT_FIT,
}


def statements(
    findings: Sequence[Finding], explanations: Sequence[Explanation], *, margin: float
) -> list[Sentence]:
    """Return the verdict: one sentence for each layer, layers with a certain difference first."""
    by_layer = grouped_by(findings, lambda finding: finding.layer)
    layers = [layer for layer in Layer if layer in by_layer]
    layers.sort(key=lambda layer: _order(by_layer[layer]))
    sentences = []
    for layer in layers:
        causes = [explained for explained in explanations if explained.finding.layer is layer]
        sentences.append(_statement(layer, by_layer[layer], causes, margin))
    return sentences


def _order(findings: Sequence[Finding]) -> int:
    """Return a key to sort layers: with a difference first, without comparable findings last."""
    if any(finding.verdict.decided for finding in findings):
        return 0
    if all(finding.verdict is Verdict.NOT_COMPARABLE for finding in findings):
        return 2
    return 1


def _statement(
    layer: Layer,
    findings: Sequence[Finding],
    explanations: Sequence[Explanation],
    margin: float,
) -> Sentence:
    """Describe the findings of one layer with their reasons and a link to their figures."""
    clauses = clauses_of(findings, margin, causes=said_as_causes(explanations))
    body = joined(clauses, between=Break(), last=Break())
    reasons = []
    for reason in reasons_of(explanations, SubjectNames(findings).listed):
        reasons.append((Break(" "), *reason))
    return sentence(Lead(layer.words), body, ".", *reasons, evidence(findings))


def evidence(group: Sequence[Finding]) -> Link:
    """Return a link to the values of findings, with the number of launches."""
    decided = [finding for finding in group if finding.verdict.decided]
    described = decided or group
    anchor = max(described, key=lambda finding: finding.weight).anchor
    launches: list[int] = []
    for finding in described:
        launches += [point.n_both for point in finding.compared if point.n_both]
    if not launches:
        return Link(anchor)
    return Link(anchor, min(launches), max(launches))


def clauses_of(
    findings: Sequence[Finding],
    margin: float,
    *,
    with_platforms: bool = True,
    causes: Set[tuple[str, str]] = frozenset(),
) -> list[_Clause]:
    """Describe findings, with a clause for each kind of verdict and each subject that differs.

    - `with_platforms`: the clauses name the platforms; if false, the beginning of the sentence
      names them.
    - `causes`: the platform and code of each caveat that a cause already describes. These caveats
      are not repeated.
    """
    wording = Wording(SubjectNames(findings), margin, with_platforms)
    decided = [finding for finding in findings if finding.verdict.decided]
    clauses = change_clauses(decided, wording)
    for verdict in (Verdict.FAILED, Verdict.MISSING):
        for finding in _with(verdict, findings):
            if finding.compared:  # its compared points prove nothing of the rest
                clauses.append(_partly_undelivered(finding, wording))
    equal = _with(Verdict.EQUIVALENT, findings)
    clauses += _equal(equal, wording)
    undecided = _with(Verdict.INCONCLUSIVE, findings)
    clauses += _open(undecided, wording)
    for head, verdict in _LACKING.items():
        lacking = [finding for finding in _with(verdict, findings) if not finding.compared]
        clauses += _lacking(head, lacking, wording)
    return clauses + _doubts(findings, wording, causes)


def _with(verdict: Verdict, findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.verdict is verdict]


def _partly_undelivered(finding: Finding, wording: Wording) -> _Clause:
    """Count the points of a finding that failed or are missing, then its remaining points."""
    lost = len(finding.undelivered)
    verb = "are missing"
    if finding.of(Verdict.FAILED):
        verb = "failed"
    text = f"{lost} of {len(finding.points)} points of {finding.subject} {verb}"
    rest = joined(other_points(finding, wording.margin), last=", ")
    return [text, *wording.on([finding]), " (", *rest, ")"]


def _equal(findings: Sequence[Finding], wording: Wording) -> list[_Clause]:
    """Name the findings that are equal, and the range of the ratio that is farthest from 1."""
    if not findings:
        return []
    margin = percent(wording.margin)
    equal = Amount(f"equal within {margin}")
    subjects = wording.subjects_by_platforms(findings)
    clause: _Clause = [equal, ": ", *subjects]
    farthest = max(findings, key=lambda finding: finding.weight)
    point = farthest.worst
    if point is not None and point.ratio is not None and point.ratio.bounded:
        reaches = span(point.ratio.lo, point.ratio.hi, farthest.rate)
        clause.append(f" (the farthest is {_subject_and_point(farthest, point)}")
        clause += [*wording.on([farthest]), f": {reaches})"]
    return [clause]


def _subject_and_point(finding: Finding, point: Row) -> str:
    parts = [finding.subject, finding.label(point)]
    return ", ".join(filter(None, parts))


def _open(findings: Sequence[Finding], wording: Wording) -> list[_Clause]:
    """Name the findings that are undecided, with the reason; equal reasons are written once."""
    kinds = grouped_by(
        findings, lambda finding: (finding.platform, undecided_yet(finding), finding.exact)
    )
    by_words: dict[tuple[str, _OpenWords], list[Finding]] = {}
    for group in kinds.values():
        subjects = wording.names.listed([finding.subject for finding in group])
        words = _why_open(group, wording.margin)
        by_words.setdefault((subjects, words), []).append(group[0])
    clauses: list[_Clause] = []
    for (subjects, words), examples in by_words.items():
        clauses.append([f"{words.head}: {subjects}", *wording.on(examples), words.reason])
    return clauses


class _OpenWords(NamedTuple):
    """The words before and after the names of undecided findings."""

    head: str
    reason: str


class _OpenPoint(NamedTuple):
    """An undecided point with its finding."""

    finding: Finding
    point: Row


def _why_open(group: Sequence[Finding], margin: float) -> _OpenWords:
    """Describe why the findings of one platform are undecided, with their widest interval."""
    if undecided_yet(group[0]):
        return _OpenWords("not judged yet", _too_few_launches(group))
    open_points = []
    for finding in group:
        open_points += [_OpenPoint(finding, point) for point in finding.of(Verdict.INCONCLUSIVE)]
    head = "undecided"
    reason = ""
    compared = sum(len(finding.compared) for finding in group)
    if len(open_points) > 1:
        head = f"undecided at {len(open_points)} points"
    if 1 < len(open_points) < compared:
        head = f"undecided at {len(open_points)} of {compared} points"
        reason = f" (the other points are equal within {percent(margin)})"
    return _OpenWords(head, reason + _widest_words(open_points, group, margin))


def _widest_words(
    open_points: Sequence[_OpenPoint], group: Sequence[Finding], margin: float
) -> str:
    """Describe the widest of the undecided points, and the launches that would decide them."""
    widest = max(open_points, key=lambda place: width(place.point))
    reaches = reach(widest.point, widest.finding.rate, margin)
    place = _place_of_widest(widest, group)
    if len(open_points) > 1:
        text = f". The widest interval is that of {place}: {reaches}"
    elif place:
        text = f" at {place} ({reaches})"
    else:
        text = f" ({reaches})"
    if widest.point.rule is DecisionRule.WITHIN_CONTROL:
        return f"{text}. It differs as little as the baseline from itself"
    outlook = outlook_words([place.point for place in open_points], margin)
    if outlook:
        text += f". {capital(outlook)}"
    return text


def _too_few_launches(group: Sequence[Finding]) -> str:
    first = group[:_MOST_SEEN]
    ranges = [seen_range(finding) for finding in first]
    ranges = [text for text in ranges if text]
    text = f" ({launches_words(group)})"
    if ranges:
        return f"{text}: {'; '.join(ranges)}"
    return text


def _place_of_widest(widest: _OpenPoint, group: Sequence[Finding]) -> str:
    """Name a point, with its finding if `group` has several; empty for the only point."""
    label = widest.finding.label(widest.point)
    if len(group) > 1:
        return " at ".join(filter(None, [widest.finding.subject, label]))
    if len(widest.finding.points) > 1:
        return label
    return ""


def _lacking(head: str, findings: Sequence[Finding], wording: Wording) -> list[_Clause]:
    """Name the findings that lack a comparison, grouped by the reason."""
    parts: list[_Clause] = []
    by_reason = grouped_by(findings, lambda finding: finding.reason)
    for reason, group in by_reason.items():
        part = wording.subjects_by_platforms(group)
        if reason:
            part.append(f" ({reason})")
        parts.append(part)
    if parts:
        return [[f"{head}: ", *joined(parts)]]
    return []


def _doubts(
    findings: Sequence[Finding], wording: Wording, causes: Set[tuple[str, str]]
) -> list[_Clause]:
    """Name the caveats of findings, and the number of points that are not compared.

    Caveats that causes already describe are left out.
    """
    compared = [finding for finding in findings if finding.compared]
    by_text = _doubted_by_caveat(compared, causes)
    for finding in compared:
        points = len(finding.points)
        lacking = points - len(finding.compared) - len(finding.undelivered)
        if lacking:
            text = f"{lacking} of {points} points of {finding.subject} not compared"
            by_text.setdefault(text, []).append(finding)
    parts: list[_Clause] = []
    for text, group in by_text.items():
        parts.append([text, *wording.on(group)])
    if parts:
        return [["caveats: ", *joined(parts)]]
    return []


def _doubted_by_caveat(
    findings: Sequence[Finding], causes: Set[tuple[str, str]]
) -> dict[str, list[Finding]]:
    """Return the findings with each caveat, on platforms where no cause already describes it."""
    caveats: list[Caveat] = []
    for finding in findings:
        caveats += finding.caveats
    by_text: dict[str, list[Finding]] = {}
    for brief, alike in briefs(caveats).items():
        codes = {caveat.code for caveat in alike}
        covered = {platform for platform, code in causes if code in codes}
        with_caveat = [part for part in findings if not alike.isdisjoint(part.caveats)]
        doubted = [finding for finding in with_caveat if finding.platform not in covered]
        if doubted:
            by_text[brief] = doubted
    return by_text


def step_sentence(before: str, name: str, findings: Sequence[Finding], margin: float) -> Sentence:
    """Describe in a sentence the differences between a step of the study and the previous step."""
    clauses = clauses_of(findings, margin, with_platforms=False)
    body = joined(clauses, between=Break(), last=Break())
    lead = Lead(f"From {before} to {name}")
    return sentence(lead, body, ".", evidence(findings))
