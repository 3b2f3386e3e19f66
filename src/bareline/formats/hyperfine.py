"""The reader of hyperfine with ``--export-json``: every run of every command.

Each time is one launch of the command, and thus one trial. The processor times of hyperfine are
means over all runs. They belong to no single launch and are left out.

References
----------
D. Peter, "hyperfine", https://github.com/sharkdp/hyperfine.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import repeat
from statistics import fmean, median
from typing import Annotated, Any

from pydantic import Field

from bareline.formats.document import (
    Amount,
    Count,
    JsonModel,
    document_starts,
    find_object,
    read_object,
)
from bareline.formats.foreign import plain_key, scalar
from bareline.formats.importer import Importer, holding
from bareline.formats.reading import Reading, as_detail, outcome_of, unread
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Failed, Layer, Metric, Sample, Scalar, Stage

_SNIFF = re.compile(r'"results"\s*:\s*\[\s*\{\s*"command"\s*:')
_TIME = Metric("s", "lower")


class _Result(JsonModel):
    """The result of one command with all its runs.

    - `run`: number of the run, if the text was split into launches.
    """

    command: str
    mean: Amount
    median: Amount
    min: Amount
    max: Amount
    times: Annotated[list[Amount], Field(min_length=1)]
    exit_codes: list[int | None] | None = None
    memory_usage_byte: list[Count] | None = None
    parameters: dict[str, str] = Field(default_factory=dict)
    run: Count | None = None


class _Report(JsonModel):
    results: Annotated[list[dict[str, Any]], Field(min_length=1)]


def split(text: str) -> Sequence[str]:
    """Return every launch as a separate report with its number; a damaged report stays whole."""
    try:
        report = read_object(_Report, find_object(text))
        results = [_checked(content) for content in report.results]
    except ParseError:
        return (text,)
    if any(result.run is not None for result in results):
        return (text,)
    launches = []
    for content, result in zip(report.results, results, strict=True):
        lists = result.model_dump(include={"times", "exit_codes", "memory_usage_byte"})
        for run in range(len(result.times)):
            of_run = {name: [values[run]] for name, values in lists.items() if values}
            launches.append(json.dumps({"results": [{**content, **of_run, "run": run}]}, indent=1))
    return launches


def read(text: str) -> Iterable[Reading]:
    """Return the trials of every run of every command."""
    try:
        report = read_object(_Report, find_object(text))
        results = [_checked(content) for content in report.results]
    except ParseError as error:
        yield _reading({}, unread(error))
        return
    for result in results:
        parameters = {plain_key(key): scalar(value) for key, value in result.parameters.items()}
        params = {**parameters, "command": result.command}
        codes = repeat(0) if result.exit_codes is None else result.exit_codes
        memories = result.memory_usage_byte or repeat(None)
        for time, code, memory in zip(result.times, codes, memories, strict=False):
            yield _launch(params, time, code, memory)


def _checked(content: Mapping[str, Any]) -> _Result:
    result = read_object(_Result, content)
    for name in ("exit_codes", "memory_usage_byte"):
        listed = getattr(result, name)
        if listed and len(listed) != len(result.times):
            raise ParseError(
                f"'{result.command}': '{name}' has {len(listed)} values, but 'times' has "
                f"{len(result.times)}"
            )
    if result.run is None:
        times = result.times
        computed = (fmean(times), median(times), min(times), max(times))
        summary = (result.mean, result.median, result.min, result.max)
        if not all(map(partial(math.isclose, rel_tol=1e-9, abs_tol=1e-15), computed, summary)):
            raise ParseError(f"'{result.command}': mean, median, min and max contradict the times")
    return result


def _launch(
    params: Mapping[str, Scalar], time: float, code: int | None, memory: int | None
) -> Reading:
    if code is None:
        return _reading(params, Failed(Stage.SIGNAL, "ended by a signal"))
    if code:
        return _reading(params, Failed(Stage.EXIT, f"exit code {code}"))
    if not time:
        reason = "no time is left after hyperfine took off that of its shell: use its -N"
        return _reading(params, Failed(Stage.PARSE, reason))
    samples = [Sample("time", time)]
    metrics = {"time": _TIME}
    if memory:
        samples.append(Sample("memory", float(memory)))
        metrics["memory"] = as_detail(Metric("B", "lower"))
    return _reading(params, outcome_of(metrics, lambda: samples), metrics)


def _reading(
    params: Mapping[str, Scalar], outcome: Any, metrics: Mapping[str, Metric] | None = None
) -> Reading:
    return Reading(
        probe="hyperfine.command",
        title="the time of a command (hyperfine)",
        layer=Layer.APP,
        metrics=metrics or {"time": _TIME},
        params=params,
        outcome=outcome,
    )


IMPORTER = Importer(
    name="hyperfine",
    title="hyperfine --export-json",
    sniff=holding(_SNIFF),
    launches=split,
    starts=document_starts(_SNIFF),
    parse=read,
)
