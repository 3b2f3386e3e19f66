"""The outcome of a condition: its result, and lines for the rows that meet or may meet it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import polars as pl

from bareline.analysis.judgements.comparison import JudgedComparison
from bareline.analysis.judgements.conditions import (
    WITHOUT_FIGURES,
    FailCondition,
    How,
    Match,
    has_few,
)
from bareline.analysis.judgements.present import Present
from bareline.analysis.judgements.trend import Trend, TrendSeries
from bareline.analysis.numbers.row import LostLaunches, Row, with_interval
from bareline.analysis.words.amounts import lost_words, mean_pieces
from bareline.analysis.words.history import present_words
from bareline.analysis.words.outlook import MOST_LAUNCHES
from bareline.analysis.words.parts import sentence
from bareline.stats import launches_to_decide
from bareline.vocabulary.errors import UsageError
from bareline.vocabulary.units import count, significant
from bareline.vocabulary.verdicts import MIN_LAUNCHES, Grade, Verdict, with_sureness


class GateResult(StrEnum):
    """The result of a condition: met, not met, or undecided by these launches."""

    MET = "met"
    NOT_MET = "not met"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class ConditionOutcome:
    """The outcome of a condition.

    - `tested`: the number of rows to which the condition was applied.
    - `violations`: a line for each row that meets the condition and so counts as a failure. The row
      farthest beyond the limit comes first.
    - `undecided`: a line for each row whose launches do not show whether it meets the condition.
    - `remedy`: how many launches would decide the undecided rows; empty if there are none.
    - `nearest`: if no row meets the condition, the row that is nearest to meeting it, with the
      bound of its interval that is nearer to the limit.
    - `head`: the words before each row that meets the condition.
    - `verb`: the verb after a number above 1, e.g. "meet it".
    - `verb_of_one`: the verb after the number 1, e.g. "meets it".
    """

    condition: str
    tested: int
    violations: tuple[str, ...]
    undecided: tuple[str, ...] = ()
    remedy: str = ""
    nearest: str = ""
    head: str = "condition met"
    verb: str = "meet it"
    verb_of_one: str = "meets it"

    @property
    def result(self) -> GateResult:
        """Whether any row meets the condition; if none does, whether any row is undecided."""
        if self.violations:
            return GateResult.MET
        if self.undecided:
            return GateResult.UNDECIDED
        return GateResult.NOT_MET


def check(condition: FailCondition, comparison: JudgedComparison) -> ConditionOutcome:
    """Return a line for each row that meets a condition, and for each undecided row.

    Raises UsageError: the selector matches no row.
    """
    rows = condition.sort_rows(comparison)
    met = sorted(rows.met, key=lambda match: _distance(condition, match.cell), reverse=True)
    undecided = sorted(rows.undecided, key=lambda row: _distance(condition, row), reverse=True)
    lines = [f"{_name(match.cell)}: {_words(condition, match)}" for match in met]
    open_lines = [f"{_name(row)}: {_open_words(row)}" for row in undecided]
    return ConditionOutcome(
        condition.text,
        rows.tested,
        tuple(lines),
        tuple(open_lines),
        _remedy(condition, comparison, undecided),
        _nearest(condition, comparison.margin, rows.passed),
    )


def _name(row: Row) -> str:
    place = row.place
    name = f"{place.probe} {place.metric}"
    if place.words:
        name += f", {place.words}"
    return f"{name} on {row.platform}"


def _distance(condition: FailCondition, row: Row) -> float:
    """Return how far a row is beyond the condition's limit; infinite without a ratio."""
    if row.ratio is None:
        return math.inf
    apart = math.log(row.ratio.value)
    if condition.looks_above:
        return apart
    return -apart


def _open_words(row: Row) -> str:
    if has_few(row):
        return f"cannot be judged: {count(row.n_both, 'trial')}, {MIN_LAUNCHES} are needed"
    if row.ratio is None:
        return f"has no ratio: {_without_ratio(row)}"
    return f"ratio {with_interval(row.ratio, write=_digits)}"


def _nearest(condition: FailCondition, margin: float, passed: Sequence[Row]) -> str:
    """Describe the passed row that is nearest to the limit, with the bound of its interval."""
    bounded = []
    for row in passed:
        bound = _bound(condition, row)
        if bound is not None:
            bounded.append((bound, row))
    if not bounded or not condition.is_certain:
        return ""
    pick = min
    side = "at least"
    if condition.looks_above:
        pick = max
        side = "at most"
    bound, row = pick(bounded, key=lambda pair: pair[0])
    limit = _hundredths(condition.limit_for(margin))
    bound_text = _hundredths(bound)
    return f"{_name(row)}: {side} {bound_text} (limit {limit})"


def _bound(condition: FailCondition, row: Row) -> float | None:
    if row.ratio is None:
        return None
    if condition.looks_above:
        return row.ratio.hi
    return row.ratio.lo


def _hundredths(ratio: float) -> str:
    """Format a ratio with two digits after the point, to compare it with the limit."""
    if 0.1 <= ratio < 100:
        return f"{ratio:.2f}"
    return significant(ratio)


