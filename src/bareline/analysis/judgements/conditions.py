"""Conditions for continuous integration: ``--fail-if 'mpi.latency > 1.1'``.

A condition selects rows of a comparison and defines when they count as a failure::

    SELECTOR > NUMBER         the ratio to the baseline (above 1 is worse) is certainly above the
                              number; with < certainly below
    SELECTOR.hi > NUMBER      the ratio is not certainly at or below the number; with .lo and < it
                              is not certainly at or above
    SELECTOR.ratio > NUMBER   the estimate of a single row is above the number; .lo95 and .hi95 are
                              the ends of the row's own 95 % interval
    SELECTOR is VERDICT       slower (or worse) or faster (or better), certainly; equivalent (or
                              equal), inconclusive (or undecided), not-comparable, missing, failed
    SELECTOR is likely slower the same, certain or likely
    SELECTOR fails            any launch crashed, or exceeded its limit

"Certainly" has the same meaning as on a page, and is valid for all claims together: without any
difference, at most 5 % of comparisons meet a condition, whichever rows it selects. Rows on which a
page makes no claims (details, too few boots) are never "certain", only "likely", except rows that
the study's question names. Estimates and intervals of single rows meet a condition by chance, and
more often if there are more rows. Rows without values (failed, missing) meet every condition: a
missing measurement does not prove that the platform is good enough.

A row that does not meet a condition does not always pass it. ``> 1.1``, ``< 0.9``, ``is slower``
and ``is faster`` have three results:

- met;
- not met: the row's own 95 % interval ends before the limit. All rows together are wrongly passed
  in at most 5 % of cases (the intersection-union test needs no correction);
- undecided: the launches show neither of these results.

A selector is a layer (``mpi``), a layer's metric (``mpi.latency``), a probe (``mpi.pingpong``) or a
probe's metric (``mpi.pingpong.latency``). ``PLATFORM:`` in front selects one platform. Without a
metric the headline metric counts.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import polars as pl

from bareline.analysis.judgements.comparison import JudgedComparison
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Row
from bareline.analysis.numbers.selection import selector_filter
from bareline.vocabulary.errors import UsageError, did_you_mean
from bareline.vocabulary.verdicts import MIN_LAUNCHES, SYNONYMS, Grade, Verdict, parse_verdict

_COMPARISON = re.compile(r"\s*(\S+?)\s*(>=|<=|>|<)\s*(\S+)\s*")
_VERDICT = re.compile(r"\s*(\S+)\s+is\s+(likely\s+)?([\w-]+)\s*")
_FAILS = re.compile(r"\s*(\S+)\s+fails\s*")
_OPERATORS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
#: The column that each end of a selector compares: values of a single row.
_PLAIN = {"ratio": "value", "lo95": "lo", "hi95": "hi"}
_FORM = "write e.g. --fail-if 'mpi.latency > 1.1' or --fail-if 'mpi is slower'"
#: Verdicts of rows without figures. Such rows meet every condition that asks for a figure.
WITHOUT_FIGURES = (Verdict.MISSING, Verdict.FAILED, Verdict.SKIPPED, Verdict.NOT_COMPARABLE)


class How(StrEnum):
    """The way in which a row meets a condition."""

    UNJUDGED = "unjudged"
    FAILS = "fails"
    VERDICT = "verdict"
    LOST = "lost"
    ESTIMATE = "estimate"
    CERTAIN = "certain"
    NOT_CERTAIN = "not certain"


@dataclass(frozen=True, slots=True)
class Match:
    """A row that meets a condition.

    - `mean`: the finding whose mean meets the condition; None if the row itself meets it.
    - `value`: the estimate, or the end of an interval, that was compared with the limit; None if
      the condition does not compare an estimate.
    """

    cell: Row
    how: How
    mean: Finding | None = None
    value: float | None = None


@dataclass(frozen=True, slots=True)
class ConditionRows:
    """The rows that a condition selects, by their result.

    - `tested`: the number of rows that the selector selects.
    - `met`: the rows that meet the condition.
    - `undecided`: the rows whose launches do not show whether the row meets the condition.
    - `passed`: the rows that certainly do not meet the condition. If the condition is not about
      certainty, these are all rows that do not meet it.
    """

    tested: int
    met: tuple[Match, ...]
    undecided: tuple[Row, ...]
    passed: tuple[Row, ...]


_Judge = Callable[[Row], Match | None]


@dataclass(frozen=True, slots=True)
class FailCondition:
    """A parsed condition.

    `end` is the last part of the selector, which names the compared number: "" for the ratio, "lo"
    or "hi" for its certain bounds, or a key of `_PLAIN`. `grades` are the grades that meet a
    condition such as "is slower".
    """

    text: str
    selector: str
    end: str
    sign: str
    limit: float
    verdict: Verdict | None = None
    grades: tuple[Grade, ...] = (Grade.CERTAIN,)

    def sort_rows(self, comparison: JudgedComparison) -> ConditionRows:
        """Return which of the selected rows meet the condition, pass it, or are undecided.

        Raises UsageError: the selector matches no row.
        """
        rows = self.select(comparison.points)
        judge = self._judge(comparison)
        met: list[Match] = []
        undecided: list[Row] = []
        passed: list[Row] = []
        for row in comparison.cells_in(rows):
            match = self._match(row, judge)
            if match is not None:
                met.append(match)
            elif self._has_too_few(row) or self._may_meet(row, comparison.margin):
                undecided.append(row)
            else:
                passed.append(row)
        return ConditionRows(rows.height, tuple(met), tuple(undecided), tuple(passed))

    def _match(self, row: Row, judge: _Judge) -> Match | None:
        """Return how a row meets the condition; None if it does not."""
        if not self.asks_no_figure and row.verdict in WITHOUT_FIGURES:
            return Match(row, How.UNJUDGED)
        if self._has_too_few(row):
            if self.needs_certainty:
                return Match(row, How.UNJUDGED)
            return None
        return judge(row)

    def _has_too_few(self, row: Row) -> bool:
        """Whether the condition needs a ratio, and the row has too few launches for one."""
        return not self.asks_no_figure and has_few(row)

    @property
    def asks_no_figure(self) -> bool:
        """Whether rows without a ratio (for example failed rows) can meet the condition."""
        figures = (Verdict.SLOWER, Verdict.FASTER, Verdict.EQUIVALENT)
        if self.sign == "fails":
            return True
        return self.verdict is not None and self.verdict not in figures

    @property
    def needs_certainty(self) -> bool:
        """Whether uncertain rows also meet the condition, as for ``.hi > 1.1``."""
        end_and_sign = (self.end, self.sign[0])
        return end_and_sign in (("hi", ">"), ("lo", "<"))

    @property
    def is_certain(self) -> bool:
        """Whether only certain rows meet the condition.

        For uncertain rows the result may be undecided.
        """
        if self.verdict is not None:
            return self.verdict in (Verdict.SLOWER, Verdict.FASTER)
        if self.sign == "fails":
            return False
        if self.end in _PLAIN:
            return False
        return not self.needs_certainty

    @property
    def looks_above(self) -> bool:
        """Whether large ratios meet the condition."""
        return self.verdict is Verdict.SLOWER or self.sign[0] == ">"

    def limit_for(self, margin: float) -> float:
        """Return the limit of the ratio.

        For a condition on a verdict, the limit follows from the margin.
        """
        if self.verdict is None:
            return self.limit
        if self.looks_above:
            return 1 + margin
        return 1 / (1 + margin)

    def _may_meet(self, row: Row, margin: float) -> bool:
        """Whether a row that does not meet the condition might meet it with more launches."""
        if not self.is_certain:
            return False
        if row.lost is not None and row.lost.by_loss and row.grade is Grade.CERTAIN:
            return (row.lost.by_loss > 0) is self.looks_above
        if row.ratio is None:
            if self.looks_above:
                opposite = Verdict.FASTER
            else:
                opposite = Verdict.SLOWER
            return row.verdict not in (Verdict.EQUIVALENT, opposite)
        if self.looks_above:
            bound = row.ratio.hi
        else:
            bound = row.ratio.lo
        if bound is None:
            return True
        limit = self.limit_for(margin)
        if self.looks_above:
            return bound > limit
        return bound < limit

    def _judge(self, comparison: JudgedComparison) -> _Judge:
        if self.sign == "fails":
            return _by_failure
        if self.verdict is not None:
            return self._by_verdict(comparison)
        if self.end in _PLAIN:
            return self._by_estimate
        return self._by_certainty(comparison)

    def _by_certainty(self, comparison: JudgedComparison) -> _Judge:
        """Return the function that judges rows for conditions such as ``> 1.1`` and ``.hi > 1.1``.

        ``> 1.1`` is met if the ratio is certainly above; ``.hi > 1.1`` if it is not certainly
        below.
        """
        by_doubt = self.needs_certainty
        above = self.looks_above is not by_doubt
        certain = comparison.judged.beyond(self.limit, above=above)
        # A row beyond a limit on its side of 1 also differs from 1, at most as certainly as its
        # grade.
        asks_grade = not by_doubt and above is (self.limit >= 1)
        if by_doubt:
            way = How.NOT_CERTAIN
        else:
            way = How.CERTAIN

        def met(row: Row) -> Match | None:
            by_loss = _is_beyond_by_loss(row, self.limit, above=above)
            if by_loss is not None:
                if by_loss is by_doubt:
                    return None
                return Match(row, How.LOST)
            if row.ratio is None:
                return Match(row, way)
            beyond = (row.platform, row.baseline, row.point_row) in certain
            if asks_grade and row.grade is not Grade.CERTAIN:
                beyond = False
            if beyond is by_doubt:
                return None
            return Match(row, way)

        return met

    def _by_verdict(self, comparison: JudgedComparison) -> _Judge:
        differs = self.verdict in (Verdict.SLOWER, Verdict.FASTER)
        means = {}
        for finding in comparison.findings:
            if (differs and finding.by_mean and finding.worst) and (
                finding.verdict is self.verdict and finding.grade in self.grades
            ):
                means[(finding.platform, finding.worst.place)] = finding

        def met(cell: Row) -> Match | None:
            if mean := means.get((cell.platform, cell.place)):
                return Match(cell, How.VERDICT, mean)
            sure = not differs or cell.grade in self.grades
            if cell.verdict is self.verdict and sure:
                return Match(cell, How.VERDICT)
            return None

        return met

    def _by_estimate(self, cell: Row) -> Match | None:
        value = None
        if cell.ratio:
            name = _PLAIN[self.end]
            value = getattr(cell.ratio, name)
        met = value is None or _OPERATORS[self.sign](value, self.limit)
        if met:
            return Match(cell, How.ESTIMATE, value=value)
        return None

    def select(self, points: pl.DataFrame) -> pl.DataFrame:
        """Return the rows that the selector selects.

        Raises UsageError: the selector matches no row.
        """
        chosen = points.filter(selector_filter(self.selector) & (pl.col("better") != "none"))
        if self.verdict is not Verdict.DOES_NOT_FIT:
            # Cases that the plan left out were not to be measured, so they cannot fail.
            fits = pl.col("verdict").ne_missing(Verdict.DOES_NOT_FIT.value)
            chosen = chosen.filter(fits)
        if chosen.is_empty():
            rows = points.filter(pl.col("better") != "none")
            names = {*rows["probe"], *rows["layer"]}
            for column in ("probe", "layer"):
                metrics = rows.select(column, "metric")
                names.update(".".join(row) for row in metrics.iter_rows())
            raise UsageError(
                f"--fail-if '{self.text}': nothing in this comparison is named '{self.selector}'",
                hint=did_you_mean(
                    self.selector, sorted(names), "`--json` shows probes, metrics and platforms"
                ),
            )
        return chosen


def has_few(row: Row) -> bool:
    """Whether a row has too few launches for a verdict."""
    if row.lost is not None and row.lost.by_loss:
        return False  # launches that never ended decide, however few they are
    return row.n_both < MIN_LAUNCHES and not row.exact


def _is_beyond_by_loss(row: Row, limit: float, *, above: bool) -> bool | None:
    """Whether lost launches put a row certainly beyond a limit; None if they do not decide."""
    lost = row.lost
    if row.grade is not Grade.CERTAIN or lost is None:
        return None
    if not lost.by_loss or lost.at_least is None:
        return None
    is_worse = lost.by_loss > 0
    if above:
        beyond = lost.at_least > limit
    else:
        beyond = lost.at_least < limit
    return beyond and is_worse is above


def _by_failure(cell: Row) -> Match | None:
    lost = cell.lost is not None and cell.lost.ended_badly(worse=True)[0] > 0
    if lost or cell.verdict is Verdict.FAILED:
        return Match(cell, How.FAILS)
    return None


def parse_condition(text: str) -> FailCondition:
    """Parse a condition.

    Raises UsageError: the text is not a valid condition.
    """
    fails = _FAILS.fullmatch(text)
    if fails:
        return FailCondition(text, fails[1], "", "fails", 0.0)
    verdict = _VERDICT.fullmatch(text)
    if verdict:
        return _verdict_condition(text, verdict[1], verdict[2] or "", verdict[3])
    match = _COMPARISON.fullmatch(text)
    if match is None:
        raise UsageError(f"--fail-if '{text}' is not a valid condition", hint=_FORM)
    return _ratio_condition(text, match[1], match[2], match[3])


def _verdict_condition(text: str, selector: str, likely: str, word: str) -> FailCondition:
    """Return the condition on a verdict; if `likely` is not empty, likely rows also meet it."""
    asked_verdict = parse_verdict(word)
    verdicts = [verdict for verdict in Verdict if verdict is not Verdict.MIXED]
    grades: tuple[Grade, ...] = (Grade.CERTAIN,)
    if likely:
        verdicts = [Verdict.SLOWER, Verdict.FASTER]
        grades = (Grade.CERTAIN, Grade.LIKELY)
    if asked_verdict not in verdicts:
        raise UsageError(
            f"--fail-if '{text}': '{likely + word}' is not a verdict",
            hint=f"use one of: {', '.join([*verdicts, *SYNONYMS])}",
        )
    return FailCondition(text, selector, "", "is", 0.0, asked_verdict, grades)


def _ratio_condition(text: str, selector: str, sign: str, number: str) -> FailCondition:
    """Return the condition on a ratio, an end of its interval, or an estimate."""
    try:
        limit = float(number)
    except ValueError:
        raise UsageError(f"--fail-if '{text}': '{number}' is not a number", hint=_FORM) from None
    stem, _, end = selector.rpartition(".")
    if not stem or end not in ("lo", "hi", *_PLAIN):
        stem = selector
        end = ""
    if end not in _PLAIN and limit <= 0:
        raise UsageError(f"--fail-if '{text}': a ratio must be above 0", hint=_FORM)
    return FailCondition(text, stem, end, sign, limit)
