"""Summaries: each point on each platform, with interval and spread (docs/method/statistics.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import polars as pl

from bareline import stats
from bareline.analysis.numbers.cube import FloatCube, IntCube
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

    - `params`: parameters of case and point, and its ranks, threads and nodes.
    - `detail`: it explains other metrics; tables show it with `--all` only.
    - `headline`: the metric by which its probe is judged.
    - `n`: launches that delivered it.
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
    """Return the columns of the table that has the rows of a type, in order."""
    names = [one.name for one in fields(row)]
    first = [name for name in ("platform", "baseline") if name in names]
    ordered = dict.fromkeys((*first, *names))
    return [part for name in ordered for part in _PARTS.get(name, (name,))]


@dataclass(frozen=True)
class Summary(MetricRow):
    """``show``: a median, its 95 % interval, and how values spread.

    - `lo`, `hi`: null below six trials.
    - `p5`, `p95`: percentiles over trials.
    - `iqr_rel`: the interquartile range over the median.
    - `n_failed`: trials of the case that failed.
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
class Silent:
    """``show``: a case of which every trial failed."""

    platform: str
    probe: str
    params: Params
    n: int
    n_failed: int
    stage: str | None
    reason: str | None


ShowRow = Summary | Silent


def summarize(records: Records) -> pl.DataFrame:
    """Summarize every point on every platform that has it."""
    cube = records.cube
    names = {
        "n": "n", "value": "median", "lo": "lo", "hi": "hi", "p5": "p5", "p95": "p95",
        "iqr_rel": "iqr_over_median", "outliers": "outliers",
    }  # fmt: skip
    parts = []
    for platform in cube.platforms:
        summary = stats.summarize(cube.of(platform))
        columns = [pl.Series(name, getattr(summary, of)) for name, of in names.items()]
        part = cube.points.with_columns(*columns, platform=pl.lit(platform))
        parts.append(part.filter(pl.col("n") > 0))
    # A simulated value has the error of its model for an interval.
    errors = model_errors(records)
    known = pl.col("platform").replace_strict(errors, default=None, return_dtype=pl.Float64)
    exact, value = pl.col("platform").is_in(list(errors)), pl.col("value")
    table = pl.concat(parts).with_columns(
        exact=exact,
        lo=pl.when(exact).then(value / (1 + known)).otherwise("lo"),
        hi=pl.when(exact).then(value * (1 + known)).otherwise("hi"),
    )
    table = _with_caveats(table.with_columns(pl.col("lo", "hi", "iqr_rel").fill_nan(None)), records)
    table = with_order(table, cube.platforms).sort("rung", "probe", "case", "point_row", "column")
    return table.select(table_columns(Summary))


