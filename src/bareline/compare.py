"""Summaries and comparisons of records: one row per point, nothing dropped.

Everything here reads run directories only. Columns are described at `summarize_runs` and
`compare_platforms`; docs/method/statistics.md explains the statistics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bareline import stats
from bareline.errors import AnalysisError
from bareline.model import DEFAULT_PRECISION, Layer, Scalar, format_point, parse_point
from bareline.store import Run

#: What identifies a point on every platform.
KEY = ("probe", "params", "ranks", "threads", "nodes", "metric", "point")
_CASE = KEY[:5]
_LAYERS = [layer.value for layer in Layer]

FloatCube = NDArray[np.float64]


@dataclass(frozen=True)
class Records:
    """The records of one or several runs, ready for analysis.

    Attributes
    ----------
    trials
        One row per trial, without samples: run, trial, block, platform, the case's columns,
        layout, status, stage, reason, started, duration_s, clock, caveats.
    values
        One row per sample: trial number, metric, point, value, caveats.
    declarations
        One row per probe and metric: layer, unit, better, detail, headline.
    runs
        The runs, in the order given.
    """

    trials: pl.DataFrame
    values: pl.DataFrame
    declarations: pl.DataFrame
    runs: tuple[Run, ...]

    @property
    def platforms(self) -> list[str]:
        """Names of the platforms, in the order of their runs and of each run's command line."""
        present = set(self.trials.get_column("platform").unique().to_list())
        ordered: dict[str, None] = {}
        for run in self.runs:
            for name in run.header.platforms:
                for shown in (name, _told_apart(name, run)):
                    if shown in present:
                        ordered[shown] = None
        return list(ordered)

    @property
    def baseline(self) -> str:
        """The platform that the first run compares with."""
        return self.runs[0].header.baseline

    @property
    def margin(self) -> float:
        """The equivalence margin that the first run declares."""
        margin = self.runs[0].header.study.get("study", {}).get("margin")
        return float(margin) if margin else stats.DEFAULT_MARGIN

    @cached_property
    def facts(self) -> dict[str, dict[str, Scalar]]:
        """Facts of each platform, by the name it has here."""
        found: dict[str, dict[str, Scalar]] = {}
        for run in self.runs:
            for name, facts in run.facts().items():
                told_apart = _told_apart(name, run)
                found[told_apart if told_apart in self.platforms else name] = facts
        return found

    @cached_property
    def samples(self) -> pl.DataFrame:
        """One row per sample with all columns of its trial and metric, for figures."""
        return self._samples(self.trials)

    def samples_of(self, probe: str) -> pl.DataFrame:
        """Give the rows of `samples` that are of one probe, without joining all others."""
        return self._samples(self.trials.filter(pl.col("probe") == probe))

    def _samples(self, trials: pl.DataFrame) -> pl.DataFrame:
        return (
            self.values.join(trials, on="row", how="inner", suffix="_trial", maintain_order="left")
            .join(self.declarations, on=["probe", "metric"], how="left", maintain_order="left")
            .with_columns(
                pl.concat_list(
                    pl.col("caveats_trial").fill_null([]), pl.col("caveats").fill_null([])
                ).alias("caveats")
            )
            .drop("caveats_trial", "row")
        )

    @cached_property
    def cube(self) -> Cube:
        """All values as one array by platform, point and block."""
        return Cube(self)

    @cached_property
    def summary(self) -> pl.DataFrame:
        """Every point on every platform, as `summarize_runs` gives them."""
        return summarize_runs(self)


