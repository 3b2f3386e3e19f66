"""One unit of many that deviates is found, and healthy ones are not."""

import math

import numpy as np
import pytest

from bareline.stats import holm
from bareline.stats.fleet import deviations

MARGIN = math.log(1.02)


def draw(units, launches=10, *, noise=0.01, spread=0.005, seed=1, shape="normal"):
    generator = np.random.default_rng(seed)
    errors = generator.standard_normal((units, launches))
    if shape == "heavy":
        errors = generator.standard_t(3, (units, launches))
    if shape == "uneven":
        errors *= np.exp(0.7 * generator.standard_normal((units, 1)))
    drift = 0.05 * generator.standard_normal(launches)
    return noise * errors + spread * generator.standard_normal((units, 1)) + drift


def judge(values):
    found = deviations(values, margin=MARGIN, alpha=0.05, tests=len(values))
    return found, np.flatnonzero(holm(found.p) <= 0.05).tolist()


@pytest.mark.parametrize("shape", ["normal", "heavy", "uneven"])
@pytest.mark.parametrize("units", [5, 300])
def test_the_slow_unit_alone_is_found(units, shape):
    values = draw(units, shape=shape)
    values[1] += math.log(1.2)
    found, bad = judge(values)
    assert bad == [1]
    assert found.fence < found.lo[1] < found.shift[1] < found.hi[1]
    assert found.shift[1] == pytest.approx(math.log(1.2), abs=0.03)


@pytest.mark.parametrize("shape", ["normal", "heavy", "uneven"])
def test_healthy_fleets_have_no_bad_unit(shape):
    assert sum(bool(judge(draw(100, seed=seed, shape=shape))[1]) for seed in range(5)) == 0


def test_healthy_units_may_differ_by_more_than_the_margin():
    found, bad = judge(draw(300, spread=0.05))
    assert not bad
    assert found.fence > 0.15


def test_one_bad_launch_is_no_bad_unit():
    values = draw(100)
    values[7, 3] += 2.0
    assert judge(values)[1] == []


def test_too_few_launches_say_nothing():
    values = draw(50)
    values[0] += 1.0
    values[0, 5:] = np.nan
    found, bad = judge(values)
    assert bad == []
    assert math.isnan(found.shift[0]) and found.n[0] == 5


def test_of_two_units_the_worse_one_deviates():
    values = draw(2)
    values[1] += math.log(1.3)
    assert judge(values)[1] == [1]
