"""Every sample of runs as one tidy table in a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.selection import Selection
from bareline.analysis.numbers.tidy import tidy_samples
from bareline.report.content.openmetrics import write_openmetrics
from bareline.vocabulary.errors import StoreError, UsageError
from bareline.vocabulary.files import replacing


def write_samples(records: Records, path: Path, asked: Selection) -> int:
    """Write samples as CSV, JSON lines or Parquet, by the file's ending; give their number.

    Those of controls are among them, marked in the column "control". `asked` says which rows. A
    file that ends with ``.prom`` or ``.openmetrics`` has the medians instead.

    Raises UsageError: the ending names none of these.
    Raises StoreError: the file cannot be written.
    """
    write = _WRITERS.get(path.suffix)
    if write is None:
        raise UsageError(
            f"cannot write '{path.suffix or path.name}' files",
            hint=f"end --out with one of {', '.join(_WRITERS)}",
        )
    try:
        with replacing(path) as made:
            return write(records, made, asked)
    except OSError as error:
        why = f"cannot be written: {error.strerror or error}"
        hint = "make room or choose another --out"
        raise StoreError(why, where=str(path), hint=hint) from error


def _tidy(records: Records, asked: Selection) -> pl.DataFrame:
    return tidy_samples(records, asked.of(records.with_controls.samples, records))


def _write_csv(records: Records, path: Path, asked: Selection) -> int:
    table = _tidy(records, asked)
    table.with_columns(pl.col("caveats").list.join("; ")).write_csv(path)
    return table.height


def _write_jsonl(records: Records, path: Path, asked: Selection) -> int:
    table = _tidy(records, asked)
    table.write_ndjson(path)
    return table.height


def _write_parquet(records: Records, path: Path, asked: Selection) -> int:
    table = _tidy(records, asked)
    table.write_parquet(path)
    return table.height


_WRITERS: dict[str, Callable[[Records, Path, Selection], int]] = {
    ".csv": _write_csv,
    ".jsonl": _write_jsonl,
    ".parquet": _write_parquet,
    ".prom": write_openmetrics,
    ".openmetrics": write_openmetrics,
}
