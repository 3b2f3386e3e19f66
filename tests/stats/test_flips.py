"""Joint flips: six blocks decide a lone large loss, and nothing is claimed that is not there."""

import itertools

import numpy as np
import pytest

from bareline.stats import false_discovery_q, family_wise_p

MARGIN = 0.02


def students_t(values):
    return values.mean(axis=-1) / (values.std(axis=-1, ddof=1) / np.sqrt(values.shape[-1]))


def brute_p(rows):
    """Single-step by definition, without a margin: the first row of a step-down is the same."""
    observed = np.abs(students_t(rows)).max()
    signs = itertools.product((1, -1), repeat=rows.shape[-1])
    as_extreme = [np.abs(students_t(rows * sign)).max() >= observed * (1 - 1e-9) for sign in signs]
    return np.mean(as_extreme)


def test_the_clearest_row_is_its_definition():
    generator = np.random.default_rng(2)
    for _ in range(20):
        rows = generator.standard_normal((5, 7)) + 0.5
        assert family_wise_p(rows).min() == pytest.approx(brute_p(rows))


def test_a_lone_tenfold_loss_is_decided_by_six_blocks():
    generator = np.random.default_rng(3)
    rows = 0.05 * generator.standard_normal((15, 6))
    rows[4] += np.log(10)
    rows[5] = 0.001 * np.arange(1, 7)  # a calm neighbour whose signs agree
    p = family_wise_p(rows, np.log1p(MARGIN))
    assert p[4] == pytest.approx(2 / 64)
    assert (np.delete(p, 4) > 0.05).all()
    assert false_discovery_q(rows, np.log1p(MARGIN))[4] <= 0.05


def test_all_rows_alike_are_decided_together():
    rows = 0.01 * np.random.default_rng(4).standard_normal((24, 6)) + 0.7
    assert (family_wise_p(rows, MARGIN) <= 0.05).all()
    assert (false_discovery_q(rows, MARGIN) <= 0.05).all()


def test_equal_figures_have_no_spread_and_no_rounding():
    rows = np.full((3, 6), 0.4)
    rows[1] = 0.0
    rows[2] = 0.01
    p = family_wise_p(rows, MARGIN)
    assert p[0] == pytest.approx(2 / 64)
    assert list(p[1:]) == [1, 1]


def test_one_side_is_asked_about_alone():
    rows = np.random.default_rng(5).standard_normal((4, 8)) * 0.05
    rows[0] += 1
    rows[1] -= 1
    p = family_wise_p(rows, side="above")
    assert p[0] == pytest.approx(1 / 256)
    assert p[1] == 1


def test_a_weight_changes_what_is_found_first_and_nothing_of_the_level():
    generator = np.random.default_rng(8)
    weights = np.array([3.0, *[1.0] * 7])
    found = claims = 0
    for _ in range(200):
        rows = 0.05 * generator.standard_normal((8, 6))
        claims += bool((family_wise_p(rows, MARGIN, weight=weights) <= 0.05).any())
        rows[0] += 0.15
        found += bool(family_wise_p(rows, MARGIN, weight=weights)[0] <= 0.05)
        found -= bool(family_wise_p(rows, MARGIN)[0] <= 0.05)
    assert claims <= 19  # 10 allowed, 3.1 its standard error
    assert found > 10


def test_rows_with_few_blocks_are_no_tests():
    rows = np.full((2, 8), np.nan)
    rows[0, :5] = 1.0
    rows[1] = 0.1
    assert np.isnan(family_wise_p(rows)[0]) and np.isnan(false_discovery_q(rows)[0])
    assert not np.isnan(family_wise_p(rows)[1])
    assert family_wise_p(np.empty((0, 8))).shape == (0,)


def test_rows_of_unlike_numbers_of_blocks_are_compared_fairly():
    """A calm row of six blocks must not pass for more extreme than one of twelve that is clear."""
    rows = 0.03 * np.random.default_rng(6).standard_normal((10, 12))
    rows[:9, 6:] = np.nan
    rows[9] += 0.5
    assert family_wise_p(rows, MARGIN)[9] <= 0.05


@pytest.mark.parametrize("blocks", [6, 7])
@pytest.mark.parametrize("skewed", [False, True])
def test_nothing_is_claimed_of_equal_platforms(blocks, skewed):
    """Three platforms against one baseline, calm and noisy rows: at most 5 % with any claim."""
    generator = np.random.default_rng(7)
    draw = generator.exponential if skewed else generator.standard_normal
    spread = np.exp(generator.standard_normal((8, 1))) * 0.02
    claims = rates = 0
    for _ in range(200):
        base = spread * draw(size=(8, blocks))
        rows = np.concatenate([spread * draw(size=(8, blocks)) - base for _ in range(3)])
        claims += bool((family_wise_p(rows, MARGIN) <= 0.05).any())
        rates += bool((false_discovery_q(rows, MARGIN) <= 0.05).any())
    assert claims <= 19 and rates <= 19  # 10 allowed, 3.1 its standard error
