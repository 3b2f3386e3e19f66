"""The clauses of an answer about losses and gains, first of programs, then of other layers."""

from __future__ import annotations

from collections.abc import Sequence, Set

from bareline.analysis.judgements.breakdown import Breakdown
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.programs import application_of
from bareline.analysis.numbers.row import Estimate, Row
from bareline.analysis.words.amounts import Form, amount_pieces, at_most, mean_pieces, ratio_pieces
from bareline.analysis.words.answer_scope import AnswerScope
from bareline.analysis.words.parts import Amount, Interval, Piece, joined
from bareline.analysis.words.remarks import layer_name
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import format_value, listing, significant
from bareline.vocabulary.verdicts import Grade, Verdict

#: The largest number of losses that have figures if the study has no question.
_MOST_LOSSES = 3
#: The largest number of cases that are listed by name.
MOST_NAMES = 4
_NAMES = {Layer.APP: "applications", Layer.NPB: "NAS benchmarks"}
#: A piece of the extra time below this share of the baseline's time is not named.
_TOLD_FROM = 0.01

_Clause = list[Piece]


def clauses_of_programs(
    scope: AnswerScope, cells: Sequence[Row], *, worse: bool, brief: bool
) -> list[_Clause]:
    """Describe rows in the study's question that are all worse, or all better.

    Parameters
    ----------
    scope
        The data of one platform.
    cells
        Rows of `scope` that are all worse, or all better.
    worse
        Whether the rows are worse.
    brief
        Whether the causes of a loss are left out.
    """
    clauses: list[_Clause] = []
    ended = [cell for cell in cells if _is_decided_by_ratio(cell)]
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


def _is_decided_by_ratio(cell: Row) -> bool:
    """Whether a row has a ratio, and the number of lost launches does not decide its verdict."""
    if cell.ratio is None:
        return False
    return cell.lost is None or not cell.lost.by_loss


def _certain_and_large_first(cell: Row) -> tuple[bool, float]:
    return cell.grade is not Grade.CERTAIN, -cell.size


def _lost_clause(scope: AnswerScope, lost: Sequence[Row], *, worse: bool) -> _Clause:
    """Describe the rows that did not finish on the platform (`worse`) or on the baseline."""
    first = lost[0]
    if len(lost) == 1:
        return [f"{scope.name(first)} is {first.sure_words}", *amount_pieces(lost, first.rate)]
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
    """Describe how much the rows of a layer differ; `largest` differs most."""
    assert largest.ratio is not None
    differing = len(group)
    of_layer = sum(cell.layer is layer for cell in scope.cells)
    likely = sum(cell.grade is Grade.LIKELY for cell in group)
    sure = ""
    if likely == differing:
        sure = largest.sure_words
    name = scope.name(largest)
    values = _both_values(largest)
    noun = _NAMES.get(layer, "points")
    if differing == 1:
        subject = f"{name} "
        if of_layer > 1:
            subject = f"1 of {of_layer} {noun} differs: {subject}"
        return [subject, *_takes(largest.ratio, largest.rate, sure), values]
    several = f"{differing} of {of_layer}"
    if differing == of_layer:
        several = "all"
    clause: _Clause = [f"{several} {noun} are {sure}"]
    clause += amount_pieces(group, largest.rate)
    if 0 < likely < differing:
        clause.append(f" (only likely for {likely} {noun})")
    clause.append(f", {name} the most{values}")
    return clause


def _both_values(cell: Row) -> str:
    """Return the platform's and the baseline's value in words; empty if a value is missing.

    The platform's value is the baseline's median multiplied (for a rate: divided) by the ratio. The
    platform's median would not match the ratio, which is computed from pairs of launches.
    """
    if cell.base is None or cell.ratio is None:
        return ""
    ratio = cell.ratio.value
    if cell.rate:
        ratio = 1 / ratio
    unit = cell.metric.unit
    value = format_value(cell.base.value * ratio, unit)
    base_value = format_value(cell.base.value, unit)
    return f": {value} instead of {base_value}"


