"""The number of launches that would decide an undecided point, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bareline import stats
from bareline.analysis.numbers.row import Row
from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: A larger number of launches is written as "more than" this number.
MOST_LAUNCHES = 200


@dataclass(frozen=True, slots=True)
class _Forecast:
    """The launches that would decide a point, and the measured launches.

    - `distance`: the distance of the point's ratio from 1, as a logarithm.
    """

    needed: stats.LaunchOutlook
    launches: int
    distance: float


def outlook_words(points: Sequence[Row], margin: float) -> str:
    """Return how many more launches would decide about half of some undecided points.

    The number is the forecast for the median point. If the ratio of this point is within the
    margin, the launches would show equality. Each forecast is for a single row: certainty over a
    whole page needs more launches (`bareline.stats.outlook`).
    """
    outlooks = [_forecast(point, margin) for point in points]
    forecast = [outlook for outlook in outlooks if outlook is not None]
    if not forecast:
        return ""
    forecast.sort(key=lambda outlook: outlook.needed.likely)
    middle = forecast[len(forecast) // 2]
    needed = middle.needed
    if needed.fewest > MOST_LAUNCHES:
        return f"more than {MOST_LAUNCHES} launches would be needed"
    effect = "would show equality"
    if middle.distance > math.log1p(margin):
        effect = "would be enough to call the difference likely"
    if len(forecast) > 1:
        decided = len(forecast) // 2 + 1
        effect = f"would decide {decided} of the points"
    low = _rounded(needed.fewest - middle.launches)
    high = _rounded(needed.most - middle.launches)
    if needed.likely > MOST_LAUNCHES:
        return f"between {low} and {high} more launches {effect}"
    more = _rounded(needed.likely - middle.launches)
    noun = "launches"
    if more == "1":
        noun = "launch"
    ends = ""
    if low != high:
        ends = f" ({low} to {high})"
    return f"about {more} more {noun}{ends} {effect}"


def _forecast(point: Row, margin: float) -> _Forecast | None:
    """Return the forecast for a point.

    The result is None for a point that is exact, has too few launches, or has no interval.
    """
    ratio = point.ratio
    if ratio is None:
        return None
    if point.exact:
        return None
    if point.n_both < MIN_LAUNCHES:
        return None
    needed = stats.launches_to_decide(ratio.value, ratio.lo, ratio.hi, point.n_both, margin=margin)
    if needed is None:
        return None
    distance = abs(math.log(ratio.value))
    return _Forecast(needed, point.n_both, distance)


def _rounded(launches: float) -> str:
    if launches > MOST_LAUNCHES:
        return f"more than {MOST_LAUNCHES}"
    step = 1
    if launches >= 40:
        step = 10
    elif launches >= 15:
        step = 5
    rounded = step * round(launches / step)
    return f"{max(1, rounded):.0f}"
