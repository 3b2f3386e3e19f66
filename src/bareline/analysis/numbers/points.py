"""Compare platforms point by point, with a row for every point and platform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from bareline import stats
from bareline.analysis.numbers.cube import BoolCube, FloatCube
from bareline.analysis.numbers.frames import layouts, unlike_text
from bareline.analysis.numbers.models import EMULATED, emulated_platforms, unlike_processors
from bareline.analysis.numbers.other_ranks import other_ranks_text
from bareline.analysis.numbers.pairs import PlatformPair
from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.row import LostLaunches
from bareline.analysis.numbers.sides import launches_of
from bareline.analysis.numbers.summary import (
    MetricRow,
    failures,
    table_columns,
    with_order,
)
from bareline.vocabulary.model import parse_point
from bareline.vocabulary.place import CASE, KEY
from bareline.vocabulary.verdicts import MIN_LAUNCHES, DecisionRule, Grade, Verdict


@dataclass(frozen=True)
class _Ratio(MetricRow):
    """A metric of one case, compared with the same metric of the baseline.

    - `value`, `value_baseline`: medians over launches, in SI base units.
    - `ratio`: how many times worse than the baseline; for a rate, 2 means half the rate.
    - `lo`, `hi`: the 95 % interval of `ratio`; null below six trials, or if launches lost to a time
      limit leave a bound open.
    - `difference`, `difference_lo`, `difference_hi`: the difference and its interval in the
      metric's unit, above 0 is worse. They are only given for points that have no ratio because a
      value is not positive; otherwise they are null.
    - `delta`: Cliff's delta, above 0 is worse.
    - `p_adjusted`: the p-value adjusted for the false discovery rate. For a certain row it is
      adjusted over all rows, for any other row over the rows that are not certain.
    - `verdict`: null for a metric without a good direction; for a rate, slower means lower.
    - `grade`: how certain the verdict is.
    - `rule`: the rule that decided `verdict` and `grade`; it also explains why a row is undecided
      or has no comparison.
    """

    baseline: str
    n_baseline: int
    value: float | None
    value_baseline: float | None
    ratio: float | None
    lo: float | None
    hi: float | None
    difference: float | None
    difference_lo: float | None
    difference_hi: float | None
    delta: float | None
    p_adjusted: float | None
    verdict: Verdict | None
    grade: Grade | None
    rule: DecisionRule
    caveats: list[str]


@dataclass(frozen=True)
class Compared(LostLaunches, _Ratio):
    """A row of ``compare``: a metric of one case compared with the baseline's.

    - `boots`: the number of independent boots of the two platforms; null if no launch has a boot
      number.
    - `few_boots`: there are so few boots that the claims are valid for the measured boots only.
    - `control`: the row compares the baseline with itself.
    """

    boots: int | None
    few_boots: bool
    control: bool


COLUMNS = table_columns(Compared)


def compare_points(
    records: Records,
    summary: pl.DataFrame,
    pairs: Sequence[PlatformPair],
    *,
    margin: float,
    any_layout: bool = False,
) -> pl.DataFrame:
    """Compare platforms with their baselines, point by point.

    Relative differences below `margin` do not matter. With `any_layout`, different layouts are also
    compared. The result has the columns of `Compared` except `by_loss`, `p_adjusted`, `verdict`,
    `grade` and `caveats`. `bareline.analysis.judgements.decide` computes these from additional
    columns:

    - `by_interval`: the verdict according to the row's interval and estimate, without a test.
    - `beyond_margin`: the whole interval is beyond the margin.
    - `alike`: both platforms measure the same quantity in the same layout.
    - `comparable`: `alike`, and both platforms have values or a launch exceeded its time limit.
    - `refused`, `failed`, `absent`, `left_out`, `empty`: the reason why a row is not comparable.
    - `own`: the caveats of the platform.
    - `base`: the caveats of the baseline.
    """
    placed = layouts(records.trials)
    emulated = emulated_platforms(records)
    parts = []
    for pair in pairs:
        frame = _with_layouts(records.cube.points, placed, pair)
        differs = frame.get_column("unlike") != ""
        unlike = differs.to_numpy() & (not any_layout)
        unlike_processor = unlike_processors(frame, pair, emulated)
        on_software = pl.Series(unlike_processor)
        refused = (
            pl.when(on_software)
            .then(pl.lit(EMULATED))
            .when(pl.Series(unlike))
            .then("unlike")
            .otherwise(pl.lit(""))
        )
        frame = frame.with_columns(refused=refused)
        alike = pair.directed & ~unlike
        figures = _figures(frame, pair, alike, margin=margin)
        parts.append(_with_sides(figures, records, summary, pair))
    table = _with_budgets(pl.concat(parts), records)
    return with_order(table, records.platforms).sort(
        "rung", "probe", *CASE[1:], "metric", "point_row", "column",
        nulls_last=True, maintain_order=True,
    )  # fmt: skip


def _with_layouts(points: pl.DataFrame, placed: pl.DataFrame, pair: PlatformPair) -> pl.DataFrame:
    """Return points with a column that describes how the layouts of the two platforms differ."""
    here = placed.filter(platform=pair.platform).drop("platform")
    there = placed.filter(platform=pair.baseline).select(*CASE, base_layout="layout")
    for side in (here, there):
        points = points.join(side, on=CASE, how="left", nulls_equal=True, maintain_order="left")
    texts = []
    for layout, base_layout in points.select("layout", "base_layout").iter_rows():
        texts.append(unlike_text(layout, base_layout))
    unlike = pl.Series(texts, dtype=pl.String)
    return points.with_columns(unlike=unlike).drop("layout", "base_layout")


def _finite(mask: BoolCube, values: FloatCube, above: float = -np.inf) -> FloatCube:
    """Return the values that are in the mask, finite and larger than `above`; NaN elsewhere."""
    is_above = values > above
    return np.where(mask & np.isfinite(values) & is_above, values, np.nan)


def _by_interval(pair: PlatformPair, margin: float) -> FloatCube:
    """Return the verdict of each point according to its interval and estimate, without a test."""
    ratio = pair.ratio
    shift = pair.shift
    enough = np.minimum(ratio.n, ratio.n_baseline)
    if pair.exact:
        enough = np.where(enough > 0, MIN_LAUNCHES, 0)
    # With a p-value of 0, only the interval and the estimate decide the verdict.
    on_ratio = stats.judge(ratio.ratio, ratio.lo, ratio.hi, enough, 0.0, margin=margin)
    on_shift = stats.judge_shift(
        shift.shift, shift.lo, shift.hi, enough, 0.0, tolerance=pair.tolerance(margin)
    )
    return np.where(ratio.on_logs, on_ratio, on_shift)


def _beyond_margin(pair: PlatformPair, margin: float) -> BoolCube:
    """Return for each point whether its whole interval is beyond the margin."""
    ratio = pair.ratio
    shift = pair.shift
    tolerance = pair.tolerance(margin)
    limit = 1 + margin
    is_below = ratio.hi < 1 / limit
    of_ratio = (ratio.lo > limit) | is_below
    of_shift = (shift.lo > tolerance) | (shift.hi < -tolerance)
    return np.where(ratio.on_logs, of_ratio, of_shift)


def _figures(
    points: pl.DataFrame, pair: PlatformPair, alike: BoolCube, *, margin: float
) -> pl.DataFrame:
    """Return points with the columns of values, ratios and intervals.

    - `alike`: marks of the points at which the platforms measured the same quantity.
    """
    ratio = pair.ratio
    shift = pair.shift
    without_ratio = alike & ~ratio.on_logs
    bounded = alike & pair.bounded
    figures = {
        "n": launches_of(~np.isnan(pair.here.values)),
        "n_baseline": launches_of(~np.isnan(pair.there.values)),
        "n_used": np.minimum(ratio.n, ratio.n_baseline),
        **pair.losses,
        "dependent": pair.dependent,
        "value": pair.here.medians,
        "value_baseline": pair.there.medians,
        # Lost launches can also make a ratio 0, which is not a value.
        "ratio": _finite(alike, ratio.ratio, 0),
        "at_least": _finite(alike & _informative(ratio, margin), ratio.nearest, 0),
        "lo": _finite(bounded, ratio.lo, 0),
        "hi": _finite(bounded, ratio.hi, 0),
        "difference": _finite(without_ratio, shift.shift),
        "difference_lo": _finite(without_ratio, shift.lo),
        "difference_hi": _finite(without_ratio, shift.hi),
        "delta": pair.delta,
    }
    verdicts = _by_interval(pair, margin).tolist()
    beyond_margin = _beyond_margin(pair, margin)
    return points.with_columns(
        *(pl.Series(name, values) for name, values in figures.items()),
        platform=pl.lit(pair.platform),
        baseline=pl.lit(pair.baseline),
        paired=pl.lit(pair.paired),
        exact=pl.lit(pair.exact),
        boots=pl.lit(pair.boots.count, pl.Int64),
        few_boots=pl.lit(pair.boots.few),
        by_interval=pl.Series(verdicts, dtype=pl.String),
        beyond_margin=pl.Series(beyond_margin, dtype=pl.Boolean),
    ).with_columns(pl.col(pl.Float64).fill_nan(None))


def _informative(ratio: stats.Ratio, margin: float) -> BoolCube:
    """Return which one-sided bounds are beyond the margin; "at least 1.00 times" shows nothing."""
    nearest = np.nan_to_num(ratio.nearest, nan=1.0)
    distance = np.abs(np.log(nearest))
    informative: BoolCube = distance > np.log1p(margin)
    return informative


def _with_sides(
    table: pl.DataFrame, records: Records, summary: pl.DataFrame, pair: PlatformPair
) -> pl.DataFrame:
    """Return points with both platforms' caveats, and with reasons for missing values."""
    with_silent = _with_silent(table, records, pair)
    table = _with_asked(with_silent, records, pair)
    lost = failures(records)
    here = lost.filter(platform=pair.platform).select(*CASE, "n_failed", own_absent="absent")
    there = lost.filter(platform=pair.baseline).select(
        *CASE,
        base_n_failed="n_failed",
        base_absent=pl.lit(f"{pair.baseline}: ") + pl.col("absent"),
    )
    table = table.join(here, on=CASE, how="left").join(there, on=CASE, how="left")
    reason = pl.format("{} {}", "platform", "reason")
    for side, name in (("own", pair.platform), ("base", pair.baseline)):
        reason_of_side = reason.alias(f"{side}_left_out")
        left_out_of_side = records.left_out.filter(platform=name)
        left_out = left_out_of_side.select(*CASE, reason_of_side)
        summary_of_side = summary.filter(platform=name)
        caveats = summary_of_side.select(*KEY, pl.col("caveats").alias(side))
        table = table.join(left_out, on=CASE, how="left").join(caveats, on=KEY, how="left")
    return _comparable(table.with_columns(other_ranks_text(table, summary, pair)))


