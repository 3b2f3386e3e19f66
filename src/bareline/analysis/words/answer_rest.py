"""The clauses of an answer for all results that are neither a loss nor a gain.

These are failed and missing cases, launches that did not end, equal rows and undecided rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Row
from bareline.analysis.words.amounts import reach, word
from bareline.analysis.words.answer_losses import MOST_NAMES
from bareline.analysis.words.answer_scope import AnswerScope
from bareline.analysis.words.outlook import outlook_words
from bareline.analysis.words.parts import Amount, Piece, capitalized
from bareline.analysis.words.remarks import (
    failed_cases,
    launches_words,
    seen_range,
    undecided_yet,
)
from bareline.vocabulary.place import Place
from bareline.vocabulary.units import listing, percent
from bareline.vocabulary.verdicts import MIN_LAUNCHES, DecisionRule, Grade, Verdict

#: The largest number of findings whose range is described if no finding has enough launches.
_MOST_RANGES = 2

_Clause = list[Piece]


def clauses_of_undelivered(scope: AnswerScope) -> list[_Clause]:
    """Describe the cases that failed and the points that are missing."""
    clauses: list[_Clause] = []
    failed, planned = failed_cases(scope.findings)
    if failed:
        names = _titles_without_value(scope.findings)
        text = f"{failed} of {planned} cases failed"
        if len(names) <= MOST_NAMES and failed < planned:
            text += f" ({listing(names)})"
        clauses.append([text])
    missing = scope.points_with(Verdict.MISSING)
    if missing:
        total = sum(len(finding.points) for finding in scope.findings)
        text = f"{len(missing)} of {total} points are missing"
        reasons = {point.reason for point in missing}
        # If all missing points have the same reason (different or unknown ranks), it is printed.
        if len(reasons) == 1 and missing[0].other_ranks:
            text += f" ({reasons.pop()})"
        clauses.append([text])
    return clauses


def _titles_without_value(findings: Sequence[Finding]) -> list[str]:
    """Return the titles of findings with a point whose launches on the platform all failed."""
    titles = []
    for finding in findings:
        failed = [point for point in finding.points if point.verdict is Verdict.FAILED]
        if any(not point.n for point in failed) and finding.title not in titles:
            titles.append(finding.title)
    return titles


def clauses_of_crashes(scope: AnswerScope) -> list[_Clause]:
    """Describe for each probe how many launches did not finish, or left out some sizes."""
    whole: dict[str, tuple[int, int]] = {}  #: Launches that did not end, and all, by title.
    in_part: dict[str, tuple[int, int]] = {}  #: The same for launches that left out sizes.
    for finding in scope.findings:
        for point in finding.compared:
            lost = point.lost
            if lost is None or lost.by_loss:
                continue
            counts = whole
            if lost.by_points and not lost.crashed:
                counts = in_part
            failed, launches = lost.ended_badly(worse=True)
            most, _ = counts.get(finding.title, (0, 0))
            if failed > most:
                counts[finding.title] = (failed, launches)
    return [
        *_crash_clause(whole, "did not finish"),
        *_crash_clause(in_part, "left out sizes for lack of time"),
    ]


def _crash_clause(counts: dict[str, tuple[int, int]], verb: str) -> list[_Clause]:
    if not counts:
        return []
    if len(counts) > MOST_NAMES:
        return [[f"launches of {len(counts)} probes {verb}"]]
    texts = []
    for title, (failed, launches) in counts.items():
        texts.append(f"{failed} of {launches} launches of {title}")
    listed = listing(texts)
    return [[Amount(f"{listed} {verb}")]]


def clauses_of_the_rest(scope: AnswerScope, *, whole: bool) -> list[_Clause]:
    """Describe equal and undecided rows.

    - `whole`: the answer has no other clause, so that rows of all findings are described. If false,
      only equal rows in the study's question are described.
    """
    compared = scope.compared
    few = [finding for finding in compared if undecided_yet(finding)]
    if few and len(few) == len(compared):
        return [_not_judged(few)]
    points: list[Row] = []
    for finding in compared:
        points += finding.points
    all_equal = all(point.grade is Grade.EQUAL for point in points)
    if whole and points and all_equal:
        return [["there is ", Amount(f"no difference above {percent(scope.margin)}")]]
    equal_cells = _equal_cells(scope)
    if equal_cells:
        return [equal_cells]
    if whole:
        return _open_and_equal(scope, points)
    return []


def _equal_cells(scope: AnswerScope) -> _Clause:
    """Count the equal rows in the study's question; if only one row is equal, name this row."""
    cells = [cell for cell in scope.cells if cell.compared]
    equal = [cell for cell in cells if cell.grade is Grade.EQUAL]
    if not equal:
        return []
    subject = f"{len(equal)} of {len(cells)} cases are "
    if len(equal) == 1:
        subject = f"{scope.name(equal[0])} is "
    return [subject, Amount(_equal_words(scope))]