def read_runs(runs: Sequence[Run]) -> Records:
    """Read the records of runs into frames.

    A platform name that several runs share is told apart as ``name@run``.

    Raises
    ------
    AnalysisError
        There are no records.
    StoreError
        A run is damaged.
    """
    frames = [run.frame() for run in runs]
    shared = _shared_names(frames)
    trials, values = [], []
    offset = 0
    for number, (run, raw) in enumerate(zip(runs, frames, strict=True)):
        frame = raw.with_row_index("row", offset).with_columns(
            pl.col("row").cast(pl.Int64),
            pl.lit(number).alias("run"),
            pl.col("nodes").fill_null(0),
            _params(raw),
        )
        offset += frame.height
        if shared:
            frame = frame.with_columns(
                pl.when(pl.col("platform").is_in(sorted(shared)))
                .then(pl.col("platform") + _told_apart("", run))
                .otherwise(pl.col("platform"))
                .alias("platform")
            )
        trials.append(frame.drop("samples"))
        values.append(
            frame.filter(pl.col("status") == "measured")
            .select("row", "samples")
            .explode("samples")
            .unnest("samples")
        )
    everything = pl.concat(trials)
    if everything.is_empty():
        raise AnalysisError(
            "there are no records yet",
            where=", ".join(str(run.path) for run in runs),
            hint="`bareline continue RUN` measures",
        )
    return Records(everything, pl.concat(values), _declarations(runs), tuple(runs))


def _params(frame: pl.DataFrame) -> pl.Expr:
    """Give profiled trials the parameter ``profile=true``: they are compared with their like."""
    profiled = frame.filter("profile").get_column("params").unique()
    apart = {text: format_point({**parse_point(text), "profile": True}) for text in profiled}
    return (
        pl.when(pl.col("profile").fill_null(False))
        .then(pl.col("params").replace(apart))
        .otherwise(pl.col("params"))
        .alias("params")
    )


def _told_apart(name: str, run: Run) -> str:
    """Name a platform that several runs share."""
    return f"{name}@{run.path.resolve().name}"


def _shared_names(frames: Sequence[pl.DataFrame]) -> set[str]:
    seen: set[str] = set()
    shared: set[str] = set()
    for frame in frames:
        names = set(frame.get_column("platform").unique().to_list())
        shared |= seen & names
        seen |= names
    return shared


def _declarations(runs: Sequence[Run]) -> pl.DataFrame:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for run in runs:
        for probe, declared in run.header.probes.items():
            for metric, about in declared["metrics"].items():
                rows[probe, metric] = {
                    "probe": probe,
                    "metric": metric,
                    "layer": declared["layer"],
                    "title": declared["title"],
                    "unit": about["unit"],
                    "better": about["better"],
                    "detail": about["detail"],
                    "headline": metric == declared["headline"],
                }
    return pl.DataFrame(list(rows.values()))


class Cube:
    """Values as an array of shape (platforms, points, blocks), NaN where there is none.

    Blocks of different runs never coincide: `runs` gives the run of each block.
    """

    def __init__(self, records: Records) -> None:
        self.platforms = records.platforms
        trials = records.trials.with_columns(
            pl.struct(_CASE).rank("dense").cast(pl.Int64).sub(1).alias("case")
        )
        self.cases = trials.unique("case").sort("case").select("case", *_CASE)
        blocks = trials.select("run", "block").unique().sort("run", "block").with_row_index("at")
        codes = {name: code for code, name in enumerate(self.platforms)}
        slim = trials.join(blocks, on=["run", "block"]).select(
            "row",
            "case",
            pl.col("at").cast(pl.Int64),
            pl.col("platform").replace_strict(codes, return_dtype=pl.Int64).alias("p"),
        )
        flat = records.values.select(
            "row",
            pl.col("metric").cast(pl.Categorical),
            pl.col("point").cast(pl.Categorical),
            "value",
        ).join(slim, on="row", how="inner")
        points = (
            flat.select("case", "metric", "point")
            .unique(maintain_order=True)
            .with_row_index("point_row")
            .with_columns(pl.col("point_row").cast(pl.Int64))
        )
        flat = flat.join(points, on=["case", "metric", "point"], how="inner")
        self.runs = blocks.get_column("run").to_numpy()
        self.values: FloatCube = np.full(
            (len(self.platforms), points.height, blocks.height), np.nan
        )
        where = tuple(flat.get_column(name).to_numpy() for name in ("p", "point_row", "at"))
        self.values[where] = flat.get_column("value").to_numpy()
        self.points = (
            points.join(self.cases, on="case", how="left")
            .with_columns(pl.col("metric").cast(pl.String), pl.col("point").cast(pl.String))
            .join(records.declarations, on=["probe", "metric"], how="left")
            .sort("point_row")
        )

    def of(self, platform: str) -> FloatCube:
        """Give a platform's values, shape (points, blocks)."""
        found: FloatCube = self.values[self.platforms.index(platform)]
        return found


