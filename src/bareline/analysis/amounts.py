"""Amounts in words: the one writer of ratios and of their intervals.

A time is so many times slower, or per cent; a rate is per cent lower, a fraction of the baseline's,
or so many times as high. One amount has one unit: its interval and its range are written as the
amount is, and in the same direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bareline import stats
from bareline.analysis.cell import Cell, Estimate
from bareline.analysis.findings import Finding
from bareline.analysis.parts import Amount, Interval, Piece
from bareline.vocabulary.units import format_value, plain, significant
from bareline.vocabulary.verdicts import MIN_LAUNCHES, Verdict

#: Below so many times a difference of times is said in per cent ("1.2 times slower" is read by some
#: as 2.2 times the time, "95 % slower" as nearly halted), and a higher rate below twice.
_PERCENT_BELOW = 1.5
_HIGHER_PERCENT_BELOW = 2.0
#: From so many times on a lower rate is a fraction of the baseline's.
_FRACTION_FROM = 10.0
#: From so many times on its per cent are many, and need a decimal to tell an interval's ends apart.
_FINE_FROM = 3.0
_MOST_LAUNCHES = 200


@dataclass(frozen=True, slots=True)
class Form:
    """How amounts of one sentence are written: all of them alike.

    `write` takes a ratio (above 1 is worse); `most` begins a clause about the largest of several.
    """

    write: Callable[[float], str]
    unit: str
    most: str = "up to"

    @classmethod
    def of(cls, ratio: float, rate: bool) -> Form:
        """Choose the form in which a ratio reads best."""
        worse = ratio > 1
        size = max(ratio, 1 / ratio)
        if rate and worse:
            if size < _FRACTION_FROM:
                return cls(lambda r: _percent(1 - 1 / r, fine=size >= _FINE_FROM), "% lower")
            return cls(lambda r: f"1/{significant(r)}", "of the baseline's", "down to")
        if rate:
            if size < _HIGHER_PERCENT_BELOW:
                return cls(lambda r: _percent(1 / r - 1), "% higher")
            return cls(lambda r: significant(1 / r), "times as high")
        how = "slower" if worse else "faster"
        if size < _PERCENT_BELOW:
            return cls(lambda r: _percent((r if worse else 1 / r) - 1), f"% {how}")
        return cls(lambda r: significant(r if worse else 1 / r), f"times {how}")

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
        if self.most == "down to":
            return [" ", Interval(high or "0", low or "-")]
        if worse:
            return [" ", Interval(low or "-", high or "unlimited")]
        return [" ", Interval(high or "-", low or "unlimited")]


def _percent(share: float, *, fine: bool = False) -> str:
    """Write a share in per cent with as many digits as tell it from none, or from all."""
    percent = 100 * share
    if abs(percent) >= 9.95 and not fine:
        return f"{percent:.0f}"
    return f"{percent:.1f}" if abs(percent) >= 0.05 else significant(percent, 1)


def word(rate: bool, *, worse: bool) -> str:
    """Say worse or better of a rate or a time."""
    if rate:
        return "lower" if worse else "higher"
    return "slower" if worse else "faster"


def ratio_pieces(ratio: Estimate, rate: bool) -> list[Piece]:
    """Write a ratio with its interval: ``2.34 times slower [2.10, 2.50]``."""
    form = Form.of(ratio.value, rate)
    return [Amount(form.text(ratio.value)), *form.bounds(ratio, ratio.value > 1)]


def ratio_words(ratio: Estimate | None, rate: bool) -> str:
    """Write a ratio with its interval as plain words; say where it has none."""
    if ratio is None:
        return "no ratio"
    pieces = ratio_pieces(ratio, rate)
    text = "".join(piece if isinstance(piece, str) else piece.text for piece in pieces)
    if len(pieces) > 1:
        return text
    return "no difference" if text.startswith("0 % ") else f"{text}, without an interval"


def figure(value: float | None, write: Callable[[float], str] = plain) -> str:
    """Write a figure as tables have it; a dash where there is none."""
    return "–" if value is None else write(value)


def between(held: Estimate | None, write: Callable[[float], str] = plain) -> str:
    """Write an interval as tables have it: ``2.10–2.50``, ``≥ 2.10``; empty without one."""
    return _ends(held, write, "–")


def with_interval(value: Estimate, unit: str = "", write: Callable[[float], str] = plain) -> str:
    """Write a figure with its interval, both bare: ``2.34 µs [2.10, 2.50]``."""
    ends = _ends(value, write, ", ")
    return f"{write(value.value)} {unit}".rstrip() + (f" [{ends}]" if ends else "")


def _ends(held: Estimate | None, write: Callable[[float], str], to: str) -> str:
    lo, hi = (held.lo, held.hi) if held else (None, None)
    if lo is not None and lo == hi:  # exact
        return ""
    if lo is not None and hi is not None:
        # A dash before a minus would be read as one.
        return f"{write(lo)}{' to ' if min(lo, hi) < 0 and to == '–' else to}{write(hi)}"
    return f"≥ {write(lo)}" if lo is not None else f"≤ {write(hi)}" if hi is not None else ""


def span(lo: float | None, hi: float | None, rate: bool) -> str:
    """Write from where to where a ratio may lie: ``from 20 % faster to 30 % slower``."""
    if lo is None and hi is None:
        return "no interval"
    if not lo and not hi:
        return "any amount either way"

    def end(ratio: float | None, *, worse: bool) -> str:
        if not ratio:
            return f"any amount {word(rate, worse=worse)}"
        return "equal" if ratio == 1 else Form.of(ratio, rate).text(ratio)

    return f"from {end(lo, worse=False)} to {end(hi, worse=True)}"


def said(points: Sequence[Cell], rate: bool) -> list[Piece]:
    """Say how much worse, or better, points are that agree in direction, largest first.

    One point has its interval; several have their range, and the first of them is named with its
    interval.
    """
    first = points[0]
    if first.ratio is None or (first.lost is not None and first.lost.by_loss):
        return _off_scale(first, rate) if first.ratio is None else _lost_ratio(first, rate)
    ratios = [point.ratio.value for point in points if point.ratio is not None]
    form = Form.of(first.ratio.value, rate)
    ends = (max(ratios), min(ratios)) if first.ratio.value > 1 else (min(ratios), max(ratios))
    largest, smallest = map(form.write, ends)
    if largest == smallest:
        return ratio_pieces(first.ratio, rate)
    return [Amount(f"between {smallest} and {largest} {form.unit}")]


def _lost_ratio(point: Cell, rate: bool) -> list[Piece]:
    """Say a ratio that the number of lost launches decides, with that number."""
    assert point.ratio is not None
    return [*ratio_pieces(point.ratio, rate), f" ({lost_words(point)})"]


def at_most(point: Cell, rate: bool, *, of_several: bool) -> list[Piece]:
    """Say a change without its interval, as the largest of several: ``up to 2.34 times slower``."""
    if point.ratio is None:
        return said([point], rate)
    form = Form.of(point.ratio.value, rate)
    amount = Amount(form.text(point.ratio.value))
    return [f"{form.most} ", amount] if of_several else [amount]


def mean_pieces(finding: Finding, *, bounded: bool = True) -> list[Piece]:
    """Say the mean over a finding's points: ``4.9 % slower [4.1, 5.6] in the mean of 9 points``."""
    mean, ratio = finding.mean, finding.mean_ratio
    assert mean is not None and ratio is not None
    if mean.by_loss:  # their number decides, and the ratio of what ended may be near 1
        how = Amount(word(finding.rate, worse=mean.by_loss > 0))
        lost, tried = (
            (mean.lost, mean.tried) if mean.by_loss > 0 else (mean.base_lost, mean.base_tried)
        )
        return [how, f" (did not finish in {lost} of {tried} launches)"]
    pieces = ratio_pieces(ratio, finding.rate)
    return [*(pieces if bounded else pieces[:1]), f" in the mean of {mean.points} points"]


