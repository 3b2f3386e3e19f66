"""Amounts in words: this module formats all ratios and intervals of sentences.

Amounts are written as "times" worse or better, but in per cent if the ratio is below 1.25. The
interval and the range of an amount have the same unit and direction as the amount.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Estimate, LostLaunches, Row
from bareline.analysis.words.parts import Amount, Interval, Piece, sentence
from bareline.vocabulary.units import format_value, significant
from bareline.vocabulary.verdicts import DEFAULT_MARGIN, Verdict

#: Below this ratio a difference of times is written in per cent: some read "1.2 times slower" as
#: 2.2 times the time. Above it per cent mislead: "95 % slower" reads as nearly halted.
_PERCENT_BELOW = 1.255  # written 1.25


@dataclass(frozen=True, slots=True)
class Form:
    """The common form of all amounts of one sentence; amounts are ratios, above 1 is worse.

    - `worse`: the sentence is about a loss, so that a ratio is written unchanged, not inverted.
    - `rate`: the metric is a rate, which becomes "lower" instead of "slower".
    - `in_percent`: amounts are written in per cent instead of "times".
    """

    worse: bool
    rate: bool
    in_percent: bool

    @classmethod
    def of(cls, ratio: float, rate: bool, *others: float) -> Form:
        """Choose the most readable form for a ratio and the other ratios of its sentence."""
        farthest = max(max(each, 1 / each) for each in (ratio, *others))
        return cls(worse=ratio > 1, rate=rate, in_percent=farthest <= _PERCENT_BELOW)

    @property
    def unit(self) -> str:
        """The words after the number: ``times slower`` or ``% lower``."""
        direction = word(self.rate, worse=self.worse)
        if self.in_percent:
            return f"% {direction}"
        return f"times {direction}"

    def write(self, ratio: float) -> str:
        """Write a ratio without its unit: ``2.34``."""
        if self.in_percent and self.rate and self.worse:
            return _percent(1 - 1 / ratio)
        times = ratio
        if not self.worse:
            times = 1 / ratio
        if self.in_percent:
            return _percent(times - 1)
        return significant(times)

    def text(self, ratio: float) -> str:
        """Write a ratio with its unit: ``2.34 times slower``."""
        return f"{self.write(ratio)} {self.unit}"

    def bounds(self, ratio: Estimate, worse: bool) -> list[Piece]:
        """Format the interval of a ratio, the smaller number first; a bound may be open."""
        if ratio.lo is None and ratio.hi is None:
            return []
        low = None
        if ratio.lo:
            low = self.write(ratio.lo)
        high = None
        if ratio.hi:
            high = self.write(ratio.hi)
        if self.unit == "% lower":
            return [" ", Interval(low or "-", high or "100")]
        if worse:
            return [" ", Interval(low or "-", high or "unlimited")]
        return [" ", Interval(high or "-", low or "unlimited")]


def _percent(share: float) -> str:
    """Format a share in per cent, with enough digits to distinguish it from 0."""
    percent = 100 * share
    if abs(percent) >= 9.95:
        return f"{percent:.0f}"
    if abs(percent) >= 0.05:
        return f"{percent:.1f}"
    return significant(percent, 1)


def word(rate: bool, *, worse: bool) -> str:
    """Return "lower" or "higher" for a rate, "slower" or "faster" for any other metric."""
    if rate:
        if worse:
            return "lower"
        return "higher"
    if worse:
        return "slower"
    return "faster"


def ratio_pieces(ratio: Estimate, rate: bool) -> list[Piece]:
    """Write a ratio with its interval: ``2.34 times slower [2.10, 2.50]``."""
    form = Form.of(ratio.value, rate)
    text = form.text(ratio.value)
    bounds = form.bounds(ratio, ratio.value > 1)
    return [Amount(text), *bounds]


def ratio_words(ratio: Estimate | None, rate: bool) -> str:
    """Format a ratio with its interval as plain words; a missing ratio also has words."""
    if ratio is None:
        return "no ratio"
    pieces = ratio_pieces(ratio, rate)
    text = sentence(pieces).text
    if len(pieces) > 1:
        return text
    if text.startswith("0 % "):
        return "no difference"
    return f"{text}, without an interval"


class _End(NamedTuple):
    """One bound of a range in words: ``1.3`` and ``times slower``; ``equal`` has no unit."""

    amount: str
    unit: str

    def __str__(self) -> str:
        return f"{self.amount} {self.unit}".rstrip()


def span(lo: float | None, hi: float | None, rate: bool) -> str:
    """Format the range of a ratio: ``between 20 % faster and 1.3 times slower``."""
    if lo is None and hi is None:
        return "no interval"
    if not lo and not hi:
        return "any amount either way"
    ends = [ratio for ratio in (lo, hi) if ratio]
    low = _end(lo, ends, rate, worse=False)
    high = _end(hi, ends, rate, worse=True)
    if hi and hi < 1:  # the larger gain comes last
        low, high = high, low
    if low.unit == high.unit:
        return f"between {low.amount} and {high}"
    return f"between {low} and {high}"


def _end(ratio: float | None, ends: Sequence[float], rate: bool, *, worse: bool) -> _End:
    """Format a bound of a range; an open bound (None) is written as "any amount".

    - `ends`: the known bounds of the range.
    """
    if not ratio:
        return _End("any amount", word(rate, worse=worse))
    if ratio == 1:
        return _End("equal", "")
    form = Form.of(ratio, rate, *ends)
    return _End(form.write(ratio), form.unit)


def amount_pieces(points: Sequence[Row], rate: bool) -> list[Piece]:
    """Describe how much points differ (all worse or all better), as one amount or a range."""
    first = points[0]
    if first.ratio is None:
        return _off_scale(first, rate)
    if first.lost is not None and first.lost.by_loss:  # the number of lost launches decides
        direction = word(rate, worse=first.lost.by_loss > 0)
        others = ratio_pieces(first.ratio, rate)
        return [Amount(direction), f" ({lost_words(first)}; the others ", *others, ")"]
    form = Form.of(first.ratio.value, rate)
    ratios = []
    for point in points:
        if point.ratio is not None:
            ratios.append(point.ratio.value)
    largest = form.write(max(ratios))
    smallest = form.write(min(ratios))
    if first.ratio.value <= 1:  # better: the smallest ratio is the largest gain
        largest, smallest = smallest, largest
    if largest == smallest:
        return ratio_pieces(first.ratio, rate)
    return [Amount(f"between {smallest} and {largest} {form.unit}")]


def at_most(point: Row, rate: bool, *, of_several: bool, direction: bool) -> list[Piece]:
    """Format the largest of several differences, without interval: ``up to 2.34 times slower``."""
    if point.ratio is None:
        return amount_pieces([point], rate)
    form = Form.of(point.ratio.value, rate)
    text = form.text(point.ratio.value)
    if not direction:
        text = text.rpartition(" ")[0]
    amount = Amount(text)
    if of_several:
        return ["up to ", amount]
    return [amount]


def mean_pieces(finding: Finding, *, bounded: bool = True) -> list[Piece]:
    """Format a finding's mean: ``4.9 % slower [4.1, 5.6] in the mean of 9 points``."""
    mean = finding.mean
    assert mean is not None
    if mean.by_loss:  # their number decides; the ratio of ended launches may be near 1
        launches = f"{mean.base_lost} of {mean.base_tried}"
        if mean.by_loss > 0:
            launches = f"{mean.lost} of {mean.tried}"
        direction_word = word(finding.rate, worse=mean.by_loss > 0)
        direction = Amount(direction_word)
        return [direction, f" (did not finish in {launches} launches)"]
    pieces = ratio_pieces(mean.ratio, finding.rate)
    if not bounded:
        pieces = pieces[:1]
    return [*pieces, f" in the mean of {mean.points} points"]


