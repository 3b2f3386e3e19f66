"""Profiled trials: where a run keeps their profiles, and that they are told apart."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from bareline.analysis.records import Records
from bareline.profile.trial import PROFILE_FILE
from bareline.vocabulary.model import parse_point
from bareline.vocabulary.place import CASE


def kept_profiles(records: Records, platform: str, case: tuple[object, ...]) -> list[Path]:
    """Give the profiles of the measured trials of a case.

    Of a run directory that was thinned out for mailing, what is left counts.

    Parameters
    ----------
    case
        As of `Place.case`; its parameters say ``profile=true``.
    """
    wanted = [pl.col(name) == value for name, value in zip(CASE, case, strict=True)]
    trials = records.trials.filter(
        *wanted,
        pl.col("platform") == platform,
        pl.col("profile").fill_null(False),
        pl.col("status") == "measured",
    )
    paths = [
        records.runs[run].raw_file(trial, PROFILE_FILE, attempt)
        for run, trial, attempt in trials.select("run", "trial", "attempt").iter_rows()
    ]
    return sorted(path for path in paths if path.exists())


def unprofiled(rows: pl.DataFrame) -> pl.DataFrame:
    """Leave out what was measured under the profiler, unless all of a probe was."""
    texts = rows.get_column("params").unique().to_list()
    profiled = [text for text in texts if parse_point(text).get("profile") is True]
    if not profiled:
        return rows
    under = pl.col("params").is_in(profiled)
    return rows.filter(~under | under.all().over("probe"))
