"""Every sample of runs as one tidy table in a file."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from bareline.analysis.records import Records
from bareline.analysis.selection import Selection
from bareline.vocabulary.errors import StoreError, UsageError


def write_samples(records: Records, path: Path, asked: Selection) -> int:
    """Write samples as CSV, JSON lines or Parquet, by the file's ending; give their number.

    Those of controls are among them, marked in the column "control". `asked` says which rows.

    Raises
    ------
    UsageError
        The ending names none of these.
    StoreError
        The file cannot be written.
    """
    samples = asked.of(records.with_controls.samples, records)
    table = samples.with_columns(
        pl.col("platform").is_in(sorted(records.controls)).alias("control")
    )
    flat = table.with_columns(pl.col("caveats").list.join("; "))
    try:
        if path.suffix == ".csv":
            flat.write_csv(path)
        elif path.suffix == ".jsonl":
            table.write_ndjson(path)
        elif path.suffix == ".parquet":
            table.write_parquet(path)
        else:
            raise UsageError(
                f"cannot write '{path.suffix or path.name}' files",
                hint="end --out with .csv, .jsonl or .parquet",
            )
    except OSError as error:
        raise StoreError(f"cannot be written: {error}", where=str(path)) from error
    return table.height
