"""Summarize each point on each platform, with interval and spread (docs/method/statistics.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import polars as pl

from bareline import stats
from bareline.analysis.numbers.cube import Cube, FloatCube, IntCube
from bareline.analysis.numbers.models import model_errors
from bareline.analysis.numbers.pairs import of_launches
from bareline.analysis.numbers.records import Records
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.model import Better, Layer, Stage, parse_point
from bareline.vocabulary.place import CASE, KEY
from bareline.vocabulary.rows import Params
from bareline.vocabulary.verdicts import DEFAULT_PRECISION, MIN_LAUNCHES

_PARTS = {"params": CASE[1:], "metric": KEY[len(CASE) :], "control": ()}


@dataclass(frozen=True)
class MetricRow:
    """A metric of one case on one platform.

    - `params`: the parameters of case and point, and the numbers of ranks, threads and nodes.
    - `detail`: the metric explains other metrics; tables show it with `--all` only.
    - `headline`: the probe is judged by this metric.
    - `n`: the number of launches that measured the metric.
    """

    platform: str
    probe: str
    params: Params
    metric: str
    layer: Layer
    unit: str
    better: Better
    detail: bool
    headline: bool
    n: int


def table_columns(row: type) -> list[str]:
    """Return the columns, in order, of the table whose rows have this type."""
    names = [field.name for field in fields(row)]
    first = [name for name in ("platform", "baseline") if name in names]
    columns: list[str] = []
    for name in dict.fromkeys((*first, *names)):
        columns += _PARTS.get(name, (name,))
    return columns


@dataclass(frozen=True)
class Summary(MetricRow):
    """A row of ``show``: a median, its 95 % interval, and the spread of the values.

    - `lo`, `hi`: the bounds of the interval; null below six trials.
    - `p5`, `p95`: percentiles over trials.
    - `iqr_rel`: the interquartile range divided by the median.
    - `n_failed`: the number of failed trials of the case.
    """

    value: float
    lo: float | None
    hi: float | None
    p5: float
    p95: float
    iqr_rel: float | None
    outliers: int
    n_failed: int
    caveats: list[str]


@dataclass(frozen=True)
class FailedCase:
    """A row of ``show`` for a case whose trials all failed."""

    platform: str
    probe: str
    params: Params
    n: int
    n_failed: int
    stage: str | None
    reason: str | None


ShowRow = Summary | FailedCase


def summarize(records: Records) -> pl.DataFrame:
    """Summarize each point on each platform that has a value for it."""
    cube = records.cube
    summaries = [_summary_of(cube, platform) for platform in cube.platforms]
    whole = pl.concat(summaries)
    table = _with_model_errors(whole, records)
    without_nan = pl.col("lo", "hi", "iqr_rel").fill_nan(None)
    table = _with_caveats(table.with_columns(without_nan), records)
    table = with_order(table, cube.platforms).sort("rung", "probe", "case", "point_row", "column")
    return table.select(table_columns(Summary))


def _summary_of(cube: Cube, platform: str) -> pl.DataFrame:
    """Summarize the points for which a platform has values."""
    summary = stats.summarize(cube.of(platform))
    figures = pl.DataFrame(
        {
            "n": summary.n,
            "value": summary.median,
            "lo": summary.lo,
            "hi": summary.hi,
            "p5": summary.p5,
            "p95": summary.p95,
            "iqr_rel": summary.iqr_over_median,
            "outliers": summary.outliers,
        }
    )
    points = cube.points.with_columns(*figures, platform=pl.lit(platform))
    return points.filter(pl.col("n") > 0)


def _with_model_errors(table: pl.DataFrame, records: Records) -> pl.DataFrame:
    """Mark simulated values as exact, with the error of their model as interval."""
    errors = model_errors(records)
    error = pl.col("platform").replace_strict(errors, default=None, return_dtype=pl.Float64)
    exact = pl.col("platform").is_in(list(errors))
    value = pl.col("value")
    return table.with_columns(
        exact=exact,
        lo=pl.when(exact).then(value / (1 + error)).otherwise("lo"),
        hi=pl.when(exact).then(value * (1 + error)).otherwise("hi"),
    )


def as_rows(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return a summary or comparison as rows for ``--json``, with parameters in one column."""
    rows = []
    for row in table.iter_rows(named=True):
        params: dict[str, Any] = {"ranks": row.pop("ranks"), "threads": row.pop("threads")}
        params |= parse_point(row.pop("params"))
        params |= parse_point(row.pop("point", ""))
        nodes = row.pop("nodes")
        if nodes:
            params["nodes"] = nodes
        first: dict[str, Any] = {}
        for key in ("platform", "baseline", "probe"):
            if key in row:
                first[key] = row.pop(key)
        rows.append({**first, "params": params, **row})
    return rows


