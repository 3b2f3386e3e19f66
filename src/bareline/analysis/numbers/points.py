"""Comparisons point by point: one row per point and platform, nothing dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from bareline import stats
from bareline.analysis.numbers.cell import LostLaunches
from bareline.analysis.numbers.columns import MetricRow, table_columns
from bareline.analysis.numbers.cube import BoolCube, FloatCube, IntCube
from bareline.analysis.numbers.family import discoveries
from bareline.analysis.numbers.frames import layouts, unlike_text
from bareline.analysis.numbers.models import EMULATED, emulated_platforms, unlike_processors
from bareline.analysis.numbers.pairs import PlatformPair
from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.summary import failures, flag, with_order
from bareline.vocabulary.caveats import FAILED_TRIALS, OTHER_LAYOUT
from bareline.vocabulary.model import parse_point
from bareline.vocabulary.place import CASE, KEY
from bareline.vocabulary.verdicts import MIN_LAUNCHES, Grade, Verdict


@dataclass(frozen=True)
class _Ratio(MetricRow):
    """A metric of one case held against the baseline's.

    - `value`, `value_baseline`: medians over launches, in SI base units.
    - `ratio`: times worse than the baseline, whatever the metric's direction.
    - `lo`, `hi`: its 95 % interval; null below six trials, or where launches lost to a time limit
      leave a bound open.
    - `difference`, `difference_lo`, `difference_hi`: in the unit, above 0 is worse: where a value
      is zero and there is no ratio.
    - `delta`: Cliff's delta, above 0 is worse.
    - `p_adjusted`: it holds the false discovery rate over all rows.
    - `verdict`: null for a metric that has no good direction; of a rate, slower means lower.
    - `grade`: how sure the verdict is.
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
    caveats: list[str]


@dataclass(frozen=True)
class Compared(LostLaunches, _Ratio):
    """``compare``: a metric of one case held against the baseline's.

    - `boots`: independent boots of the two platforms; null where nothing boots.
    - `few_boots`: so few that what is claimed holds for these boots alone.
    - `control`: a row of the baseline against itself, which is no platform's.
    """

    boots: int | None
    few_boots: bool
    control: bool


#: The columns of a comparison that users see, in order.
COLUMNS = table_columns(Compared)
_FIGURES = ["ratio", "lo", "hi", "difference", "difference_lo", "difference_hi", "p_adjusted"]


def compare_points(
    records: Records,
    summary: pl.DataFrame,
    pairs: Sequence[PlatformPair],
    *,
    margin: float,
    any_layout: bool = False,
) -> pl.DataFrame:
    """Compare platforms with what they are paired with, point by point.

    - `summary`: of the same records.
    - `margin`: relative difference that does not matter.
    - `any_layout`: also compare what was measured on unlike layouts.
    Gives the columns of `Compared` but the grade. A point that only one side has is there, with
    the verdict that says why. For findings also point_row, nodes_used, unlike, and refused (why it
    is not comparable).
    """
    placed = layouts(records.trials)
    emulated = emulated_platforms(records)
    frames = []
    alike = []
    tested = []
    for pair in pairs:
        frame = _unlike(records.cube.points, placed, pair)
        unlike = (frame.get_column("unlike") != "").to_numpy() & (not any_layout)
        software = unlike_processors(frame, pair, emulated)
        frames.append(frame.with_columns(_refused(unlike, software)))
        alike.append(pair.directed & ~unlike)
        tested.append(alike[-1] & ~software)
    parts = [
        _figures(*parts, margin=margin)
        for parts in zip(frames, pairs, alike, *discoveries(pairs, tested, margin), strict=True)
    ]
    table = pl.concat(
        _with_missing(part, records, pair) for part, pair in zip(parts, pairs, strict=True)
    )
    return _finish(_with_budgets(table, records), records, summary)


