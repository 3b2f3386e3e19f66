"""The verdict at a glance: one line, and a matrix of layers and platforms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bareline.analysis.judgements.findings import ORDER, Finding
from bareline.analysis.numbers.row import Row
from bareline.analysis.words.amounts import amount_pieces, mean_pieces, reach
from bareline.analysis.words.answer import AnswerScope, answer
from bareline.analysis.words.parts import Amount, Piece, Platform, Sentence, joined, sentence
from bareline.analysis.words.remarks import failed_cases, launches_words, seen_range, undecided_yet
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import percent
from bareline.vocabulary.verdicts import Grade, Verdict, grade_of


@dataclass(frozen=True, slots=True)
class Square:
    """One layer on one platform.

    - `mark`: a certain change before failures, equal only if all findings are equal.
    - `words`, `subject`, `point`: the worst certain change with its interval, and its subject:
      ``MPI ping-pong below 8 KiB, 8 B``; where no change is certain, the mark of all.
    - `more`: how many further findings change certainly.
    - `note`: further failures and missing points; why it is not comparable, or not measured.
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
class Glance:
    """The verdict at a glance.

    A layer that was not measured on a platform has no square there; the baseline has none at all.
    """

    headline: Sentence
    layers: tuple[Layer, ...]
    platforms: tuple[str, ...]
    squares: Mapping[tuple[Layer, str], Square]
    promise: str


def glance(asked: AnswerScope, platforms: Sequence[str], baseline: str, *, promise: str) -> Glance:
    """Condense findings about platforms into one line and a matrix."""
    findings, margin = asked.findings, asked.margin
    layers = [layer for layer in Layer if any(part.layer is layer for part in findings)]
    squares = {}
    for layer in layers:
        for platform in platforms:
            group = [part for part in findings if part.layer is layer and part.platform == platform]
            if group:
                squares[layer, platform] = _square(group, margin)
    line = answer(asked, platforms, baseline)
    return Glance(line, tuple(layers), tuple(platforms), squares, promise)


_MARKS = {
    Verdict.INCONCLUSIVE: "cannot tell",
    Verdict.FAILED: "failed",
    Verdict.NOT_COMPARABLE: "not comparable",
    Verdict.DOES_NOT_FIT: "does not fit",
    Verdict.SKIPPED: "skipped",
    Verdict.MISSING: "missing",
}
_LACKING = (Verdict.NOT_COMPARABLE, Verdict.SKIPPED, Verdict.MISSING, Verdict.DOES_NOT_FIT)


def _square(group: Sequence[Finding], margin: float) -> Square:
    there = {finding.verdict for finding in group}
    mark = next(verdict for verdict in ORDER if verdict in there)
    failed, every = _failed(group)
    points = [point for finding in group for point in finding.points]
    missing = sum(point.verdict is Verdict.MISSING for point in points)
    counts = [f"{failed} of {every} failed"] if failed else []
    counts += [f"{missing} of {len(points)} points missing"] if missing else []
    lost = ", ".join(counts)
    losses = [finding for finding in group if _is_worse(finding)]
    decided = losses or [finding for finding in group if finding.verdict.decided]
    if decided:
        shown = max(decided, key=lambda f: (f.grade is Grade.CERTAIN, f.weight))
        point = None if shown.by_mean else shown.worst
        mark = Verdict.SLOWER if losses else Verdict.FASTER
        label = shown.label(point) if point else ""
        subject = ", ".join(filter(None, [shown.subject, label]))
        more = sum(finding.verdict.decided for finding in group) - 1
        pieces = amount_pieces([point], shown.rate) if point else mean_pieces(shown)
        grade = shown.grade_toward(mark)
        words = sentence(shown.sure_words(mark), *pieces, f", and {more} more" if more else "")
        return Square(mark, grade, words, subject, point, more, lost, shown.anchor)
    words = sentence(_marked(mark, group, margin))
    notes = [lost] if mark is not Verdict.FAILED else []
    notes += dict.fromkeys(f.reason for f in group if f.verdict is mark or f.verdict in _LACKING)
    note = "; ".join(filter(None, notes))
    return Square(mark, grade_of(mark, sure=False), words, "", None, 0, note, group[0].anchor)


