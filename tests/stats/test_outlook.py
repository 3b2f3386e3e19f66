"""How many launches would decide: a forecast with its range, held against what then comes."""

import math

import numpy as np
import pytest
from scipy.special import stdtrit

from bareline.stats import launches_to_decide, paired_ratio

ZONE = math.log1p(0.02)


def decided(differences):
    """Give from how many launches on a series is decided for the first time, by mean and spread."""
    n = np.arange(1, differences.size + 1)
    mean = np.cumsum(differences) / n
    square = np.cumsum(differences**2) / n - mean**2
    half_width = stdtrit(np.maximum(n - 1, 1), 0.975) * np.sqrt(square / np.maximum(n - 1, 1))
    equal = np.abs(mean) + half_width <= ZONE
    apart = (np.abs(mean) - half_width > ZONE) & (1.5 * half_width <= np.abs(mean))
    found = np.flatnonzero((equal | apart) & (n > 6))
    return int(n[found[0]]) if found.size else differences.size


@pytest.mark.parametrize(
    ("difference", "noise"), [(0.0, 0.02), (0.03, 0.03), (0.05, 0.07), (0.1, 0.15)]
)
def test_what_then_comes_lies_in_the_range(difference, noise):
    generator = np.random.default_rng(31)
    inside = undecided = 0
    while undecided < 300:
        differences = difference + noise * generator.standard_normal(3000)
        ratio = paired_ratio(np.exp(differences[None, :6]), np.ones((1, 6)))
        if ratio.lo[0] > 1 or ratio.hi[0] < 1 or (ratio.lo[0] > 1 / 1.02 and ratio.hi[0] < 1.02):
            continue
        undecided += 1
        outlook = launches_to_decide(ratio.ratio[0], ratio.lo[0], ratio.hi[0], 6, margin=0.02)
        assert 6 < outlook.fewest <= outlook.likely <= outlook.most
        inside += outlook.fewest <= decided(differences) <= outlook.most
    assert inside / undecided > 0.8


def test_a_clear_difference_needs_few_launches_and_one_at_the_margin_many():
    clear = launches_to_decide(1.5, 0.99, 2.2, 6, margin=0.02)
    border = launches_to_decide(1.02, 0.97, 1.07, 6, margin=0.02)
    assert clear.most < border.most
    assert border.most > 100


def test_without_an_interval_nothing_is_foretold():
    for lo, hi in ((None, 1.2), (0.9, None), (0.9, math.inf)):
        assert launches_to_decide(1.1, lo, hi, 6, margin=0.02) is None
    assert launches_to_decide(1.1, 0.9, 1.2, 5, margin=0.02) is None