def _unlike(points: pl.DataFrame, placed: pl.DataFrame, pair: PlatformPair) -> pl.DataFrame:
    """Say of each point whether its case had another layout on the other side."""
    own = placed.filter(platform=pair.platform).drop("platform")
    base = placed.filter(platform=pair.baseline).select(
        *CASE, pl.col("layout").alias("base_layout")
    )
    both = points.join(
        own, on=list(CASE), how="left", nulls_equal=True, maintain_order="left"
    ).join(base, on=list(CASE), how="left", nulls_equal=True, maintain_order="left")
    pairs = both.select("layout", "base_layout").unique()
    texts = pairs.with_columns(
        pl.Series("unlike", [unlike_text(*row) for row in pairs.iter_rows()], dtype=pl.String)
    )
    return both.join(
        texts, on=["layout", "base_layout"], how="left", nulls_equal=True, maintain_order="left"
    ).drop("layout", "base_layout")


def _refused(unlike: BoolCube, software: BoolCube) -> pl.Expr:
    """Say why a point is not comparable; nothing where it is."""
    return (
        pl.when(pl.Series(software))
        .then(pl.lit(EMULATED))
        .when(pl.Series(unlike))
        .then(pl.col("unlike"))
        .otherwise(pl.lit(""))
        .alias("refused")
    )


def _figures(
    points: pl.DataFrame,
    pair: PlatformPair,
    alike: BoolCube,
    q: FloatCube,
    by_loss: IntCube,
    *,
    margin: float,
) -> pl.DataFrame:
    """Give the figures and the verdict of each point; those on unlike layouts have no ratio."""
    result, shift = pair.ratio, pair.shift
    n = np.minimum(result.n, result.n_baseline)
    enough = np.where(n > 0, MIN_LAUNCHES, 0) if pair.exact else n
    on_ratio = stats.judge(result.ratio, result.lo, result.hi, enough, q, margin=margin)
    on_shift = stats.judge_shift(
        shift.shift, shift.lo, shift.hi, enough, q, tolerance=pair.tolerance(margin)
    )
    verdict = np.where(result.on_logs, on_ratio, on_shift)
    verdict = np.where(by_loss > 0, Verdict.SLOWER, verdict)
    verdict = np.where(by_loss < 0, Verdict.FASTER, verdict)
    refused = (points.get_column("refused") != "").to_numpy()
    verdict = np.where(refused, Verdict.NOT_COMPARABLE, verdict)
    plain = alike & ~result.on_logs
    # "At least 1.00 times" tells nothing.
    known = np.abs(np.log(np.nan_to_num(result.nearest, nan=1.0))) > np.log1p(margin)

    def where(mask: BoolCube, values: FloatCube) -> FloatCube:
        return np.where(mask & np.isfinite(values), values, np.nan)

    def positive(mask: BoolCube, ratios: FloatCube) -> FloatCube:
        """Leave out what lost launches put off the scale, at its lower end too."""
        return where(mask & (ratios > 0), ratios)

    return points.with_columns(
        pl.lit(pair.platform).alias("platform"),
        pl.lit(pair.baseline).alias("baseline"),
        pl.lit(pair.paired).alias("paired"),
        pl.lit(pair.exact).alias("exact"),
        pl.Series("n", np.count_nonzero(~np.isnan(pair.values), axis=-1)),
        pl.Series("n_baseline", np.count_nonzero(~np.isnan(pair.base), axis=-1)),
        pl.Series("n_used", n),
        *pair.losses(),
        pl.Series("by_loss", by_loss),
        pl.lit(pair.boots.count, pl.Int64).alias("boots"),
        pl.lit(pair.boots.few).alias("few_boots"),
        pl.Series("dependent", pair.dependent),
        pl.Series("value", stats.summarize(pair.values).median),
        pl.Series("value_baseline", stats.summarize(pair.base).median),
        pl.Series("ratio", positive(alike, result.ratio)),
        pl.Series("at_least", positive(alike & known, result.nearest)),
        pl.Series("lo", positive(alike & pair.bounded, result.lo)),
        pl.Series("hi", positive(alike & pair.bounded, result.hi)),
        pl.Series("difference", where(plain, shift.shift)),
        pl.Series("difference_lo", where(plain, shift.lo)),
        pl.Series("difference_hi", where(plain, shift.hi)),
        pl.Series("delta", pair.delta),
        pl.Series("p_adjusted", q),
        pl.Series(
            "verdict",
            [
                str(text) if directed else None
                for directed, text in zip(pair.directed, verdict, strict=True)
            ],
            dtype=pl.String,
        ),
    ).with_columns(pl.col("value", "value_baseline", "delta", "at_least", *_FIGURES).fill_nan(None))


