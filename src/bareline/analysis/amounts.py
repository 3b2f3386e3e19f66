"""Amounts in words: how many times, or per cent, worse or better, and from where to where.

One amount has one unit: its interval and its range are written as the amount is, and in the same
direction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from bareline.analysis.findings import Finding, Point
from bareline.analysis.parts import Amount, Interval, Piece
from bareline.vocabulary.units import format_value, significant
from bareline.vocabulary.verdicts import MIN_LAUNCHES, Verdict

#: Below so many times a difference is said in per cent.
_PERCENT_BELOW = 1.1
#: What certainty over a whole verdict needs beyond a single interval, in half-widths.
_FAMILY = 1.5
_MOST_LAUNCHES = 200


def word(rate: bool, *, worse: bool) -> str:
    """Say worse or better of a rate or a time."""
    if rate:
        return "lower" if worse else "higher"
    return "slower" if worse else "faster"


def span(lo: float | None, hi: float | None, rate: bool) -> str:
    """Write from where to where a ratio may lie: ``from 2.00 times higher to 1.30 times lower``."""
    if lo is None and hi is None:
        return "no interval"
    sizes = [max(end, 1 / end) for end in (lo, hi) if end]
    if not sizes:
        return "any amount either way"
    in_percent = max(sizes) < _PERCENT_BELOW

    def end(ratio: float | None) -> str:
        if not ratio:
            return "any amount"
        size = max(ratio, 1 / ratio)
        amount = f"{_percent(size)} %" if in_percent else f"{significant(size)} times"
        return f"{amount} {word(rate, worse=ratio > 1)}"

    return f"from {end(lo)} to {end(hi)}"


def said(points: Sequence[Point], rate: bool) -> list[Piece]:
    """Say how much worse, or better, points are that agree in direction, largest first.

    One point has its interval; several have their range, and the first of them is named with its
    interval.
    """
    first = points[0]
    if first.ratio is None:
        return _off_scale(first, rate)
    worse = first.ratio > 1
    sizes = [_size(point.ratio, worse) for point in points if point.ratio is not None]
    largest, smallest = max(sizes), min(sizes)
    how = word(rate, worse=worse)
    in_percent = largest < _PERCENT_BELOW
    write = _percent if in_percent else significant
    unit = "%" if in_percent else "times"
    bounds = _bounds(first, worse, in_percent)
    if len(points) == 1:
        return [Amount(f"{write(largest)} {unit} {how}"), *bounds]
    least, most = write(smallest), write(largest)
    if least == most:
        return [Amount(f"{most} {unit} {how}"), *bounds]
    return [Amount(f"between {least} and {most} {unit} {how}")]


def named(points: Sequence[Point]) -> list[Piece]:
    """Name the first of several points with its interval: ``most at 8 B: 2.34 [2.1, 2.5]``."""
    first = points[0]
    if len(points) == 1 or first.ratio is None:
        return []
    worse = first.ratio > 1
    in_percent = _size(first.ratio, worse) < _PERCENT_BELOW
    write = _percent if in_percent else significant
    bounds = _bounds(first, worse, in_percent)
    amount = f"{write(_size(first.ratio, worse))}{' %' if in_percent else ''}"
    return [f"most at {first.label}: {amount}", *bounds]


def baseline_value(point: Point) -> str:
    """Write the baseline's median."""
    return format_value(point.value_baseline, point.unit)


def too_few(finding: Finding) -> bool:
    """Tell whether an undecided finding has no interval because it has too few launches."""
    points = _open_points([finding])
    return not finding.exact and min(point.n for point in points) < MIN_LAUNCHES


def undecided(findings: Sequence[Finding], margin: float) -> str:
    """Say why nothing can be told, from where to where it may lie, and what would decide it.

    Parameters
    ----------
    findings
        One, or several that have too few launches.
    """
    points = _open_points(findings)
    if too_few(findings[0]):
        counts = sorted({point.n for point in points})
        several = f" to {counts[-1]}" if len(counts) > 1 else ""
        return f"n = {counts[0]}{several}, below {MIN_LAUNCHES}: no interval"
    finding, point = widest(findings)
    at = f"at {point.label} " if len(finding.compared) > 1 and point.label else ""
    needed = would_decide(findings, margin)
    return f"{at}{reach(point, finding.rate)}" + (f"; {needed}" if needed else "")


