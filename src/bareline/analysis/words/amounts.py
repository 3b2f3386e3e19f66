"""Amounts in words: the one writer of ratios and of their intervals.

One unit on a page: so many times worse, or better, and per cent below 1.25. One amount has one
unit: its interval and its range are written as the amount is, and in the same direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bareline import stats
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Estimate, Row
from bareline.analysis.words.parts import Amount, Interval, Piece
from bareline.vocabulary.units import format_value, significant
from bareline.vocabulary.verdicts import DEFAULT_MARGIN, MIN_LAUNCHES, Verdict

#: Below this ratio a difference of times is written in per cent: some read "1.2 times slower" as
#: 2.2 times the time. Above it per cent mislead: "95 % slower" reads as nearly halted.
_PERCENT_BELOW = 1.255  # written 1.25
#: Above this number of launches the sentences only name this bound.
MOST_LAUNCHES = 200


@dataclass(frozen=True, slots=True)
class Form:
    """The common form of all amounts of one sentence; amounts are ratios, above 1 for worse."""

    write: Callable[[float], str]
    unit: str

    @classmethod
    def of(cls, ratio: float, rate: bool, *others: float) -> Form:
        """Choose the form in which a ratio, and further ratios of its sentence, read best."""
        worse = ratio > 1
        how = word(rate, worse=worse)
        if max(max(each, 1 / each) for each in (ratio, *others)) > _PERCENT_BELOW:
            return cls(lambda r: significant(r if worse else 1 / r), f"times {how}")
        if rate and worse:
            return cls(lambda r: _percent(1 - 1 / r), f"% {how}")
        return cls(lambda r: _percent((r if worse else 1 / r) - 1), f"% {how}")

    def text(self, ratio: float) -> str:
        """Write a ratio with its unit: ``2.34 times slower``."""
        return f"{self.write(ratio)} {self.unit}"

    def bounds(self, ratio: Estimate, worse: bool) -> list[Piece]:
        """Write its interval, the smaller figure first; a bound may be open."""
        if ratio.lo is None and ratio.hi is None:
            return []
        low = self.write(ratio.lo) if ratio.lo else None
        high = self.write(ratio.hi) if ratio.hi else None
        if self.unit == "% lower":
            return [" ", Interval(low or "-", high or "100")]
        first, last = (low, high) if worse else (high, low)
        return [" ", Interval(first or "-", last or "unlimited")]


def _percent(share: float) -> str:
    """Write a share in per cent with enough digits to distinguish it from 0."""
    percent = 100 * share
    if abs(percent) >= 9.95:
        return f"{percent:.0f}"
    return f"{percent:.1f}" if abs(percent) >= 0.05 else significant(percent, 1)


def word(rate: bool, *, worse: bool) -> str:
    """Describe worse or better of a rate or a time."""
    worst, best = ("lower", "higher") if rate else ("slower", "faster")
    return worst if worse else best


def ratio_pieces(ratio: Estimate, rate: bool) -> list[Piece]:
    """Write a ratio with its interval: ``2.34 times slower [2.10, 2.50]``."""
    form = Form.of(ratio.value, rate)
    return [Amount(form.text(ratio.value)), *form.bounds(ratio, ratio.value > 1)]


def ratio_words(ratio: Estimate | None, rate: bool) -> str:
    """Write a ratio with its interval as plain words, or that it has none."""
    if ratio is None:
        return "no ratio"
    pieces = ratio_pieces(ratio, rate)
    text = "".join(piece if isinstance(piece, str) else piece.text for piece in pieces)
    if len(pieces) > 1:
        return text
    return "no difference" if text.startswith("0 % ") else f"{text}, without an interval"


def span(lo: float | None, hi: float | None, rate: bool) -> str:
    """Write the range of a ratio: ``between 20 % faster and 1.3 times slower``."""
    if lo is None and hi is None:
        return "no interval"
    if not lo and not hi:
        return "any amount either way"

    both = [ratio for ratio in (lo, hi) if ratio]

    def end(ratio: float | None, *, worse: bool) -> tuple[str, str]:
        if not ratio:
            return "any amount", word(rate, worse=worse)
        if ratio == 1:
            return "equal", ""
        form = Form.of(ratio, rate, *both)
        return form.write(ratio), form.unit

    low, high = end(lo, worse=False), end(hi, worse=True)
    if hi and hi < 1:
        low, high = high, low
    first = low[0] if low[1] == high[1] else " ".join(filter(None, low))
    return f"between {first} and {' '.join(filter(None, high))}"


def amount_pieces(points: Sequence[Row], rate: bool) -> list[Piece]:
    """Describe how much points of one direction differ: one with its interval, several by range."""
    first = points[0]
    if first.ratio is None:
        return _off_scale(first, rate)
    if first.lost is not None and first.lost.by_loss:  # the number of lost launches decides
        how = Amount(word(rate, worse=first.lost.by_loss > 0))
        others = ratio_pieces(first.ratio, rate)
        return [how, f" ({lost_words(first)}; the others ", *others, ")"]
    ratios = [point.ratio.value for point in points if point.ratio is not None]
    form = Form.of(first.ratio.value, rate)
    ends = (max(ratios), min(ratios)) if first.ratio.value > 1 else (min(ratios), max(ratios))
    largest, smallest = map(form.write, ends)
    if largest == smallest:
        return ratio_pieces(first.ratio, rate)
    return [Amount(f"between {smallest} and {largest} {form.unit}")]


def at_most(point: Row, rate: bool, *, of_several: bool, direction: bool) -> list[Piece]:
    """Format a change without its interval, the largest of several: ``up to 2.34 times slower``."""
    if point.ratio is None:
        return amount_pieces([point], rate)
    text = Form.of(point.ratio.value, rate).text(point.ratio.value)
    amount = Amount(text if direction else text.rpartition(" ")[0])
    return ["up to ", amount] if of_several else [amount]


def mean_pieces(finding: Finding, *, bounded: bool = True) -> list[Piece]:
    """Format a finding's mean: ``4.9 % slower [4.1, 5.6] in the mean of 9 points``."""
    mean = finding.mean
    assert mean is not None
    if mean.by_loss:  # their number decides; the ratio of ended launches may be near 1
        worse = mean.by_loss > 0
        lost, tried = (mean.lost, mean.tried) if worse else (mean.base_lost, mean.base_tried)
        how = Amount(word(finding.rate, worse=worse))
        return [how, f" (did not finish in {lost} of {tried} launches)"]
    pieces = ratio_pieces(mean.ratio, finding.rate)
    return [*(pieces if bounded else pieces[:1]), f" in the mean of {mean.points} points"]