def with_order(table: pl.DataFrame, platforms: Sequence[str]) -> pl.DataFrame:
    """Add the order in which layers and platforms are displayed, as columns "rung" and "column"."""
    order = {layer.value: number for number, layer in enumerate(Layer)}
    columns = {name: number for number, name in enumerate(platforms)}
    return table.with_columns(
        rung=pl.col("layer").replace_strict(order, default=99, return_dtype=pl.Int64),
        column=pl.col("platform").replace_strict(columns, return_dtype=pl.Int64),
    )


def _with_caveats(table: pl.DataFrame, records: Records) -> pl.DataFrame:
    half_of_interval = (pl.col("hi") - pl.col("lo")) / 2
    size = pl.col("value").abs()
    half_width = half_of_interval / size
    exceeds = half_width > pl.col("precision")
    wide = (pl.col("precision") > 0) & exceeds
    # One launch under the profiler is enough, in addition to the plain launches of a case.
    profiled = pl.col("params").str.contains(r"(?:^| )profile=true(?: |$)")
    never_plain = profiled.all().over("probe")
    once = profiled & ~never_plain
    inexact = ~pl.col("exact")
    has_few = pl.col("n") < MIN_LAUNCHES
    too_few = has_few & inexact & ~once
    caveats = pl.concat_list(
        pl.col("case_caveats", "series_caveats", "sample_caveats").fill_null([]),
        flag(too_few, "n-too-small"),
        flag(pl.col("exact"), "exact-in-model"),
        flag(pl.col("headline") & wide & inexact, "precision-not-reached"),
    )
    failed = failures(records).select("platform", *CASE, "n_failed")
    of_case = ["platform", *CASE]
    for of_cases in (_counted(records, CASE, "case_caveats"), _series_caveats(records), failed):
        table = table.join(of_cases, on=of_case, how="left")
    of_samples = _counted(records, KEY, "sample_caveats")
    table = table.join(of_samples, on=["platform", *KEY], how="left")
    table = table.join(_precisions(records), on="layer", how="left")
    return table.with_columns(
        pl.col("n_failed").fill_null(0), caveats=caveats.list.unique(maintain_order=True)
    )


def _precisions(records: Records) -> pl.DataFrame:
    """Return the largest relative half-width that medians of each layer should have.

    The value is 0 if there is no limit.
    """
    declared = records.study.get("precision")
    layers = list(Layer)
    precisions = [DEFAULT_PRECISION[layer] for layer in layers]
    if declared is not None:
        precisions = [float(declared)] * len(layers)
    names = [layer.value for layer in layers]
    return pl.DataFrame({"layer": names, "precision": precisions})


def flag(condition: pl.Expr, caveat: str | pl.Expr) -> pl.Expr:
    """Return an expression for a list: with `caveat` if `condition` is true, else empty."""
    if isinstance(caveat, str):
        caveats = pl.lit([caveat])
    else:
        caveats = pl.concat_list(caveat)
    nothing = pl.lit([], dtype=pl.List(pl.String))
    return pl.when(condition).then(caveats).otherwise(nothing)