def widest(findings: Sequence[Finding]) -> tuple[Finding, Point]:
    """Give the undecided point with the widest range, and the finding that has it."""
    every = [(finding, point) for finding in findings for point in _open_points([finding])]
    return max(every, key=lambda one: _width(one[1]))


def reach(point: Point, rate: bool) -> str:
    """Say from where to where an undecided point may lie."""
    if point.ratio is not None:
        model = ", by the error of the model" if point.exact else ""
        return f"{span(point.lo, point.hi, rate)}{model}"
    if point.difference_lo is None or point.difference_hi is None:
        return "no interval"
    low, high = (format_value(v, point.unit) for v in (point.difference_lo, point.difference_hi))
    return f"a difference from {low} to {high}"


def would_decide(findings: Sequence[Finding], margin: float) -> str:
    """Say how many launches would decide findings; nothing where launches decide nothing.

    Of a finding it is the median over its undecided points; of several findings the fewest and
    the most.
    """
    needed = []
    for finding in findings:
        own = [point for point in _open_points([finding]) if point.ratio is not None]
        if own and not finding.exact:
            each = sorted(launches_needed(point, margin) for point in own)
            needed.append(each[len(each) // 2])
    if not needed:
        return ""
    fewest, most = min(needed), max(needed)
    if fewest > _MOST_LAUNCHES:
        return f"more than {_MOST_LAUNCHES} launches would be needed"
    if most > _MOST_LAUNCHES:
        return f"about {fewest:.0f} to more than {_MOST_LAUNCHES} launches would decide"
    several = f" to {most:.0f}" if most > fewest else ""
    return f"about {fewest:.0f}{several} launches would decide"


def _open_points(findings: Sequence[Finding]) -> list[Point]:
    return [point for finding in findings for point in finding.of(Verdict.INCONCLUSIVE)]


def launches_needed(point: Point, margin: float) -> float:
    """Estimate how many launches would decide a point as it looks now."""
    if point.ratio is None or not point.lo or not point.hi:
        return math.inf
    distance, zone = abs(math.log(point.ratio)), math.log1p(margin)
    half_width = math.log(point.hi / point.lo) / 2
    if distance > zone:
        factor = _FAMILY * half_width / distance
    elif distance < zone:
        factor = half_width / (zone - distance)
    else:
        return math.inf
    return max(point.n + 2.0, math.ceil(point.n * factor**2))


def _size(ratio: float, worse: bool) -> float:
    return ratio if worse else 1 / ratio


def _percent(size: float) -> str:
    return f"{(size - 1) * 100:.1f}"


def _bounds(point: Point, worse: bool, in_percent: bool) -> list[Piece]:
    """Give a point's interval as its amount is written; a bound may be open."""
    if point.lo is None and point.hi is None:
        return []
    sizes = [_size(end, worse) if end else None for end in (point.lo, point.hi)]
    low, high = sizes if worse else reversed(sizes)
    write = _percent if in_percent else significant
    ends = (write(low) if low else "-", write(high) if high else "unlimited")
    return [" ", Interval(*ends)]


def _off_scale(point: Point, rate: bool) -> list[Piece]:
    """Say a difference where there is no ratio: a value is zero, or most launches were lost."""
    if point.difference is None:
        worse = point.verdict is Verdict.SLOWER
        return [Amount(f"{word(rate, worse=worse)} than any limit measures"), " in most launches"]
    how = "worse" if point.difference > 0 else "better"
    amount = Amount(f"{format_value(abs(point.difference), point.unit)} {how}")
    if point.difference_lo is None or point.difference_hi is None:
        return [amount]
    low, high = sorted((abs(point.difference_lo), abs(point.difference_hi)))
    return [amount, " ", Interval(format_value(low, point.unit), format_value(high, point.unit))]


def _width(point: Point) -> float:
    if point.lo and point.hi:
        return math.log(point.hi / point.lo)
    return math.inf
