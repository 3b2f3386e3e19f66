"""The row: one value of one platform, with its comparison and its caveats.

All results of the analysis consist of rows: findings and suitability cite rows, a condition selects
a row, and plots draw rows. A variable named `cell` is a row in a table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from bareline.vocabulary.caveats import Caveat, codes, read_caveats
from bareline.vocabulary.model import Layer, Metric
from bareline.vocabulary.place import KEY, Place
from bareline.vocabulary.rows import Bounds
from bareline.vocabulary.units import plain
from bareline.vocabulary.verdicts import DecisionRule, Grade, Verdict, sure_words

if TYPE_CHECKING:
    import polars as pl

_Fields = Mapping[str, Any]
_Kind = TypeVar("_Kind", bound=StrEnum)

#: Verdicts of values that both sides have.
COMPARED = (Verdict.SLOWER, Verdict.FASTER, Verdict.EQUIVALENT, Verdict.INCONCLUSIVE)
#: Verdicts of planned values that at least one side did not deliver.
UNDELIVERED = (Verdict.FAILED, Verdict.MISSING)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its 95 % interval; a bound is None if it is open or not known."""

    value: float
    lo: float | None = None
    hi: float | None = None

    @property
    def bounded(self) -> bool:
        """Whether both bounds are known."""
        return self.lo is not None and self.hi is not None

    @property
    def known(self) -> tuple[float, ...]:
        """The value and its known bounds, which the axis of a plot must include."""
        ends = (self.value, self.lo, self.hi)
        return tuple(end for end in ends if end is not None)

    def with_ends(self) -> Estimate:
        """Return the estimate with each unknown bound replaced by the value."""
        if self.bounded:
            return self
        return Estimate(self.value, self.value, self.value)

    def times(self, factor: float) -> Estimate:
        """Return the estimate in another unit: value and bounds multiplied by `factor`."""
        lo = None
        if self.lo is not None:
            lo = self.lo * factor
        hi = None
        if self.hi is not None:
            hi = self.hi * factor
        return Estimate(self.value * factor, lo, hi)

    @property
    def ends(self) -> tuple[float, float]:
        """The lower and the upper bound; only for an estimate whose bounds are known."""
        assert self.lo is not None and self.hi is not None
        return self.lo, self.hi

    def over(self, below: Estimate) -> Estimate:
        """Return this ratio divided by `below`.

        On a log scale the half-widths are added, which is valid even if both ratios are dependent.
        """
        lo = None
        if self.lo is not None and below.hi:
            lo = self.lo / below.hi
        hi = None
        if self.hi is not None and below.lo:
            hi = self.hi / below.lo
        return Estimate(self.value / below.value, lo, hi)

    def inverse(self) -> Estimate:
        """Return the reciprocal, which expresses a ratio below 1 as "times better"."""
        lo = None
        if self.hi:
            lo = 1 / self.hi
        hi = None
        if self.lo:
            hi = 1 / self.lo
        return Estimate(1 / self.value, lo, hi)


def bounds(ratio: Estimate | None) -> Bounds:
    """Return a ratio and the bounds of its interval as columns of a row."""
    if ratio is None:
        return {"ratio": None, "lo": None, "hi": None}
    return {"ratio": ratio.value, "lo": ratio.lo, "hi": ratio.hi}


def figure(value: float | None, write: Callable[[float], str] = plain) -> str:
    """Format a value for a table; a dash for None."""
    if value is None:
        return "–"
    return write(value)


def between(interval: Estimate | None, write: Callable[[float], str] = plain) -> str:
    """Format an interval for a table: ``2.10–2.50``, ``≥ 2.10``; empty for None."""
    return _ends(interval, write, "–")


def with_interval(value: Estimate, unit: str = "", write: Callable[[float], str] = plain) -> str:
    """Format a value with its interval: ``2.34 µs [2.10, 2.50]``."""
    text = f"{write(value.value)} {unit}".rstrip()
    ends = _ends(value, write, ", ")
    if ends:
        return f"{text} [{ends}]"
    return text


def _ends(interval: Estimate | None, write: Callable[[float], str], to: str) -> str:
    """Format the bounds of an interval with text `to` between them; empty for an exact value."""
    if interval is None:
        return ""
    lo = interval.lo
    hi = interval.hi
    if lo is None:
        if hi is None:
            return ""
        return f"≤ {write(hi)}"
    if hi is None:
        return f"≥ {write(lo)}"
    if lo == hi:
        return ""
    if to == "–" and min(lo, hi) < 0:  # a dash before a minus would be read as one
        to = " to "
    return f"{write(lo)}{to}{write(hi)}"