def worst_pieces(finding: Finding, points: Sequence[Row]) -> list[Piece]:
    """Name the worst of several points with its interval: ``largest at 8 B: 2.34 [2.1, 2.5]``."""
    first = points[0]
    if len(points) == 1 or first.ratio is None:
        return []
    form = Form.of(first.ratio.value, finding.rate)
    amount = form.write(first.ratio.value)
    if form.in_percent:
        amount = f"{amount} %"
    bounds = form.bounds(first.ratio, first.ratio.value > 1)
    label = finding.label(first)
    return [f"largest at {label}: {amount}", *bounds]


def reach(point: Row, rate: bool, margin: float = DEFAULT_MARGIN) -> str:
    """Format the range of an undecided point; as "at most ..." if a bound is within the margin."""
    if point.ratio is None:
        return _reach_of_difference(point)
    model = ""
    if point.exact:
        model = ", by the error of the model"
    lo = point.ratio.lo
    hi = point.ratio.hi
    if lo and hi and lo <= 1 < hi:
        smaller_side = min(hi, 1 / lo)
        if smaller_side <= 1 + margin:
            return f"at most {Form.of(hi, rate).text(hi)}{model}"
    return f"{span(lo, hi, rate)}{model}"


def _reach_of_difference(point: Row) -> str:
    """Format the range of a point without a ratio, as a range of differences."""
    difference = point.difference
    if difference is None:
        return "no interval"
    if difference.lo is None:
        return "no interval"
    if difference.hi is None:
        return "no interval"
    low = format_value(difference.lo, point.metric.unit)
    high = format_value(difference.hi, point.metric.unit)
    return f"a difference from {low} to {high}"


