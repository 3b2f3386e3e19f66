"""A record as a line of ``records.jsonl``: written, and read one by one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

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
