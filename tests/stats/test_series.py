"""Checks of series find what is planted, and rarely cry wolf."""

import numpy as np
import pytest

from bareline.stats.series import look


def generator():
    return np.random.default_rng(5)


@pytest.mark.parametrize("n", [6, 7, 8, 9, 10, 20, 30])
@pytest.mark.parametrize("draw", ["standard_normal", "exponential"])
def test_calm_series_raise_few_alarms(n, draw):
    rng = generator()
    seen = look(0.05 * getattr(rng, draw)(size=(20_000, n)))
    for what in ("drifting", "dependent", "two_modes"):
        assert getattr(seen, what).mean() <= 0.02, what


def test_a_drift_is_seen_and_a_small_one_does_not_matter():
    noise = 0.01 * generator().standard_normal(20)
    assert look([noise + 0.01 * np.arange(20)]).drifting
    assert not look([0.1 * noise + 0.0005 * np.arange(20)]).drifting


def test_neighbours_that_resemble_each_other_are_seen():
    noise = 0.01 * generator().standard_normal(30)
    assert look([0.1 * np.sin(np.arange(30) / 2) + noise]).dependent


@pytest.mark.parametrize("series", [range(6), [5, 4, 3, 2, 1, 0], range(8)])
def test_six_launches_in_order_are_dependent(series):
    found = look([list(series)])
    assert found.dependent and not found.drifting


def test_two_modes_are_seen():
    rng = generator()
    modes = np.where(rng.random(20) < 0.4, 0.3, 0.0) + 0.01 * rng.standard_normal(20)
    assert look([modes]).two_modes
    outlier = 0.01 * rng.standard_normal(20)
    outlier[3] = 1.0
    assert not look([outlier]).two_modes


def test_few_or_absent_launches_show_nothing():
    found = look([[np.nan] * 9 + [1.0, 2.0], [*range(11)]])
    assert not look([[*range(5)]]).dependent
    assert found.drifting.tolist() == [False, True]
    assert not found.two_modes.any()
    assert look(np.empty((0, 12))).drifting.shape == (0,)
