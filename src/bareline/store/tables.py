"""All records of a run as two tables: a row per trial, and a row per sample.

A run may contain ten million samples in gigabytes of text. The file is read in pieces. Of each
piece only compact columns are kept: metric and point are categorical, because they have few
different values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, get_args

from bareline.store.cases import MOST
from bareline.store.files import MOST_LINE_BYTES
from bareline.vocabulary.model import Clock, Layout, parse_point
from bareline.vocabulary.pinning import Pinning

if TYPE_CHECKING:
    import polars as pl

#: Columns of a line that may be null.
_OPTIONAL = (
    "nodes", "profile", "pinning", "layout", "stage", "reason", "session", "boot", "foreign_cores",
)  # fmt: skip
#: Least values of the columns that contain counts.
_LEAST = {
    **dict.fromkeys(("trial", "block", "ranks"), 0),
    **dict.fromkeys(("attempt", "threads", "nodes", "session", "boot"), 1),
}
#: Size of a piece of text; as a nested frame, it takes about ten times as much memory.
_PIECE_BYTES = 4 << 20


class Tables(NamedTuple):
    """The measurements of a run.

    - `trials`: one row per trial, in the order of the file. If a trial was repeated, only its
      latest attempt has a row. The columns are "row" and the keys of a line except its samples.
    - `samples`: one row per sample. The columns are the "row" of its trial, metric and point
      (categorical), value, and caveats (null if it has none).
    """

    trials: pl.DataFrame
    samples: pl.DataFrame


def read_tables(file: BinaryIO, probes: Mapping[str, Any], platforms: Mapping[str, Any]) -> Tables:
    """Return the complete lines of ``records.jsonl`` as tables.

    Raises ValueError: a line is damaged; `bareline.store.lines.from_line` names the key.
    """
    import polars as pl

    schema = _schema()
    points: set[str] = set()
    trials: list[pl.DataFrame] = []
    samples: list[pl.DataFrame] = []
    row = 0
    for piece in (b"", *_pieces(file)):  # an empty run has its columns too
        try:
            frame = pl.read_ndjson(piece, schema=schema) if piece else pl.DataFrame(schema=schema)
        except pl.exceptions.PolarsError as error:
            raise ValueError(str(error).splitlines()[0]) from error
        frame = frame.with_row_index("row", row).cast({"row": pl.Int64})
        row += frame.height
        _check_trials(frame, probes, platforms)
        measured = (
            frame.filter(pl.col("status") == "measured", pl.col("samples").list.len() > 0)
            .select("row", "probe", "samples")
            .explode("samples")
            .unnest("samples")
        )
        _check_samples(measured, probes)
        for text in {*frame["params"].unique(), *measured["point"].unique()} - points:
            parse_point(text)
            points.add(text)
        trials.append(frame.drop("samples"))
        names = pl.col("metric", "point").cast(pl.Categorical)
        samples.append(measured.drop("probe").with_columns(names))
    whole = pl.concat(trials).unique("trial", keep="last", maintain_order=True)
    values = pl.concat(samples)
    if whole.height < row:
        values = values.join(whole.select("row"), on="row", how="semi")
    return Tables(whole, values)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    rest = b""
    while block := file.read(_PIECE_BYTES):
        whole, newline, end = block.rpartition(b"\n")
        if newline:
            yield rest + whole + newline
            rest = end
        else:
            rest += block
        if len(rest) > MOST_LINE_BYTES:
            raise ValueError(f"one of its lines is longer than {MOST_LINE_BYTES >> 20} MiB")


def _check_trials(
    frame: pl.DataFrame, probes: Mapping[str, Any], platforms: Mapping[str, Any]
) -> None:
    """Check the columns with the rules that `from_line` applies to a line."""
    import polars as pl

    for name, least in _LEAST.items():
        if not frame[name].drop_nulls().is_between(least, MOST).all():
            raise ValueError(f"the value of the key '{name}' is out of range")
    empty = [n for n in frame.columns if n not in _OPTIONAL and frame[n].has_nulls()]
    if empty:
        raise ValueError(f"key '{empty[0]}' is missing")
    for name, allowed in (
        ("platform", set(platforms)),
        ("probe", set(probes)),
        ("status", {"measured", "failed"}),
        ("clock", set(get_args(Clock))),
    ):
        strange = set(frame[name].unique()) - allowed
        if strange:
            raise ValueError(
                f"the value of the key '{name}' is '{min(strange)}', which is not possible"
            )
    failed = frame.filter(pl.col("status") == "failed")
    if failed["stage"].has_nulls() or failed["reason"].has_nulls():
        raise ValueError("a failed trial lacks its stage or its reason")
    for text in frame["layout"].drop_nulls().unique():
        Layout.parse(text)
    for text in frame["pinning"].drop_nulls().unique():
        Pinning.parse(text)


def _check_samples(samples: pl.DataFrame, probes: Mapping[str, Any]) -> None:
    if any(samples[name].has_nulls() for name in ("metric", "point", "value")):
        raise ValueError("a sample lacks its metric, point or value")
    if not samples["value"].is_finite().all():
        raise ValueError("the value of a sample is not finite")
    for probe, metric in samples.select("probe", "metric").unique().iter_rows():
        if metric not in probes[probe]["metrics"]:
            raise ValueError(f"the probe {probe} has no metric '{metric}'")


def _schema() -> dict[str, Any]:
    import polars as pl

    sample = pl.Struct(
        {
            "metric": pl.String,
            "point": pl.String,
            "value": pl.Float64,
            "caveats": pl.List(pl.String),
        }
    )
    return {
        "trial": pl.Int64,
        "attempt": pl.Int64,
        "block": pl.Int64,
        "platform": pl.String,
        "probe": pl.String,
        "params": pl.String,
        "ranks": pl.Int64,
        "threads": pl.Int64,
        "nodes": pl.Int64,
        "placement": pl.String,
        "profile": pl.Boolean,
        "pinning": pl.String,
        "layout": pl.String,
        "started": pl.String,
        "duration_s": pl.Float64,
        "clock": pl.String,
        "timeout_s": pl.Float64,
        "session": pl.Int64,
        "boot": pl.Int64,
        "foreign_cores": pl.Float64,
        "status": pl.String,
        "stage": pl.String,
        "reason": pl.String,
        "caveats": pl.List(pl.String),
        "samples": pl.List(sample),
    }
