"""Profiled trials: where a run keeps their profiles, and that they are told apart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from bareline.analysis.numbers.records import Records
from bareline.profile.files import PROFILE_FILE
from bareline.vocabulary.model import parse_point
from bareline.vocabulary.place import CASE

#: A launch's run and block: what pairs it with that of another platform.
LaunchKey = tuple[int, int]


def kept_profiles(
    records: Records, platform: str, case: tuple[object, ...]
) -> Mapping[LaunchKey, Path]:
    """Give the profiles of the measured launches of a case, whose parameters say ``profile=true``.

    Of a run directory that was thinned out for mailing, what is left counts.
    """
    trials = _launches(records, platform, case).filter(pl.col("profile").fill_null(False))
    found = {
        (run, block): records.runs[run].raw_file(trial, PROFILE_FILE, attempt)
        for run, block, trial, attempt in trials.select(
            "run", "block", "trial", "attempt"
        ).iter_rows()
    }
    return {key: path for key, path in found.items() if path.exists()}


def launch_values(
    records: Records, platform: str, case: tuple[object, ...], metric: str = "time"
) -> Mapping[LaunchKey, float]:
    """Give what each launch of a case says of itself, such as its time by the program's clock."""
    rows = _launches(records, platform, case).join(records.values, on="row")
    rows = rows.filter(pl.col("metric").cast(pl.String) == metric)
    return {(run, block): v for run, block, v in rows.select("run", "block", "value").iter_rows()}


def _launches(records: Records, platform: str, case: tuple[object, ...]) -> pl.DataFrame:
    wanted = [pl.col(name) == value for name, value in zip(CASE, case, strict=True)]
    measured = (pl.col("platform") == platform) & (pl.col("status") == "measured")
    return records.trials.filter(*wanted, measured).sort("run", "block")


def unprofiled(rows: pl.DataFrame) -> pl.DataFrame:
    """Leave out what was measured under the profiler, unless all of a probe was."""
    texts = rows.get_column("params").unique().to_list()
    profiled = [text for text in texts if parse_point(text).get("profile") is True]
    if not profiled:
        return rows
    under = pl.col("params").is_in(profiled)
    return rows.filter(~under | under.all().over("probe"))
