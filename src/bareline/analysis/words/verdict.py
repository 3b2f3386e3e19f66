"""The verdict at a glance: the answer, and a table of layers and platforms."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bareline.analysis.judgements.findings import ORDER, Finding
from bareline.analysis.numbers.row import Row
from bareline.analysis.words.amounts import amount_pieces, mean_pieces, reach
from bareline.analysis.words.answer import answer
from bareline.analysis.words.answer_scope import AnswerScope
from bareline.analysis.words.parts import Amount, Piece, PlatformName, Sentence, joined, sentence
from bareline.analysis.words.remarks import failed_cases, launches_words, seen_range, undecided_yet
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import percent
from bareline.vocabulary.verdicts import Grade, Verdict, grade_of


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """The result of one layer on one platform.

    - `mark`: the verdict. A certain difference outranks failures; "equal" means that all findings
      are equal.
    - `words`: the worst certain difference with its interval; without one, words for `mark`.
    - `subject`: the subject of this difference: ``MPI ping-pong below 8 KiB, 8 B``.
    - `point`: the row of this difference.
    - `more`: the number of further findings that certainly differ.
    - `note`: further failures and missing points, or why the layer is not comparable or not
      measured.
    """

    mark: Verdict
    grade: Grade
    words: Sentence
    subject: str
    point: Row | None
    more: int
    note: str
    anchor: str


@dataclass(frozen=True, slots=True)
class VerdictMatrix:
    """The answer to the study's question, and a table of layers and platforms.

    A layer has no cell for a platform on which it was not measured. The baseline has no cells.
    """

    headline: Sentence
    layers: tuple[Layer, ...]
    platforms: tuple[str, ...]
    squares: Mapping[tuple[Layer, str], MatrixCell]
    promise: str


def glance(
    scope: AnswerScope, platforms: Sequence[str], baseline: str, *, promise: str
) -> VerdictMatrix:
    """Condense findings about platforms into an answer and a table."""
    groups = grouped_by(scope.findings, lambda finding: (finding.layer, finding.platform))
    measured = {finding.layer for finding in scope.findings}
    layers = [layer for layer in Layer if layer in measured]
    squares = {}
    for place in itertools.product(layers, platforms):
        if place in groups:
            square = _square(groups[place], scope.margin)
            squares[place] = square
    headline = answer(scope, platforms, baseline)
    return VerdictMatrix(headline, tuple(layers), tuple(platforms), squares, promise)


_MARKS = {
    Verdict.INCONCLUSIVE: "cannot tell",
    Verdict.FAILED: "failed",
    Verdict.NOT_COMPARABLE: "not comparable",
    Verdict.DOES_NOT_FIT: "does not fit",
    Verdict.SKIPPED: "skipped",
    Verdict.MISSING: "missing",
}
_LACKING = (Verdict.NOT_COMPARABLE, Verdict.SKIPPED, Verdict.MISSING, Verdict.DOES_NOT_FIT)


def _square(group: Sequence[Finding], margin: float) -> MatrixCell:
    """Condense the findings of one layer on one platform."""
    losses = [finding for finding in group if _is_worse(finding)]
    if losses:
        return _changed_square(group, losses, Verdict.SLOWER)
    gains = [finding for finding in group if finding.verdict.decided]
    if gains:
        return _changed_square(group, gains, Verdict.FASTER)
    return _unchanged_square(group, margin)


def _changed_square(
    group: Sequence[Finding], changed: Sequence[Finding], mark: Verdict
) -> MatrixCell:
    """Describe the most certain and largest of the findings that differ in one direction."""
    largest = max(changed, key=lambda part: (part.grade is Grade.CERTAIN, part.weight))
    more = sum(finding.verdict.decided for finding in group) - 1
    point = None
    if not largest.by_mean:
        point = largest.worst
    subject = largest.subject
    if point:
        parts = [subject, largest.label(point)]
        subject = ", ".join(filter(None, parts))
        amount = amount_pieces([point], largest.rate)
    else:
        amount = mean_pieces(largest)
    pieces = [largest.sure_words(mark), *amount]
    if more:
        pieces.append(f", and {more} more")
    return MatrixCell(
        mark=mark,
        grade=largest.grade_toward(mark),
        words=sentence(*pieces),
        subject=subject,
        point=point,
        more=more,
        note=_undelivered(group),
        anchor=largest.anchor,
    )


def _unchanged_square(group: Sequence[Finding], margin: float) -> MatrixCell:
    """Describe the common verdict of findings without a difference."""
    verdicts = {finding.verdict for finding in group}
    mark = next(verdict for verdict in ORDER if verdict in verdicts)
    notes = []
    if mark is not Verdict.FAILED:
        notes.append(_undelivered(group))
    lacking = [part for part in group if part.verdict is mark or part.verdict in _LACKING]
    notes += dict.fromkeys(finding.reason for finding in lacking)
    return MatrixCell(
        mark=mark,
        grade=grade_of(mark, sure=False),
        words=sentence(_marked(mark, group, margin)),
        subject="",
        point=None,
        more=0,
        note="; ".join(filter(None, notes)),
        anchor=group[0].anchor,
    )


def _undelivered(group: Sequence[Finding]) -> str:
    """Count the cases that failed and the points that are missing; empty if both numbers are 0."""
    counts = []
    failed, planned = _failed(group)
    if failed:
        counts.append(f"{failed} of {planned} failed")
    points = sum(len(finding.points) for finding in group)
    missing = sum(len(finding.of(Verdict.MISSING)) for finding in group)
    if missing:
        counts.append(f"{missing} of {points} points missing")
    return ", ".join(counts)


def layer_line(
    findings: Sequence[Finding], squares: Mapping[tuple[Layer, str], MatrixCell], layer: Layer
) -> Sentence:
    """Format a layer in one sentence, with the worst finding of each platform.

    The sentence also contains for each platform the number of findings that differ.
    """
    groups = grouped_by(findings, lambda finding: (finding.layer, finding.platform))
    clauses: list[list[Piece]] = []
    for place, square in squares.items():
        square_layer, name = place
        if square_layer is not layer:
            continue
        clause: list[Piece] = [
            "on ",
            PlatformName(name),
            " ",
            *_square_pieces(square, groups.get(place, [])),
        ]
        if square.note:
            clause.append(f" ({square.note})")
        clauses.append(clause)
    end = ""
    if clauses:
        end = "."
    return sentence(*joined(clauses, between="; ", last="; "), end)


def _square_pieces(square: MatrixCell, group: Sequence[Finding]) -> list[Piece]:
    """Describe the worst finding of a table's cell, and count the findings that differ."""
    if square.point is None:
        pieces: list[Piece] = [*square.words.parts]
        if square.subject:
            pieces.append(f" ({square.subject})")
        return pieces
    described = next(finding for finding in group if square.point in finding.points)
    pieces = [described.sure_words(square.mark)]
    pieces += amount_pieces([square.point], described.rate)
    if square.more and _is_largest(described, group):
        pieces.append(" at most")
    pieces.append(f" ({square.subject})")
    if len(group) > 1:
        pieces += [f", {count}" for count in _counts(group)]
    return pieces


