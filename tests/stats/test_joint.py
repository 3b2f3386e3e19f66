"""Joint flips of blocks: enumeration, error and power, ragged families, speed."""

import itertools
import time

import numpy as np
import pytest
from scipy import stats as scipy_stats

from bareline.stats import adjust_paired, holm, paired_ratio


def curves(seed, families, points, blocks, *, shared=0.0, shift=0.0, sigma=0.02):
    """Return values and baseline of families whose points share a part of their noise."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, sigma, (families, 1, blocks))
    own = rng.normal(0, sigma, (families, points, blocks))
    logs = shift + np.sqrt(shared) * common + np.sqrt(1 - shared) * own
    values = np.exp(logs).reshape(-1, blocks)
    return values, np.ones_like(values), np.repeat(np.arange(families), points)


def brute_step_down(logs):
    """Adjust one family by its definition: every exchange, every subset of remaining points."""

    def statistic(flipped):
        """Rank sum first, then Student's t in the direction of the rank sum."""
        found = []
        for row in flipped:
            ranks = (scipy_stats.rankdata(abs(row)) * np.sign(row)).sum()
            t = row.sum() / np.sqrt((row**2).sum())
            found.append((abs(ranks), round(t if ranks > 0 else -t if ranks else abs(t), 9)))
        return found

    observed = statistic(logs)
    order = sorted(range(len(logs)), key=lambda point: observed[point], reverse=True)
    signs = itertools.product((1, -1), repeat=logs.shape[1])
    flipped = [statistic(logs * sign) for sign in signs]
    adjusted, largest = np.empty(len(logs)), 0.0
    for place, point in enumerate(order):
        share = np.mean(
            [max(sums[i] for i in order[place:]) >= observed[point] for sums in flipped]
        )
        largest = max(largest, share)
        adjusted[point] = largest
    return adjusted


@pytest.mark.parametrize(("points", "blocks"), [(2, 6), (5, 7), (9, 8)])
def test_step_down_is_the_enumeration_of_all_exchanges(points, blocks):
    values, baseline, families = curves(points, 6, points, blocks, shared=0.5, shift=0.01)
    p = paired_ratio(values, baseline).p
    found = adjust_paired(p, values, baseline, families).reshape(6, points)
    for family, logs in enumerate(np.log(values).reshape(6, points, blocks)):
        expected = np.maximum(brute_step_down(logs), p.reshape(6, points)[family])
        np.testing.assert_allclose(found[family], expected)


def test_a_family_of_one_keeps_its_p_value():
    values, baseline, families = curves(1, 50, 1, 9)
    p = paired_ratio(values, baseline).p
    np.testing.assert_array_equal(adjust_paired(p, values, baseline, families), p)


def test_points_that_move_together_are_as_good_as_one():
    values, baseline, _ = curves(2, 1, 1, 6, shift=0.1)
    stacked, base = np.repeat(values, 24, axis=0), np.repeat(baseline, 24, axis=0)
    p = paired_ratio(stacked, base).p
    np.testing.assert_allclose(adjust_paired(p, stacked, base), 2 / 64)
    np.testing.assert_allclose(holm(p), 24 * 2 / 64)


@pytest.mark.parametrize("blocks", [6, 8, 10])
@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_family_wise_error_is_kept(blocks, shared):
    values, baseline, families = curves(3, 1500, 12, blocks, shared=shared)
    adjusted = adjust_paired(paired_ratio(values, baseline).p, values, baseline, families)
    error = (adjusted <= 0.05).reshape(1500, 12).any(axis=1).mean()
    assert error <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1500)


def test_family_wise_error_is_kept_among_true_differences():
    # Half of the points are far slower; an error is a verdict on any other.
    values, baseline, families = curves(4, 1500, 12, 9, shared=0.5)
    values.reshape(1500, 12, 9)[:, ::2] *= 1.5
    adjusted = adjust_paired(paired_ratio(values, baseline).p, values, baseline, families)
    error = (adjusted <= 0.05).reshape(1500, 12)[:, 1::2].any(axis=1).mean()
    assert error <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1500)