def worst_pieces(finding: Finding, points: Sequence[Row]) -> list[Piece]:
    """Name the first of several points with its interval: ``most at 8 B: 2.34 [2.1, 2.5]``."""
    first = points[0]
    if len(points) == 1 or first.ratio is None:
        return []
    form = Form.of(first.ratio.value, finding.rate)
    percent = " %" if form.unit.startswith("%") else ""
    bounds = form.bounds(first.ratio, first.ratio.value > 1)
    return [f"most at {finding.label(first)}: {form.write(first.ratio.value)}{percent}", *bounds]


def reach(point: Row, rate: bool, margin: float = DEFAULT_MARGIN) -> str:
    """Format the range of an open point, as a bound where one side hardly matters."""
    ratio = point.ratio
    if ratio is not None:
        model = ", by the error of the model" if point.exact else ""
        lo, hi = ratio.lo, ratio.hi
        if lo and hi and lo <= 1 < hi and min(hi, 1 / lo) <= 1 + margin:
            return f"at most {Form.of(hi, rate).text(hi)}{model}"
        return f"{span(lo, hi, rate)}{model}"
    apart = point.difference
    if apart is None or apart.lo is None or apart.hi is None:
        return "no interval"
    unit = point.metric.unit
    low, high = (format_value(value, unit) for value in (apart.lo, apart.hi))
    return f"a difference from {low} to {high}"