def summarize_runs(records: Records) -> pl.DataFrame:
    """Summarize every point on every platform.

    Returns
    -------
    polars.DataFrame
        platform, the columns of `KEY`, layer, unit, better, detail, headline, n, value (median),
        lo and hi (95 % interval, null below 6 trials), p5, p95, iqr_rel, outliers, n_failed,
        caveats. Points that a platform lacks have no row here; `compare_platforms` shows them.
    """
    cube = records.cube
    precisions = _precisions(records)
    parts = []
    for platform in cube.platforms:
        summary = stats.summarize(cube.of(platform))
        part = cube.points.with_columns(
            pl.lit(platform).alias("platform"),
            pl.Series("n", summary.n),
            pl.Series("value", summary.median),
            pl.Series("lo", summary.lo),
            pl.Series("hi", summary.hi),
            pl.Series("p5", summary.p5),
            pl.Series("p95", summary.p95),
            pl.Series("iqr_rel", summary.iqr_over_median),
            pl.Series("outliers", summary.outliers),
        ).filter(pl.col("n") > 0)
        parts.append(part)
    table = pl.concat(parts).with_columns(pl.col("lo", "hi", "iqr_rel").fill_nan(None))
    half_width = (pl.col("hi") - pl.col("lo")) / 2 / pl.col("value").abs()
    table = (
        table.join(_case_caveats(records), on=["platform", *_CASE], how="left")
        .join(_failures(records), on=["platform", *_CASE], how="left")
        .join(_sample_caveats(records), on=["platform", *KEY], how="left")
        .join(precisions, on="layer", how="left")
        .with_columns(
            pl.col("n_failed").fill_null(0),
            pl.concat_list(
                pl.col("case_caveats").fill_null([]),
                pl.col("sample_caveats").fill_null([]),
                _flag(pl.col("n") < stats.MIN_LAUNCHES, "n-too-small"),
                _flag(
                    pl.col("headline")
                    & (pl.col("precision") > 0)
                    & (half_width > pl.col("precision")),
                    "precision-not-reached",
                ),
            )
            .list.unique(maintain_order=True)
            .alias("caveats"),
        )
    )
    order = {name: number for number, name in enumerate(_LAYERS)}
    columns = {name: number for number, name in enumerate(cube.platforms)}
    return (
        table.with_columns(
            pl.col("layer").replace_strict(order, default=99, return_dtype=pl.Int64).alias("rung"),
            pl.col("platform").replace_strict(columns, return_dtype=pl.Int64).alias("column"),
        )
        .sort("rung", "probe", "case", "point_row", "column")
        .select(
            "platform", *KEY, "layer", "unit", "better", "detail", "headline", "n", "value",
            "lo", "hi", "p5", "p95", "iqr_rel", "outliers", "n_failed", "caveats",
        )
    )  # fmt: skip


def _flag(condition: pl.Expr, code: str) -> pl.Expr:
    return pl.when(condition).then(pl.lit([code])).otherwise(pl.lit([], dtype=pl.List(pl.String)))


def _precisions(records: Records) -> pl.DataFrame:
    """Give the target precision per layer that the first run declares; 0 for none."""
    declared = records.runs[0].header.study.get("study", {}).get("precision")
    return pl.DataFrame(
        {
            "layer": _LAYERS,
            "precision": [
                float(DEFAULT_PRECISION[layer] if declared is None else declared) for layer in Layer
            ],
        }
    )


