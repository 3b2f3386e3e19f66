"""The number of launches that would decide an undecided row, with its uncertainty.

A few launches determine the difference and the spread badly. The number of launches grows with the
square of the spread and falls with the square of the difference, so that a single estimate would be
of little use. Instead, many pairs of a difference and a spread are used, which are plausible under
normal noise. Each pair has a number of launches; their median is printed with the range of the
middle 80 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bareline.stats import null_distribution
from bareline.stats.family import ALPHA
from bareline.stats.special import chi_square_quantile, normal_quantile, student_quantile
from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: Distance of a likely row of a page from no difference, in half-widths of its interval.
_FAMILY = 1.5
#: Half-width of a 95 % interval from many launches, in standard errors.
_HALF_WIDTH = 1.96
#: The quantiles between which at least four of five series were decided that six launches had
#: left open (`tests/stats/test_outlook.py`): a series is decided when it is first narrow enough,
#: which is earlier than where it is so on average.
_ENDS = (0.15, 0.45, 0.8)
#: The number of equally probable differences, and of equally probable spreads.
_LOOKED_AT = 41
#: The probability to show a difference.
_POWER = 0.8


@dataclass(frozen=True, slots=True)
class LaunchOutlook:
    """The number of launches that would decide a row as different or equal.

    `likely` is the median over the plausible cases.

    For four of five plausible cases the number is between `fewest` and `most`.
    """

    fewest: float
    likely: float
    most: float


def launches_to_decide(
    ratio: float, lo: float | None, hi: float | None, n: int, *, margin: float
) -> LaunchOutlook | None:
    """Return the launches that would decide an undecided ratio; None if it lacks an interval.

    - `ratio`, `lo`, `hi`: the ratio in blocks, with its 95 % interval, from `n` launches.
    - `margin`: relative difference that does not matter.
    """
    if not lo or not hi or not math.isfinite(hi) or n < MIN_LAUNCHES or lo >= hi:
        return None
    null = null_distribution.signed_rank(n)
    level = null.level(null.interval_rank(1 - ALPHA))
    freedom = n - 1
    error = math.log(hi / lo) / 2 / student_quantile((1 + level) / 2, freedom)
    shares = (np.arange(_LOOKED_AT) + 0.5) / _LOOKED_AT
    errors = error * np.sqrt(freedom / chi_square_quantile(1.0 - shares, freedom))[:, None]
    deviates = normal_quantile(shares)[None, :]
    distance = np.abs(math.log(ratio) + errors * deviates)
    zone = math.log1p(margin)
    spread = _HALF_WIDTH * errors * math.sqrt(n)
    with np.errstate(divide="ignore"):
        # The whole interval is beyond the margin, or within it.
        clear = spread / np.abs(distance - zone)
        rare = _FAMILY * spread / distance
    half_widths = np.where(distance > zone, np.maximum(clear, rare), clear)
    needed = np.ceil(half_widths**2)
    ends = np.quantile(np.maximum(needed, n + 1.0), _ENDS, method="inverted_cdf")
    return LaunchOutlook(*ends.tolist())


def launches_for_rows(rows: int, spread: float, difference: float) -> int:
    """Return the number of launches of each side that show a difference in one of several rows.

    The probability to show the difference is 80 %. The probability of any false difference among
    all rows is at most 5 % (Bonferroni). The number is computed from normal deviates.

    - `spread`: standard deviation between launches, of logarithms.
    - `difference`: the difference to show, as a logarithm.
    """
    level = 1 - ALPHA / 2 / max(1, rows)
    deviates = normal_quantile(np.array([level, _POWER]))
    standard_errors = float(deviates.sum()) * spread / difference
    return math.ceil(2 * standard_errors**2)
