"""Conditions for continuous integration: ``--fail-if 'mpi.latency > 1.1'``.

A condition names rows of a comparison and says when they count as a failure::

    SELECTOR > NUMBER         the ratio to the baseline (above 1 is worse) is certainly above;
                              with < certainly below
    SELECTOR.hi > NUMBER      it is not certain that the ratio is at most so large; with .lo and <
                              that it is at least so large
    SELECTOR.ratio > NUMBER   the estimate is, row by row; .lo95 and .hi95 are the ends of each
                              row's own 95 % interval
    SELECTOR is VERDICT       slower (or worse) or faster (or better), certainly; equivalent (or
                              equal), inconclusive (or undecided), not-comparable, missing, failed
    SELECTOR is likely slower the same, certain or likely
    SELECTOR fails            any launch of it crashed, or exceeded its limit

"Certainly" is what the page says, over all that it claims together: whatever a condition selects,
without any difference at most 5 % of comparisons meet it. What a page does not claim (details, too
few boots) is likely at most; a study's question may name it. The estimates and intervals of single
rows meet a condition by chance, the sooner the more rows there are. Rows that cannot be judged
(failed, missing, too few trials) meet every condition: what could not be measured is no proof that
all is well.

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

from bareline.analysis.judgements.comparison import Comparison
from bareline.analysis.numbers.cell import Cell, Estimate, Lost, read_cell
from bareline.analysis.numbers.selection import named
from bareline.analysis.words.amounts import mean_pieces, with_interval
from bareline.analysis.words.parts import sentence
from bareline.vocabulary.errors import UsageError, did_you_mean
from bareline.vocabulary.units import significant
from bareline.vocabulary.verdicts import MIN_LAUNCHES, SYNONYMS, Grade, Verdict, parse_verdict

_COMPARISON = re.compile(r"\s*(\S+?)\s*(>=|<=|>|<)\s*(\S+)\s*")
_VERDICT = re.compile(r"\s*(\S+)\s+is\s+(likely\s+)?([\w-]+)\s*")
_FAILS = re.compile(r"\s*(\S+)\s+fails\s*")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
#: Columns of each row's own figures, by the ends of selectors that ask for them.
_PLAIN = {"ratio": "value", "lo95": "lo", "hi95": "hi"}
_FORM = "write e.g. --fail-if 'mpi.latency > 1.1' or --fail-if 'mpi is slower'"
#: Verdicts that rows without figures have: asked for, they are no reason to fail beside it.
_WITHOUT_FIGURES = (Verdict.MISSING, Verdict.FAILED, Verdict.SKIPPED, Verdict.NOT_COMPARABLE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a condition: how many rows it was held against, and which of them meet it."""

    condition: str
    tested: int
    violations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a comparison: its point's number, and what it says."""

    point_row: int | None
    cell: Cell

    @property
    def key(self) -> tuple[str, int | None]:
        """What `Judged.beyond` knows it by."""
        return (self.cell.platform, self.point_row)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition, ready to be held against a comparison.

    `end` is the end of the selector that says what is compared: "" for the ratio, "lo" or "hi" for
    what is certain of it, or one of `_PLAIN`. `grades` are those that "is slower" asks for.
    """

    text: str
    selector: str
    end: str
    sign: str
    limit: float
    verdict: Verdict | None = None
    grades: tuple[Grade, ...] = (Grade.CERTAIN,)

    def check(self, comparison: Comparison) -> Outcome:
        """Say, a line each, which rows meet the condition.

        Raises UsageError: the selector matches no row.
        """
        rows = self.select(comparison.points)
        cells = [_Row(row["point_row"], read_cell(None, row)) for row in rows.iter_rows(named=True)]
        meets = self._judge(rows, comparison)
        alone = self.verdict in (*_WITHOUT_FIGURES, Verdict.INCONCLUSIVE) or self.sign == "fails"
        told = [(row, ("" if alone else _unjudged(row.cell)) or meets(row)) for row in cells]
        return Outcome(
            self.text, rows.height, tuple(f"{_name(row.cell)} {text}" for row, text in told if text)
        )

    def _judge(self, rows: pl.DataFrame, comparison: Comparison) -> Callable[[_Row], str]:
        """Give what says that a row meets the condition, or nothing."""
        if self.sign == "fails":
            return _failing
        if self.verdict is not None:
            return self._by_verdict(comparison)
        if self.end in _PLAIN:
            return self._plain
        # ".hi > 1.1" is met unless the ratio is certainly below: what is certain is the opposite.
        turned = (self.end, self.sign[0]) in (("hi", ">"), ("lo", "<"))
        above = (self.sign[0] == ">") is not turned
        certain = comparison.judged.beyond(self.limit, above=above)
        grown = not turned and above is (self.limit >= 1)

        def meets(row: _Row) -> str:
            lost = row.cell.lost if row.cell.grade is Grade.CERTAIN else None
            if lost is not None and lost.by_loss and lost.at_least is not None:
                sure = _lies_beyond(lost, self.limit, above=above)
                return "" if sure is turned else _counted(lost)
            if row.cell.ratio is None:
                return "has no ratio: it is compared as a difference"
            # What lies farther than a limit beyond 1 is a difference, as certain as its grade.
            sure = row.key in certain and not (grown and row.cell.grade is not Grade.CERTAIN)
            if sure is turned:
                return ""
            how = "is not certainly" if turned else "is certainly"
            sign = {">": "<=", "<": ">="}[self.sign[0]] if turned else self.sign[0]
            return f"{_figures(row.cell.ratio)} {how} {sign} {self.limit:g}"

        return meets

    def _by_verdict(self, comparison: Comparison) -> Callable[[_Row], str]:
        """Give what says that a row has the verdict; a difference as sure as is asked."""
        verdict = self.verdict
        if verdict not in (Verdict.SLOWER, Verdict.FASTER):
            return lambda row: f"is {verdict}" if row.cell.verdict is verdict else ""
        means = {
            (finding.platform, finding.worst.place): str(sentence(*mean_pieces(finding)))
            for finding in comparison.findings
            if finding.by_mean and finding.worst
            if finding.verdict is verdict and finding.grade in self.grades
        }

        def meets(row: _Row) -> str:
            if mean := means.get((row.cell.platform, row.cell.place)):
                return f"and the others are {mean}"
            if row.cell.verdict is not verdict or row.cell.grade not in self.grades:
                return ""
            return f"is {'likely ' if row.cell.grade is Grade.LIKELY else ''}{verdict}"

        return meets

    def _plain(self, row: _Row) -> str:
        ratio = row.cell.ratio
        value = getattr(ratio, _PLAIN[self.end]) if ratio else None
        if value is None:
            return f"has no {self.end}: {row.cell.verdict}"
        met = _OPERATORS[self.sign](value, self.limit)
        return f"{self.end} {_digits(value)} {self.sign} {self.limit:g}" if met else ""

    def select(self, points: pl.DataFrame) -> pl.DataFrame:
        """Give the rows that the selector names.

        - `points`: rows with platform, probe, metric, layer, headline, better and verdict.

        Raises UsageError: the selector matches no row.
        """
        chosen = points.filter(named(self.selector) & (pl.col("better") != "none"))
        if self.verdict is not Verdict.DOES_NOT_FIT:
            # What the plan left out was never to be measured: that is no reason to fail.
            chosen = chosen.filter(pl.col("verdict").ne_missing(Verdict.DOES_NOT_FIT.value))
        if chosen.is_empty():
            raise UsageError(
                f"--fail-if '{self.text}': nothing in this comparison is named '{self.selector}'",
                hint=did_you_mean(
                    self.selector, _names(points), "`--json` shows probes, metrics and platforms"
                ),
            )
        return chosen


def _names(points: pl.DataFrame) -> list[str]:
    """Give what a selector may name, in its longest form."""
    rows = points.filter(pl.col("better") != "none").select("probe", "metric", "layer").unique()
    full = {f"{probe}.{metric}" for probe, metric, _ in rows.iter_rows()}
    short = {f"{layer}.{metric}" for _, metric, layer in rows.iter_rows()}
    return sorted(full | short | {*rows["probe"], *rows["layer"]})


def _unjudged(cell: Cell) -> str:
    """Say why a row cannot be judged; nothing where it can."""
    if cell.verdict in _WITHOUT_FIGURES:
        return f"cannot be judged: {cell.verdict}"
    if cell.lost is not None and cell.lost.by_loss:
        return ""  # by what never ended, however few launches that were
    if cell.n_both < MIN_LAUNCHES and not cell.exact:
        return f"cannot be judged: {cell.n_both} trials, {MIN_LAUNCHES} are needed"
    return ""


def _failing(row: _Row) -> str:
    """Say how many launches crashed or were lost."""
    cell = row.cell
    if cell.verdict is Verdict.FAILED:
        return "failed in every launch"
    lost = cell.lost
    some, every = lost.ended_badly(worse=True) if lost else (0, 0)
    return f"failed in {some} of {every} launches" if some else ""


def _lies_beyond(lost: Lost, limit: float, *, above: bool) -> bool:
    """Tell whether a row that lost launches decide certainly lies above, or below, a limit."""
    worse, bound = lost.by_loss > 0, lost.at_least
    if above is not worse or bound is None:
        return False
    return bound > limit if above else bound < limit


def _counted(lost: Lost) -> str:
    worse = lost.by_loss > 0
    some, every = lost.ended_badly(worse=worse)
    end = "least" if worse else "most"
    known = f", ratio at {end} {significant(lost.at_least)}" if lost.at_least else ""
    return f"{some} of {every} launches did not finish{known}"


def _name(cell: Cell) -> str:
    place = cell.place
    return ", ".join(filter(None, [f"{place.probe} {place.metric}", place.words])) + (
        f" on {cell.platform}:"
    )


def _figures(ratio: Estimate) -> str:
    return f"ratio {with_interval(ratio, write=_digits)}"


def _digits(value: float) -> str:
    """Write a figure finely enough to see which side of a limit it lies on."""
    return significant(value, 4)


def parse_condition(text: str) -> Condition:
    """Read a condition, or raise UsageError: it is none."""
    if fails := _FAILS.fullmatch(text):
        return Condition(text, fails[1], "", "fails", 0.0)
    if verdict := _VERDICT.fullmatch(text):
        asked = parse_verdict(verdict[3])
        words = [word for word in Verdict if word is not Verdict.MIXED]
        if verdict[2]:
            words = [Verdict.SLOWER, Verdict.FASTER]
        if asked not in words:
            raise UsageError(
                f"--fail-if '{text}': no verdict '{(verdict[2] or '') + verdict[3]}'",
                hint=f"use one of: {', '.join([*words, *SYNONYMS])}",
            )
        grades = (Grade.CERTAIN, Grade.LIKELY) if verdict[2] else (Grade.CERTAIN,)
        return Condition(text, verdict[1], "", "is", 0.0, asked, grades)
    match = _COMPARISON.fullmatch(text)
    if match is None:
        raise UsageError(f"--fail-if '{text}' is no condition", hint=_FORM)
    selector, sign, number = match.groups()
    try:
        limit = float(number)
    except ValueError:
        raise UsageError(f"--fail-if '{text}': '{number}' is no number", hint=_FORM) from None
    stem, _, end = selector.rpartition(".")
    if stem and end in ("lo", "hi", *_PLAIN):
        selector = stem
    else:
        end = ""
    if end not in _PLAIN and limit <= 0:
        raise UsageError(f"--fail-if '{text}': a ratio is above 0", hint=_FORM)
    return Condition(text, selector, end, sign, limit)