def _case_caveats(records: Records) -> pl.DataFrame:
    return (
        records.trials.filter(pl.col("status") == "measured")
        .select("platform", *_CASE, "caveats")
        .explode("caveats")
        .drop_nulls("caveats")
        .unique(maintain_order=True)
        .group_by("platform", *_CASE, maintain_order=True)
        .agg(pl.col("caveats").alias("case_caveats"))
    )


def _sample_caveats(records: Records) -> pl.DataFrame:
    return (
        records.values.filter(pl.col("caveats").list.len() > 0)
        .select("row", "metric", "point", "caveats")
        .explode("caveats")
        .join(records.trials.select("row", "platform", *_CASE), on="row")
        .select("platform", *KEY, "caveats")
        .unique(maintain_order=True)
        .group_by("platform", *KEY, maintain_order=True)
        .agg(pl.col("caveats").alias("sample_caveats"))
    )


def _failures(records: Records) -> pl.DataFrame:
    return (
        records.trials.filter(pl.col("status") == "failed")
        .group_by("platform", *_CASE)
        .agg(pl.len().cast(pl.Int64).alias("n_failed"))
    )


def choose_baseline(records: Records, given: str | None = None) -> tuple[str, list[str]]:
    """Give the platform to compare with, the run's own without one given, and all others.

    Raises
    ------
    AnalysisError
        It is none of the platforms, or there is nothing else to compare it with.
    """
    platforms = records.platforms
    baseline = records.baseline if given is None else given
    if baseline not in platforms:
        raise AnalysisError(
            f"no platform '{baseline}' in these records",
            hint=f"--baseline takes one of: {', '.join(platforms)}",
        )
    others = [name for name in platforms if name != baseline]
    if not others:
        raise AnalysisError(
            f"'{baseline}' is the only platform in these records",
            hint="run the study on another one, or give a second run",
        )
    return baseline, others


