"""Samples and trials as tidy, typed tables for other programs: one column a variable.

A text with several parameters (``"block_bytes=4096 mode=all"``) becomes a column for each
parameter, with a type; times are times, and a run is named by its folder.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from bareline.analysis.numbers.records import Records
from bareline.vocabulary.model import Scalar, parse_point

#: The columns in this order; parameters and coordinates come before the metric.
_FIRST = ("run", "study", "platform", "control", "layer", "probe", "title")
_PLACE = ("ranks", "threads", "nodes", "placement", "layout")
_VALUE = ("metric", "value", "unit", "better", "headline", "detail")
_TRIAL = (
    "block", "trial", "attempt", "started", "duration_s", "timeout_s", "clock", "session", "boot",
    "machine", "foreign_cores", "profile", "status", "stage", "reason", "caveats",
)  # fmt: skip
_OWN = frozenset((*_FIRST, *_PLACE, *_VALUE, *_TRIAL, "params", "point"))


def tidy_samples(records: Records, samples: pl.DataFrame) -> pl.DataFrame:
    """Return samples, as of `Records.samples`, with a column for each parameter.

    Gives a row per sample: run, study, platform, control, layer, probe, title, ranks, threads,
    nodes, placement, layout; the parameters of case and point, null where a probe has none of that
    name (``param_NAME`` where a column of ours has the name); metric, value (SI base units), unit,
    better, headline, detail; block, trial, attempt, started (UTC), duration_s and the remaining
    columns of the trial; caveats as a list.
    """
    return _tidy(records, samples, ("params", "point"), (*_PLACE,), (*_VALUE, *_TRIAL))


def tidy_trials(records: Records) -> pl.DataFrame:
    """Return trials, failed ones among them, with a column for each parameter of their case.

    Gives as `tidy_samples`, a row per trial: status is measured or failed, with stage and reason.
    """
    layers = records.declarations.select("probe", "layer").unique("probe", maintain_order=True)
    trials = records.with_controls.trials.join(layers, on="probe", how="left")
    return _tidy(records, trials, ("params",), _PLACE, _TRIAL)


def _tidy(
    records: Records,
    table: pl.DataFrame,
    texts: Sequence[str],
    before: Sequence[str],
    after: Sequence[str],
) -> pl.DataFrame:
    paths = [run.path for run in records.runs]
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        names = [str(path) for path in paths]
    studies = [str(run.header.study["study"]["name"]) for run in records.runs]
    unclear = {"null_on_oob": True}
    table = table.with_columns(
        pl.lit(pl.Series(names)).gather(pl.col("run"), **unclear).alias("run"),
        pl.lit(pl.Series(studies)).gather(pl.col("run"), **unclear).alias("study"),
        pl.col("platform").is_in(sorted(records.controls)).alias("control"),
        pl.col("started").cast(pl.String).str.to_datetime(time_zone="UTC", strict=False),
    )
    unique = table.select(pl.col(*texts).cast(pl.String)).unique(maintain_order=True)
    spread = _spread(unique)
    keys = pl.col(*texts).cast(pl.String)
    table = table.with_columns(keys).join(
        unique.hstack(spread), on=list(texts), how="left", maintain_order="left", nulls_equal=True
    )
    order = [*_FIRST, *before, *spread.columns, *after]
    return table.select([name for name in order if name in table.columns])


def _spread(texts: pl.DataFrame) -> pl.DataFrame:
    rows = [
        {key: value for text in row if text for key, value in parse_point(text).items()}
        for row in texts.iter_rows()
    ]
    return pl.DataFrame(
        [
            _column(f"param_{name}" if name in _OWN else name, [row.get(name) for row in rows])
            for name in sorted(set().union(*rows))
        ]
    )


def _column(name: str, values: Sequence[Scalar | None]) -> pl.Series:
    known = [value for value in values if value is not None]
    types = {type(value) for value in known}
    if types <= {int} and all(-(2**63) <= int(value) < 2**63 for value in known):
        return pl.Series(name, values, pl.Int64)
    if types <= {int, float}:
        return pl.Series(name, [None if v is None else float(v) for v in values], pl.Float64)
    if types == {bool}:
        return pl.Series(name, values, pl.Boolean)
    texts = (str(v).lower() if isinstance(v, bool) else v for v in values)
    return pl.Series(name, [None if v is None else str(v) for v in texts], pl.String)
