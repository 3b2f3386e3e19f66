"""Shifts and ratios: brute force, scipy, symmetries, ties, zeros, speed."""

import itertools
import time
from dataclasses import fields

import numpy as np
import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats as scipy_stats

from bareline.stats import (
    Ratio,
    paired_ratio,
    paired_shift,
    pairwise,
    unpaired_ratio,
    unpaired_shift,
)
from bareline.testing.messages import raises

BOTH = pytest.mark.parametrize("ratio_of", [paired_ratio, unpaired_ratio])
POSITIVE = st.floats(1e-6, 1e6)
PAIRS = st.integers(6, 14).flatmap(lambda n: arrays.arrays(np.float64, (2, n), elements=POSITIVE))


def launches(seed, shape, sigma=0.05):
    return np.exp(np.random.default_rng(seed).normal(0.0, sigma, shape))


@pytest.mark.parametrize(("n", "rank"), [(6, 1), (7, 3), (8, 4), (10, 9), (20, 53)])
def test_paired_ratio_is_the_median_walsh_average_and_its_ranks(n, rank):
    values, baseline = launches(1, n), launches(2, n)
    logs = np.log(values / baseline)
    walsh = sorted((x + y) / 2 for x, y in itertools.combinations_with_replacement(logs, 2))
    found = paired_ratio(values, baseline)
    assert found.ratio == pytest.approx(np.exp(np.median(walsh)))
    assert found.lo == pytest.approx(np.exp(walsh[rank - 1]))
    assert found.hi == pytest.approx(np.exp(walsh[-rank]))
    assert found.n == found.n_baseline == n


@pytest.mark.parametrize(("n", "m", "rank"), [(6, 6, 6), (8, 8, 14), (10, 10, 24), (6, 12, 15)])
def test_unpaired_ratio_is_the_median_difference_and_its_ranks(n, m, rank):
    values, baseline = launches(3, n), launches(4, m)
    grid = np.sort(np.subtract.outer(np.log(values), np.log(baseline)).ravel())
    found = unpaired_ratio(values, baseline)
    assert found.ratio == pytest.approx(np.exp(np.median(grid)))
    assert found.lo == pytest.approx(np.exp(grid[rank - 1]))
    assert found.hi == pytest.approx(np.exp(grid[-rank]))
    assert (found.n, found.n_baseline) == (n, m)


@pytest.mark.parametrize("n", [6, 10, 25, 50])
def test_paired_p_is_scipys_exact_wilcoxon(n):
    for seed in range(10):
        values, baseline = launches(seed, n) * 1.02, launches(seed + 100, n)
        expected = scipy_stats.wilcoxon(np.log(values), np.log(baseline), method="exact")
        assert paired_ratio(values, baseline).p == pytest.approx(expected.pvalue)


def test_paired_p_of_many_launches_is_scipys_approximation():
    values, baseline = launches(5, 120) * 1.004, launches(6, 120)
    expected = scipy_stats.wilcoxon(
        np.log(values), np.log(baseline), method="asymptotic", correction=True
    )
    assert paired_ratio(values, baseline).p == pytest.approx(expected.pvalue)


@pytest.mark.parametrize(
    ("n", "m", "how"), [(6, 6, "exact"), (10, 7, "exact"), (80, 60, "asymptotic")]
)
def test_unpaired_p_is_scipys_mann_whitney(n, m, how):
    for seed in range(10):
        values, baseline = launches(seed, n) * 1.02, launches(seed + 100, m)
        expected = scipy_stats.mannwhitneyu(values, baseline, method=how)
        assert unpaired_ratio(values, baseline).p == pytest.approx(expected.pvalue)


@BOTH
@given(pair=PAIRS)
def test_p_and_interval_are_the_same_inversion(ratio_of, pair):
    found = ratio_of(*pair)
    excluded = bool(found.lo > 1.0) or bool(found.hi < 1.0)
    assert excluded == bool(found.p <= 0.05)


@BOTH
@given(pair=PAIRS)
def test_swapped_platforms_give_the_inverse(ratio_of, pair):
    there, back = ratio_of(pair[0], pair[1]), ratio_of(pair[1], pair[0])
    assert back.ratio == pytest.approx(1 / there.ratio, rel=1e-9)
    assert back.lo == pytest.approx(1 / there.hi, rel=1e-9)
    assert back.hi == pytest.approx(1 / there.lo, rel=1e-9)
    assert back.p == there.p