def _with_asked(table: pl.DataFrame, records: Records, pair: PlatformPair) -> pl.DataFrame:
    """Tell in "asked" of which cases the plan means both sides: others are not missing."""
    sides = (pair.platform, pair.baseline)
    if records.planned is None:
        asked = pl.lit(True)
        for name in sides:
            probes = records.asked(name)
            if probes is not None:
                asked &= pl.col("probe").is_in(sorted(probes))
        return table.with_columns(asked.alias("asked"))
    meant = [records.planned.filter(platform=name).select(*CASE).unique() for name in sides]
    both = meant[0].join(meant[1], on=list(CASE), how="semi")
    return table.join(
        both.with_columns(pl.lit(True).alias("asked")), on=list(CASE), how="left"
    ).with_columns(pl.col("asked").fill_null(False))


def _with_missing(table: pl.DataFrame, records: Records, pair: PlatformPair) -> pl.DataFrame:
    """Say what is missing, failed or skipped, and add the cases that no platform delivered."""
    table = _with_asked(_with_silent(table, records, pair), records, pair)
    for side in (*_lost(records, pair), *_left_out(records, pair)):
        table = table.join(side, on=list(CASE), how="left")
    own_empty, base_empty = pl.col("n") == 0, pl.col("n_baseline") == 0
    empty = own_empty | base_empty
    failed = (own_empty & pl.col("own_failed").fill_null(False)) | (
        base_empty & pl.col("base_failed").fill_null(False)
    )
    absent = pl.coalesce(
        pl.when(own_empty).then(pl.col("own_absent")),
        pl.when(base_empty).then(pl.col("base_absent")),
    )
    left_out = pl.coalesce("own_left_out", "base_left_out")
    gone = failed | absent.is_not_null()
    present_elsewhere_only = own_empty & base_empty & ~gone & (pl.col("point") != "")
    never_asked = empty & ~gone & left_out.is_null() & ~pl.col("asked")
    return table.filter(~present_elsewhere_only & ~never_asked).with_columns(
        pl.when((pl.col("by_loss") != 0) & (pl.col("lost") + pl.col("base_lost") > 0))
        # to have no figure is what was found
        .then("verdict")
        .when(empty & failed)
        .then(pl.lit(Verdict.FAILED.value))
        .when(absent.is_not_null())
        .then(pl.lit(Verdict.SKIPPED.value))
        .when(empty & left_out.is_not_null())
        .then(pl.lit(Verdict.DOES_NOT_FIT.value))
        .when(empty)
        .then(pl.lit(Verdict.MISSING.value))
        .otherwise(pl.col("verdict"))
        .alias("verdict"),
        left_out.alias("left_out"),
        absent.alias("absent"),
    )


def _with_budgets(table: pl.DataFrame, records: Records) -> pl.DataFrame:
    """Say the limit of points that were cut: the time that their probe has for each of them."""
    cut = pl.col("limit_s").is_null() & ((pl.col("lost") > 0) | (pl.col("base_lost") > 0))
    cases = table.filter(cut).select("probe", "params").unique()
    budgets = [
        {**records.defaults.get(probe, {}), **parse_point(params)}.get("budget_s")
        for probe, params in cases.iter_rows()
    ]
    known = cases.with_columns(pl.Series("budget_s", budgets, dtype=pl.Float64, strict=False))
    return (
        table.join(known, on=["probe", "params"], how="left", maintain_order="left")
        .with_columns(
            pl.when(cut).then("budget_s").otherwise("limit_s").alias("limit_s"),
            cut.alias("by_points"),
        )
        .drop("budget_s")
    )