def named(finding: Finding, points: Sequence[Cell]) -> list[Piece]:
    """Name the first of several points with its interval: ``most at 8 B: 2.34 [2.1, 2.5]``."""
    first = points[0]
    if len(points) == 1 or first.ratio is None:
        return []
    form = Form.of(first.ratio.value, finding.rate)
    percent = " %" if form.unit.startswith("%") else ""
    bounds = form.bounds(first.ratio, first.ratio.value > 1)
    return [f"most at {finding.label(first)}: {form.write(first.ratio.value)}{percent}", *bounds]


def baseline_value(point: Cell) -> str:
    """Write the baseline's median."""
    return format_value(point.base.value if point.base else None, point.metric.unit)


def too_few(finding: Finding) -> bool:
    """Tell whether an undecided finding has no interval because it has too few launches."""
    points = finding.of(Verdict.INCONCLUSIVE)
    return not finding.exact and min(point.n_both for point in points) < MIN_LAUNCHES


def undecided(findings: Sequence[Finding], margin: float) -> str:
    """Say why nothing can be told, from where to where it may lie, and what would decide it.

    Parameters
    ----------
    findings
        One, or several that have too few launches.
    """
    if too_few(findings[0]):
        points = [p for finding in findings for p in finding.of(Verdict.INCONCLUSIVE)]
        counts = sorted({point.n_both for point in points})
        several = f" to {counts[-1]}" if len(counts) > 1 else ""
        return f"not decided yet: {counts[0]}{several} of {MIN_LAUNCHES} launches"
    finding, point = widest(findings)
    label = finding.label(point)
    at = f"at {label} " if len(finding.compared) > 1 and label else ""
    needed = would_decide(findings, margin)
    return f"{at}{reach(point, finding.rate)}" + (f"; {needed}" if needed else "")