@dataclass(frozen=True)
class LostLaunches:
    """The numbers of launches that exceeded a time limit or crashed, of a case on two platforms.

    - `lost`, `base_lost`: the number of launches that exceeded the time limit.
    - `tried`, `base_tried`: the number of launches that did not crash.
    - `crashed`, `base_crashed`: the number of launches that crashed.
    - `limit_s`: the time limit on the platform that lost more launches; None if it is not known.
    - `by_points`: `limit_s` limits each point, so that a launch left out some points but did end.
    - `took_s`: the median duration of a launch on the other platform; None if no launch ended.
    - `at_least`: the only known bound of the ratio: a lower bound if above 1, else an upper bound.
    - `by_loss`: 1 or -1 if the number of lost launches alone makes the row worse or better, else 0.
    """

    lost: int
    tried: int
    base_lost: int
    base_tried: int
    crashed: int
    base_crashed: int
    limit_s: float | None
    by_points: bool
    took_s: float | None
    at_least: float | None
    by_loss: int

    def ended_badly(self, *, worse: bool) -> tuple[int, int]:
        """Return the number of lost or crashed launches, and the number of all launches.

        - `worse`: count launches of the platform; if false, count launches of the baseline.
        """
        if worse:
            return self.lost + self.crashed, self.tried + self.crashed
        return self.base_lost + self.base_crashed, self.base_tried + self.base_crashed


@dataclass(frozen=True, slots=True)
class Row:
    """A summarized value of a platform, and its comparison with the baseline.

    - `baseline`: the platform with which the value is compared; empty without a comparison.
    - `n`, `n_baseline`: the numbers of launches of the platform and the baseline.
    - `n_failed`, `n_failed_baseline`: the numbers of failed trials of the case.
    - `value`, `base`: medians over launches, in the metric's unit; None without a value.
    - `ratio`: times worse than the baseline; None without a ratio.
    - `difference`: the difference in the metric's unit, above 0 is worse; only for values that have
      no ratio because they are not positive.
    - `verdict`: worse or better only if certain or likely; None if nothing is compared.
    - `grade`: how certain the comparison is; None if nothing is compared.
    - `rule`: the rule of `bareline.analysis.judgements.decide` that set `verdict` and `grade`.
    - `caveats`: the caveats of both platforms.
    - `own_caveats`: the caveats of the platform that the baseline does not have.
    - `reason`: why the row cannot be compared; empty if it can.
    - `exact`: both platforms are simulated, so that the interval is the models' error.
    - `n_used`: the number of compared values: launches, or boots if several launches share a boot.
    - `lost`: launches that exceeded a time limit or crashed; None if there are none.
    - `few_boots`: there are so few boots that the claims are valid for the measured boots only.
    - `point_row`: the number of the row's point in the `Cube`; None if there is no value.
    - `other_ranks`: both platforms ran the case, but not with the same number of ranks.
    """

    place: Place
    platform: str
    layer: Layer
    metric: Metric
    headline: bool = True
    baseline: str = ""
    n: int = 0
    n_baseline: int = 0
    n_failed: int = 0
    n_failed_baseline: int = 0
    value: Estimate | None = None
    base: Estimate | None = None
    ratio: Estimate | None = None
    difference: Estimate | None = None
    verdict: Verdict | None = None
    grade: Grade | None = None
    rule: DecisionRule | None = None
    caveats: tuple[Caveat, ...] = ()
    own_caveats: tuple[Caveat, ...] = ()
    reason: str = ""
    exact: bool = False
    n_used: int | None = None
    lost: LostLaunches | None = None
    few_boots: bool = False
    point_row: int | None = field(default=None, compare=False)
    other_ranks: bool = False

    @property
    def median(self) -> float | None:
        """The median over launches; None without a value."""
        if self.value is None:
            return None
        return self.value.value

    @property
    def rate(self) -> bool:
        """Whether a higher value is better; a worse rate is called "lower", not "slower"."""
        return self.metric.better == "higher"

    @property
    def n_both(self) -> int:
        """The number of compared launches of the platform with fewer launches."""
        if self.n_used is None:
            return min(self.n, self.n_baseline)
        return self.n_used

    @property
    def sure_words(self) -> str:
        """The word before the row's amount: "likely ", or empty for a certain row."""
        return sure_words(self.grade, few_boots=self.few_boots)

    @property
    def compared(self) -> bool:
        """Whether both platforms have a value, in layouts that may be compared."""
        return self.verdict in COMPARED

    @property
    def simulated(self) -> bool:
        """Whether the value is simulated time, which must never be presented as measured time."""
        return "simulated" in codes(self.caveats)

    @property
    def size(self) -> float:
        """The distance from a ratio of 1, for sorting; infinite for a verdict without a ratio."""
        if self.ratio is not None:
            return abs(math.log(self.ratio.value))
        if self.verdict is not None and self.verdict.decided:
            return math.inf
        return 0.0


