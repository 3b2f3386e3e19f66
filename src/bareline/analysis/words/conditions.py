"""What comes of a condition, a line for each row that meets it."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from bareline.analysis.judgements.comparison import JudgedComparison
from bareline.analysis.judgements.conditions import WITHOUT_FIGURES, FailCondition, How, Match
from bareline.analysis.judgements.trend import Trend
from bareline.analysis.numbers.row import Row, with_interval
from bareline.analysis.words.amounts import lost_words, mean_pieces
from bareline.analysis.words.parts import sentence
from bareline.vocabulary.errors import UsageError
from bareline.vocabulary.units import significant
from bareline.vocabulary.verdicts import MIN_LAUNCHES, Verdict, with_sureness


@dataclass(frozen=True, slots=True)
class ConditionOutcome:
    """What came of a condition: how many rows it was held against, and which of them meet it."""

    condition: str
    tested: int
    violations: tuple[str, ...]


def check(condition: FailCondition, comparison: JudgedComparison) -> ConditionOutcome:
    """Say, a line each, which rows of a comparison meet a condition.

    Raises UsageError: the selector matches no row.
    """
    tested, found = condition.met(comparison)
    lines = []
    for met in found:
        place = met.cell.place
        name = ", ".join(filter(None, [f"{place.probe} {place.metric}", place.words]))
        lines.append(f"{name} on {met.cell.platform}: {_words(condition, met)}")
    return ConditionOutcome(condition.text, tested, tuple(lines))


def _words(condition: FailCondition, met: Match) -> str:
    cell, ratio, lost = met.cell, met.cell.ratio, met.cell.lost
    sign = condition.sign
    match met.how:
        case How.UNJUDGED if cell.verdict in WITHOUT_FIGURES:
            return f"cannot be judged: {cell.verdict}"
        case How.UNJUDGED:
            return f"cannot be judged: {cell.n_both} trials, {MIN_LAUNCHES} are needed"
        case How.FAILS if lost is not None and cell.verdict is not Verdict.FAILED:
            some, every = lost.ended_badly(worse=True)
            return f"failed in {some} of {every} launches"
        case How.FAILS:
            return "failed in every launch"
        case How.VERDICT if met.mean is not None:
            return f"and the others are {sentence(*mean_pieces(met.mean))}"
        case How.VERDICT:
            return f"is {with_sureness(str(cell.verdict), cell.grade, few_boots=cell.few_boots)}"
        case How.LOST if lost is not None:
            some, every = lost.ended_badly(worse=lost.by_loss > 0)
            end = "least" if lost.by_loss > 0 else "most"
            known = f", ratio at {end} {significant(lost.at_least)}" if lost.at_least else ""
            return f"{some} of {every} launches did not finish{known}"
        case How.ESTIMATE if met.value is not None:
            return f"{condition.end} {_digits(met.value)} {sign} {condition.limit:g}"
        case How.ESTIMATE:
            return f"has no {condition.end}: {cell.verdict}"
    if ratio is None:
        return f"has no ratio: {_without_ratio(cell)}"
    turned = met.how is How.NOT_CERTAIN
    how = "is not certainly" if turned else "is certainly"
    sign = {">": "<=", "<": ">="}[sign[0]] if turned else sign[0]
    return f"ratio {with_interval(ratio, write=_digits)} {how} {sign} {condition.limit:g}"


def _without_ratio(cell: Row) -> str:
    """Return why a row that is judged has no ratio."""
    if cell.difference is not None:
        return "it is compared as a difference"
    return lost_words(cell) or f"{cell.verdict}"


def _digits(value: float) -> str:
    """Write a figure finely enough to see which side of a limit it lies on."""
    return significant(value, 4)


def check_trend(trend: Trend, condition: FailCondition) -> ConditionOutcome:
    """Say which series meet a condition such as ``mpi is slower``: by a step that is certain.

    Raises UsageError: it asks for something else, or nothing is named so.
    """
    if condition.verdict not in (Verdict.SLOWER, Verdict.FASTER):
        raise UsageError(
            f"--fail-if '{condition.text}': a trend is slower or faster, or nothing is certain",
            hint="write e.g. --fail-if 'mpi is slower'",
        )
    rows = condition.select(trend.keys.with_row_index("at").with_columns(verdict=pl.lit("")))
    named = [trend.series[at] for at in rows.get_column("at")]
    lines = tuple(
        f"{one.words} on {one.platform}"
        for one in named
        if one.step and one.step.verdict is condition.verdict
    )
    return ConditionOutcome(condition.text, len(named), lines)