def _off_scale(point: Row, rate: bool) -> list[Piece]:
    """Describe a difference without a ratio, because a value is zero or launches were lost."""
    difference = point.difference
    if difference is None:
        return _beyond_limit(point, rate)
    unit = point.metric.unit
    direction = "better"
    if difference.value > 0:
        direction = "worse"
    size = format_value(abs(difference.value), unit)
    amount = Amount(f"{size} {direction}")
    if difference.lo is None or difference.hi is None:
        return [amount]
    lo = abs(difference.lo)
    hi = abs(difference.hi)
    low, high = sorted((lo, hi))
    low_text = format_value(low, unit)
    high_text = format_value(high, unit)
    return [amount, " ", Interval(low_text, high_text)]


def _beyond_limit(point: Row, rate: bool) -> list[Piece]:
    """Describe a point without a ratio, because launches exceeded a time limit."""
    direction = word(rate, worse=point.verdict is not Verdict.FASTER)
    lost = point.lost
    if lost is None:
        return [Amount(f"{direction} than any limit measures")]
    if point.value is not None and point.base is not None:  # some ended: add their ratio
        others = _ratio_of_ended(point.value.value, point.base.value, rate)
        return [Amount(direction), f" ({lost_words(point)}; the others {others})"]
    amount = direction
    if lost.at_least is not None:
        least = Form.of(lost.at_least, rate).text(lost.at_least)
        amount = f"at least {least}"
    return [Amount(amount), f" ({lost_words(point)})"]


def _ratio_of_ended(value: float, base: float, rate: bool) -> str:
    """Describe the ratio of the medians of the launches that ended."""
    larger = max(value, base)
    distance = larger / min(value, base)
    if distance <= 1 + DEFAULT_MARGIN:
        return "equal"
    if rate:
        worse = base / value
    else:
        worse = value / base
    return Form.of(worse, rate).text(worse)


def lost_words(point: Row) -> str:
    """Describe the lost launches: ``did not finish within 0.1 s in 4 of 7 launches``."""
    lost = point.lost
    if lost is None:
        return ""
    lost_here, launches_here = lost.ended_badly(worse=True)
    lost_there, launches_there = lost.ended_badly(worse=False)
    if lost_here >= lost_there:
        return _losses(lost, late=lost.lost, crashed=lost.crashed, launches=launches_here)
    losses = _losses(lost, late=lost.base_lost, crashed=lost.base_crashed, launches=launches_there)
    return f"{losses} on {point.baseline}"


def _losses(lost: LostLaunches, *, late: int, crashed: int, launches: int) -> str:
    """Count the launches of one platform that exceeded the limit, and those that crashed."""
    losses = []
    if late:
        limit = _limit_words(lost)
        losses.append(f"did not finish {limit} in {late} of {launches} launches")
    if crashed:
        losses.append(f"crashed in {crashed} of {launches} launches")
    return " and ".join(losses)


def _limit_words(lost: LostLaunches) -> str:
    if not lost.limit_s:
        return "within its limit"
    limit = f"within {format_value(lost.limit_s, 's')}"
    if lost.by_points:
        return f"{limit} a size"
    return limit


def width(point: Row) -> float:
    """Return the width of the point's interval, as a difference of logarithms."""
    if point.ratio and point.ratio.lo and point.ratio.hi:
        quotient = point.ratio.hi / point.ratio.lo
        return math.log(quotient)
    return math.inf