def compare_platforms(
    records: Records,
    baseline: str | None = None,
    *,
    margin: float | None = None,
    platforms: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Compare every platform with the baseline, point by point.

    Parameters
    ----------
    baseline
        The run's own without it.
    margin
        Relative difference that does not matter; the run's own without it.
    platforms
        What to compare with the baseline; all others without it.

    Returns
    -------
    polars.DataFrame
        platform, baseline, the columns of `KEY`, layer, unit, better, detail, headline, n,
        n_baseline, value, value_baseline, ratio (above 1 is worse than the baseline), lo, hi,
        delta (Cliff; above 0 is worse), p_adjusted, verdict (slower, faster, equivalent,
        inconclusive, missing, failed), caveats. A point that only one side has is there, with
        the verdict that says why.

    Raises
    ------
    AnalysisError
        The baseline is none of the platforms, or there is nothing else to compare it with.
    """
    cube = records.cube
    baseline, others = choose_baseline(records, baseline)
    margin = records.margin if margin is None else margin
    platforms = others if platforms is None else platforms
    table = pl.concat(_compare_one(cube, name, baseline, margin) for name in platforms)
    table = _with_missing(table, records, platforms, baseline)
    return _finish(table, records, baseline)


def _compare_one(cube: Cube, platform: str, baseline: str, margin: float) -> pl.DataFrame:
    values, base = cube.of(platform), cube.of(baseline)
    points = cube.points
    higher = (points.get_column("better") == "higher").to_numpy()
    context = (points.get_column("better") == "none").to_numpy()
    # A ratio above 1 means worse: for rates the baseline stands on top.
    worse = np.where(higher[:, None], base, values)
    than = np.where(higher[:, None], values, base)
    paired = paired_in_blocks(values, base)
    result = stats.paired_ratio(worse, than) if paired else stats.unpaired_ratio(worse, than)
    shift = stats.paired_shift(worse, than) if paired else stats.unpaired_shift(worse, than)
    families = points.select(pl.struct(*_CASE, "metric").rank("dense")).to_series().to_numpy()
    p = np.where(context, np.nan, result.p)
    n = np.minimum(result.n, result.n_baseline)
    if paired:
        adjusted = stats.adjust_paired(p, worse, than, families)
        smallest = stats.smallest_p(n)
        by_holm = n > stats.MAX_FLIPPED_BLOCKS  # joint flips can always reject from n = 6 on
    else:
        adjusted = stats.holm(p, families)
        smallest = stats.smallest_p(result.n, result.n_baseline)
        by_holm = ~np.isnan(smallest)
    hopeless = by_holm & ~stats.can_reject(smallest, stats.family_size(p, families))
    on_ratio = stats.judge(result.ratio, result.lo, result.hi, n, adjusted, margin=margin)
    median = stats.summarize(than).median
    tolerance = margin * np.nan_to_num(np.abs(median))
    on_shift = stats.judge_shift(shift.shift, shift.lo, shift.hi, n, adjusted, tolerance=tolerance)
    verdict = np.where(result.on_logs, on_ratio, on_shift)
    n_base = np.count_nonzero(~np.isnan(base), axis=-1)
    n_own = np.count_nonzero(~np.isnan(values), axis=-1)
    return points.with_columns(
        pl.lit(platform).alias("platform"),
        pl.lit(paired).alias("paired"),
        pl.Series("n", n_own),
        pl.Series("n_baseline", n_base),
        pl.Series("value", stats.summarize(values).median),
        pl.Series("value_baseline", stats.summarize(base).median),
        pl.Series("ratio", np.where(context, np.nan, result.ratio)),
        pl.Series("lo", np.where(context, np.nan, result.lo)),
        pl.Series("hi", np.where(context, np.nan, result.hi)),
        pl.Series("delta", stats.cliffs_delta(worse, than)),
        pl.Series("p_adjusted", adjusted),
        pl.Series(
            "verdict",
            [None if none else str(text) for none, text in zip(context, verdict, strict=True)],
            dtype=pl.String,
        ),
        pl.Series("hopeless", hopeless & (verdict == stats.Verdict.INCONCLUSIVE)),
    ).with_columns(
        pl.col("value", "value_baseline", "ratio", "lo", "hi", "delta", "p_adjusted").fill_nan(None)
    )


def paired_in_blocks(values: FloatCube, base: FloatCube) -> bool:
    """Tell whether two platforms, shape (points, blocks) each, were measured in common blocks.

    One run is enough: what a platform lacks in a block failed or was cut there.
    """
    shared = (~np.isnan(values)).any(axis=0) & (~np.isnan(base)).any(axis=0)
    return bool(shared.any())


def _with_missing(
    table: pl.DataFrame, records: Records, platforms: Sequence[str], baseline: str
) -> pl.DataFrame:
    """Say what is missing or failed, and add the cases that no platform delivered."""
    failed = _failures(records).with_columns(pl.lit(True).alias("has_failed"))
    own = failed.select("platform", *_CASE, pl.col("has_failed").alias("own_failed"))
    base = failed.filter(pl.col("platform") == baseline).select(
        *_CASE, pl.col("has_failed").alias("base_failed")
    )
    silent = (
        records.trials.select(*_CASE)
        .unique(maintain_order=True)
        .join(table.select(*_CASE).unique(), on=list(_CASE), how="anti")
    )
    headlines = records.declarations.filter(pl.col("headline"))
    extra = silent.join(headlines, on="probe", how="left").join(
        pl.DataFrame({"platform": list(platforms)}), how="cross"
    )
    if extra.height:
        extra = extra.with_columns(
            pl.lit("").alias("point"), pl.lit(0).cast(pl.Int64).alias("n"),
            pl.lit(0).cast(pl.Int64).alias("n_baseline"),
        )  # fmt: skip
        table = pl.concat([table, extra], how="diagonal_relaxed")
    empty = (pl.col("n") == 0) | (pl.col("n_baseline") == 0)
    neither = (pl.col("n") == 0) & (pl.col("n_baseline") == 0)
    gone_failed = ((pl.col("n") == 0) & pl.col("own_failed").fill_null(False)) | (
        (pl.col("n_baseline") == 0) & pl.col("base_failed").fill_null(False)
    )
    table = table.join(own, on=["platform", *_CASE], how="left").join(
        base, on=list(_CASE), how="left"
    )
    present_elsewhere_only = neither & ~gone_failed & (pl.col("point") != "")
    return table.filter(~present_elsewhere_only).with_columns(
        pl.when(empty & gone_failed)
        .then(pl.lit("failed"))
        .when(empty)
        .then(pl.lit("missing"))
        .otherwise(pl.col("verdict"))
        .alias("verdict"),
    )


def _finish(table: pl.DataFrame, records: Records, baseline: str) -> pl.DataFrame:
    """Join both sides' caveats, order the rows and choose the columns."""
    summary = records.summary
    own = summary.select("platform", *KEY, pl.col("caveats").alias("own"))
    base = summary.filter(pl.col("platform") == baseline).select(
        *KEY, pl.col("caveats").alias("base")
    )
    failures = _failures(records)
    base_failures = failures.filter(pl.col("platform") == baseline).select(
        *_CASE, pl.col("n_failed").alias("base_n_failed")
    )
    order = {name: number for number, name in enumerate(_LAYERS)}
    columns = {name: number for number, name in enumerate(records.platforms)}
    joined = (
        table.join(own, on=["platform", *KEY], how="left")
        .join(base, on=list(KEY), how="left")
        .join(failures, on=["platform", *_CASE], how="left")
        .join(base_failures, on=list(_CASE), how="left")
    )
    failed_text = pl.col("n_failed").fill_null(0) + pl.col("base_n_failed").fill_null(0)
    return (
        joined.with_columns(
            pl.lit(baseline).alias("baseline"),
            pl.concat_list(
                pl.col("own").fill_null([]),
                pl.col("base").fill_null([]),
                _flag(pl.col("hopeless").fill_null(False), "n-too-small-for-family"),
                _flag(
                    ~pl.col("paired").fill_null(True) & (pl.col("n") > 0), "unpaired"
                ),
                pl.when((failed_text > 0) & (pl.col("n") > 0) & (pl.col("n_baseline") > 0))
                .then(pl.concat_list(pl.format("{} trials failed", failed_text)))
                .otherwise(pl.lit([], dtype=pl.List(pl.String))),
            )
            .list.unique(maintain_order=True)
            .alias("caveats"),
            pl.col("layer").replace_strict(order, default=99, return_dtype=pl.Int64).alias("rung"),
            pl.col("platform").replace_strict(columns, return_dtype=pl.Int64).alias("column"),
        )
        .sort("rung", "probe", *_CASE[1:], "metric", "point_row", "column", nulls_last=True,
              maintain_order=True)
        .select(
            "platform", "baseline", *KEY, "layer", "unit", "better", "detail", "headline",
            "n", "n_baseline", "value", "value_baseline", "ratio", "lo", "hi", "delta",
            "p_adjusted", "verdict", "caveats",
        )
    )  # fmt: skip


def as_rows(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Give a summary or comparison as plain rows for ``--json``.

    The parameters of case and point stand together in `params`.
    """
    rows = []
    for row in table.iter_rows(named=True):
        params: dict[str, Any] = {
            "ranks": row.pop("ranks"),
            "threads": row.pop("threads"),
            **parse_point(row.pop("params")),
            **parse_point(row.pop("point")),
        }
        nodes = row.pop("nodes")
        if nodes:
            params["nodes"] = nodes
        first = [key for key in ("platform", "baseline", "probe") if key in row]
        rows.append({key: row.pop(key) for key in first} | {"params": params} | row)
    return rows
