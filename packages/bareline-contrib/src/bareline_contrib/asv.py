"""The importer of airspeed velocity (asv): results of a commit, a machine and an environment.

Commit, machine and environment together are the platform, because results of two commits are not
repetitions of each other.

Every benchmark with a set of parameters is a trial. asv measures it in several processes but only
stores the median, so a file has one trial for each, independent of the number of samples.

References
----------
M. Droettboom, P. Virtanen and others, "airspeed velocity", https://asv.readthedocs.io.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import product
from typing import Annotated, Any

from pydantic import Field

from bareline.formats.document import JsonModel, document_starts, find_object, read_object
from bareline.formats.foreign import plain_name, scalar
from bareline.formats.importer import Commit, Importer, holding
from bareline.formats.reading import UNTOLD, Reading, outcome_of
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Failed, Layer, Measured, Metric, Sample, Scalar, Stage

_SNIFF = re.compile(r'"result_columns"\s*:\s*\[\s*"result"')
#: The metric of a benchmark, by the first word of its function's name, as in asv.
_KINDS: Mapping[str, tuple[str, Metric]] = {
    "time": ("time", Metric("s", "lower")),
    "timeraw": ("time", Metric("s", "lower")),
    "mem": ("memory", Metric("B", "lower")),
    "peakmem": ("memory", Metric("B", "lower")),
    # asv calls more of a tracked value worse.
    "track": ("value", Metric("1", "lower")),
}


class _Report(JsonModel):
    version: int
    commit_hash: str
    date: int | None = None
    env_name: str
    params: dict[str, str]
    result_columns: list[str]
    results: Annotated[dict[str, list[Any]], Field(min_length=1)]


class _Columns(JsonModel):
    """The values of a benchmark by column name; a list has a value per set of parameters."""

    result: list[Any] | None = None
    params: list[list[str]] = Field(default_factory=list)
    started_at: int | None = None
    stats_ci_99_a: list[Any] | None = None
    stats_ci_99_b: list[Any] | None = None
    stats_q_25: list[Any] | None = None
    stats_q_75: list[Any] | None = None


def split(text: str) -> Sequence[str]:
    """Return every benchmark as a separate file; a damaged file stays whole."""
    try:
        content = find_object(text)
        report = read_object(_Report, content)
    except ParseError:
        return (text,)
    if len(report.results) == 1:
        return (text,)
    return [
        json.dumps({**content, "results": {name: values}}, indent=1)
        for name, values in report.results.items()
    ]


def read(text: str) -> Iterable[Reading]:
    """Return the trials of every benchmark with every set of parameters."""
    try:
        report = read_object(_Report, find_object(text))
        if report.version != 2:
            raise ParseError(f"version {report.version} of asv's results; 2 is read")
    except ParseError as error:
        yield _reading("unknown", {}, Failed(Stage.PARSE, str(error)))
        return
    for name, values in report.results.items():
        yield from _benchmark(name, values, report)


def _benchmark(name: str, values: Sequence[Any], report: _Report) -> Iterable[Reading]:
    named = dict(zip(report.result_columns, values, strict=False))
    try:
        columns = read_object(_Columns, {key: one for key, one in named.items() if one is not None})
        sets = list(product(*columns.params))
        results = columns.result or [None] * len(sets)
        if len(results) != len(sets) or len(values) > len(report.result_columns):
            raise ParseError("as many results as sets of parameters were expected")
    except ParseError as error:
        yield _reading(name, {}, Failed(Stage.PARSE, str(error)), report)
        return
    for at, (chosen, value) in enumerate(zip(sets, results, strict=True)):
        params = {f"param{number}": _param(text) for number, text in enumerate(chosen, 1)}
        yield _reading(name, params, _outcome(name, columns, at, value), report)


def _param(text: str) -> Scalar:
    """Return the value of a parameter, which asv writes in Python's syntax."""
    quoted = re.fullmatch(r"(['\"])(.*)\1", text, re.DOTALL)
    return quoted[2] if quoted else scalar(text)


