"""Samples and trials as tidy, typed tables for other programs: one column per variable.

A text with several parameters (``"block_bytes=4096 mode=all"``) becomes a typed column for each
parameter. Times are timestamps, and a run is named after its folder.
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
    """Return samples with a column for each parameter.

    - `samples`: rows of `Records.samples`.

    The table has a row per sample: run, study, platform, control, layer, probe, title, ranks,
    threads, nodes, placement, layout; the parameters of case and point, null if a probe does not
    have the parameter (``param_NAME`` if the table already has a column NAME); metric, value (SI
    base units), unit, better, headline, detail; block, trial, attempt, started (UTC), duration_s
    and the remaining columns of the trial; caveats as a list.
    """
    after = (*_VALUE, *_TRIAL)
    return _tidy(records, samples, ("params", "point"), (*_PLACE,), after)


def tidy_trials(records: Records) -> pl.DataFrame:
    """Return measured and failed trials, with a column for each parameter of their case.

    The table has a row per trial, with the columns of `tidy_samples` that describe a trial.
    `status` is measured or failed; a failed trial has a stage and a reason.
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
    names = _run_names(records)
    run_names = pl.lit(pl.Series(names))
    studies = [str(run.header.study["study"]["name"]) for run in records.runs]
    study_names = pl.lit(pl.Series(studies))
    started = pl.col("started").cast(pl.String)
    controls = sorted(records.controls)
    table = table.with_columns(
        started.str.to_datetime(time_zone="UTC", strict=False),
        run=run_names.gather(pl.col("run"), null_on_oob=True),
        study=study_names.gather(pl.col("run"), null_on_oob=True),
        control=pl.col("platform").is_in(controls),
    )
    keys = pl.col(*texts).cast(pl.String)
    unique = table.select(keys).unique(maintain_order=True)
    spread = _spread(unique)
    table = table.with_columns(keys).join(
        unique.hstack(spread), on=list(texts), how="left", maintain_order="left", nulls_equal=True
    )
    order = [*_FIRST, *before, *spread.columns, *after]
    return table.select([name for name in order if name in table.columns])


def _run_names(records: Records) -> list[str]:
    """Return the names of the runs' folders, or the runs' paths if two names are equal."""
    paths = [run.path for run in records.runs]
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        return [str(path) for path in paths]
    return names


def _spread(texts: pl.DataFrame) -> pl.DataFrame:
    """Return a table with a column for each parameter in the texts, and as many rows as `texts`."""
    rows = []
    for row in texts.iter_rows():
        params: dict[str, Scalar] = {}
        for text in row:
            if text:
                params |= parse_point(text)
        rows.append(params)
    columns = []
    names = set().union(*rows)
    for name in sorted(names):
        title = name
        if name in _OWN:
            title = f"param_{name}"
        values = [row.get(name) for row in rows]
        columns.append(_column(title, values))
    return pl.DataFrame(columns)


def _column(name: str, values: Sequence[Scalar | None]) -> pl.Series:
    """Return a parameter's values as a column of the narrowest type that fits all values."""
    given = [value for value in values if value is not None]
    types = {type(value) for value in given}
    if types <= {int} and all(-(2**63) <= int(value) < 2**63 for value in given):
        return pl.Series(name, values, pl.Int64)
    if types <= {int, float}:
        numbers = [_as_float(value) for value in values]
        return pl.Series(name, numbers, pl.Float64)
    if types == {bool}:
        return pl.Series(name, values, pl.Boolean)
    texts = [_as_text(value) for value in values]
    return pl.Series(name, texts, pl.String)


def _as_float(value: Scalar | None) -> float | None:
    if value is None:
        return None
    return float(value)


def _as_text(value: Scalar | None) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return None
    return str(value)
