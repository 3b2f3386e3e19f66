"""ReFrame's run reports (JSON, versions 3.12 to 4.x) and performance logs (4.3 and later).

References
----------
V. Karakasis and others, "Enabling continuous testing of HPC systems using ReFrame", Tools and
Techniques for High Performance Computing, 2020, doi:10.1007/978-3-030-44728-1_3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from bareline.formats import reframe_perflog
from bareline.formats.document import JsonModel, find_object, read_object
from bareline.formats.importer import Importer, holding, version_in
from bareline.formats.reading import UNTOLD, Reading
from bareline.formats.reframe_check import PerformanceVariable, ReframeCheck
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Failed, Layer, Stage

_SNIFF = re.compile(r'"session_info"\s*:\s*\{(?s:.*)"data_version"|"testcases"\s*:\s*\[')
_VERSION = re.compile(r'"version"\s*:\s*"(\d[\w.+-]{0,20})"')


class _Variable(JsonModel):
    """A performance variable until ReFrame 4.6."""

    name: str
    value: float | None
    unit: str | None
    thres_lower: float | None
    thres_upper: float | None


class _Case(JsonModel):
    """A case of a check; until ReFrame 4.6 the system has its partition in its name."""

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
    testcases: list[dict[str, Any]]


class _Report(JsonModel):
    session_info: dict[str, Any]
    runs: list[dict[str, Any]]


def split(text: str) -> Sequence[str]:
    """Give every case as a report or a log of its own; a damaged report whole."""
    if reframe_perflog.TITLES.search(text):
        return reframe_perflog.split(text)
    try:
        _report(text)
        content = find_object(text)
        runs = [
            (run, read_object(_Run, run).testcases) for run in read_object(_Report, content).runs
        ]
    except ParseError:
        return (text,)
    if sum(len(cases) for _, cases in runs) <= 1:
        return (text,)
    return [
        json.dumps({**content, "runs": [{**run, "testcases": [case]}]}, indent=1)
        for run, cases in runs
        for case in cases
    ]


def read(text: str) -> Iterable[Reading]:
    """Read every case that measured something or failed."""
    log = reframe_perflog.TITLES.search(text)
    try:
        checks = list(reframe_perflog.read(text)) if log else _report(text)
    except ParseError as error:
        yield Reading(
            probe="reframe.unknown",
            title="a check (ReFrame)",
            layer=Layer.APP,
            metrics=UNTOLD,
            outcome=Failed(Stage.PARSE, str(error)),
        )
        return
    for check in checks:
        if not check.measures_nothing:
            yield check.reading()


def _report(text: str) -> Sequence[ReframeCheck]:
    """Read the cases of a report, which must agree on the units of what they measure."""
    checks = list(_cases(text))
    units: dict[tuple[str, str], str] = {}
    for check in checks:
        for name, one in check.figures.items():
            unit = units.setdefault((check.name.partition(" ")[0], name), one.unit)
            if unit != one.unit:
                raise ParseError(f"'{name}' of {check.name} is in {one.unit} and in {unit}")
    return checks


def _cases(text: str) -> Iterable[ReframeCheck]:
    for run in read_object(_Report, find_object(text)).runs:
        for content in read_object(_Run, run).testcases:
            case = read_object(_Case, content)
            tasks = case.num_tasks or case.check_vars.get("num_tasks")
            yield ReframeCheck(
                name=case.display_name or case.name,
                where=_where(case),
                result=case.result,
                phase=case.fail_phase or "",
                reason=case.fail_reason or "",
                ranks=tasks if isinstance(tasks, int) and tasks > 0 else 1,
                figures=dict(_figures(case)),
            )


def _where(case: _Case) -> str:
    place = f"{case.system}:{case.partition}" if case.partition else case.system
    environ = case.environ or case.environment
    return f"{place}+{environ}" if environ else place


def _figures(case: _Case) -> Iterable[tuple[str, PerformanceVariable]]:
    """Give the performance variables, which newer versions name after their place."""
    for one in case.perfvars or ():
        yield one.name, _figure(one)
    for name, values in (case.perfvalues or {}).items():
        # Value, reference, its bounds, unit, and since 4.8 whether it was met.
        if len(values) not in (5, 6):
            raise ParseError(f"'{name}' has not the values of a performance variable")
        value, _, low, high, unit = values[:5]
        place, _, last = name.rpartition(":")
        if place and place != f"{case.system}:{case.partition}":
            raise ParseError(f"'{name}' is not of {case.system}:{case.partition}")
        bounds = {"thres_lower": low, "thres_upper": high}
        row = {"name": last, "value": value, "unit": unit, **bounds}
        yield last, _figure(read_object(_Variable, row))


def _figure(one: _Variable) -> PerformanceVariable:
    bounds = (one.thres_lower is not None, one.thres_upper is not None)
    return PerformanceVariable(
        value=one.value, unit=one.unit or "", lower=bounds[0], upper=bounds[1]
    )


def _started(text: str) -> datetime | None:
    """Give when the case ended, which is all that ReFrame tells, or when its session began."""
    time: Any = reframe_perflog.completed(text)
    try:
        if not time:
            report = read_object(_Report, find_object(text))
            cases = [case for run in report.runs for case in read_object(_Run, run).testcases]
            ended = cases[0].get("job_completion_time") if cases else None
            time = ended or report.session_info.get("time_start")
        return datetime.fromisoformat(time) if isinstance(time, str) else None
    except (ParseError, ValueError):
        return None


IMPORTER = Importer(
    name="reframe",
    title="ReFrame's reports and performance logs",
    sniff=holding(_SNIFF, reframe_perflog.TITLES),
    launches=split,
    parse=read,
    started=_started,
    facts=version_in("import.reframe", _VERSION),
)