def _equal_words(scope: AnswerScope) -> str:
    return f"equal within {percent(scope.margin)}"


def _open_and_equal(scope: AnswerScope, points: Sequence[Row]) -> list[_Clause]:
    """Count the points at which no difference is shown, and the points that are equal."""
    counts = []
    undecided = sum(point.grade is Grade.OPEN for point in points)
    if undecided:
        counts.append(f"no difference is shown at {undecided} of {len(points)} points")
    equal = sum(point.grade is Grade.EQUAL for point in points)
    if equal:
        verb = "is" if equal == 1 else "are"
        noun = "" if undecided else f" of {len(points)} points"
        counts.append(f"{equal}{noun} {verb} {_equal_words(scope)}")
    if counts:
        return [[listing(counts)]]
    return []


def _not_judged(findings: Sequence[Finding]) -> _Clause:
    """Describe findings with too few launches for any verdict, the largest difference first."""
    farthest_first = sorted(findings, key=lambda finding: finding.weight, reverse=True)
    first = farthest_first[:_MOST_RANGES]
    ranges = [seen_range(finding) for finding in first]
    ranges = [text for text in ranges if text]
    clause: _Clause = [f"no difference is judged yet ({launches_words(findings)})"]
    if ranges:
        clause.append(f": {'; '.join(ranges)}")
        further = len(findings) - _MOST_RANGES
        if further > 0:
            clause.append(f"; {further} more")
    return clause


def clauses_of_open_cells(scope: AnswerScope) -> list[_Clause]:
    """Describe the undecided rows in the study's question.

    An interval is printed only for the row whose interval has the largest upper bound.
    """
    cells = _open_cells(scope)
    if not cells:
        return []
    widest = max(cells, key=_upper_end)
    clause: _Clause = [_open_words(scope, cells, widest)]
    outlook = outlook_words([widest], scope.margin)
    if widest.rule is DecisionRule.WITHIN_CONTROL:
        clause.append(". It differs as little as the baseline from itself")
    elif outlook:
        clause += [". ", *capitalized([outlook])]
    return [clause]


def _open_words(scope: AnswerScope, cells: Sequence[Row], widest: Row) -> str:
    """Describe the undecided rows: their number, and the name and interval of the row `widest`."""
    name = scope.name(widest)
    seen = reach(widest, widest.rate, scope.margin)
    if len(cells) > 1:
        return f"{len(cells)} of {len(scope.cells)} cases are undecided, {name} the most ({seen})"
    if widest.ratio is None or (widest.ratio.lo or 0.0) <= 1:
        return f"no loss of {name} is shown ({seen})"
    if widest.exact or widest.rule is DecisionRule.WITHIN_CONTROL:
        return f"it is not certain that {name} is {word(widest.rate, worse=True)} ({seen})"
    return f"{name} was measured {seen}, but among all comparisons this can still be chance"


def _open_cells(scope: AnswerScope) -> list[Row]:
    """Return the undecided rows with enough launches, except rows of `scope.means`."""
    by_mean: set[Place] = set()
    for finding in scope.means:
        by_mean.update(point.place for point in finding.points)
    undecided = []
    for cell in scope.cells:
        enough = cell.exact or cell.n_both >= MIN_LAUNCHES
        if cell.grade is Grade.OPEN and cell.place not in by_mean and enough:
            undecided.append(cell)
    return undecided


def _upper_end(cell: Row) -> float:
    if cell.ratio is None:
        return 0.0
    return cell.ratio.hi or 0.0
