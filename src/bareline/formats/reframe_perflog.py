"""ReFrame's performance logs, version 4.3 and later: a line of titles, then one line a case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from bareline.formats.reframe_check import PerformanceVariable, ReframeCheck
from bareline.vocabulary.errors import ParseError

#: The titles, of which the first and the form of a variable's are ReFrame's defaults.
TITLES = re.compile(r"^job_completion_time\|.*\w_value\|\w+_unit\b.*$", re.MULTILINE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_TIME = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[-+:\d]*)\|", re.MULTILINE)


def split(text: str) -> Sequence[str]:
    """Give every line under the titles that it stands under."""
    launches, titles = [], ""
    for line in text.splitlines(keepends=True):
        if TITLES.match(line):
            titles = line
        elif line.strip():
            launches.append(titles + line)
    return launches or (text,)


def read(text: str) -> Iterable[ReframeCheck]:
    """Read the case of every line, or raise ParseError: a line is none of a case, or torn."""
    titles: list[str] = []
    if not text.endswith("\n"):
        raise ParseError("the last line has no end: the log is truncated")
    for line in text.splitlines():
        if TITLES.match(line):
            titles = line.split("|")
        elif line.strip():
            yield _check(titles, line.split("|"))


def completed(text: str) -> str:
    """Give when the first case of a text ended, "" where it does not say it."""
    match = _TIME.search(text)
    return match[1] if match else ""


def _check(titles: Sequence[str], fields: Sequence[str]) -> ReframeCheck:
    if len(fields) != len(titles) or len(set(titles)) != len(titles):
        raise ParseError("a line has not as many fields as there are titles")
    row = dict(zip(titles, fields, strict=True))
    name = row.get("display_name") or row.get("name") or row.get("short_name")
    if not name:
        raise ParseError("the log does not name its check: add %(check_display_name)s")
    tasks = row.get("num_tasks", "")
    return ReframeCheck(
        name=name,
        where=_where(row),
        result=row.get("result", "pass"),
        reason="the log does not name the phase; ReFrame's report does",
        ranks=int(tasks) if re.fullmatch(r"[1-9]\d{0,8}", tasks) else 0,
        figures={
            title.removesuffix("_value"): _figure(row, title.removesuffix("_value"))
            for title in titles
            if title.endswith("_value")
        },
    )


def _where(row: Mapping[str, str]) -> str:
    system, partition, environ = (row.get(key, "") for key in ("system", "partition", "environ"))
    return f"{system}:{partition}+{environ}" if system and partition else ""


def _figure(row: Mapping[str, str], name: str) -> PerformanceVariable:
    value, bounds = row[f"{name}_value"], [row.get(f"{name}_{end}_thres") for end in _ENDS]
    if value != "None" and not _NUMBER.fullmatch(value):
        raise ParseError(f"'{name}' = {value[:40]} is no measured value")
    lower, upper = (bound not in (None, "None", "null", "") for bound in bounds)
    number = None if value == "None" else float(value)
    return PerformanceVariable(
        value=number, unit=row.get(f"{name}_unit", ""), lower=lower, upper=upper
    )


_ENDS = ("lower", "upper")