def read_rows(summary: pl.DataFrame | None, comparison: pl.DataFrame | None) -> tuple[Row, ...]:
    """Read the rows of a summary, of a comparison, or of both joined."""
    rows = []
    if comparison is not None:
        rows = list(comparison.iter_rows(named=True))
    if summary is None:
        return tuple(_row(None, row) for row in rows)
    compared = {_key(row): row for row in rows}
    joined = []
    for summarized in summary.iter_rows(named=True):
        joined.append(_row(summarized, compared.pop(_key(summarized), None)))
    joined += [_row(None, row) for row in compared.values()]
    return tuple(joined)


def _row(summarized: _Fields | None, compared: _Fields | None) -> Row:
    """Return a row from its columns in a summary, in a comparison, or in both."""
    row = summarized or compared or {}
    other = compared or {}
    value = _estimate(row, "value", "", "")
    if summarized is not None:
        value = _estimate(row, "value", "lo", "hi")
    caveats = [*(row["caveats"] or ()), *(other.get("caveats") or ())]
    return Row(
        place=Place.of({**row, "nodes_used": other.get("nodes_used")}),
        platform=row["platform"],
        layer=Layer(row["layer"]),
        metric=Metric(row["unit"], row["better"], bool(row["detail"])),
        headline=bool(row["headline"]),
        baseline=other.get("baseline") or "",
        n=row["n"] or 0,
        n_baseline=other.get("n_baseline") or 0,
        n_failed=row.get("n_failed") or 0,
        n_failed_baseline=other.get("base_n_failed") or 0,
        value=value,
        base=_estimate(other, "value_baseline", "", ""),
        ratio=_estimate(other, "ratio", "lo", "hi"),
        difference=_estimate(other, "difference", "difference_lo", "difference_hi"),
        verdict=_member(Verdict, other.get("verdict")),
        grade=_member(Grade, other.get("grade")),
        rule=_member(DecisionRule, other.get("rule")),
        caveats=read_caveats(caveats),
        own_caveats=_own_caveats(other),
        reason=_reason(other),
        exact=bool(other.get("exact")),
        n_used=other.get("n_used"),
        lost=_lost(other),
        few_boots=bool(other.get("few_boots")),
        point_row=other.get("point_row"),
        other_ranks=bool(other.get("other_ranks")),
    )


def _member(kind: type[_Kind], text: str | None) -> _Kind | None:
    """Return the member of an enumeration whose value is `text`; None for None."""
    if not text:
        return None
    return kind(text)


def _reason(row: _Fields) -> str:
    """Return why a row of a comparison cannot be compared; empty without a comparison."""
    if not row.get("verdict"):
        return ""
    return reason_of(row)


def _own_caveats(row: _Fields) -> tuple[Caveat, ...]:
    """Return the platform's caveats in a comparison, without caveats that the baseline also has."""
    of_baseline = codes(read_caveats(row.get("base")))
    caveats = read_caveats(row.get("own"))
    return tuple(caveat for caveat in caveats if caveat.code not in of_baseline)


def _lost(row: _Fields) -> LostLaunches | None:
    if not any(row.get(name) for name in ("lost", "base_lost", "crashed", "base_crashed")):
        return None
    columns = {each.name: row[each.name] for each in fields(LostLaunches)}
    return LostLaunches(**columns)


def _key(row: _Fields) -> tuple[Any, ...]:
    return (row["platform"], *(row[key] for key in KEY))


def _estimate(row: _Fields, value: str, lo: str, hi: str) -> Estimate | None:
    """Read a value with its interval; None for a value that is not finite."""
    figure = finite(row.get(value))
    if figure is None:
        return None
    return Estimate(figure, finite(row.get(lo)), finite(row.get(hi)))


def finite(value: float | None) -> float | None:
    """Return the value, or None if it is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return value


def reason_of(row: _Fields) -> str:
    """Describe why a row of a comparison cannot be compared; empty if it can."""
    match row["verdict"]:
        case Verdict.NOT_COMPARABLE:
            return str(row.get("refused") or "")
        case Verdict.FAILED:
            if row["n"]:
                return f"every trial failed on {row['baseline']}"
            return "every trial failed"
        case Verdict.SKIPPED:
            return str(row.get("absent") or "")
        case Verdict.DOES_NOT_FIT:
            return str(row.get("left_out") or "")
        case Verdict.MISSING if row.get("other_ranks"):
            return str(row["other_ranks"])
        case Verdict.MISSING:
            if row["n"]:
                platform = row["baseline"]
            else:
                platform = row["platform"]
            return f"{platform} has no figure"
        case _:
            return ""
