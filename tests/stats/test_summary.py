"""Summaries: exact intervals, spread, ragged stacks, edge cases."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats as scipy_stats

from bareline.stats import SampleSummary, reached, relative_half_width, summarize
from bareline.testing.messages import raises

LAUNCHES = st.integers(6, 40).flatmap(
    lambda n: arrays.arrays(np.float64, n, elements=st.floats(1e-6, 1e6))
)


@pytest.mark.parametrize(
    ("n", "lowest", "level"),
    [(6, 1, 0.96875), (8, 1, 0.9921875), (9, 2, 0.9609375), (10, 2, 0.978515625), (20, 6, 0.9586)],
)
def test_interval_is_the_exact_order_statistic(n, lowest, level):
    summary = summarize(np.random.default_rng(1).permutation(np.arange(1.0, n + 1)))
    assert (summary.lo, summary.hi) == (lowest, n + 1 - lowest)
    assert summary.level == pytest.approx(level, abs=5e-5)


@pytest.mark.parametrize("n", [6, 11, 25, 100, 5000])
def test_interval_agrees_with_scipy_quantile_test(n):
    values = np.random.default_rng(n).lognormal(size=n)
    expected = scipy_stats.quantile_test(values, q=float(np.median(values)), p=0.5)
    interval = expected.confidence_interval(confidence_level=0.95)
    summary = summarize(values)
    assert (summary.lo, summary.hi) == (interval.low, interval.high)


@pytest.mark.parametrize("n", range(6))
def test_no_interval_below_six_launches(n):
    summary = summarize(np.arange(1.0, n + 1))
    assert summary.n == n
    assert np.isnan([summary.lo, summary.hi, summary.level]).all()
    assert np.isnan(summary.median) == (n == 0)
    assert np.isnan(relative_half_width(np.arange(1.0, n + 1)))


@pytest.mark.parametrize("n", [1, 2, 7, 10, 33])
def test_quantiles_are_numpy_percentiles(n):
    values = np.random.default_rng(n).normal(5.0, 1.0, (4, n))
    summary = summarize(values)
    p5, q1, median, q3, p95 = np.percentile(values, [5, 25, 50, 75, 95], axis=-1)
    np.testing.assert_allclose(summary.p5, p5)
    np.testing.assert_allclose(summary.median, median)
    np.testing.assert_allclose(summary.p95, p95)
    np.testing.assert_allclose(summary.iqr_over_median, (q3 - q1) / median, atol=1e-15)


def test_outliers_are_counted_by_tukeys_fences_and_kept():
    values = np.array([10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 100.0, -60.0])
    summary = summarize(values)
    assert summary.outliers == 2
    assert summary.n == 10
    assert summary.median == np.median(values)


def test_outliers_at_the_fence_are_inside():
    # Quartiles 2 and 4: the upper fence is exactly 7.
    assert summarize([1.0, 2.0, 3.0, 4.0, 7.0]).outliers == 0
    assert summarize([1.0, 2.0, 3.0, 4.0, 7.1]).outliers == 1


def test_equal_launches_have_no_spread():
    summary = summarize(np.full(8, 3.0))
    assert (summary.median, summary.lo, summary.hi) == (3.0, 3.0, 3.0)
    assert summary.iqr_over_median == 0.0
    assert summary.outliers == 0
    assert relative_half_width(np.full(8, 3.0)) == 0.0


def test_zero_median_has_a_relative_spread_only_without_spread():
    assert relative_half_width(np.zeros(6)) == 0.0
    assert np.isnan(relative_half_width([-1.0, 0.0, 0.0, 0.0, 0.0, 1.0]))


def test_relative_half_width_by_hand():
    assert relative_half_width([8.0, 9.0, 10.0, 10.0, 11.0, 14.0]) == pytest.approx(0.3)
    assert relative_half_width([-8.0, -9.0, -10.0, -10.0, -11.0, -14.0]) == pytest.approx(0.3)


def test_ragged_stack_equals_its_rows_one_by_one():
    rng = np.random.default_rng(3)
    stack = rng.lognormal(size=(3, 40, 12))
    stack[rng.random(stack.shape) < 0.35] = np.nan
    stack[0, 0] = np.nan
    together = summarize(stack)
    assert {together.n.shape, together.lo.shape, together.outliers.shape} == {(3, 40)}
    for index in np.ndindex(3, 40):
        alone = summarize(stack[index][~np.isnan(stack[index])])
        for field in fields(SampleSummary):
            np.testing.assert_array_equal(
                getattr(together, field.name)[index], getattr(alone, field.name), field.name
            )


def test_higher_confidence_needs_more_launches():
    assert np.isnan(summarize(np.arange(6.0), confidence=0.99).lo)
    summary = summarize(np.arange(8.0), confidence=0.99)
    assert (summary.lo, summary.hi) == (0.0, 7.0)


@pytest.mark.parametrize(
    ("values", "code"), [([1.0, np.inf], "BL-STATS-961"), (3.0, "BL-STATS-148")]
)
def test_what_is_not_a_stack_of_measurements_is_refused(values, code):
    with raises(ValueError, code):
        summarize(values)


@given(LAUNCHES, st.floats(1e-3, 1e3), st.randoms())
def test_summary_scales_and_ignores_order(values, scale, random):
    shuffled = values.tolist()
    random.shuffle(shuffled)
    one, other = summarize(values), summarize(np.array(shuffled) * scale)
    for name in ("median", "lo", "hi", "p5", "p95"):
        np.testing.assert_allclose(getattr(one, name) * scale, getattr(other, name), rtol=1e-12)
    assert one.lo <= one.median <= one.hi


def test_stopping_needs_six_launches_and_a_narrow_interval():
    wide = np.array([9.0, 9.5, 10.0, 10.0, 10.5, 11.0])
    assert not reached(np.full(5, 10.0), 0.02)
    assert reached(np.full(6, 10.0), 0.02)
    assert not reached(wide, 0.0999)
    assert reached(wide, 0.1)
    np.testing.assert_array_equal(reached(np.stack((wide, wide)), [0.05, 0.2]), [False, True])


def test_stopping_never_counts_absent_launches():
    assert not reached([10.0, 10.0, 10.0, 10.0, 10.0, np.nan], 0.02)