def _with_silent(table: pl.DataFrame, records: Records, pair: PlatformPair) -> pl.DataFrame:
    """Add a row of the headline for each case that gave no figure on either side."""
    silent = (
        records.trials.select(*CASE)
        .unique(maintain_order=True)
        .join(table.select(*CASE).unique(), on=list(CASE), how="anti")
    )
    headlines = records.declarations.filter(pl.col("headline"))
    extra = silent.join(headlines, on="probe", how="left")
    if extra.is_empty():
        return table
    extra = extra.with_columns(
        pl.lit(pair.platform).alias("platform"),
        pl.lit(pair.baseline).alias("baseline"),
        pl.lit("").alias("point"),
        pl.lit(0).cast(pl.Int64).alias("n"),
        pl.lit(0).cast(pl.Int64).alias("n_baseline"),
    )
    return pl.concat([table, extra], how="diagonal_relaxed")


def _lost(records: Records, pair: PlatformPair) -> Iterator[pl.DataFrame]:
    """Give, side by side, the cases that failed and those whose program is not installed."""
    lost = failures(records)
    for side, name, where in (
        ("own", pair.platform, ""),
        ("base", pair.baseline, f"{pair.baseline}: "),
    ):
        yield lost.filter(platform=name).select(
            *CASE,
            pl.col("absent").is_null().alias(f"{side}_failed"),
            (pl.lit(where) + pl.col("absent")).alias(f"{side}_absent"),
        )


def _left_out(records: Records, pair: PlatformPair) -> Iterator[pl.DataFrame]:
    """Give, side by side, what the plan left out, and why."""
    for side, name in (("own", pair.platform), ("base", pair.baseline)):
        why = pl.format("{} {}", "platform", "reason").alias(f"{side}_left_out")
        yield records.left_out.filter(platform=name).select(*CASE, why)


def _finish(table: pl.DataFrame, records: Records, summary: pl.DataFrame) -> pl.DataFrame:
    """Join both sides' caveats and order the rows."""
    own = summary.select("platform", *KEY, pl.col("caveats").alias("own"))
    base = summary.select(
        pl.col("platform").alias("baseline"), *KEY, pl.col("caveats").alias("base")
    )
    failed = failures(records).drop("absent")
    base_failed = failed.select(
        pl.col("platform").alias("baseline"), *CASE, pl.col("n_failed").alias("base_n_failed")
    )
    joined = (
        table.join(own, on=["platform", *KEY], how="left")
        .join(base, on=["baseline", *KEY], how="left")
        .join(failed, on=["platform", *CASE], how="left")
        .join(base_failed, on=["baseline", *CASE], how="left")
    )
    # In common blocks it matters whether differences resemble each other, which the pair knows.
    independent = pl.element() != "dependent"
    joined = joined.with_columns(
        pl.when(pl.col("paired").fill_null(False))
        .then(pl.col("own", "base").list.filter(independent))
        .otherwise(pl.col("own", "base"))
    )
    n_failed = pl.col("n_failed").fill_null(0) + pl.col("base_n_failed").fill_null(0)
    n_lost = pl.col("lost").fill_null(0) + pl.col("base_lost").fill_null(0)
    there = (pl.col("n") > 0) & (pl.col("n_baseline") > 0)
    lost_only = pl.col("by_loss").fill_null(0) != 0
    joined = joined.with_columns(
        pl.concat_list(
            pl.col("own").fill_null([]),
            pl.col("base").fill_null([]),
            flag(pl.col("dependent").fill_null(False), "dependent"),
            flag(pl.col("few_boots").fill_null(False) & (there | lost_only), "few-boots"),
            flag(
                ~pl.col("paired").fill_null(True)
                & ~pl.col("exact").fill_null(False)
                & (pl.col("n") > 0),
                "unpaired",
            ),
            flag(
                (pl.col("unlike").fill_null("") != "") & there,
                pl.format(f"{OTHER_LAYOUT}: {{}}", pl.col("unlike")),
            ),
            flag(pl.col("verdict") == Verdict.DOES_NOT_FIT.value, pl.col("left_out")),
            flag((n_failed > 0) & there, pl.format(f"{{}} {FAILED_TRIALS}", n_failed)),
            flag(
                (n_lost > 0) & there,
                pl.format("{} launches lost to a time limit count as slower than all", n_lost),
            ),
        )
        .list.unique(maintain_order=True)
        .alias("caveats")
    )
    return with_order(joined, records.platforms).sort(
        "rung", "probe", *CASE[1:], "metric", "point_row", "column",
        nulls_last=True, maintain_order=True,
    )  # fmt: skip
