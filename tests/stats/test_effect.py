"""Cliff's delta against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bareline.stats import cliffs_delta, pairwise
from bareline.testing.messages import raises

TICKS = arrays.arrays(np.float64, st.integers(1, 9), elements=st.integers(0, 5))


@given(TICKS, TICKS)
def test_delta_is_the_mean_sign_of_all_pairs(values, baseline):
    expected = np.sign(np.subtract.outer(values, baseline)).mean()
    assert cliffs_delta(values, baseline) == pytest.approx(expected)
    assert cliffs_delta(baseline, values) == pytest.approx(-expected)


@pytest.mark.parametrize("limit", [("CHUNK_PAIRS", 50), ("EXPAND_LIMIT", 0)])
def test_every_method_agrees_on_ragged_stacks(limit, monkeypatch):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 9, (5, 6, 8)).astype(float)
    baseline = rng.integers(0, 9, (5, 6, 7)).astype(float)
    for stack in (values, baseline):
        stack[rng.random(stack.shape) < 0.3] = np.nan
    values[0, 0] = np.nan
    monkeypatch.setattr(f"bareline.stats.effect.{limit[0]}", limit[1])
    found = cliffs_delta(values, baseline)
    assert np.isnan(found[0, 0])
    for index in list(np.ndindex(5, 6))[1:]:
        signs = np.sign(np.subtract.outer(values[index], baseline[index]))
        assert found[index] == pytest.approx(np.nanmean(signs))


def test_separated_samples():
    assert cliffs_delta([4.0, 5.0], [1.0, 2.0, 3.0]) == 1.0
    assert cliffs_delta([1.0], [1.0, 1.0]) == 0.0
    assert np.isnan(cliffs_delta([], [1.0]))


def test_ten_thousand_launches_are_searched():
    assert pairwise.EXPAND_LIMIT < 10_000**2
    values = np.arange(10_000.0)
    assert cliffs_delta(values + 2500, values) == pytest.approx(1 - 0.75**2, abs=1e-3)


def test_cases_must_match():
    with raises(ValueError, "BL-STATS-954"):
        cliffs_delta(np.ones((2, 6)), np.ones((3, 6)))
