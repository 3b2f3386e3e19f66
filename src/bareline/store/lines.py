"""Records as lines of ``records.jsonl``: how to write and to read a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping
from dataclasses import fields
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from bareline.store.cases import Count, Number, PinningText, case_keys, case_of
from bareline.store.run_files import FIRST, MOST_SESSIONS
from bareline.vocabulary.model import (
    Clock,
    Failed,
    Layout,
    Measured,
    Placement,
    Record,
    Sample,
    Scalar,
    Stage,
    Trial,
    format_point,
    parse_point,
)

#: Returns the metrics of a probe whose samples are read; all other samples are only checked.
Wanted = Callable[[str], Container[str]]

#: Cached points: all trials of a case have the same points, often tens of thousands.
_POINTS = 1 << 16


def _failure_keys(outcome: Measured | Failed) -> dict[str, Any]:
    if not isinstance(outcome, Failed):
        return {"stage": None, "reason": None}
    keys = {"stage": outcome.stage.value, "reason": outcome.reason}
    if outcome.code:
        keys["code"] = outcome.code
    return keys


def _sample_keys(sample: Sample) -> dict[str, Any]:
    keys: dict[str, Any] = {
        "metric": sample.metric,
        "point": format_point(sample.point),
        "value": float(sample.value),
    }
    if sample.caveats:
        keys["caveats"] = list(sample.caveats)
    return keys


def to_line(record: Record) -> str:
    """Return the line of a record, with its newline."""
    trial = record.trial
    layout = str(trial.layout) if trial.layout else None
    content: dict[str, Any] = {
        "trial": trial.index,
        "attempt": record.attempt,
        "block": trial.block,
        "platform": trial.platform,
        **case_keys(trial.case),
        "layout": layout,
        "timeout_s": trial.timeout_s,
        "started": record.started,
        "duration_s": record.duration_s,
        "clock": record.clock,
        "session": record.session,
        "boot": record.boot,
        "foreign_cores": record.foreign_cores,
    }
    if record.launch:
        content["launch"] = record.launch
    content["status"] = record.status
    content |= _failure_keys(record.outcome)
    content["caveats"] = list(record.caveats)
    samples = () if isinstance(record.outcome, Failed) else record.outcome.samples
    content["samples"] = [_sample_keys(sample) for sample in samples]
    return json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"


@with_config(ConfigDict(defer_build=True, strict=True))
class _Sample(TypedDict):  # a run may have ten million: a model of each takes twice the time
    metric: str
    point: str
    value: Annotated[float, Field(allow_inf_nan=False)]
    caveats: NotRequired[tuple[str, ...]]


class _Line(BaseModel):
    model_config = ConfigDict(defer_build=True, strict=True, frozen=True)

    trial: Number
    attempt: Count
    block: Number
    platform: str
    probe: str
    params: str
    ranks: Number  # 0: an imported output does not say
    threads: Count
    nodes: Count | None
    placement: Placement
    profile: bool = False  # runs of before there were profiles lack it
    pinning: PinningText = ""
    layout: str | None
    timeout_s: float
    started: str
    duration_s: float
    clock: Clock
    # Runs of early versions have no sessions.
    session: Annotated[int, Field(ge=1, le=MOST_SESSIONS)] = FIRST
    boot: Count | None = None  # runs of 0.1.0's beginnings lack both
    foreign_cores: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    launch: str = ""
    status: Literal["measured", "failed"]
    stage: Stage | None
    reason: str | None
    code: str | None = None  # only failures by an error that has one
    caveats: tuple[str, ...]
    samples: tuple[_Sample, ...]


#: Fields of a record with the same key in its line.
_OF_RECORD = tuple(field.name for field in fields(Record) if field.name not in ("trial", "outcome"))


def from_line(
    text: bytes,
    probes: Mapping[str, Any],
    platforms: Mapping[str, Any],
    wanted: Wanted | None = None,
) -> Record:
    """Return the record in a line of ``records.jsonl``.

    - `probes`, `platforms`: the declarations in the run's header.
    - `wanted`: the metrics whose samples are read; by default all metrics.

    Raises ValueError: the line is damaged, or is not of the run; the message names the key.
    """
    line = _Line.model_validate_json(text)
    layout = None if line.layout is None else Layout.parse(line.layout)
    trial = Trial(
        index=line.trial,
        block=line.block,
        platform=line.platform,
        case=case_of(line, probes, platforms),
        layout=layout,
        timeout_s=line.timeout_s,
    )
    outcome = _outcome(line, probes[line.probe]["metrics"], wanted)
    return Record(trial=trial, outcome=outcome, **{key: getattr(line, key) for key in _OF_RECORD})


#: The begin of a line's samples, which are its last key. In a text, the quotes would be escaped.
_SAMPLES = b'"samples": ['


def head_from_line(text: bytes, probes: Mapping[str, Any], platforms: Mapping[str, Any]) -> Record:
    """Return the record in a line, without its samples.

    Raises ValueError: the line is damaged before the samples, or is incomplete.
    """
    begin = text.find(_SAMPLES)
    if begin < 0 or not text.endswith(b"]}\n"):
        return from_line(text, probes, platforms)
    return from_line(text[:begin] + _SAMPLES + b"]}\n", probes, platforms)


def _outcome(line: _Line, metrics: Mapping[str, Any], wanted: Wanted | None) -> Measured | Failed:
    if line.status == "failed":
        if line.stage is None or line.reason is None:
            raise ValueError("a failed trial lacks its stage or its reason")
        return Failed(line.stage, line.reason, line.code)
    for sample in line.samples:
        if sample["metric"] not in metrics:
            raise ValueError(f"the probe {line.probe} has no metric '{sample['metric']}'")
    points = [_point(sample["point"]) for sample in line.samples]
    wanted_metrics = metrics if wanted is None else wanted(line.probe)
    return Measured(
        tuple(
            Sample(sample["metric"], sample["value"], point, sample.get("caveats", ()))
            for sample, point in zip(line.samples, points, strict=True)
            if sample["metric"] in wanted_metrics
        )
    )


@lru_cache(maxsize=_POINTS)
def _point(text: str) -> Mapping[str, Scalar]:
    return MappingProxyType(parse_point(text))