def test_six_blocks_find_a_slower_platform_where_holm_cannot():
    values, baseline, families = curves(5, 300, 24, 6, shared=0.9, shift=0.1)
    p = paired_ratio(values, baseline).p
    assert (adjust_paired(p, values, baseline, families) <= 0.05).mean() > 0.95
    assert (holm(p, families) <= 0.05).sum() == 0


def test_points_without_a_difference_do_not_hide_a_clear_one():
    values, baseline, families = curves(10, 300, 24, 6)
    values.reshape(300, 24, 6)[:, 7] *= 1.5
    p = paired_ratio(values, baseline).p
    adjusted = adjust_paired(p, values, baseline, families).reshape(300, 24)
    assert (adjusted[:, 7] <= 0.05).mean() > 0.95
    assert (np.delete(adjusted, 7, axis=1) <= 0.05).any(axis=1).mean() <= 0.05


def test_adjusting_never_lowers_a_p_value():
    rng = np.random.default_rng(6)
    values = rng.integers(1, 5, (400, 9)).astype(float)
    baseline = rng.integers(1, 5, (400, 9)).astype(float)
    p = paired_ratio(values, baseline).p
    assert (adjust_paired(p, values, baseline, np.repeat(np.arange(40), 10)) >= p).all()


def test_beyond_twelve_blocks_it_is_holm():
    values, baseline, families = curves(7, 20, 10, 13, shift=0.01)
    p = paired_ratio(values, baseline).p
    np.testing.assert_array_equal(adjust_paired(p, values, baseline, families), holm(p, families))


def test_ragged_families_are_adjusted_apart():
    rng = np.random.default_rng(8)
    values, baseline, families = curves(8, 30, 5, 10, shared=0.5, shift=0.02)
    values.reshape(30, 5, 10)[10:20, :, 7:] = np.nan  # stopped after seven blocks
    values.reshape(30, 5, 10)[15, :, :2] = np.nan  # two blocks failed
    values[rng.random(values.shape) < 0.02] = np.nan
    shuffled = rng.permutation(150)
    p = paired_ratio(values, baseline).p
    together = adjust_paired(p[shuffled], values[shuffled], baseline[shuffled], families[shuffled])
    for family in range(30):
        own = np.flatnonzero(families[shuffled] == family)
        rows = shuffled[own]
        alone = adjust_paired(p[rows], values[rows], baseline[rows])
        np.testing.assert_array_equal(together[own], alone)
    np.testing.assert_array_equal(np.isnan(together), np.isnan(p[shuffled]))
    assert np.isnan(together).any()


def test_counts_with_zeros_are_adjusted_too():
    values = np.tile([5.0, 9.0, 4.0, 8.0, 7.0, 6.0], (3, 1))
    baseline = np.zeros((3, 6))
    p = paired_ratio(values, baseline).p
    np.testing.assert_allclose(adjust_paired(p, values, baseline), 2 / 64)


def test_shapes_must_match():
    with pytest.raises(ValueError, match="one per p-value"):
        adjust_paired([0.1], np.ones((2, 6)), np.ones((2, 6)))
    with pytest.raises(ValueError, match="one shape"):
        adjust_paired([0.1, 0.2], np.ones((2, 6)), np.ones((2, 7)))
    assert adjust_paired([], np.ones((0, 6)), np.ones((0, 6))).shape == (0,)


@pytest.mark.parametrize("points", [25, 1000])
def test_fifty_thousand_points_take_two_seconds(points):
    values, baseline, families = curves(9, 50_000 // points, points, 10)
    p = paired_ratio(values, baseline).p
    start_s = time.process_time()
    adjust_paired(p, values, baseline, families)
    assert time.process_time() - start_s < 2.0