@BOTH
@given(pair=PAIRS, scale=st.floats(1e-3, 1e3))
def test_scaling_one_platform_scales_the_ratio(ratio_of, pair, scale):
    plain, scaled = ratio_of(*pair), ratio_of(pair[0] * scale, pair[1])
    for name in ("ratio", "lo", "hi"):
        assert getattr(scaled, name) == pytest.approx(getattr(plain, name) * scale, rel=1e-9)


@BOTH
@given(pair=PAIRS, scale=st.floats(1e-3, 1e3))
def test_the_unit_does_not_matter(ratio_of, pair, scale):
    plain, scaled = ratio_of(*pair), ratio_of(*(pair * scale))
    for name in ("ratio", "lo", "hi", "p"):
        assert getattr(scaled, name) == pytest.approx(getattr(plain, name), rel=1e-9)


@given(pair=PAIRS, random=st.randoms())
def test_order_of_blocks_does_not_matter(pair, random):
    order = list(range(pair.shape[1]))
    random.shuffle(order)
    one, other = paired_ratio(*pair), paired_ratio(*pair[:, order])
    assert (one.ratio, one.lo, one.hi, one.p) == (other.ratio, other.lo, other.hi, other.p)


@BOTH
@given(pair=PAIRS)
def test_estimate_lies_in_its_interval(ratio_of, pair):
    found = ratio_of(*pair)
    assert found.lo <= found.ratio <= found.hi
    assert 0 < found.p <= 1
    assert found.level >= 0.95


@pytest.mark.parametrize("n", [6, 7, 10, 60])
def test_identical_launches_are_certainly_no_different(n):
    values = launches(7, n)
    for found in (paired_ratio(values, values), unpaired_ratio(np.full(n, 3.7), np.full(n, 3.7))):
        assert (found.ratio, found.lo, found.hi, found.p) == (1.0, 1.0, 1.0, 1.0)


def test_identical_samples_in_another_order_have_ratio_one():
    values = launches(8, 10)
    found = unpaired_ratio(values, values[::-1])
    assert found.ratio == 1.0
    assert found.p == 1.0


def test_ties_with_the_null_count_for_the_null():
    # Five blocks worse and one equal: dropping the tie would leave n = 5, splitting it n = 5.5.
    baseline = np.full(6, 10.0)
    values = np.array([10.0, 11.0, 12.0, 13.0, 14.0, 15.0])
    found = paired_ratio(values, baseline)
    # One Walsh average of 21 is 0: P(T+ <= 1) = 2/64.
    assert found.p == pytest.approx(2 * 2 / 64)
    assert found.lo == 1.0


def test_ties_hold_the_level():
    # A coarse clock: values on five ticks, no difference between the platforms.
    rng = np.random.default_rng(9)
    ticks = rng.integers(98, 103, (2, 20_000, 8)).astype(float)
    for ratio_of in (paired_ratio, unpaired_ratio):
        assert (ratio_of(*ticks).p <= 0.05).mean() <= 0.05
        found = ratio_of(*ticks)
        assert ((found.lo <= 1) & (found.hi >= 1)).mean() >= 0.95


def test_rounding_of_logarithms_is_a_tie():
    # 4/2 against 1/2: the logarithms' differences cancel only up to rounding.
    found = paired_ratio([4.0, 1.0, 3.0, 5.0, 7.0, 0.3], [2.0, 2.0, 1.5, 10.0, 3.5, 0.6])
    assert found.ratio == 1.0
    assert found.p == 1.0


@BOTH
@pytest.mark.parametrize("n", range(6))
def test_no_inference_below_six_launches(ratio_of, n):
    found = ratio_of(launches(1, n), launches(2, n))
    assert np.isnan([found.lo, found.hi, found.p, found.level]).all()
    assert np.isnan(found.ratio) == (n == 0)
    assert found.n == n


def test_one_short_side_is_too_short():
    found = unpaired_ratio(launches(1, 20), launches(2, 5))
    assert found.ratio > 0
    assert np.isnan([found.lo, found.hi, found.p]).all()


@BOTH
def test_stack_equals_its_rows_one_by_one(ratio_of):
    rng = np.random.default_rng(10)
    values, baseline = rng.lognormal(size=(2, 4, 30, 11))
    for stack in (values, baseline):
        stack[rng.random(stack.shape) < 0.25] = np.nan
        stack[rng.random(stack.shape) < 0.01] = 0.0
    together = ratio_of(values, baseline)
    for index in np.ndindex(4, 30):
        first, second = values[index], baseline[index]
        if ratio_of is paired_ratio:
            complete = ~np.isnan(first) & ~np.isnan(second)
            first, second = first[complete], second[complete]
        else:
            first, second = first[~np.isnan(first)], second[~np.isnan(second)]
        alone = ratio_of(first, second)
        for field in fields(Ratio):
            np.testing.assert_array_equal(
                getattr(together, field.name)[index], getattr(alone, field.name), field.name
            )


