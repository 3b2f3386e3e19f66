"""Corrections of p-values against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from bareline.stats import false_discovery, holm
from bareline.testing.messages import raises


def brute_holm(p_values):
    order = np.argsort(p_values)
    adjusted, largest = np.empty(len(p_values)), 0.0
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, p_values[index] * (len(p_values) - place)))
        adjusted[index] = largest
    return adjusted


def test_holm_of_a_textbook_family():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), max_size=30))
def test_holm_is_its_definition(p_values):
    np.testing.assert_array_equal(holm(p_values), brute_holm(np.array(p_values)))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_false_discovery_rate_is_scipys(p_values):
    np.testing.assert_allclose(
        false_discovery(p_values), scipy_stats.false_discovery_control(p_values), rtol=1e-12
    )


@pytest.mark.parametrize("adjust", [holm, false_discovery])
def test_nan_is_no_test(adjust):
    adjusted = adjust([0.01, np.nan, 0.02])
    np.testing.assert_allclose(adjusted, [0.02, np.nan, 0.02])
    assert np.isnan(adjust([np.nan])).all()
    assert adjust([]).shape == (0,)


@pytest.mark.parametrize(
    ("p", "code"),
    [([-0.1], "BL-STATS-672"), ([1.1], "BL-STATS-672"), ([[0.1]], "BL-STATS-413")],
)
def test_what_is_no_p_value_is_refused(p, code):
    with raises(ValueError, code):
        holm(p)


def test_holm_keeps_the_family_wise_error():
    rng = np.random.default_rng(1)
    rejected = [(holm(rng.random(10)) <= 0.05).any() for _ in range(4000)]
    assert 0.04 < np.mean(rejected) < 0.06
