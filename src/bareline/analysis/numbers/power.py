"""Compute how many launches a comparison needs, from the number and spread of its rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bareline import stats
from bareline.analysis.numbers.models import model_errors
from bareline.analysis.numbers.records import Records
from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: The difference for which the needed launches are counted.
DIFFERENCE = 0.05
#: The fewest launches that show the spread of a row.
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class LaunchNeed:
    """The number of launches with which a difference of `DIFFERENCE` in one row becomes certain.

    - `rows`: the number of tested rows: headline points on all platforms except the baseline.
    - `spread`: the median over rows of the relative standard deviation between launches.
    - `launches`: the number of launches that each platform needs.
    - `measured`: the median number of launches of a row.
    """

    rows: int
    spread: float
    launches: int
    measured: int


def launch_need(records: Records) -> LaunchNeed | None:
    """Return how many launches the rows of some records need.

    None if no row has three launches, or if the values do not vary, for example in simulations.
    """
    cube = records.cube
    judged = (cube.points.get_column("better") != "none").to_numpy()
    judged &= cube.points.get_column("headline").fill_null(value=False).to_numpy()
    simulated = model_errors(records)
    spreads: list[float] = []
    counts: list[int] = []
    for platform in cube.platforms:
        if platform in simulated:
            continue
        for values in cube.of(platform)[judged]:
            is_positive = np.isfinite(values) & (values > 0)
            launches = values[is_positive]
            if launches.size >= _FEWEST:
                spread_of_case = np.std(np.log(launches), ddof=1)
                spreads.append(float(spread_of_case))
                counts.append(launches.size)
    spread = 0.0
    if spreads:
        spread = float(np.median(spreads))
    if spread <= 0:
        return None
    judged_points = np.count_nonzero(judged)
    rows = int(judged_points) * max(1, len(cube.platforms) - 1)
    needed = stats.launches_for_rows(rows, spread, math.log1p(DIFFERENCE))
    usual_count = int(np.median(counts))
    return LaunchNeed(rows, math.expm1(spread), max(MIN_LAUNCHES, needed), usual_count)
