"""The clauses of an answer that describe losses and gains: of programs, then of other layers."""

from __future__ import annotations

from collections.abc import Sequence, Set

from bareline.analysis.judgements.breakdown import Breakdown
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.programs import application_of
from bareline.analysis.numbers.row import Estimate, Row
from bareline.analysis.words.amounts import Form, amount_pieces, at_most, mean_pieces
from bareline.analysis.words.answer_scope import AnswerScope
from bareline.analysis.words.parts import Amount, Interval, Piece, joined
from bareline.analysis.words.remarks import layer_name
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import format_value, listing, significant
from bareline.vocabulary.verdicts import Grade, Verdict

#: The most losses with figures where nothing was asked.
_MOST_LOSSES = 3
#: The most names of cases that are listed.
MOST_NAMES = 4
_NAMES = {Layer.APP: "applications", Layer.NPB: "NAS benchmarks"}
#: A piece of the extra time below this share of the baseline's is not named.
_TOLD_FROM = 0.01

_Clause = list[Piece]


def clauses_of_programs(
    scope: AnswerScope, cells: Sequence[Row], *, worse: bool, brief: bool
) -> list[_Clause]:
    """Describe the cells that the question names and that differ in one direction.

    Parameters
    ----------
    scope
        The part of one platform.
    cells
        Cells of `scope` that are all worse, or all better.
    worse
        Whether they are worse.
    brief
        Whether the causes of a loss are left out.
    """
    clauses: list[_Clause] = []
    ended = [cell for cell in cells if cell.ratio is not None and not _is_decided_by_loss(cell)]
    for layer, group in grouped_by(ended, lambda cell: cell.layer).items():
        certain_first = sorted(group, key=_certain_and_large_first)
        largest = max(certain_first, key=lambda cell: cell.size)
        clause = _figures(scope, layer, certain_first, largest)
        if worse and not brief:
            clause.append(_because(scope, largest))
        clauses.append(clause)
    lost = [cell for cell in cells if cell not in ended]
    if lost:
        clauses.append(_lost_clause(scope, lost, worse=worse))
    return clauses


def _is_decided_by_loss(cell: Row) -> bool:
    """Whether the number of lost launches decides the verdict of a cell."""
    return cell.lost is not None and bool(cell.lost.by_loss)


def _certain_and_large_first(cell: Row) -> tuple[bool, float]:
    return cell.grade is not Grade.CERTAIN, -cell.size


def _lost_clause(scope: AnswerScope, lost: Sequence[Row], *, worse: bool) -> _Clause:
    """Describe the cells that did not finish, here if `worse`, or on the baseline."""
    if len(lost) == 1:
        name = scope.name(lost[0])
        program = f"{name} is {lost[0].sure_words}"
        amount = amount_pieces(lost, lost[0].rate)
        return [program, *amount]
    places = {cell.place for cell in scope.cells}
    clause: _Clause = [Amount(f"{len(lost)} of {len(places)} cases did not finish")]
    if not worse:
        clause.append(" on the baseline")
    different = dict.fromkeys(scope.name(cell) for cell in lost)
    names = list(different)
    if len(names) <= MOST_NAMES:
        clause.append(f" ({listing(names)})")
    return clause


def _figures(scope: AnswerScope, layer: Layer, group: Sequence[Row], largest: Row) -> _Clause:
    """Describe how much the cells of a layer differ, of which `largest` differs most."""
    assert largest.ratio is not None
    of_layer = [cell for cell in scope.cells if cell.layer is layer]
    likely = sum(cell.grade is Grade.LIKELY for cell in group)
    sure = ""
    if likely == len(group):
        sure = largest.sure_words
    values = _both_values(largest)
    noun = _NAMES.get(layer, "points")
    if len(group) == 1:
        subject = f"{scope.name(largest)} "
        if len(of_layer) > 1:
            subject = f"1 of {len(of_layer)} {noun} differs: {subject}"
        return [subject, *_takes(largest.ratio, largest.rate, sure), values]
    several = f"{len(group)} of {len(of_layer)}"
    if len(group) == len(of_layer):
        several = "all"
    amount = amount_pieces(group, largest.rate)
    clause = [f"{several} {noun} are {sure}", *amount]
    if 0 < likely < len(group):
        clause.append(f" (only likely for {likely} {noun})")
    return [*clause, f", {scope.name(largest)} the most{values}"]


def _both_values(cell: Row) -> str:
    """Return the platform's and the baseline's value; empty where there is none.

    The platform's value follows from the ratio, which is of pairs: its median by itself would have
    another quotient.
    """
    if cell.base is None or cell.ratio is None:
        return ""
    ratio = 1 / cell.ratio.value if cell.rate else cell.ratio.value
    value = format_value(cell.base.value * ratio, cell.metric.unit)
    return f": {value} instead of {format_value(cell.base.value, cell.metric.unit)}"


def _takes(ratio: Estimate, rate: bool, sure: str) -> _Clause:
    """Describe a ratio of a time as people do: ``takes 1.48 times as long [1.34, 1.68]``."""
    form = Form.of(ratio.value, rate)
    if rate or not form.unit.startswith("times") or ratio.value < 1:
        bounds = form.bounds(ratio, ratio.value > 1)
        return [f"is {sure}", Amount(form.text(ratio.value)), *bounds]
    times = significant(ratio.value)
    amount = Amount(f"takes {times} times as long")
    low = "-"
    if ratio.lo:
        low = significant(ratio.lo)
    high = "unlimited"
    if ratio.hi:
        high = significant(ratio.hi)
    return [sure, amount, " ", Interval(low, high)]