def as_rows(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return a summary or comparison as rows for ``--json``, with parameters in one column."""
    rows = []
    for row in table.iter_rows(named=True):
        params: dict[str, Any] = {"ranks": row.pop("ranks"), "threads": row.pop("threads")}
        params |= parse_point(row.pop("params")) | parse_point(row.pop("point", ""))
        if nodes := row.pop("nodes"):
            params["nodes"] = nodes
        first = [key for key in ("platform", "baseline", "probe") if key in row]
        rows.append({key: row.pop(key) for key in first} | {"params": params} | row)
    return rows


def with_order(table: pl.DataFrame, platforms: Sequence[str]) -> pl.DataFrame:
    """Number layers and platforms, as "rung" and "column", in the order of display."""
    order = {layer.value: number for number, layer in enumerate(Layer)}
    columns = {name: number for number, name in enumerate(platforms)}
    return table.with_columns(
        pl.col("layer").replace_strict(order, default=99, return_dtype=pl.Int64).alias("rung"),
        pl.col("platform").replace_strict(columns, return_dtype=pl.Int64).alias("column"),
    )


def _with_caveats(table: pl.DataFrame, records: Records) -> pl.DataFrame:
    half_width = (pl.col("hi") - pl.col("lo")) / 2 / pl.col("value").abs()
    wide = (pl.col("precision") > 0) & (half_width > pl.col("precision"))
    # One launch under the profiler is enough, in addition to the plain launches of a case.
    profiled = pl.col("params").str.contains(r"(?:^| )profile=true(?: |$)")
    once = profiled & ~profiled.all().over("probe")
    inexact, failed = ~pl.col("exact"), failures(records)
    declared = records.study.get("precision")  # of all layers; 0 for none
    known = [DEFAULT_PRECISION[layer] if declared is None else float(declared) for layer in Layer]
    precisions = pl.DataFrame({"layer": [layer.value for layer in Layer], "precision": known})
    return (
        table.join(_counted(records, CASE, "case_caveats"), on=["platform", *CASE], how="left")
        .join(_series_caveats(records), on=["platform", *CASE], how="left")
        .join(failed.select("platform", *CASE, "n_failed"), on=["platform", *CASE], how="left")
        .join(_counted(records, KEY, "sample_caveats"), on=["platform", *KEY], how="left")
        .join(precisions, on="layer", how="left")
        .with_columns(
            pl.col("n_failed").fill_null(0),
            pl.concat_list(
                pl.col("case_caveats", "series_caveats", "sample_caveats").fill_null([]),
                flag((pl.col("n") < MIN_LAUNCHES) & inexact & ~once, "n-too-small"),
                flag(pl.col("exact"), "exact-in-model"),
                flag(pl.col("headline") & wide & inexact, "precision-not-reached"),
            )
            .list.unique(maintain_order=True)
            .alias("caveats"),
        )
    )


def flag(condition: pl.Expr, caveat: str | pl.Expr) -> pl.Expr:
    """Return a list of one caveat, a code or text, where a condition is true, else an empty one."""
    one = pl.lit([caveat]) if isinstance(caveat, str) else pl.concat_list(caveat)
    return pl.when(condition).then(one).otherwise(pl.lit([], dtype=pl.List(pl.String)))


def _counted(records: Records, key: Sequence[str], name: str) -> pl.DataFrame:
    of_point = [column for column in key if column not in CASE]
    given = (records.values if of_point else records.trials).select("row", *of_point, "caveats")
    measured = records.trials.filter(pl.col("status") == "measured").select(
        "row", "platform", *CASE
    )
    every = measured.group_by("platform", *CASE).agg(pl.len().alias("every"))
    return (
        given.filter(pl.col("caveats").list.len() > 0)
        .explode("caveats")
        .drop_nulls("caveats")
        .join(measured, on="row")
        .with_columns(pl.col(of_point).cast(pl.String))
        .group_by("platform", *key, "caveats", maintain_order=True)
        .agg(pl.col("row").n_unique().alias("some"))
        .join(every, on=["platform", *CASE], maintain_order="left")
        .with_columns(
            pl.struct("caveats", "some", "every")
            .map_elements(lambda row: _of_some(*row.values()), return_dtype=pl.String)
            .alias(name)
        )
        .group_by("platform", *key, maintain_order=True)
        .agg(name)
    )


def _of_some(text: str, some: int, every: int) -> str:
    return text if some >= every else str(replace(Caveat.read(text), some=some, every=every))


def _series_caveats(records: Records) -> pl.DataFrame:
    cube = records.cube
    headline = cube.points.filter(pl.col("headline").fill_null(False)).sort("case")
    cases = headline.select("case", *CASE).unique("case", maintain_order=True)
    begins = np.flatnonzero(np.diff(headline.get_column("case").to_numpy(), prepend=-1))
    rows = headline.get_column("point_row").to_numpy()
    parts = []
    for number, platform in enumerate(cube.platforms):
        seen = stats.look(_launches(cube.values[number, rows], begins))
        flags = [
            flag(pl.lit(pl.Series(getattr(seen, code.replace("-", "_")))), code)
            for code in ("drifting", "dependent", "two-modes")
        ]
        own = {"platform": pl.lit(platform), "series_caveats": pl.concat_list(flags)}
        parts.append(cases.select(*CASE).with_columns(**own))
    return pl.concat(parts)


def _launches(values: FloatCube, begins: IntCube) -> FloatCube:
    """Return one logarithm a launch and case; a case with a value that is not positive has none."""
    if not begins.size:
        return np.empty((0, values.shape[-1]))
    absent = np.isnan(values)
    positive = np.logical_and.reduceat((absent | (values > 0)).all(axis=-1), begins)
    logs = np.log(np.where(values > 0, values, 1.0))
    means = of_launches(np.where(absent, np.nan, logs), begins)
    means[~positive] = np.nan
    return means


def failures(records: Records) -> pl.DataFrame:
    """Name the cases of which trials failed on a platform, so that a summary hides none.

    Gives platform, the case's columns, n (measured trials), n_failed, stage and reason of the last;
    where none of them was even tried, `absent` names the program that is not installed.
    """
    failed, absent = pl.col("status") == "failed", pl.col("stage") == Stage.ABSENT.value
    return (
        records.trials.group_by("platform", *CASE, maintain_order=True)
        .agg(
            pl.col("stage", "reason").drop_nulls().last(),
            n=(pl.col("status") == "measured").sum().cast(pl.Int64),
            n_failed=failed.sum().cast(pl.Int64),
            absent=pl.when(absent.filter(failed).all()).then(
                pl.col("reason").filter(failed).last()
            ),
        )
        .filter(pl.col("n_failed") > 0)
        .select("platform", *CASE, "n", "n_failed", "stage", "reason", "absent")
    )