def _takes(ratio: Estimate, rate: bool, sure: str) -> _Clause:
    """Describe a ratio of times in plain words: ``takes 1.48 times as long [1.34, 1.68]``."""
    form = Form.of(ratio.value, rate)
    if rate or not form.unit.startswith("times") or ratio.value < 1:
        return [f"is {sure}", *ratio_pieces(ratio, rate)]
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
    """Return words for the predicted time and for the largest piece of a program's extra time."""
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
    """Describe which layers are worse, or better, without layers that are already described.

    Parameters
    ----------
    scope
        The data of one platform.
    verdict
        Slower or faster.
    described
        The layers and probes that other clauses describe.
    also
        Whether the rows in the study's question differ in the same direction.
    first
        Whether these clauses are the first of the answer.
    """
    findings = _largest_changes(scope, verdict, described)
    if not scope.cells:
        if verdict is Verdict.FASTER:
            findings = [part for part in findings if not _is_described_as_mixed(scope, part)]
        return _changes_without_question(scope, findings, verdict)
    if not findings:
        return []
    pieces: list[_Clause] = []
    for finding in findings:
        pieces.append([f"{layer_name(finding.layer)} ", *_amount_then_grade(finding, verdict)])
    head = _direction(verdict)
    if also:
        head = f"also {head}"
    elif first:
        noun = "this layer is"
        if len(findings) > 1:
            noun = "these layers are"
        head = f"{noun} {head}"
    return [[f"{head}: ", *joined(pieces, last=", ")]]


def _direction(verdict: Verdict) -> str:
    if verdict is Verdict.SLOWER:
        return "worse"
    return "better"


def _changes_without_question(
    scope: AnswerScope, findings: Sequence[Finding], verdict: Verdict
) -> list[_Clause]:
    """Describe the largest differences individually; name the layers of all other differences."""
    clauses: list[_Clause] = []
    further = []
    for finding in findings:
        if len(clauses) < _MOST_LOSSES:
            clauses.append(change_clause(scope, finding, verdict))
        else:
            further.append(layer_name(finding.layer))
    if further:
        noun = "layers are"
        if len(further) == 1:
            noun = "layer is"
        layers = f"{len(further)} more {noun} {_direction(verdict)}"
        clauses.append([f"{layers} ({listing(further)})"])
    return clauses


def _largest_changes(
    scope: AnswerScope, verdict: Verdict, described: Set[tuple[Layer, str]]
) -> list[Finding]:
    """Return for each layer the finding with the largest loss (or gain), certain findings first."""

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
    """Whether the clause on the finding's loss also describes its gain."""
    if finding.verdict is not Verdict.MIXED:
        return False
    losses = _largest_changes(scope, Verdict.SLOWER, set())[:_MOST_LOSSES]
    return any(loss is finding for loss in losses)


def _amount_then_grade(finding: Finding, verdict: Verdict) -> _Clause:
    """Format an amount without its direction: ``up to 24.9 times (likely)``."""
    amount = _amount(finding, verdict, with_direction=False)
    sure = finding.sure_words(verdict).strip()
    if not sure:
        return amount
    return [*amount, f" ({sure})"]


def _amount(finding: Finding, verdict: Verdict, *, with_direction: bool = True) -> _Clause:
    if finding.by_mean:
        return mean_pieces(finding, bounded=False)
    largest = finding.of(verdict)[0]
    several = len(finding.points) > 1
    return at_most(largest, finding.rate, of_several=several, direction=with_direction)


def change_clause(scope: AnswerScope, finding: Finding, verdict: Verdict) -> _Clause:
    """Describe the largest difference of a finding; for a mixed finding, the loss and the gain."""
    name = f"{scope.where(finding)} is "
    if verdict is not Verdict.SLOWER or finding.verdict is not Verdict.MIXED:
        return [name, finding.sure_words(verdict), *_amount(finding, verdict)]
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