def test_absent_launches_leave_their_block_out():
    values, baseline = launches(1, 9), launches(2, 9)
    values[3], baseline[5] = np.nan, np.nan
    kept = [0, 1, 2, 4, 6, 7, 8]
    found, expected = paired_ratio(values, baseline), paired_ratio(values[kept], baseline[kept])
    assert (found.n, found.ratio, found.lo) == (7, expected.ratio, expected.lo)


def test_zeros_are_compared_on_their_own_scale():
    values = np.array([5.0, 9.0, 4.0, 8.0, 7.0, 6.0])
    baseline = np.array([0.0, 1.0, 3.0, 2.0, 1.0, 2.0])
    found = paired_ratio(values, baseline)
    assert not found.on_logs
    assert found.ratio == pytest.approx(6.5 / 1.5)
    assert np.isnan([found.lo, found.hi, found.level]).all()
    assert found.p == pytest.approx(2 / 64)
    assert found.n == 6


def test_zero_median_has_no_ratio_but_a_p_value():
    found = paired_ratio(np.arange(40.0, 46.0), np.zeros(6))
    assert np.isnan(found.ratio)
    assert found.p == pytest.approx(2 / 64)
    shift = paired_shift(np.arange(40.0, 46.0), np.zeros(6))
    assert (shift.shift, shift.lo, shift.hi) == (42.5, 40.0, 45.0)


def test_all_zero_counts_are_no_different():
    found = unpaired_ratio(np.zeros(8), np.zeros(8))
    assert np.isnan(found.ratio)
    assert found.p == 1.0
    shift = unpaired_shift(np.zeros(8), np.zeros(8))
    assert (shift.shift, shift.lo, shift.hi) == (0.0, 0.0, 0.0)


def test_a_zero_spoils_only_its_own_case():
    values, baseline = launches(1, (3, 8)), launches(2, (3, 8))
    values[1, 0] = 0.0
    found = paired_ratio(values, baseline)
    np.testing.assert_array_equal(found.on_logs, [True, False, True])
    np.testing.assert_array_equal(np.isnan(found.lo), [False, True, False])


def test_a_zero_beside_an_absent_launch_is_left_out_with_its_block():
    values, baseline = launches(1, 8), launches(2, 8)
    values[0], baseline[0] = 0.0, np.nan
    found = paired_ratio(values, baseline)
    assert found.on_logs
    assert found.n == 7


def test_shapes_must_match():
    with raises(ValueError, "BL-STATS-850"):
        paired_ratio(np.ones((2, 6)), np.ones((2, 7)))
    with raises(ValueError, "BL-STATS-954"):
        unpaired_ratio(np.ones((2, 6)), np.ones((3, 6)))
    with raises(ValueError, "BL-STATS-961"):
        paired_ratio(np.ones(6), np.full(6, np.inf))


@BOTH
def test_empty_stack_of_cases(ratio_of):
    found = ratio_of(np.ones((0, 10)), np.ones((0, 10)))
    assert found.ratio.shape == found.p.shape == (0,)


@BOTH
def test_thousands_of_launches_agree_with_the_expanded_method(ratio_of, monkeypatch):
    values, baseline = launches(1, 900), launches(2, 900)
    expanded = ratio_of(values, baseline)
    monkeypatch.setattr(pairwise, "EXPAND_LIMIT", 1000)
    searched = ratio_of(values, baseline)
    for name in ("ratio", "lo", "hi", "p"):
        assert getattr(searched, name) == pytest.approx(getattr(expanded, name), rel=1e-12)


@BOTH
def test_fifty_thousand_cases_take_a_second(ratio_of):
    values, baseline = launches(1, (50_000, 10)), launches(2, (50_000, 10))
    ratio_of(values[:10], baseline[:10])
    start_s = time.process_time()
    ratio_of(values, baseline)
    assert time.process_time() - start_s < 1.0


@BOTH
@settings(max_examples=examples(30))
@given(st.integers(0, 2**32))
def test_planted_ratio_is_found(ratio_of, seed):
    rng = np.random.default_rng(seed)
    values = 1.3 * np.exp(rng.normal(0, 0.001, 10))
    found = ratio_of(values, np.exp(rng.normal(0, 0.001, 10)))
    assert found.ratio == pytest.approx(1.3, rel=0.005)
    assert found.p <= 0.002