def widest(findings: Sequence[Finding]) -> tuple[Finding, Cell]:
    """Give the undecided point with the widest range, and the finding that has it."""
    every = [(part, point) for part in findings for point in part.of(Verdict.INCONCLUSIVE)]
    return max(every, key=lambda one: _width(one[1]))


def reach(point: Cell, rate: bool) -> str:
    """Say from where to where an undecided point may lie."""
    if point.ratio is not None:
        model = ", by the error of the model" if point.exact else ""
        return f"{span(point.ratio.lo, point.ratio.hi, rate)}{model}"
    apart = point.difference
    if apart is None or apart.lo is None or apart.hi is None:
        return "no interval"
    unit = point.metric.unit
    low, high = (format_value(value, unit) for value in (apart.lo, apart.hi))
    return f"a difference from {low} to {high}"


def would_decide(findings: Sequence[Finding], margin: float) -> str:
    """Say about how many launches would decide findings, and from how few to how many it may be.

    Of a finding it is that of its middle point; of several findings the range reaches over all.
    Nothing is said where launches decide nothing.
    """
    every = [
        middle
        for finding in findings
        if not finding.exact and (middle := _middle_outlook(finding, margin)) is not None
    ]
    if not every:
        return ""
    likely = sorted(outlook.likely for outlook in every)[len(every) // 2]
    low, high = min(one.fewest for one in every), max(one.most for one in every)
    if low > _MOST_LAUNCHES:
        return f"more than {_MOST_LAUNCHES} launches would be needed"
    ends = f"between {_rounded(low)} and {_rounded(high)}"
    if likely > _MOST_LAUNCHES:
        return f"{ends} launches would decide"
    return f"about {_rounded(likely)} launches would decide, {ends}"


def _middle_outlook(finding: Finding, margin: float) -> stats.Outlook | None:
    """Give what would decide the middle one of a finding's undecided points."""
    known = []
    for point in finding.of(Verdict.INCONCLUSIVE):
        ratio = point.ratio
        if ratio is not None:
            known.append(
                stats.launches_to_decide(
                    ratio.value, ratio.lo, ratio.hi, point.n_both, margin=margin
                )
            )
    found = sorted((one for one in known if one is not None), key=lambda one: one.likely)
    return found[len(found) // 2] if found else None


def _rounded(launches: float) -> str:
    """Write a number of launches as exactly as it is known: with one digit above ten."""
    if launches > _MOST_LAUNCHES:
        return f"more than {_MOST_LAUNCHES}"
    step = 10 if launches >= 40 else 5 if launches >= 15 else 1
    return f"{step * round(launches / step):.0f}"


def _off_scale(point: Cell, rate: bool) -> list[Piece]:
    """Say a difference where there is no ratio: a value is zero, or launches were lost."""
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


def _beyond_limit(point: Cell, rate: bool) -> list[Piece]:
    """Say what launches that exceeded a limit say: at least so much, and how many they were."""
    worse = point.verdict is not Verdict.FASTER
    lost = point.lost
    if lost is None:
        return [Amount(f"{word(rate, worse=worse)} than any limit measures")]
    amount: Piece = Amount(word(rate, worse=worse))
    if lost.at_least is not None:
        form = Form.of(lost.at_least, rate)
        amount = Amount(f"at least {form.text(lost.at_least)}")
    return [amount, f" ({lost_words(point)})"]


def lost_words(point: Cell) -> str:
    """Say what launches were lost: ``did not finish within 0.1 s in 4 of 7 launches``."""
    lost = point.lost
    if lost is None:
        return ""
    here = lost.ended_badly(worse=True)[0] >= lost.ended_badly(worse=False)[0]
    where = "" if here else f" on {point.baseline}"
    late, crashed = (lost.lost, lost.crashed) if here else (lost.base_lost, lost.base_crashed)
    every = lost.ended_badly(worse=here)[1]
    within = f" within {format_value(lost.limit_s, 's')}" if lost.limit_s else " within its limit"
    within += " a size" if lost.by_points and lost.limit_s else ""
    told = [f"did not finish{within} in {late} of {every} launches"] if late else []
    told += [f"crashed in {crashed} of {every} launches"] if crashed else []
    return f"{' and '.join(told)}{where}"


def _width(point: Cell) -> float:
    if point.ratio and point.ratio.lo and point.ratio.hi:
        return math.log(point.ratio.hi / point.ratio.lo)
    return math.inf
