"""A record as a line of ``records.jsonl``: written, read one by one, read all at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from bareline.vocabulary.model import (
    Case,
    Clock,
    Failed,
    Layout,
    Measured,
    Placement,
    Record,
    Sample,
    Stage,
    Trial,
    format_point,
    parse_point,
)

if TYPE_CHECKING:
    import polars as pl

#: Columns of a line that may be null.
_OPTIONAL = ("nodes", "profile", "layout", "stage", "reason", "boot", "foreign_cores")


def to_line(record: Record) -> str:
    """Give the line of a record, with its newline."""
    trial, case, outcome = record.trial, record.trial.case, record.outcome
    failure = outcome if isinstance(outcome, Failed) else None
    samples = () if isinstance(outcome, Failed) else outcome.samples
    content = {
        "trial": trial.index,
        "attempt": record.attempt,
        "block": trial.block,
        "platform": trial.platform,
        "probe": case.probe,
        "params": case.params,
        "ranks": case.ranks,
        "threads": case.threads,
        "nodes": case.nodes,
        "placement": case.placement.value,
        "profile": case.profile,
        "layout": str(trial.layout) if trial.layout else None,
        "timeout_s": trial.timeout_s,
        "started": record.started,
        "duration_s": record.duration_s,
        "clock": record.clock,
        "boot": record.boot,
        "foreign_cores": record.foreign_cores,
        "status": record.status,
        "stage": failure.stage.value if failure else None,
        "reason": failure.reason if failure else None,
        "caveats": list(record.caveats),
        "samples": [
            {
                "metric": sample.metric,
                "point": format_point(sample.point),
                "value": float(sample.value),
                **({"caveats": list(sample.caveats)} if sample.caveats else {}),
            }
            for sample in samples
        ],
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"


class _Sample(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)

    metric: str
    point: str
    value: Annotated[float, Field(allow_inf_nan=False)]
    caveats: tuple[str, ...] = ()


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)

    trial: Annotated[int, Field(ge=0)]
    attempt: Annotated[int, Field(ge=1)]
    block: Annotated[int, Field(ge=0)]
    platform: str
    probe: str
    params: str
    ranks: Annotated[int, Field(ge=0)]  # 0: an imported output does not say
    threads: Annotated[int, Field(ge=1)]
    nodes: Annotated[int, Field(ge=1)] | None
    placement: Placement
    profile: bool = False  # runs of before there were profiles lack it
    layout: str | None
    timeout_s: float
    started: str
    duration_s: float
    clock: Clock
    boot: Annotated[int, Field(ge=1)] | None = None  # runs of 0.1.0's beginnings lack both
    foreign_cores: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    status: Literal["measured", "failed"]
    stage: Stage | None
    reason: str | None
    caveats: tuple[str, ...]
    samples: tuple[_Sample, ...]


def from_line(text: bytes, probes: Mapping[str, Any], platforms: Mapping[str, Any]) -> Record:
    """Read a line.

    Parameters
    ----------
    text
        The line.
    probes, platforms
        What the run's header declares, by name.

    Raises
    ------
    ValueError
        The line is damaged, or speaks of what the run does not hold; the message names the key.
    """
    line = _Line.model_validate_json(text)
    if line.platform not in platforms:
        raise ValueError(f"the run has no platform '{line.platform}'")
    if line.probe not in probes:
        raise ValueError(f"the run has no probe '{line.probe}'")
    parse_point(line.params)
    return Record(
        trial=_trial(line),
        outcome=_outcome(line, probes[line.probe]["metrics"]),
        started=line.started,
        duration_s=line.duration_s,
        caveats=line.caveats,
        clock=line.clock,
        attempt=line.attempt,
        boot=line.boot,
        foreign_cores=line.foreign_cores,
    )


def _trial(line: _Line) -> Trial:
    case = Case(
        probe=line.probe,
        params=line.params,
        ranks=line.ranks,
        threads=line.threads,
        nodes=line.nodes,
        placement=line.placement,
        profile=line.profile,
    )
    return Trial(
        index=line.trial,
        block=line.block,
        platform=line.platform,
        case=case,
        layout=Layout.parse(line.layout) if line.layout else None,
        timeout_s=line.timeout_s,
    )


def _outcome(line: _Line, metrics: Mapping[str, Any]) -> Measured | Failed:
    if line.status == "failed":
        if line.stage is None or line.reason is None:
            raise ValueError("a failed trial has neither stage nor reason")
        return Failed(line.stage, line.reason)
    for sample in line.samples:
        if sample.metric not in metrics:
            raise ValueError(f"{line.probe} has no metric '{sample.metric}'")
    return Measured(
        tuple(
            Sample(sample.metric, sample.value, parse_point(sample.point), sample.caveats)
            for sample in line.samples
        )
    )


def read_frame(
    lines: bytes, probes: Mapping[str, Any], platforms: Mapping[str, Any]
) -> pl.DataFrame:
    """Read whole lines into a frame, samples nested: fast for millions of samples.

    Parameters
    ----------
    lines
        The lines.
    probes, platforms
        What the run's header declares, by name.

    Raises
    ------
    ValueError
        A line is damaged; `from_line` says which key of it.
    """
    import polars as pl

    schema = _frame_schema()
    if not lines:
        return pl.DataFrame(schema=schema)
    try:
        frame = pl.read_ndjson(lines, schema=schema)
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error).splitlines()[0]) from error
    _check(frame, probes, platforms)
    return frame


def _check(frame: pl.DataFrame, probes: Mapping[str, Any], platforms: Mapping[str, Any]) -> None:
    """Hold columns against what `from_line` asks of each line."""
    import polars as pl

    empty = [name for name in frame.columns if name not in _OPTIONAL and frame[name].has_nulls()]
    if empty:
        raise ValueError(f"key '{empty[0]}' is missing")
    for name, known in (
        ("platform", set(platforms)),
        ("probe", set(probes)),
        ("status", {"measured", "failed"}),
        ("clock", set(get_args(Clock))),
    ):
        strange = set(frame[name].unique()) - known
        if strange:
            raise ValueError(f"key '{name}' is '{min(strange)}'")
    failed = frame.filter(pl.col("status") == "failed")
    if failed["stage"].has_nulls() or failed["reason"].has_nulls():
        raise ValueError("a failed trial has neither stage nor reason")
    samples = (
        frame.filter(pl.col("status") == "measured", pl.col("samples").list.len() > 0)
        .select("probe", "samples")
        .explode("samples")
        .unnest("samples")
    )
    if any(samples[name].has_nulls() for name in ("metric", "point", "value")):
        raise ValueError("a sample lacks its metric, point or value")
    if not samples["value"].is_finite().all():
        raise ValueError("a sample's value is not finite")
    for probe, metric in samples.select("probe", "metric").unique().iter_rows():
        if metric not in probes[probe]["metrics"]:
            raise ValueError(f"{probe} has no metric '{metric}'")
    for text in {*frame["params"].unique(), *samples["point"].unique()}:
        parse_point(text)


def _frame_schema() -> dict[str, Any]:
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
        "layout": pl.String,
        "started": pl.String,
        "duration_s": pl.Float64,
        "clock": pl.String,
        "timeout_s": pl.Float64,
        "boot": pl.Int64,
        "foreign_cores": pl.Float64,
        "status": pl.String,
        "stage": pl.String,
        "reason": pl.String,
        "caveats": pl.List(pl.String),
        "samples": pl.List(sample),
    }