def _outcome(name: str, columns: _Columns, at: int, given: Any) -> Measured | Failed:
    if given is None:
        return Failed(Stage.EXIT, "asv has no result: the benchmark failed or was skipped")
    if isinstance(given, float) and math.isnan(given):
        return Failed(Stage.ABSENT, "asv skipped this set of parameters (NaN)")
    value = _finite(given)
    if value is None:
        return Failed(Stage.PARSE, f"'result[{at}]' = {str(given)[:40]} is not a valid measurement")

    def samples() -> Iterable[Sample]:
        for low, high in (
            (columns.stats_ci_99_a, columns.stats_ci_99_b),
            (columns.stats_q_25, columns.stats_q_75),
        ):
            if not low or not high:
                continue
            ends = [_finite(side[at]) if at < len(side) else None for side in (low, high)]
            # asv rounds both, to five digits.
            if ends[0] is None or ends[1] is None:
                raise ParseError("the statistics of the result are missing")
            if not ends[0] - 1e-4 * abs(ends[0]) <= value <= ends[1] + 1e-4 * abs(ends[1]):
                raise ParseError("the result does not lie within its own statistics")
        return [Sample(_kind(name)[0], value)]

    return outcome_of(dict([_kind(name)]), samples)


def _finite(value: Any) -> float | None:
    """Return a value of a list as a number; None if it is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _kind(name: str) -> tuple[str, Metric]:
    """Return the name and the metric of a benchmark."""
    first = name.rpartition(".")[2].partition("_")[0].lower()
    camel = re.match(r"(Time|Timeraw|Mem|Peakmem|PeakMem|Track)(?=[A-Z])", name.rpartition(".")[2])
    return _KINDS.get(camel[1].lower() if camel else first) or next(iter(UNTOLD.items()))


def _started(text: str) -> datetime | None:
    """Return the start of the first benchmark."""
    try:
        report = read_object(_Report, find_object(text))
        at = report.result_columns.index("started_at")
        told = [values[at] for values in report.results.values() if len(values) > at]
        return datetime.fromtimestamp(min(told) / 1e3, UTC)
    except (ParseError, ValueError, TypeError, OverflowError, OSError):
        return None


def _facts(text: str) -> Mapping[str, Scalar]:
    """Return the facts: commit, environment and machine."""
    try:
        report = read_object(_Report, find_object(text))
    except ParseError:
        return {}
    machine = {f"import.{key}": report.params[key] for key in ("cpu", "os") if key in report.params}
    return {"import.commit": report.commit_hash, "import.environment": report.env_name, **machine}


def _platform(report: _Report) -> str:
    return f"{_machine(report)} {report.commit_hash[:8]} {report.env_name}"


def _machine(report: _Report) -> str:
    return report.params.get("machine", "machine")


def _commit(text: str) -> Commit | None:
    """Return the commit, with its date and the platform's name without it."""
    try:
        report = read_object(_Report, find_object(text))
    except ParseError:
        return None
    date = None
    if report.date is not None:
        with suppress(ValueError, OverflowError, OSError):
            date = datetime.fromtimestamp(report.date / 1e3, UTC)
    return Commit(report.commit_hash, date, f"{_machine(report)} {report.env_name}")


def _reading(
    name: str,
    params: Mapping[str, Scalar],
    outcome: Measured | Failed,
    report: _Report | None = None,
) -> Reading:
    return Reading(
        probe=f"asv.{plain_name(name) or 'unnamed'}",
        title=f"{plain_name(name)} (asv)",
        layer=Layer.APP,
        metrics=dict([_kind(name)]),
        params=params,
        outcome=outcome,
        platform=_platform(report) if report else "",
    )


IMPORTER = Importer(
    name="asv",
    title="asv's results of a commit",
    sniff=holding(_SNIFF),
    launches=split,
    starts=document_starts(_SNIFF),
    parse=read,
    started=_started,
    facts=_facts,
    commit=_commit,
)
