"""The result of comparing commands: a row for each command, and a sentence on the better one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from typing_extensions import TypedDict

from bareline.analysis.numbers.row import Estimate, with_interval
from bareline.analysis.numbers.summary import failures
from bareline.analysis.words.comparison import Comparison
from bareline.vocabulary.model import Better
from bareline.vocabulary.units import count, percent, significant
from bareline.vocabulary.verdicts import MIN_LAUNCHES, Grade, Verdict

_LONGEST_COMMAND = 60
_CLOSE = 0.1
_COMPARED = {Grade.CERTAIN, Grade.LIKELY, Grade.OPEN, Grade.EQUAL}


class CommandRow(TypedDict):
    """A row of ``ab``: a command, and its comparison with the first command.

    - `name`: the name of the command's platform in the run; the first command is the baseline.
    - `n`: the number of launches that printed the value.
    - `n_failed`: the number of launches that failed.
    - `value`, `lo`, `hi`: the median over launches and its 95 % interval, in `unit`.
    - `ratio`, `ratio_lo`, `ratio_hi`: how many times worse than the first command, and the 95 %
      interval.
    """

    run: str
    name: str
    command: str
    metric: str
    unit: str
    better: Better
    n: int
    n_failed: int
    value: float | None
    lo: float | None
    hi: float | None
    ratio: float | None
    ratio_lo: float | None
    ratio_hi: float | None
    verdict: Verdict | None
    grade: Grade | None
    caveats: list[str]


def command_rows(comparison: Comparison, probe: str, titles: Mapping[str, str]) -> list[CommandRow]:
    """Return a row for each command, in the order of the command line.

    - `titles`: the command line of each platform.
    """
    headline = (pl.col("probe") == probe) & pl.col("headline")
    summary = comparison.summary.filter(headline)
    summary_rows = summary.iter_rows(named=True)
    summaries = {row["platform"]: row for row in summary_rows}
    compared = comparison.table.filter(headline)
    compared_rows = compared.iter_rows(named=True)
    ratios = {row["platform"]: row for row in compared_rows}
    failed = _failed(comparison, probe)
    measured = [*summaries.values(), *ratios.values()]
    metric: Mapping[str, Any] = {}
    if measured:
        metric = measured[0]
    rows = []
    for name, command in titles.items():
        figures = summaries.get(name, {})
        ratio = ratios.get(name, {})
        rows.append(
            CommandRow(
                run=str(comparison.records.runs[0].path),
                name=name,
                command=command,
                metric=metric.get("metric", ""),
                unit=metric.get("unit", ""),
                better=metric.get("better", "none"),
                n=figures.get("n", 0),
                n_failed=failed.get(name, 0),
                value=figures.get("value"),
                lo=figures.get("lo"),
                hi=figures.get("hi"),
                ratio=ratio.get("ratio"),
                ratio_lo=ratio.get("lo"),
                ratio_hi=ratio.get("hi"),
                verdict=_verdict(ratio),
                grade=_grade(ratio),
                caveats=list(figures.get("caveats", ())),
            )
        )
    return rows


def _failed(comparison: Comparison, probe: str) -> dict[str, int]:
    """Return how many launches of each platform failed."""
    rows = failures(comparison.records).filter(probe=probe)
    return dict(rows.select("platform", "n_failed").iter_rows())


def _verdict(row: Mapping[str, Any]) -> Verdict | None:
    if row.get("verdict"):
        return Verdict(row["verdict"])
    return None


def _grade(row: Mapping[str, Any]) -> Grade | None:
    if row.get("grade"):
        return Grade(row["grade"])
    return None


def answer_of(row: CommandRow, base: CommandRow, margin: float) -> str:
    """Return a sentence that compares a command with the first command.

    - `row`: the row of the command.
    - `base`: the row of the first command.
    """
    command = quoted(row["command"])
    base_command = quoted(base["command"])
    if row["grade"] not in _COMPARED:
        why_not = _why_not(row, base)
        return f"{command} cannot be compared with {base_command}: {why_not}"
    launches = f"{min(row['n'], base['n'])} launches of each"
    if row["ratio"] is None:
        reason = "no ratio, since a figure is not above 0"
        return f"{command} against {base_command}: {reason}; {launches}"
    ratio = Estimate(row["ratio"], row["ratio_lo"], row["ratio_hi"])
    times = with_interval(ratio, write=_digits)
    if row["grade"] is Grade.EQUAL:
        within = f"no difference above {percent(margin)}"
        return f"{command} and {base_command} are equal: {within} (ratio {times}, {launches})"
    if row["grade"] is Grade.OPEN:
        differs = f"{command} differs from {base_command}"
        return f"cannot tell whether {differs}: ratio {times}, {launches}"
    sure = "likely, not certain"
    if row["grade"] is Grade.CERTAIN:
        sure = "certain"
    worse = ratio.value > 1
    if not worse:
        times = with_interval(ratio.inverse(), write=_digits)
    direction = _direction(row, worse=worse)
    return f"{command} is {times} times {direction} than {base_command}: {sure}, {launches}"


def _why_not(row: CommandRow, base: CommandRow) -> str:
    """Describe why two commands cannot be compared: failures, or too few launches."""
    broken = base
    if row["n_failed"] >= base["n_failed"]:
        broken = row
    if broken["n_failed"]:
        tried = count(broken["n"] + broken["n_failed"], "launch", "launches")
        command = quoted(broken["command"])
        return f"{broken['n_failed']} of {tried} of {command} failed"
    return f"{min(row['n'], base['n'])} launches of each, {MIN_LAUNCHES} are needed"


def _direction(row: CommandRow, *, worse: bool) -> str:
    if row["metric"] == "time":
        if worse:
            return "slower"
        return "faster"
    if worse == (row["better"] == "lower"):
        return "higher"
    return "lower"


def quoted(command: str) -> str:
    """Return a command line in quotes; a long command line is shortened."""
    words = " ".join(command.split())
    if len(words) > _LONGEST_COMMAND:
        words = f"{words[:_LONGEST_COMMAND]} ..."
    return f"'{words}'"


def _digits(value: float) -> str:
    """Format a ratio, with more digits if it is close to 1."""
    digits = 3
    if abs(value - 1) < _CLOSE:
        digits = 4
    return significant(value, digits)
