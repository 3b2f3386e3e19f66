"""Holm's correction against its definition, and what a family can reject."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from bareline.stats import can_reject, family_size, holm, smallest_p


def brute_holm(p_values):
    order = np.argsort(p_values)
    adjusted, largest = np.empty(len(p_values)), 0.0
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, p_values[index] * (len(p_values) - place)))
        adjusted[index] = largest
    return adjusted


def test_holm_of_a_textbook_family():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from("abc")), max_size=30))
def test_families_are_corrected_apart(rows):
    p = np.array([row[0] for row in rows])
    label = np.array([row[1] for row in rows])
    adjusted = holm(p, label)
    for name in set(label):
        np.testing.assert_array_equal(adjusted[label == name], brute_holm(p[label == name]))


def test_nan_is_no_test():
    adjusted = holm([0.01, np.nan, 0.02])
    np.testing.assert_allclose(adjusted, [0.02, np.nan, 0.02])
    np.testing.assert_array_equal(family_size([0.01, np.nan, 0.02]), [2, 2, 2])
    assert np.isnan(holm([np.nan])).all()
    assert holm([]).shape == (0,)


def test_family_size_by_label():
    np.testing.assert_array_equal(family_size([0.1, 0.2, np.nan], ["a", "b", "a"]), [1, 1, 1])


@pytest.mark.parametrize("p", [[-0.1], [1.1], [[0.1]]])
def test_what_is_no_p_value_is_refused(p):
    with pytest.raises(ValueError, match="p-values"):
        holm(p)


def test_labels_must_match():
    with pytest.raises(ValueError, match="one label per p-value"):
        holm([0.1, 0.2], ["a"])


def test_holm_keeps_the_family_wise_error():
    rng = np.random.default_rng(1)
    families = np.repeat(np.arange(4000), 10)
    rejected = (holm(rng.random(40_000), families) <= 0.05).reshape(4000, 10).any(axis=1)
    assert 0.04 < rejected.mean() < 0.06


def test_smallest_p_is_the_most_extreme_sample():
    for n in (6, 10, 13):
        worst = scipy_stats.wilcoxon(np.arange(1.0, n + 1), method="exact").pvalue
        assert smallest_p(n) == pytest.approx(worst)
    apart = scipy_stats.mannwhitneyu(np.arange(7.0), np.arange(10.0, 19.0), method="exact").pvalue
    assert smallest_p(7, 9) == pytest.approx(apart)
    assert np.isnan(smallest_p(5))
    assert np.isnan(smallest_p(20, 5))
    np.testing.assert_allclose(smallest_p([6, 10]), [2 / 64, 2 / 1024])


@pytest.mark.parametrize(("n", "largest"), [(6, 1), (7, 3), (8, 6), (9, 12), (10, 25)])
def test_largest_family_that_holm_can_reject(n, largest):
    assert can_reject(smallest_p(n), largest)
    assert not can_reject(smallest_p(n), largest + 1)
    assert not can_reject(np.nan, 1)
