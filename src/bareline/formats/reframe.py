"""The reader of ReFrame's run reports (JSON, 3.12 to 4.x) and performance logs (from 4.3).

A case that ran is one launch on one partition with one environment. A case that failed in or before
its sanity check is a failed trial. A case that ran but missed its reference keeps its numbers, with
a caveat, because a platform without its slow cases would look too good.

References
----------
V. Karakasis et al., "Enabling continuous testing of HPC systems using ReFrame", Tools and
Techniques for High Performance Computing, 2020, doi:10.1007/978-3-030-44728-1_3.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from pydantic import Field

from bareline.formats.document import JsonModel, document_starts, find_object, read_object
from bareline.formats.importer import Importer, holding, version_in
from bareline.formats.reading import UNTOLD, Reading, unread
from bareline.formats.reframe_check import PASSED, Check, PerformanceVariable, performance_variable
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layer

_SNIFF = re.compile(r'"session_info"\s*:\s*\{(?s:.*)"data_version"|"testcases"\s*:\s*\[')
_VERSION = re.compile(r'"version"\s*:\s*"(\d[\w.+-]{0,20})"')
#: The titles of a log with ReFrame's default column of times and default titles of variables.
_TITLES = re.compile(r"^(?:\w+\|)*job_completion_time\|.*\w_value\|\w+_unit\b.*$", re.MULTILINE)
_NO_VALUE = ("None", "null", "")
_NOT_FINITE = ("nan", "-nan", "inf", "-inf")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_TIME = re.compile(r"(?:^|\|)(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[-+:\d]*)\|", re.MULTILINE)


class _Variable(JsonModel):
    """A performance variable in the format of ReFrame before 4.6."""

    name: str
    value: Any
    unit: str | None
    thres_lower: float | None
    thres_upper: float | None


class _Case(JsonModel):
    """A case of a check; before ReFrame 4.6 the name of the system contains the partition."""

    name: str
    display_name: str = ""
    system: str
    partition: str = ""
    environ: str | None = None
    environment: str | None = None
    result: str
    fail_phase: str | None = None
    fail_reason: str | None = None
    job_completion_time: str | None = None
    num_tasks: int | None = None
    check_vars: dict[str, Any] = Field(default_factory=dict)
    perfvalues: dict[str, list[Any]] | None = None
    perfvars: list[_Variable] | None = None


class _Run(JsonModel):
    testcases: list[Any]


class _Report(JsonModel):
    session_info: dict[str, Any]
    runs: list[dict[str, Any]]


def _contents(report: Mapping[str, Any]) -> list[tuple[dict[str, Any], Any]]:
    """Return the cases of a report, each with its run, or raise ParseError for a damaged report.

    The cases are not checked here, so that a malformed case does not affect the other cases.
    """
    runs = read_object(_Report, report).runs
    contents: list[tuple[dict[str, Any], Any]] = []
    for run in runs:
        contents += ((run, case) for case in read_object(_Run, run).testcases)
    return contents


def split(text: str) -> Sequence[str]:
    """Return every case as a separate report or log; a damaged report stays whole."""
    if _TITLES.search(text):
        return _lines(text) or (text,)
    try:
        report = find_object(text)
        cases = _contents(report)
        _check_units(_sound_checks([case for _, case in cases]))
    except ParseError:
        return (text,)
    if len(cases) <= 1:
        return (text,)
    return [
        json.dumps({**report, "runs": [{**run, "testcases": [case]}]}, indent=1)
        for run, case in cases
    ]


def read(text: str) -> Iterable[Reading]:
    """Return the trials of all cases that measured or failed, without cases that only build."""
    try:
        checks = _logged(text) if _TITLES.search(text) else _reported(text)
    except ParseError as error:
        yield Reading(
            probe="reframe.unknown",
            title="a check (ReFrame)",
            layer=Layer.APP,
            metrics=UNTOLD,
            outcome=unread(error),
        )
        return
    for check in checks:
        if check.figures or check.result not in PASSED:
            yield check.reading()


def _reported(text: str) -> Sequence[Check]:
    checks = [_check_of(content) for _, content in _contents(find_object(text))]
    _check_units(checks)
    return checks


def _sound_checks(contents: Iterable[Any]) -> Sequence[Check]:
    """Return the checks of the cases that are not malformed."""
    checks = []
    for content in contents:
        try:
            checks.append(_check_of(content))
        except ParseError:
            continue  # it becomes a failed trial of its own
    return checks


def _check_of(content: Any) -> Check:
    if not isinstance(content, dict):
        raise ParseError(f"a case of the report is not an object: {str(content)[:40]}")
    case = read_object(_Case, content)
    tasks = case.num_tasks or case.check_vars.get("num_tasks")
    ranks = tasks if isinstance(tasks, int) and tasks > 0 else 1
    where = case.system
    if case.partition:
        where += f":{case.partition}"
    environ = case.environ or case.environment
    if environ:
        where += f"+{environ}"
    return Check(
        name=case.display_name or case.name,
        where=where,
        result=case.result,
        phase=case.fail_phase or "",
        reason=case.fail_reason or "",
        ranks=ranks,
        figures=_figures_of(case),
    )


def _figures_of(case: _Case) -> dict[str, PerformanceVariable]:
    figures: dict[str, PerformanceVariable] = {}
    for variable in chain(case.perfvars or (), _variables(case)):
        figures[variable.name] = performance_variable(
            _value(variable),
            variable.unit,
            lower=variable.thres_lower is not None,
            upper=variable.thres_upper is not None,
        )
    return figures


def _check_units(checks: Iterable[Check]) -> None:
    """Check that the checks of one name have the same unit for each variable."""
    units: dict[tuple[str, str], str] = {}
    for check in checks:
        check_name = check.name.partition(" ")[0]
        for name, measured in check.figures.items():
            unit = units.setdefault((check_name, name), measured.unit)
            if unit != measured.unit:
                raise ParseError(
                    f"the performance variable '{name}' of the check {check.name} has two units:"
                    f" {measured.unit} and {unit}"
                )


def _value(variable: _Variable) -> float | None:
    """Return the value of a variable: NaN if it is not finite, None if it is missing."""
    value = variable.value
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParseError(f"'{variable.name}' = {str(value)[:40]} is not a valid measurement")
    return float(value) if math.isfinite(value) else math.nan


def _variables(case: _Case) -> Iterable[_Variable]:
    """Yield performance variables of ReFrame 4.6 and later, named by system and partition."""
    for name, values in (case.perfvalues or {}).items():
        # Value, reference, lower and upper bound, unit; since 4.8 also whether it passed.
        if len(values) not in (5, 6):
            raise ParseError(
                f"the performance variable '{name}' has {len(values)} values instead of 5 or 6"
            )
        value, _, low, high, unit = values[:5]
        place, _, last = name.rpartition(":")
        if place and place != f"{case.system}:{case.partition}":
            raise ParseError(
                f"the performance variable '{name}' does not belong to the check's partition"
                f" {case.system}:{case.partition}"
            )
        bounds = {"thres_lower": low, "thres_upper": high}
        yield read_object(_Variable, {"name": last, "value": value, "unit": unit, **bounds})


def _lines(text: str) -> list[str]:
    rows = []
    titles = ""
    for line in text.splitlines(keepends=True):
        if _TITLES.match(line):
            titles = line
        elif "|" in line:  # all other lines are a launcher's
            rows.append(titles + line)
    return rows


def _logged(text: str) -> Sequence[Check]:
    """Return the case of every line of a log, or raise ParseError for an invalid line."""
    if not text.endswith("\n"):
        raise ParseError("the last line has no end: the log is truncated")
    return [_case_of_line(_fields(part)) for part in _lines(text)]


def _fields(part: str) -> dict[str, str]:
    """Return the fields of a line of a log, by title; the titles precede the line."""
    lines = part.splitlines()
    titles = lines[0].split("|")
    fields = lines[-1].split("|")
    if len(lines) < 2 or len(fields) != len(titles) or len(set(titles)) != len(titles):
        raise ParseError(
            "a line of the log does not have exactly one field for each title, or a title appears"
            " twice"
        )
    return dict(zip(titles, fields, strict=True))


def _case_of_line(row: Mapping[str, str]) -> Check:
    name = row.get("display_name") or row.get("name") or row.get("short_name")
    if not name:
        raise ParseError(
            "the log does not contain the name of the check; add %(check_display_name)s to"
            " the format of the log in ReFrame's configuration"
        )
    tasks = row.get("num_tasks", "")
    system = row.get("system", "")
    partition = row.get("partition", "")
    environ = row.get("environ", "")
    names = [title.removesuffix("_value") for title in row if title.endswith("_value")]
    where = f"{system}:{partition}+{environ}" if system and partition else ""
    ranks = int(tasks) if re.fullmatch(r"[1-9]\d{0,8}", tasks) else 0
    return Check(
        name=name,
        where=where,
        result=row.get("result", "pass"),
        reason="the log does not name the phase; ReFrame's report does",
        ranks=ranks,
        figures={name: _logged_figure(row, name) for name in names},
    )


def _logged_figure(row: Mapping[str, str], name: str) -> PerformanceVariable:
    value = row[f"{name}_value"]
    if value.lower() in _NOT_FINITE:
        value = "nan"
    elif value not in _NO_VALUE and not _NUMBER.fullmatch(value):
        raise ParseError(f"'{name}' = {value[:40]} is not a valid measurement")
    number = None if value in _NO_VALUE else float(value)
    lower = row.get(f"{name}_lower_thres", "") not in _NO_VALUE
    upper = row.get(f"{name}_upper_thres", "") not in _NO_VALUE
    return performance_variable(number, row.get(f"{name}_unit"), lower=lower, upper=upper)


def _started(text: str) -> datetime | None:
    """Return the date of a case: its end or, if the report has no end, the start of the session."""
    if match := _TIME.search(text):
        time: Any = match[1]
    else:
        try:
            report = find_object(text)
            first = [case for _, case in _contents(report)[:1] if isinstance(case, dict)]
            ended = [case.get("job_completion_time") for case in first]
            time = next(filter(None, ended), report["session_info"].get("time_start"))
        except ParseError:
            return None
    try:
        return datetime.fromisoformat(time) if isinstance(time, str) else None
    except ValueError:
        return None


def _starts(text: str) -> Sequence[int]:
    """Return the offsets of reports and logs."""
    logs = [match.start() for match in _TITLES.finditer(text)]
    return sorted({*logs, *document_starts(_SNIFF)(text)})


IMPORTER = Importer(
    name="reframe",
    title="ReFrame's reports and performance logs",
    sniff=holding(_SNIFF, _TITLES),
    launches=split,
    starts=_starts,
    parse=read,
    started=_started,
    facts=version_in("import.reframe", _VERSION),
)
