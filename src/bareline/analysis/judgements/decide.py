"""The decision: what becomes of each row, and by which rule. Nothing else gives verdict or grade.

A row is what `bareline.analysis.numbers.points.compare_points` measured, with three tests beside
it: launches lost, the family of all that a page claims, and the false discovery rate among the rows
that this family does not make certain. `decide` is the table: the first rule that holds decides.

- *certain* holds together with all else that the page calls certain, and with fewer than six boots
  nothing is;
- *likely* is false for one row in twenty, among the rows that are likely;
- both claim a difference only where the row's own 95 % interval lies beyond no difference and its
  estimate beyond the margin;
- what is no larger than the difference of the baseline from itself is open.
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


@dataclass(frozen=True, slots=True)
class RowEvidence:
    """What rows are decided by, an entry for each row.

    - `refused`, `failed`, `skipped`, `left_out`, `empty`: why there may be no comparison.
    - `directed`: its metric is better in one direction.
    - `lost`: 1 or -1 where lost launches alone make it worse or better, else 0; `lost_sure` where
      they do so over the whole page.
    - `only_lost`: launches lost to a limit are all that there is of one side.
    - `interval`: 1 or -1 where interval and estimate show it worse or better, else 0.
    - `equal`: the interval lies inside the margin.
    - `ratio`: NaN without one.
    - `p`: over all that the page claims together. NaN: no test.
    - `q`: the false discovery rate over all rows; `q_rest` over those that are not certain.
    - `few_boots`: so few that nothing is certain.
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
    equal: BoolCube
    ratio: FloatCube
    p: FloatCube
    q: FloatCube
    q_rest: FloatCube
    few_boots: BoolCube


@dataclass(frozen=True, slots=True)
class Decisions:
    """The verdict, the grade and the rule of each row; None where nothing is compared."""

    verdicts: list[Verdict | None]
    grades: list[Grade | None]
    rules: list[DecisionRule]


def decide(row: RowEvidence, floor: float) -> Decisions:
    """Return the decisions of rows by the first rule that holds.

    `floor`: the ratio above 1 up to which differences may be the machine's own.
    """
    sure = (row.p <= stats.CERTAIN_ALPHA) & ~row.few_boots
    certain = is_certain(row.p, row.q, row.interval, row.few_boots)
    likely = (row.q_rest <= stats.ALPHA) & (row.interval != 0)
    within = (certain | likely) & (np.abs(np.log(row.ratio)) <= math.log(floor))
    lost = row.lost != 0
    lost_certain = lost & (sure | (row.lost_sure & ~row.few_boots))
    absent = ~row.only_lost
    way = np.where(lost, row.lost, row.interval)
    # rule, where it holds, verdict (None: the way the row goes), grade
    table: list[tuple[DecisionRule, BoolCube, Verdict | None, Grade | None]] = [
        (DecisionRule.REFUSED, row.refused, Verdict.NOT_COMPARABLE, Grade.NOT_COMPARABLE),
        (DecisionRule.FAILED, row.failed & absent, Verdict.FAILED, Grade.FAILED),
        (DecisionRule.SKIPPED, row.skipped & absent, Verdict.SKIPPED, Grade.MISSING),
        (DecisionRule.DOES_NOT_FIT, row.left_out & absent, Verdict.DOES_NOT_FIT, Grade.MISSING),
        (DecisionRule.MISSING, row.empty & absent, Verdict.MISSING, Grade.MISSING),
        (DecisionRule.NO_DIRECTION, ~row.directed, None, None),
        (DecisionRule.LAUNCHES_LOST, lost_certain, None, Grade.CERTAIN),
        (DecisionRule.LAUNCHES_LOST, lost, None, Grade.LIKELY),
        (DecisionRule.WITHIN_CONTROL, within, Verdict.INCONCLUSIVE, Grade.OPEN),
        (DecisionRule.FAMILY_TEST, certain, None, Grade.CERTAIN),
        (DecisionRule.DISCOVERY_RATE, likely, None, Grade.LIKELY),
        (DecisionRule.EQUAL, row.equal, Verdict.EQUIVALENT, Grade.EQUAL),
        (DecisionRule.BOUND, np.ones_like(lost), Verdict.INCONCLUSIVE, Grade.OPEN),
    ]
    chosen = np.argmax([holds for _, holds, _, _ in table], axis=0)
    lines = [table[at] for at in chosen]
    sides = [_SIDES[way] for way in np.where(row.directed, way, 0).tolist()]
    return Decisions(
        verdicts=[verdict or side for (_, _, verdict, _), side in zip(lines, sides, strict=True)],
        grades=[grade for *_, grade in lines],
        rules=[rule for rule, *_ in lines],
    )


