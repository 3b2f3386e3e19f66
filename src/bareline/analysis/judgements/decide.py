"""Decide the verdict, grade and rule of each row. No other module decides rows.

The input is a result of `bareline.analysis.numbers.points.compare_points` and the results of three
tests. The first test is about lost launches, and the second about all claims of a page together.
The third gives the false discovery rate among the rows that are not certain. `decide` contains a
table of rules; the first rule that applies decides a row.

- *certain* rows: all claims of a page that are called certain are true together, except on 5 % of
  pages. The row's own 95 % interval excludes equality, and its estimate is beyond the margin. With
  fewer than six boots no row is certain.
- *likely* rows: about one of twenty is false. The row's whole interval must also be beyond the
  margin: if nearly all true differences are certain, most remaining differences are noise, and
  noise is small.
- a row whose difference is not larger than the baseline's difference from itself is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import polars as pl

from bareline import stats
from bareline.analysis.numbers.cube import BoolCube, FloatCube, IntCube
from bareline.analysis.numbers.members import Mean
from bareline.vocabulary.verdicts import DecisionRule, Grade, Verdict

#: From this number of launches on, differences that are not certain are seldom true, so that
#: *likely* needs a lower false discovery rate.
_MANY_LAUNCHES = 8
_RATE_OF_MANY = 0.02


@dataclass(frozen=True, slots=True)
class RowEvidence:
    """The evidence by which rows are decided, as arrays with an entry for each row.

    - `refused`, `failed`, `skipped`, `left_out`, `empty`: true if this reason may prevent a
      comparison of the row.
    - `directed`: the row's metric has a good direction.
    - `lost`: 1 or -1 if lost launches alone make the row worse or better, else 0.
    - `lost_sure`: the result in `lost` is certain over the whole page.
    - `only_lost`: launches lost to a limit decide the row, even if one platform has no value.
    - `interval`: 1 or -1 if interval and estimate show the row worse or better, else 0.
    - `beyond_margin`: the whole interval is beyond the margin.
    - `equal`: the interval is inside the margin.
    - `n`: the number of compared launches, or boots.
    - `ratio`: how many times worse than the baseline; NaN without a ratio.
    - `p`: the p-value over all claims of the page together; NaN without a test.
    - `q`: the false discovery rate over all rows.
    - `q_rest`: the false discovery rate over the rows that are not certain.
    - `few_boots`: there are so few boots that no row is certain.
    """

    refused: BoolCube
    failed: BoolCube
    skipped: BoolCube
    left_out: BoolCube
    empty: BoolCube
    directed: BoolCube
    lost: IntCube
    lost_sure: BoolCube
    only_lost: BoolCube
    interval: IntCube
    beyond_margin: BoolCube
    equal: BoolCube
    n: IntCube
    ratio: FloatCube
    p: FloatCube
    q: FloatCube
    q_rest: FloatCube
    few_boots: BoolCube


@dataclass(frozen=True, slots=True)
class Decisions:
    """The verdict, the grade and the rule of each row; None for a row without a comparison."""

    verdicts: list[Verdict | None]
    grades: list[Grade | None]
    rules: list[DecisionRule]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the table of rules: the rows to which the rule applies, their verdict and grade.

    If `verdict` is None, the verdict is the direction in which the row differs: slower or faster.
    """

    rule: DecisionRule
    holds: BoolCube
    verdict: Verdict | None
    grade: Grade | None


def decide(row: RowEvidence, floor: float) -> Decisions:
    """Return the decision of each row, by the first rule that applies to it.

    `floor`: the ratio above 1 up to which differences may come from the machine itself.
    """
    delivered = row.only_lost  # launches that exceeded their limit compare without any figure
    lost = row.lost != 0
    lost_certain = lost & _is_certainly_lost(row)
    certain = is_certain(row.p, row.q, row.interval, row.few_boots)
    likely = _is_likely(row)
    distance = np.abs(np.log(row.ratio))
    within = (certain | likely) & (distance <= math.log(floor))
    rest = np.ones_like(lost)
    table = [
        _Line(DecisionRule.REFUSED, row.refused, Verdict.NOT_COMPARABLE, Grade.NOT_COMPARABLE),
        _Line(DecisionRule.FAILED, row.failed & ~delivered, Verdict.FAILED, Grade.FAILED),
        _Line(DecisionRule.SKIPPED, row.skipped & ~delivered, Verdict.SKIPPED, Grade.MISSING),
        _Line(
            DecisionRule.DOES_NOT_FIT, row.left_out & ~delivered,
            Verdict.DOES_NOT_FIT, Grade.MISSING,
        ),
        _Line(DecisionRule.MISSING, row.empty & ~delivered, Verdict.MISSING, Grade.MISSING),
        _Line(DecisionRule.NO_DIRECTION, ~row.directed, None, None),
        _Line(DecisionRule.LAUNCHES_LOST, lost_certain, None, Grade.CERTAIN),
        _Line(DecisionRule.LAUNCHES_LOST, lost, None, Grade.LIKELY),
        _Line(DecisionRule.WITHIN_CONTROL, within, Verdict.INCONCLUSIVE, Grade.OPEN),
        _Line(DecisionRule.FAMILY_TEST, certain, None, Grade.CERTAIN),
        _Line(DecisionRule.DISCOVERY_RATE, likely, None, Grade.LIKELY),
        _Line(DecisionRule.EQUAL, row.equal, Verdict.EQUIVALENT, Grade.EQUAL),
        _Line(DecisionRule.BOUND, rest, Verdict.INCONCLUSIVE, Grade.OPEN),
    ]  # fmt: skip
    conditions = [line.holds for line in table]
    first = np.argmax(conditions, axis=0)
    lines = [table[number] for number in first]
    way = np.where(lost, row.lost, row.interval)
    ways = np.where(row.directed, way, 0).tolist()
    sides = [_SIDES[side] for side in ways]
    verdicts = [line.verdict or side for line, side in zip(lines, sides, strict=True)]
    return Decisions(
        verdicts=verdicts,
        grades=[line.grade for line in lines],
        rules=[line.rule for line in lines],
    )