def _counts(findings: Sequence[Finding]) -> list[str]:
    """Return the numbers of worse and of better findings, and how many of them are only likely.

    A finding that loses at some points and gains at other points counts as worse.
    """
    counts = []
    losses = [finding for finding in findings if _is_worse(finding)]
    if losses:
        likely = _likely_words(losses, Verdict.SLOWER)
        worse = len(losses)
        counts.append(f"{worse} of {len(findings)} worse{likely}")
    gains = [finding for finding in findings if finding.verdict is Verdict.FASTER]
    if gains:
        likely_gains = _likely_words(gains, Verdict.FASTER)
        better = len(gains)
        counts.append(f"{better} better{likely_gains}")
    return counts


def _likely_words(findings: Sequence[Finding], verdict: Verdict) -> str:
    likely = sum(finding.grade_toward(verdict) is Grade.LIKELY for finding in findings)
    if likely:
        return f" ({likely} likely)"
    return ""


def _is_largest(described: Finding, findings: Sequence[Finding]) -> bool:
    """Whether no other finding, certain or likely, differs more in the same direction."""
    if _is_worse(described):
        alike = [finding for finding in findings if _is_worse(finding)]
    else:
        alike = [finding for finding in findings if finding.verdict is Verdict.FASTER]
    return all(finding.weight <= described.weight for finding in alike)


def _is_worse(finding: Finding) -> bool:
    if finding.of(Verdict.SLOWER):
        return True
    return finding.by_mean and finding.verdict is Verdict.SLOWER


def _marked(mark: Verdict, group: Sequence[Finding], margin: float) -> Piece:
    """Describe the common verdict of findings without a difference."""
    failed, planned = _failed(group)
    if mark is Verdict.EQUIVALENT:
        return Amount(f"equal within {percent(margin)}")
    if mark is Verdict.FAILED and failed < planned:
        return f"{failed} of {planned} failed"
    if mark is Verdict.INCONCLUSIVE:
        return _undecided(group, margin)
    return _MARKS.get(mark, "")


def _undecided(group: Sequence[Finding], margin: float) -> str:
    """Describe why findings are undecided: too few launches, or the range of the only point.

    For several points with enough launches, the result is only the word for the verdict.
    """
    few = [finding for finding in group if undecided_yet(finding)]
    compared = [finding for finding in group if finding.compared]
    if len(few) == len(compared):
        text = f"{launches_words(few)}, not judged"
        seen = ""
        if len(few) == 1:
            seen = seen_range(few[0])
        if seen:
            return f"{text}: {seen}"
        return text
    ranges = []
    for finding in group:
        for point in finding.of(Verdict.INCONCLUSIVE):
            range_words = reach(point, finding.rate, margin)
            ranges.append(range_words)
    if len(ranges) == 1:
        return ranges[0]
    return _MARKS[Verdict.INCONCLUSIVE]


def _failed(group: Sequence[Finding]) -> tuple[int, int]:
    """Return the number of cases that failed on one of the platforms, and of all planned cases."""
    failed_here, planned = failed_cases(group)
    failed_there, _ = failed_cases(group, baseline=True)
    return failed_here + failed_there, planned