def outlook_words(points: Sequence[Row], margin: float) -> str:
    """Return how many more launches would make the middle one of a platform's points likely.

    For a ratio within the margin, it is the number that would show it equal. The forecast is for a
    row by itself: certainty over a whole page needs more (`bareline.stats.outlook`).
    """
    outlooks = []
    for point in points:
        if point.ratio is None or point.exact or point.n_both < MIN_LAUNCHES:
            continue
        ratio = point.ratio
        launches = stats.launches_to_decide(
            ratio.value, ratio.lo, ratio.hi, point.n_both, margin=margin
        )
        if launches is not None:
            outlooks.append((launches, point.n_both, abs(math.log(ratio.value))))
    if not outlooks:
        return ""
    outlooks.sort(key=lambda outlook: outlook[0].likely)
    middle, n, distance = outlooks[len(outlooks) // 2]
    if middle.fewest > MOST_LAUNCHES:
        return f"more than {MOST_LAUNCHES} launches would be needed"
    effect = "would make it likely" if distance > math.log1p(margin) else "would show it equal"
    low, high = _rounded(middle.fewest - n), _rounded(middle.most - n)
    if middle.likely > MOST_LAUNCHES:
        return f"between {low} and {high} more launches {effect}"
    ends = "" if low == high else f" ({low} to {high})"
    more = _rounded(middle.likely - n)
    launches_noun = "launch" if more == "1" else "launches"
    return f"about {more} more {launches_noun}{ends} {effect}"


def _rounded(launches: float) -> str:
    if launches > MOST_LAUNCHES:
        return f"more than {MOST_LAUNCHES}"
    step = 1
    if launches >= 40:
        step = 10
    elif launches >= 15:
        step = 5
    return f"{max(1, step * round(launches / step)):.0f}"


def _off_scale(point: Row, rate: bool) -> list[Piece]:
    """Describe a difference where there is no ratio: a value is zero, or launches were lost."""
    apart = point.difference
    if apart is None:
        return _beyond_limit(point, rate)
    unit = point.metric.unit
    how = "worse" if apart.value > 0 else "better"
    amount = Amount(f"{format_value(abs(apart.value), unit)} {how}")
    if apart.lo is None or apart.hi is None:
        return [amount]
    low, high = sorted((abs(apart.lo), abs(apart.hi)))
    return [amount, " ", Interval(format_value(low, unit), format_value(high, unit))]


def _beyond_limit(point: Row, rate: bool) -> list[Piece]:
    worse = point.verdict is not Verdict.FASTER
    lost = point.lost
    if lost is None:
        return [Amount(f"{word(rate, worse=worse)} than any limit measures")]
    own, base = point.value, point.base
    if own is not None and base is not None:  # some ended: add their ratio
        apart = max(own.value, base.value) / min(own.value, base.value)
        others = own.value / base.value if not rate else base.value / own.value
        alike = apart <= 1 + DEFAULT_MARGIN
        rest = "equal" if alike else Form.of(others, rate).text(others)
        return [Amount(word(rate, worse=worse)), f" ({lost_words(point)}; the others {rest})"]
    how = word(rate, worse=worse)
    if lost.at_least is not None:
        how = f"at least {Form.of(lost.at_least, rate).text(lost.at_least)}"
    return [Amount(how), f" ({lost_words(point)})"]


def lost_words(point: Row) -> str:
    """Describe the launches lost: ``did not finish within 0.1 s in 4 of 7 launches``."""
    lost = point.lost
    if lost is None:
        return ""
    here = lost.ended_badly(worse=True)[0] >= lost.ended_badly(worse=False)[0]
    where = "" if here else f" on {point.baseline}"
    late, crashed = (lost.lost, lost.crashed) if here else (lost.base_lost, lost.base_crashed)
    every = lost.ended_badly(worse=here)[1]
    within = f" within {format_value(lost.limit_s, 's')}" if lost.limit_s else " within its limit"
    within += " a size" if lost.by_points and lost.limit_s else ""
    losses = [f"did not finish{within} in {late} of {every} launches"] if late else []
    losses += [f"crashed in {crashed} of {every} launches"] if crashed else []
    return f"{' and '.join(losses)}{where}"


def width(point: Row) -> float:
    """Return the width of its interval, on logarithms."""
    if point.ratio and point.ratio.lo and point.ratio.hi:
        return math.log(point.ratio.hi / point.ratio.lo)
    return math.inf