def _because(scope: AnswerScope, cell: Row) -> str:
    """Return the time that was predicted, and the largest piece of a program's extra time."""
    reason = ""
    predictions = scope.predicted or {}
    predicted_s = predictions.get((cell.platform, application_of(cell.place)))
    if predicted_s is not None:
        reason = f" (predicted: {format_value(predicted_s, 's')})"
    breakdown = _breakdown_of(scope, cell)
    if breakdown is not None and breakdown.largest is not None:
        piece = breakdown.largest
        if piece.extra >= _TOLD_FROM:
            reason += f". Most of the loss is {piece.call or piece.name}"
    return reason


def _breakdown_of(scope: AnswerScope, cell: Row) -> Breakdown | None:
    for breakdown in scope.breakdowns:
        if breakdown.cell.place == cell.place:
            return breakdown
    return None


def clauses_of_layers(
    scope: AnswerScope,
    verdict: Verdict,
    described: Set[tuple[Layer, str]],
    *,
    also: bool,
    first: bool,
) -> list[_Clause]:
    """Describe which other layers differ in one direction.

    Parameters
    ----------
    scope
        The part of one platform.
    verdict
        Slower or faster.
    described
        The layers and probes that other clauses describe.
    also
        Whether the cells that the question names have differed in the same way.
    first
        Whether no clause is before these.
    """
    findings = _largest_changes(scope, verdict, described)
    direction = "better"
    if verdict is Verdict.SLOWER:
        direction = "worse"
    if not scope.cells:
        if verdict is Verdict.FASTER:
            findings = [part for part in findings if not _is_described_as_mixed(scope, part)]
        return _changes_without_question(scope, findings, verdict, direction)
    if not findings:
        return []
    pieces: list[_Clause] = []
    for finding in findings:
        amount = _amount(finding, verdict, with_direction=False)
        pieces.append([f"{layer_name(finding.layer)} ", *amount])
    head = direction
    if also:
        head = f"also {direction}"
    elif first:
        head = f"this layer is {direction}"
        if len(findings) > 1:
            head = f"these layers are {direction}"
    return [[f"{head}: ", *joined(pieces, last=", ")]]


def _changes_without_question(
    scope: AnswerScope, findings: Sequence[Finding], verdict: Verdict, direction: str
) -> list[_Clause]:
    """Describe the largest changes by themselves, and name the layers of the rest."""
    first = findings[:_MOST_LOSSES]
    clauses = [change_clause(scope, finding, verdict) for finding in first]
    further = findings[_MOST_LOSSES:]
    if further:
        noun = "layers are"
        if len(further) == 1:
            noun = "layer is"
        names = listing([layer_name(finding.layer) for finding in further])
        clauses.append([f"{len(further)} more {noun} {direction} ({names})"])
    return clauses


def _largest_changes(
    scope: AnswerScope, verdict: Verdict, described: Set[tuple[Layer, str]]
) -> list[Finding]:
    """Return the finding of each layer that changes most in a direction, certain ones first."""

    def rank(finding: Finding) -> tuple[bool, float]:
        grade = finding.grade_toward(verdict)
        return grade is Grade.CERTAIN, finding.weight

    changed = []
    for finding in scope.findings:
        differs = finding.of(verdict) or (finding.by_mean and finding.verdict is verdict)
        if differs and (finding.layer, finding.probe) not in described:
            changed.append(finding)
    by_layer = grouped_by(changed, lambda finding: finding.layer)
    largest = [max(group, key=rank) for group in by_layer.values()]
    return sorted(largest, key=rank, reverse=True)


def _is_described_as_mixed(scope: AnswerScope, finding: Finding) -> bool:
    """Whether the clause of its loss also describes its gain."""
    if finding.verdict is not Verdict.MIXED:
        return False
    losses = _largest_changes(scope, Verdict.SLOWER, set())[:_MOST_LOSSES]
    return any(loss is finding for loss in losses)


def _amount(finding: Finding, verdict: Verdict, *, with_direction: bool = True) -> _Clause:
    sure = finding.sure_words(verdict)
    if finding.by_mean:
        return [sure, *mean_pieces(finding, bounded=False)]
    largest = finding.of(verdict)[0]
    several = len(finding.points) > 1
    pieces = at_most(largest, finding.rate, of_several=several, direction=with_direction)
    return [sure, *pieces]


def change_clause(scope: AnswerScope, finding: Finding, verdict: Verdict) -> _Clause:
    """Describe the largest change of a finding; the gain as well where it has both."""
    name = f"{scope.where(finding)} is "
    if verdict is not Verdict.SLOWER or finding.verdict is not Verdict.MIXED:
        return [name, *_amount(finding, verdict)]
    losses = _change_at_some_points(finding, Verdict.SLOWER)
    gains = _change_at_some_points(finding, Verdict.FASTER)
    return [name, *joined([losses, gains])]


def _change_at_some_points(finding: Finding, verdict: Verdict) -> _Clause:
    """Describe one direction of a mixed finding: ``up to 1.30 times slower at 2 of 5 points``."""
    points = finding.of(verdict)
    compared = len(finding.compared)
    place = f"{len(points)} of {compared} points"
    if len(points) == 1:
        place = finding.label(points[0]) or place
    several = len(points) > 1
    amount = at_most(points[0], finding.rate, of_several=several, direction=True)
    sure = finding.sure_words(verdict)
    return [sure, *amount, f" at {place}"]
