"""The clauses that describe certain and likely differences: ``MPI ping-pong is 2 times slower``."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Row
from bareline.analysis.words.amounts import (
    amount_pieces,
    lost_words,
    mean_pieces,
    span,
    worst_pieces,
)
from bareline.analysis.words.parts import Piece, joined, sentence
from bareline.analysis.words.subjects import Wording
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.units import count, format_value, percent
from bareline.vocabulary.verdicts import Grade, Verdict

_Clause = list[Piece]


def change_clauses(findings: Sequence[Finding], wording: Wording) -> list[_Clause]:
    """Describe findings that differ, with a clause for each subject, the largest first."""
    largest_first = sorted(findings, key=lambda finding: finding.weight, reverse=True)
    clauses: list[_Clause] = []
    by_subject = grouped_by(largest_first, lambda finding: finding.subject)
    for subject, group in by_subject.items():
        changes = dict.fromkeys(sentence(_change(finding, wording)) for finding in group)
        parts = [change.parts for change in changes]
        clauses.append([f"{subject} is ", *joined(parts)])
    return clauses


def _change(finding: Finding, wording: Wording) -> _Clause:
    """Describe the difference of a finding, with details and its remaining points in brackets."""
    if finding.by_mean:
        amount = mean_pieces(finding)
        details = _details_of_mean(finding)
    else:
        sides = [_side(finding, points) for points in _sides(finding)]
        amount = joined(sides, last=" and ")
        details = []
        for points in _sides(finding):
            details += _details_of_side(finding, points)
    listed_details = list(joined(details, last=", "))
    for clause in other_points(finding, wording.margin):
        listed_details += ["; ", *clause]
    return [*amount, *wording.on([finding]), " (", *listed_details, ")"]


def _details_of_mean(finding: Finding) -> list[_Clause]:
    """Describe the points of a finding if only the mean of the points differs."""
    details: list[_Clause] = [["no single point is certain"]]
    ratios = []
    for point in finding.compared:
        if point.ratio:
            ratios.append(point.ratio.value)
    if ratios:
        range_words = span(min(ratios), max(ratios), finding.rate)
        details.append([f"estimates {range_words}"])
    return details


def _sides(finding: Finding) -> list[list[Row]]:
    """Return a list of the worse points and a list of the better points, without empty lists."""
    sides = [finding.of(Verdict.SLOWER), finding.of(Verdict.FASTER)]
    return [points for points in sides if points]


def _likely(points: Sequence[Row]) -> int:
    return sum(point.grade is Grade.LIKELY for point in points)


def _side(finding: Finding, points: Sequence[Row]) -> _Clause:
    """Describe how much the worse (or the better) points differ, and which or how many points."""
    pieces: _Clause = []
    if _likely(points) == len(points):
        pieces.append(points[0].sure_words)
    pieces += amount_pieces(points, finding.rate)
    compared = len(finding.compared)
    if len(points) < compared:
        place = f"{len(points)} of {compared} points"
        if len(points) == 1:
            place = finding.label(points[0]) or place
        pieces.append(f" at {place}")
    return pieces


def _details_of_side(finding: Finding, points: Sequence[Row]) -> list[_Clause]:
    """Return details on the worse (or the better) points: certainty, worst point, baseline."""
    first = points[0]
    details: list[_Clause] = []
    likely = _likely(points)
    if 0 < likely < len(points):
        details.append([f"only likely at {count(likely, 'point')}"])
    worst = worst_pieces(finding, points)
    if worst:
        details.append(worst)
    base_value = None
    if first.base:
        base_value = first.base.value
    base_text = format_value(base_value, first.metric.unit)
    details.append([f"{finding.baseline} {base_text}"])
    # Among points with a ratio, points without one are named with their lost launches.
    without_ratio = [point for point in points if point.ratio is None]
    if 0 < len(without_ratio) < len(points):
        details.append([_without_ratio(finding, without_ratio)])
    return details


def _without_ratio(finding: Finding, points: Sequence[Row]) -> str:
    first = points[0]
    if first.lost:
        label = finding.label(first)
        return f"{label} {lost_words(first)}"
    return f"no ratio at {len(points)} more"


def other_points(finding: Finding, margin: float) -> list[_Clause]:
    """Count the points of a finding that do not differ, by their verdict."""
    verdicts = {
        f"equal within {percent(margin)} at": Verdict.EQUIVALENT,
        "undecided at": Verdict.INCONCLUSIVE,
        "failed at": Verdict.FAILED,
        "missing at": Verdict.MISSING,
    }
    clauses: list[_Clause] = []
    for words, verdict in verdicts.items():
        points = finding.of(verdict)
        if points:
            clauses.append([f"{words} {count(len(points), 'point')}"])
    return clauses
