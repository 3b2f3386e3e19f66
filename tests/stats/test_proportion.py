"""Shares of trials and their exact intervals."""

from __future__ import annotations

from math import comb

import pytest

from bareline.stats.proportion import Proportion


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        # Hahn and Meeker, Statistical Intervals (1991), table A.23a, and the rule of three.
        (0, 10, 0.0, 1 - 0.025 ** (1 / 10)),
        (10, 10, 0.025 ** (1 / 10), 1.0),
        (2, 10, 0.0252, 0.5561),
        (4, 10, 0.1216, 0.7376),
        (1, 1, 0.025, 1.0),
    ],
)
def test_intervals_are_those_of_clopper_and_pearson(
    hits: int, n: int, low: float, high: float
) -> None:
    assert Proportion(hits, n).interval() == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.83])
def test_the_interval_covers_the_true_share(share: float) -> None:
    n = 12
    covered = 0.0
    for hits in range(n + 1):
        low, high = Proportion(hits, n).interval()
        if low <= share <= high:
            covered += comb(n, hits) * share**hits * (1 - share) ** (n - hits)
    assert covered >= 0.95
