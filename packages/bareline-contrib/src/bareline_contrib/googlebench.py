"""The importer of Google Benchmark's JSON: every benchmark of a process.

A process is a launch. The value of a trial is the median of its repetitions inside the launch, as
in the program's own "median" row.

References
----------
Google, "Benchmark", https://github.com/google/benchmark.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby, pairwise
from statistics import fmean, median
from typing import Annotated, Any, Literal

from pydantic import Field

from bareline.formats.damage import Omission
from bareline.formats.document import (
    Amount,
    Count,
    JsonModel,
    document_starts,
    find_object,
    read_object,
)
from bareline.formats.foreign import figure, plain_key, plain_name, scalar
from bareline.formats.importer import Importer, holding
from bareline.formats.reading import Reading, as_detail, outcome_of
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Failed, Layer, Measured, Metric, Sample, Scalar, Stage

_SNIFF = re.compile(r'"benchmarks"\s*:\s*\[\s*(?:\{\s*"name"\s*:|\])')
_VERSION = re.compile(r'"library_version"\s*:\s*"([\w.+-]{1,40})"')
_DATE = re.compile(r'"date"\s*:\s*"([\d:T+-]{19,25})"')
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
#: Keys that identify a row, since version 1.5.
_MARKS = ("run_name", "family_index", "per_family_instance_index")
#: Rows of a complexity fitted over arguments: nothing that was measured.
_FITTED = ("BigO", "RMS")
#: Aggregates that have the unit of what they sum up; none is a repetition.
_PLAIN_AGGREGATES = ("", "mean", "median")
_TIMES = {"time": Metric("s", "lower"), "cpu_time": as_detail(Metric("s", "lower"))}
_RATES = {"bytes_per_second": ("bandwidth", "B/s"), "items_per_second": ("items", "op/s")}


class _Row(JsonModel):
    """A measurement of a benchmark, or an aggregate of its repetitions."""

    name: str
    run_name: str = ""
    run_type: Literal["iteration", "aggregate"] = "iteration"
    aggregate_name: str = ""
    family_index: Count = 0
    per_family_instance_index: Count = 0
    repetitions: Count = 1
    threads: Annotated[int, Field(ge=1)] = 1
    real_time: Amount | None = None
    cpu_time: Amount | None = None
    time_unit: Literal["ns", "us", "ms", "s"] = "ns"
    error_occurred: bool = False
    error_message: str = ""
    skipped: bool = False
    skip_message: str = ""

    @property
    def of(self) -> str:
        """Name of the benchmark, without the name of an aggregate."""
        return self.run_name or self.name.removesuffix(f"_{self.aggregate_name}")


#: Keys of a row that are no counter of its author.
_OWN = frozenset({*_Row.model_fields, *_RATES, "repetition_index", "iterations"})


class _Report(JsonModel):
    context: dict[str, Any]
    benchmarks: Annotated[list[dict[str, Any]], Field(min_length=1)]


def read(text: str) -> Iterable[Reading]:
    """Return the trials of every benchmark of a process."""
    try:
        report = read_object(_Report, find_object(text))
        every = [(read_object(_Row, content), content) for content in report.benchmarks]
        rows = [pair for pair in every if pair[0].aggregate_name not in _FITTED]
        _check_rows([content for _, content in rows], report.context)
    except ParseError as error:
        yield _reading("unknown", {}, _TIMES, Failed(Stage.PARSE, str(error)))
        return
    for name, group in groupby(rows, key=lambda pair: pair[0].of):
        yield _benchmark(name, list(group))


def _check_rows(rows: Sequence[Mapping[str, Any]], context: Mapping[str, Any]) -> None:
    """Check that no row is lost: all rows have the same keys, and their number is right."""
    marks = {tuple(key in row for key in _MARKS) for row in rows}
    if len(marks) > 1:
        raise ParseError("rows of 'benchmarks' are damaged")
    for row in rows:
        strays = row.keys() & context.keys()
        if strays:
            raise ParseError(f"'{min(strays)}' stands in a row of 'benchmarks'")
    if not all(marks.pop()):
        return  # Versions before 1.5 do not count families.
    start = {"family_index": 0, "per_family_instance_index": 0}
    for last, row in pairwise([{**start, "family_index": -1}, *rows]):
        family, instance = (row[key] - last[key] for key in start)
        if (family, instance) not in ((0, 0), (0, 1)) and (
            family != 1 or row["per_family_instance_index"]
        ):
            raise ParseError("rows of 'benchmarks' are missing or out of order")


def _benchmark(name: str, rows: Sequence[tuple[_Row, Mapping[str, Any]]]) -> Reading:
    """Return the trial of a benchmark with its arguments."""
    probe, params = _named(name)
    first = rows[0][0]
    for row, _ in rows:
        if row.error_occurred or row.skipped:
            why = row.error_message or row.skip_message or "no reason given"
            stage = Stage.EXIT if row.error_occurred else Stage.ABSENT
            return _reading(probe, params, _TIMES, Failed(stage, why), threads=first.threads)
    try:
        samples, metrics, left_out = _values(rows)
    except ParseError as error:
        failed = Failed(Stage.PARSE, f"{name}: {error}")
        return _reading(probe, params, _TIMES, failed, threads=first.threads)
    outcome = outcome_of(metrics, lambda: samples)
    reading = _reading(probe, params, metrics, outcome, threads=first.threads)
    return replace(reading, left_out=tuple(left_out))


def _named(name: str) -> tuple[str, dict[str, Scalar]]:
    """Return name and arguments from ``BM_copy/n:1024/real_time/threads:2``."""
    probe, *parts = re.split(r"/(?![^<]*>)", name)
    params: dict[str, Scalar] = {}
    for number, part in enumerate(parts, 1):
        key, colon, value = part.partition(":")
        if colon and value:
            params[plain_key(key)] = scalar(value)
        elif re.fullmatch(r"-?\d+", part):
            params[f"arg{number}"] = scalar(part)
        else:
            params[plain_key(part)] = True
    params.pop("threads", None)
    return probe, params


def _values(
    rows: Sequence[tuple[_Row, Mapping[str, Any]]],
) -> tuple[list[Sample], dict[str, Metric], list[Omission]]:
    """Return each value's median over the repetitions, checked against the aggregates.

    A user's counter that is not a number in one of the rows is left out.
    """
    wrong = _wrong_counters(rows)
    left_out = [Omission(reason) for reason in wrong.values()]
    single = [_figures(*pair, wrong) for pair in rows if pair[0].run_type == "iteration"]
    told = {
        row.aggregate_name: _figures(row, content, wrong)
        for row, content in rows
        if row.run_type == "aggregate" and row.aggregate_name in ("mean", "median")
    }
    if single and len(single) != rows[0][0].repetitions:
        raise ParseError("as many rows as repetitions were expected")
    if not single and "median" not in told:
        raise ParseError("there is neither a repetition nor a median")
    middle = {}
    for name, metric in _metrics(single or [told["median"]]).items():
        values = [figures[name][0] for figures in single if name in figures]
        if len(values) != len(single):
            raise ParseError(f"'{name}' is missing in a repetition")
        for word, taken in (("mean", fmean), ("median", median)):
            if values and name in told.get(word, {}):
                _check_alike(taken(values), told[word][name][0], f"the {word} of '{name}'")
        middle[name] = (median(values) if values else told["median"][name][0], metric)
    metrics = {name: metric for name, (_, metric) in middle.items()}
    samples = [Sample(name, value) for name, (value, _) in middle.items()]
    return samples, metrics, left_out


def _wrong_counters(rows: Sequence[tuple[_Row, Mapping[str, Any]]]) -> dict[str, str]:
    """Return the rates and counters that are not finite numbers, each with the reason."""
    wrong: dict[str, str] = {}
    for row, content in rows:
        for key, value in content.items():
            if key in _OWN and key not in _RATES:
                continue
            if isinstance(value, float | int) and row.aggregate_name in _PLAIN_AGGREGATES:
                try:
                    _amount(key, value)
                except ParseError as error:
                    wrong[key] = f"{row.name}: {error}"
    return wrong


def _metrics(rows: Sequence[Mapping[str, tuple[float, Metric]]]) -> dict[str, Metric]:
    return {name: metric for figures in rows for name, (_, metric) in figures.items()}


def _check_alike(found: float, told: float, what: str) -> None:
    if not math.isclose(found, told, rel_tol=1e-6):
        raise ParseError(f"{what} is not that of its repetitions")


def _figures(
    row: _Row, content: Mapping[str, Any], wrong: Mapping[str, str]
) -> dict[str, tuple[float, Metric]]:
    """Return every value of a row in its base unit, without wrong counters."""
    if row.real_time is None or row.cpu_time is None:
        raise ParseError("a time is missing")
    unit_s = _UNITS[row.time_unit]
    figures = {
        "time": (row.real_time * unit_s, _TIMES["time"]),
        "cpu_time": (row.cpu_time * unit_s, _TIMES["cpu_time"]),
    }
    for key, value in content.items():
        if key in wrong:
            continue
        if key in _RATES:
            name, unit = _RATES[key]
            figures[name] = (_amount(key, value), figure(name, unit).metric)
        elif key not in _OWN and isinstance(value, int | float) and not isinstance(value, bool):
            # The output does not tell a rate from a count: no direction is guessed.
            counter = figure(key, "", "none", detail=True)
            figures[counter.name] = (_amount(key, value), counter.metric)
    return figures


def _amount(key: str, value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
        raise ParseError(f"'{key}' = {str(value)[:40]} is not a valid measurement")
    return float(value)


def _started(text: str) -> datetime | None:
    match = _DATE.search(text)
    try:
        return datetime.fromisoformat(match[1]) if match else None
    except ValueError:
        return None


def _facts(text: str) -> Mapping[str, Scalar]:
    match = _VERSION.search(text)
    return {"import.googlebench": match[1]} if match else {}


def _reading(
    probe: str,
    params: Mapping[str, Scalar],
    metrics: Mapping[str, Metric],
    outcome: Measured | Failed,
    *,
    threads: int = 1,
) -> Reading:
    name = plain_name(probe) or "unnamed"
    return Reading(
        probe=f"googlebench.{name}",
        title=f"the time of {name} (Google Benchmark)",
        layer=Layer.COMPUTE,
        metrics=metrics,
        params=params,
        threads=threads,
        outcome=outcome,
    )


IMPORTER = Importer(
    name="googlebench",
    title="Google Benchmark --benchmark_out_format=json",
    sniff=holding(_SNIFF),
    starts=document_starts(_SNIFF),
    parse=read,
    started=_started,
    facts=_facts,
)