def _comparable(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that the study requested, with the reason if a row cannot be compared."""
    own_empty = pl.col("n") == 0
    base_empty = pl.col("n_baseline") == 0
    empty = own_empty | base_empty
    tried_here = pl.col("own_absent").is_null()
    own_failed = pl.col("n_failed").is_not_null() & tried_here
    tried_there = pl.col("base_absent").is_null()
    base_failed = pl.col("base_n_failed").is_not_null() & tried_there
    failed = (own_empty & own_failed) | (base_empty & base_failed)
    absent = pl.coalesce(
        pl.when(own_empty).then("own_absent"), pl.when(base_empty).then("base_absent")
    )
    why_left_out = pl.coalesce("own_left_out", "base_left_out")
    gone = failed | absent.is_not_null()
    has_point = pl.col("point") != ""
    present_elsewhere_only = own_empty & base_empty & ~gone & has_point
    never_asked = empty & ~gone & why_left_out.is_null() & ~pl.col("asked")
    lost_here = pl.col("lost").fill_null(0)
    lost_there = pl.col("base_lost").fill_null(0)
    timed_out = (lost_here + lost_there) > 0
    refusal = pl.col("refused").fill_null("")
    alike = (refusal == "") & (pl.col("better") != "none")
    return table.filter(~present_elsewhere_only & ~never_asked).with_columns(
        failed=failed,
        absent=absent,
        left_out=why_left_out,
        empty=empty,
        alike=alike,
        # A program that did not end within its time limit is compared, although it has no figure.
        comparable=alike & (~empty | timed_out),
    )


def _with_silent(table: pl.DataFrame, records: Records, pair: PlatformPair) -> pl.DataFrame:
    """Return points with an additional row for each case that has a value on neither platform."""
    cases = records.trials.select(*CASE).unique(maintain_order=True)
    delivered = table.select(*CASE).unique()
    silent = cases.join(delivered, on=CASE, how="anti")
    if silent.is_empty():
        return table
    extra = silent.join(
        records.declarations.filter("headline"), on="probe", how="left"
    ).with_columns(
        platform=pl.lit(pair.platform),
        baseline=pl.lit(pair.baseline),
        point=pl.lit(""),
        n=pl.lit(0, pl.Int64),
        n_baseline=pl.lit(0, pl.Int64),
    )
    return pl.concat([table, extra], how="diagonal_relaxed")


def _with_asked(table: pl.DataFrame, records: Records, pair: PlatformPair) -> pl.DataFrame:
    """Add a column "asked" that marks the cases planned on both platforms.

    A case without a value is called missing only if both platforms planned it.
    """
    sides = (pair.platform, pair.baseline)
    if records.planned is None:
        conditions = [pl.lit(True)]
        for name in sides:
            probes = records.asked(name)
            if probes is not None:
                is_asked = pl.col("probe").is_in(sorted(probes))
                conditions.append(is_asked)
        return table.with_columns(asked=pl.all_horizontal(*conditions))
    planned_here = records.planned.filter(platform=pair.platform)
    here = planned_here.select(*CASE).unique()
    planned_there = records.planned.filter(platform=pair.baseline)
    there = planned_there.select(*CASE).unique()
    common = here.join(there, on=CASE, how="semi")
    both = common.with_columns(asked=pl.lit(True))
    joined = table.join(both, on=CASE, how="left")
    return joined.with_columns(pl.col("asked").fill_null(False))


def _with_budgets(table: pl.DataFrame, records: Records) -> pl.DataFrame:
    """Use the probe's time budget as limit for points lost in launches without a time limit."""
    lost_here = pl.col("lost") > 0
    lost = lost_here | (pl.col("base_lost") > 0)
    cut = pl.col("limit_s").is_null() & lost
    cases = table.filter(cut).select("probe", "params").unique()
    budgets_s = []
    for probe, text in cases.iter_rows():
        defaults = records.defaults.get(probe, {})
        params = {**defaults, **parse_point(text)}
        budgets_s.append(params.get("budget_s"))
    column = pl.Series("budget_s", budgets_s, dtype=pl.Float64, strict=False)
    with_budget = cases.with_columns(column)
    joined = table.join(with_budget, on=["probe", "params"], how="left", maintain_order="left")
    return joined.with_columns(
        limit_s=pl.when(cut).then("budget_s").otherwise("limit_s"), by_points=cut
    )