def is_certain(
    p: FloatCube, q: FloatCube, interval: IntCube, few_boots: BoolCube | bool
) -> BoolCube:
    """Whether each row is certain: by its joint p-value, false discovery rate and interval."""
    by_family = p <= stats.CERTAIN_ALPHA
    by_rate = q <= stats.ALPHA
    is_significant = by_family & by_rate
    certain: BoolCube = is_significant & (interval != 0) & np.logical_not(few_boots)
    return certain


def _is_certainly_lost(row: RowEvidence) -> BoolCube:
    by_family = row.p <= stats.CERTAIN_ALPHA
    certain: BoolCube = (by_family | row.lost_sure) & ~row.few_boots
    return certain


def _is_likely(row: RowEvidence) -> BoolCube:
    # With few boots no row is certain: rows that would be certain are among the likely ones.
    many = (row.n >= _MANY_LAUNCHES) & ~row.few_boots
    limit = np.where(many, _RATE_OF_MANY, stats.ALPHA)
    by_rate = row.q_rest <= limit
    likely: BoolCube = by_rate & (row.interval != 0) & row.beyond_margin
    return likely


_SIDES = {1: Verdict.SLOWER, -1: Verdict.FASTER, 0: None}


def decide_mean(mean: Mean | None, margin: float, floor: float) -> Mean | None:
    """Return the mean of a finding's points with its verdict.

    A verdict of slower or faster is certain. Differences below `margin` do not matter. Differences
    up to the ratio `floor` may come from the machine itself and are undecided.
    """
    if mean is None:
        return None
    if mean.by_loss:
        return replace(mean, verdict=_SIDES[mean.by_loss] or mean.verdict)
    lo = mean.ratio.lo or 0.0
    hi = mean.ratio.hi or math.inf
    judged = stats.judge(
        mean.ratio.value, lo, hi, mean.n, mean.p, margin=margin, alpha=stats.CERTAIN_ALPHA
    )
    verdict = Verdict(judged.item())
    if verdict.decided and abs(math.log(mean.ratio.value)) <= math.log(floor):
        verdict = Verdict.INCONCLUSIVE
    return replace(mean, verdict=verdict)


_WAYS = {Verdict.SLOWER.value: 1, Verdict.FASTER.value: -1}


def interval_ways(by_interval: pl.Series) -> IntCube:
    """Return 1 or -1 for rows whose interval and estimate show worse or better, else 0."""
    ways = by_interval.replace_strict(_WAYS, default=0, return_dtype=pl.Int64)
    return ways.fill_null(0).to_numpy()


def decided(table: pl.DataFrame, floor: float) -> pl.DataFrame:
    """Return measured rows with the columns "verdict", "grade" and "rule" added.

    The rows must have the columns that the tests add: p (over all claims together), q (the false
    discovery rate), p_adjusted, by_loss and lost_sure. For a certain row, p_adjusted is q. For any
    other row, it is the false discovery rate among the rows that are not certain.
    """
    result = decide(_evidence(table), floor)
    return table.with_columns(
        _texts("verdict", result.verdicts),
        _texts("grade", result.grades),
        _texts("rule", result.rules),
    )


def _evidence(table: pl.DataFrame) -> RowEvidence:
    def flags(column: pl.Expr) -> BoolCube:
        filled = column.fill_null(value=False).alias("")
        return table.select(filled).to_series().to_numpy()

    def counts(name: str) -> IntCube:
        integers = table.get_column(name).cast(pl.Int64)
        return integers.fill_null(0).to_numpy()

    def numbers(name: str) -> FloatCube:
        floats = table.get_column(name).cast(pl.Float64)
        return floats.fill_null(float("nan")).to_numpy()

    lost = counts("by_loss")
    any_lost = counts("lost") + counts("base_lost") > 0
    return RowEvidence(
        refused=flags((pl.col("refused").fill_null("") != "") & ~pl.col("empty")),
        failed=flags(pl.col("failed")),
        skipped=flags(pl.col("absent").is_not_null()),
        left_out=flags(pl.col("left_out").is_not_null() & pl.col("empty")),
        empty=flags(pl.col("empty")),
        directed=flags(pl.col("better") != "none"),
        lost=lost,
        lost_sure=flags(pl.col("lost_sure")),
        only_lost=(lost != 0) & any_lost,
        interval=interval_ways(table.get_column("by_interval")),
        beyond_margin=flags(pl.col("beyond_margin")),
        equal=flags(pl.col("by_interval") == Verdict.EQUIVALENT.value),
        n=counts("n_used"),
        ratio=numbers("ratio"),
        p=numbers("p"),
        q=numbers("q"),
        q_rest=numbers("p_adjusted"),
        few_boots=flags(pl.col("few_boots")),
    )


def _texts(name: str, values: Sequence[StrEnum | None]) -> pl.Series:
    return pl.Series(name, values, dtype=pl.String)