def _counted(records: Records, key: Sequence[str], name: str) -> pl.DataFrame:
    """Return the caveats of cases or points, each with the number of trials that have it.

    - `key`: the columns that identify a case or a point.
    - `name`: the name of the new column.
    """
    of_point = [column for column in key if column not in CASE]
    if of_point:
        rows = records.values
    else:
        rows = records.trials
    measured = records.trials.filter(status="measured")
    measured = measured.select("row", "platform", *CASE)
    trials = measured.group_by("platform", *CASE).agg(every=pl.len())
    counted = (
        rows.select("row", *of_point, "caveats")
        .filter(pl.col("caveats").list.len() > 0)
        .explode("caveats")
        .drop_nulls("caveats")
        .join(measured, on="row")
        .with_columns(pl.col(of_point).cast(pl.String))
        .group_by("platform", *key, "caveats", maintain_order=True)
        .agg(some=pl.col("row").n_unique())
        .join(trials, on=["platform", *CASE], maintain_order="left")
    )
    texts = []
    for text, some, total in counted.select("caveats", "some", "every").iter_rows():
        texts.append(_of_some(text, some, total))
    with_texts = counted.with_columns(pl.Series(name, texts, dtype=pl.String))
    return with_texts.group_by("platform", *key, maintain_order=True).agg(name)


def _of_some(text: str, some: int, total: int) -> str:
    """Append to a caveat the number of trials that have it, unless all trials have it."""
    if some >= total:
        return text
    caveat = replace(Caveat.read(text), some=some, trials=total)
    return str(caveat)


def _series_caveats(records: Records) -> pl.DataFrame:
    """Return caveats about the order of launches, such as a drift, for each case and platform."""
    cube = records.cube
    headline = cube.points.filter(pl.col("headline").fill_null(False)).sort("case")
    cases = headline.select("case", *CASE).unique("case", maintain_order=True)
    case_numbers = headline.get_column("case").to_numpy()
    begins = np.flatnonzero(np.diff(case_numbers, prepend=-1))
    rows = headline.get_column("point_row").to_numpy()
    parts = []
    for number, platform in enumerate(cube.platforms):
        launches = _launches(cube.values[number, rows], begins)
        series = stats.look(launches)
        marked = cases.select(*CASE).with_columns(
            platform=pl.lit(platform),
            drifting=series.drifting,
            dependent=series.dependent,
            two_modes=series.two_modes,
        )
        parts.append(marked)
    caveats = pl.concat_list(
        flag(pl.col("drifting"), "drifting"),
        flag(pl.col("dependent"), "dependent"),
        flag(pl.col("two_modes"), "two-modes"),
    )
    return pl.concat(parts).select("platform", *CASE, series_caveats=caveats)


def _launches(values: FloatCube, begins: IntCube) -> FloatCube:
    """Return for each launch of a case the mean logarithm over points, as `of_launches` does.

    The result is NaN for a case with a value that is not positive.
    """
    if not begins.size:
        return np.empty((0, values.shape[-1]))
    absent = np.isnan(values)
    fits = absent | (values > 0)
    positive = np.logical_and.reduceat(fits.all(axis=-1), begins)
    positive_values = np.where(values > 0, values, 1.0)
    logs = np.log(positive_values)
    known_logs = np.where(absent, np.nan, logs)
    means = of_launches(known_logs, begins)
    means[~positive] = np.nan
    return means


def failures(records: Records) -> pl.DataFrame:
    """Return the cases with failed trials on each platform.

    The table has the columns platform, the case's columns, n (number of measured trials), n_failed,
    stage and reason of the last failure, and absent. If no trial could be started because a program
    is not installed, `absent` names this program.
    """
    failed = pl.col("status") == "failed"
    absent = pl.col("stage") == Stage.ABSENT.value
    all_absent = absent.filter(failed).all()
    last_reason = pl.col("reason").filter(failed).last()
    measured = pl.col("status") == "measured"
    cases = records.trials.group_by("platform", *CASE, maintain_order=True).agg(
        pl.col("stage", "reason").drop_nulls().last(),
        n=measured.sum().cast(pl.Int64),
        n_failed=failed.sum().cast(pl.Int64),
        absent=pl.when(all_absent).then(last_reason),
    )
    columns = ("n", "n_failed", "stage", "reason", "absent")
    return cases.filter(pl.col("n_failed") > 0).select("platform", *CASE, *columns)
