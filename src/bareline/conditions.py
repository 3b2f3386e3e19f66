"""Conditions for continuous integration: ``--fail-if 'mpi.latency > 1.1'``.

A condition names rows of a comparison and says when they count as a failure::

    SELECTOR > NUMBER         the ratio to the baseline (above 1 is worse)
    SELECTOR.lo > NUMBER      the lower end of its 95 % interval; .hi the upper end
    SELECTOR is VERDICT       slower, faster, equivalent, inconclusive, missing or failed

A selector is a layer (``mpi``), a layer's metric (``mpi.latency``), a probe
(``mpi.pingpong``) or a probe's metric (``mpi.pingpong.latency``), with ``PLATFORM:`` in front to
look at one platform only. Without a metric the headline metric counts.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from bareline.errors import UsageError
from bareline.units import significant

_COMPARISON = re.compile(r"\s*(\S+?)\s*(>=|<=|>|<)\s*(\S+)\s*")
_VERDICT = re.compile(r"\s*(\S+)\s+is\s+(\w+)\s*")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_VERDICTS = ("slower", "faster", "equivalent", "inconclusive", "missing", "failed")
_FORM = "write e.g. --fail-if 'mpi.latency > 1.1' or --fail-if 'mpi is slower'"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition, ready to be held against a comparison."""

    text: str
    selector: str
    column: str
    sign: str
    limit: float
    verdict: str | None = None

    def violations(self, comparison: pl.DataFrame) -> list[str]:
        """Say, a line each, which rows meet the condition.

        A selected row without a number (failed, missing, no interval) meets every numeric
        condition: what could not be measured is no proof that all is well.

        Raises
        ------
        UsageError
            The selector matches no row.
        """
        rows = self._select(comparison)
        if rows.is_empty():
            raise UsageError(
                f"--fail-if '{self.text}': nothing in this comparison is named '{self.selector}'",
                hint="`bareline compare RUN --json` shows probes, metrics and platforms",
            )
        return [text for row in rows.iter_rows(named=True) if (text := self._violation(row))]

    def _violation(self, row: dict[str, object]) -> str:
        name = f"{row['probe']} {row['metric']} {row['params']} {row['point']}"
        name = " ".join(name.split()) + f" on {row['platform']}"
        if self.verdict is not None:
            return f"{name} is {self.verdict}" if row["verdict"] == self.verdict else ""
        value = row[self.column]
        if not isinstance(value, float):
            return f"{name} has no {self.column}: {row['verdict']}"
        if _OPERATORS[self.sign](value, self.limit):
            return f"{name}: {self.column} {significant(value, 4)} {self.sign} {self.limit:g}"
        return ""

    def _select(self, comparison: pl.DataFrame) -> pl.DataFrame:
        platform, colon, name = self.selector.rpartition(":")
        rows = comparison.filter(pl.col("platform") == platform) if colon else comparison
        full = pl.concat_str([pl.col("probe"), pl.col("metric")], separator=".")
        short = pl.concat_str([pl.col("layer"), pl.col("metric")], separator=".")
        by_metric = (full == name) | (short == name)
        by_name = pl.col("headline") & ((pl.col("probe") == name) | (pl.col("layer") == name))
        return rows.filter(by_metric | by_name)


def parse_condition(text: str) -> Condition:
    """Read a condition.

    Raises
    ------
    UsageError
        It is none.
    """
    verdict = _VERDICT.fullmatch(text)
    if verdict:
        if verdict[2] not in _VERDICTS:
            raise UsageError(
                f"--fail-if '{text}': no verdict '{verdict[2]}'",
                hint=f"use one of: {', '.join(_VERDICTS)}",
            )
        return Condition(text, verdict[1], "verdict", "is", 0.0, verdict[2])
    match = _COMPARISON.fullmatch(text)
    if match is None:
        raise UsageError(f"--fail-if '{text}' is no condition", hint=_FORM)
    selector, sign, number = match.groups()
    try:
        limit = float(number)
    except ValueError:
        raise UsageError(f"--fail-if '{text}': '{number}' is no number", hint=_FORM) from None
    column = "ratio"
    for end in ("lo", "hi", "ratio"):
        if selector.endswith(f".{end}"):
            selector, column = selector.removesuffix(f".{end}"), end
            break
    return Condition(text, selector, column, sign, limit)