_SIDES = {1: Verdict.SLOWER, -1: Verdict.FASTER, 0: None}


def decide_mean(mean: Mean | None, margin: float, floor: float) -> Mean | None:
    """Return the mean of a finding's points with its verdict: what it shows it shows for certain.

    Differences below `margin` do not matter; those up to `floor`, a ratio, may be the machine's.
    """
    if mean is None:
        return None
    if mean.by_loss:
        return replace(mean, verdict=_SIDES[mean.by_loss] or mean.verdict)
    lo, hi = mean.ratio.lo or 0.0, mean.ratio.hi or math.inf
    shown = stats.judge(
        mean.ratio.value, lo, hi, mean.n, mean.p, margin=margin, alpha=stats.CERTAIN_ALPHA
    )
    verdict = Verdict(shown.item())
    if verdict.decided and abs(math.log(mean.ratio.value)) <= math.log(floor):
        verdict = Verdict.INCONCLUSIVE
    return replace(mean, verdict=verdict)


def is_certain(
    p: FloatCube, q: FloatCube, interval: IntCube, few_boots: BoolCube | bool
) -> BoolCube:
    """Whether rows are certain: by the family, by the rate over all rows, and by their interval."""
    tested = (p <= stats.CERTAIN_ALPHA) & (q <= stats.ALPHA)
    certain: BoolCube = tested & (interval != 0) & np.logical_not(few_boots)
    return certain


_WAYS = {Verdict.SLOWER.value: 1, Verdict.FASTER.value: -1}


def interval_ways(by_interval: pl.Series) -> IntCube:
    """Return 1, -1 or 0 for rows whose interval and estimate show worse, better or neither."""
    ways = by_interval.replace_strict(_WAYS, default=0, return_dtype=pl.Int64)
    return ways.fill_null(0).to_numpy()


def decided(table: pl.DataFrame, floor: float) -> pl.DataFrame:
    """Return measured rows with "verdict", "grade" and "rule"; they have the columns of tests.

    These are p (of the family), q, p_adjusted (q of certain rows, else among the others), by_loss
    and lost_sure.
    """

    def flags(column: pl.Expr) -> BoolCube:
        return table.select(column.fill_null(value=False).alias("")).to_series().to_numpy()

    def numbers(name: str) -> FloatCube:
        return table.get_column(name).cast(pl.Float64).fill_null(float("nan")).to_numpy()

    by_loss = table.get_column("by_loss").fill_null(0).to_numpy()
    lost = (pl.col("lost").fill_null(0) + pl.col("base_lost").fill_null(0)) > 0
    row = RowEvidence(
        refused=flags((pl.col("refused").fill_null("") != "") & ~pl.col("empty")),
        failed=flags(pl.col("failed")),
        skipped=flags(pl.col("absent").is_not_null()),
        left_out=flags(pl.col("left_out").is_not_null() & pl.col("empty")),
        empty=flags(pl.col("empty")),
        directed=flags(pl.col("better") != "none"),
        lost=by_loss,
        lost_sure=flags(pl.col("lost_sure")),
        only_lost=(by_loss != 0) & flags(lost),
        interval=interval_ways(table.get_column("by_interval")),
        equal=flags(pl.col("by_interval") == Verdict.EQUIVALENT.value),
        ratio=numbers("ratio"),
        p=numbers("p"),
        q=numbers("q"),
        q_rest=numbers("p_adjusted"),
        few_boots=flags(pl.col("few_boots")),
    )
    result = decide(row, floor)
    return table.with_columns(
        _texts("verdict", result.verdicts),
        _texts("grade", result.grades),
        _texts("rule", result.rules),
    )


def _texts(name: str, values: Sequence[StrEnum | None]) -> pl.Series:
    return pl.Series(name, [None if v is None else v.value for v in values], dtype=pl.String)