def _remedy(
    condition: FailCondition, comparison: JudgedComparison, undecided: Sequence[Row]
) -> str:
    """Return how many launches would decide the undecided rows; empty without undecided rows."""
    if not undecided:
        return ""
    judged = comparison.judged
    fewest = 0
    if any(map(has_few, undecided)):
        fewest = MIN_LAUNCHES
    if any(row.platform in judged.short for row in undecided):
        fewest = max(fewest, judged.needed)
    if fewest:
        return f"nothing can be certain from so few launches: {fewest} could decide"
    limit = condition.limit_for(comparison.margin)
    forecasts = [_launches(row, limit) for row in undecided]
    likely = [launches for launches in forecasts if launches is not None]
    if not likely:
        return "more launches would decide"
    if max(likely) > MOST_LAUNCHES:
        return f"more than {MOST_LAUNCHES} launches would decide: the ratio is close to the limit"
    return f"about {max(likely):.0f} launches would decide"


def _launches(row: Row, limit: float) -> float | None:
    """Return how many launches would show whether a row is beyond a limit; None if unknown."""
    if row.ratio is None or row.exact:
        return None
    beside = row.ratio.times(1 / limit)
    outlook = launches_to_decide(beside.value, beside.lo, beside.hi, row.n_both, margin=0.0)
    if outlook is None:
        return None
    return outlook.likely


def _words(condition: FailCondition, met: Match) -> str:
    cell = met.cell
    lost = cell.lost
    sign = condition.sign
    match met.how:
        case How.UNJUDGED if cell.verdict in WITHOUT_FIGURES:
            return f"cannot be judged: {_verdict(cell)}"
        case How.UNJUDGED:
            return f"cannot be judged: {count(cell.n_both, 'trial')}, {MIN_LAUNCHES} are needed"
        case How.FAILS if lost is not None and cell.verdict is not Verdict.FAILED:
            some, launches = lost.ended_badly(worse=True)
            return f"failed in {some} of {launches} launches"
        case How.FAILS:
            return "failed in every launch"
        case How.VERDICT if met.mean is not None:
            together = sentence(*mean_pieces(met.mean))
            return f"is the farthest point; together they are {together}"
        case How.VERDICT:
            verdict = with_sureness(_verdict(cell), cell.grade, few_boots=cell.few_boots)
            return f"is {verdict}"
        case How.LOST if lost is not None:
            some, launches = lost.ended_badly(worse=lost.by_loss > 0)
            bound = _bound_of_losses(lost)
            return f"{some} of {launches} launches did not finish{bound}"
        case How.ESTIMATE if met.value is not None:
            value = _digits(met.value)
            return f"{condition.end} {value} {sign} {condition.limit:g}"
        case How.ESTIMATE:
            return f"has no {condition.end}: {_verdict(cell)}"
    if cell.ratio is None:
        return f"has no ratio: {_without_ratio(cell)}"
    ratio = with_interval(cell.ratio, write=_digits)
    if met.how is How.NOT_CERTAIN:
        opposite = {">": "<=", "<": ">="}[sign[0]]
        return f"ratio {ratio} is not certainly {opposite} {condition.limit:g}"
    return f"ratio {ratio} is certainly {sign[0]} {condition.limit:g}"


def _bound_of_losses(lost: LostLaunches) -> str:
    """Return the bound of the ratio that follows from lost launches; empty without a bound."""
    if not lost.at_least:
        return ""
    end = "most"
    if lost.by_loss > 0:
        end = "least"
    return f", ratio at {end} {significant(lost.at_least)}"


def _without_ratio(cell: Row) -> str:
    """Return why a row has no ratio."""
    if cell.difference is not None:
        return "it is compared as a difference"
    return lost_words(cell) or _verdict(cell)


def _verdict(cell: Row) -> str:
    """Return the word for the verdict of a row; a row of one platform alone has none."""
    if cell.verdict is None:
        return "not compared"
    return cell.verdict.words


def _digits(value: float) -> str:
    """Format a number with enough digits to show on which side of a limit it is."""
    return significant(value, 4)


def check_trend(trend: Trend, condition: FailCondition) -> ConditionOutcome:
    """Return which series meet a condition such as ``mpi is slower``, by their present level.

    Raises UsageError: the condition has a different form, or its selector matches nothing.
    """
    if condition.verdict not in (Verdict.SLOWER, Verdict.FASTER):
        raise UsageError(
            f"--fail-if '{condition.text}': a condition on a trend must end with 'is slower' or "
            "'is faster'",
            hint="write e.g. --fail-if 'mpi is slower' or 'mpi is likely slower'",
        )
    numbered = trend.keys.with_row_index("at")
    rows = condition.select(numbered.with_columns(verdict=pl.lit("")))
    numbers = rows.get_column("at")
    named = [trend.series[number] for number in numbers]
    lines = []
    for series in named:
        for present in _presents(series, condition.grades):
            if present.verdict is condition.verdict:
                lines.append(
                    f"{series.words} on {series.platform}: {present_words(trend, present)}"
                )
                break
    return ConditionOutcome(condition.text, len(named), tuple(lines))


def _presents(series: TrendSeries, grades: Sequence[Grade]) -> list[Present]:
    """Return the present states of a series that a condition with these grades tests.

    These are the state by certain changes and, if `grades` contains "likely", the state by likely
    changes.
    """
    states = [series.present]
    if Grade.LIKELY in grades:
        states.append(series.likely)
    return [state for state in states if state is not None]