def layer_line(
    findings: Sequence[Finding], squares: Mapping[tuple[Layer, str], Square], layer: Layer
) -> Sentence:
    """Format a layer in one sentence: on each platform how many findings change, and the worst."""
    clauses: list[list[Piece]] = []
    for (at, name), square in squares.items():
        if at is not layer:
            continue
        own = [f for f in findings if f.layer is layer and f.platform == name]
        clause: list[Piece] = ["on ", Platform(name), " "]
        if square.point is None:
            clause += [*square.words.parts, f" ({square.subject})" if square.subject else ""]
        else:
            shown = next(f for f in own if square.point in f.points)
            sure = shown.sure_words(square.mark)
            most = " at most" if square.more and _is_largest(shown, own) else ""
            counts = _counts(own) if len(own) > 1 else []
            amount = amount_pieces([square.point], shown.rate)
            clause += [sure, *amount, f"{most} ({square.subject})", ", ".join(["", *counts])]
        clauses.append([*clause, f" ({square.note})" if square.note else ""])
    return sentence(*joined(clauses, between="; ", last="; "), "." if clauses else "")


def _counts(findings: Sequence[Finding]) -> list[str]:
    """Count the findings that are worse, and better, of all; likely ones are also counted apart.

    A finding that loses at some points and gains at other points is counted as worse.
    """
    losses = [finding for finding in findings if _is_worse(finding)]
    gains = [finding for finding in findings if finding.verdict is Verdict.FASTER]
    likely_losses = sum(f.grade_toward(Verdict.SLOWER) is Grade.LIKELY for f in losses)
    likely_gains = sum(f.grade_toward(Verdict.FASTER) is Grade.LIKELY for f in gains)
    counts = []
    if losses:
        likely = f" ({likely_losses} likely)" if likely_losses else ""
        counts.append(f"{len(losses)} of {len(findings)} worse{likely}")
    if gains:
        likely = f" ({likely_gains} likely)" if likely_gains else ""
        counts.append(f"{len(gains)} better{likely}")
    return counts


def _is_largest(shown: Finding, findings: Sequence[Finding]) -> bool:
    """Whether no finding changes more in the same direction, as a likely one may."""
    alike = _is_worse if _is_worse(shown) else (lambda f: f.verdict is Verdict.FASTER)
    return all(finding.weight <= shown.weight for finding in findings if alike(finding))


def _is_worse(finding: Finding) -> bool:
    return bool(finding.of(Verdict.SLOWER)) or (
        finding.by_mean and finding.verdict is Verdict.SLOWER
    )


def _marked(mark: Verdict, group: Sequence[Finding], margin: float) -> Piece:
    failed, every = _failed(group)
    if mark is Verdict.EQUIVALENT:
        return Amount(f"equal within {percent(margin)}")
    if mark is Verdict.FAILED and failed < every:
        return f"{failed} of {every} failed"
    few = [finding for finding in group if undecided_yet(finding)]
    if mark is Verdict.INCONCLUSIVE and len(few) == sum(bool(f.compared) for f in group):
        most = max(few, key=lambda finding: finding.weight)
        seen = seen_range(most) if len(few) == 1 else ""
        return f"{launches_words(few)}, not judged" + (f": {seen}" if seen else "")
    if mark is Verdict.INCONCLUSIVE:
        points = [(f, point) for f in group for point in f.of(Verdict.INCONCLUSIVE)]
        if len(points) == 1:
            return reach(points[0][1], points[0][0].rate, margin)
    return _MARKS.get(mark, "")


def _failed(group: Sequence[Finding]) -> tuple[int, int]:
    (here, every), (there, _) = failed_cases(group), failed_cases(group, baseline=True)
    return here + there, every
