"""Lopsided differences: seen where shapes differ, and rarely where they do not."""

import numpy as np
import pytest

from bareline import stats
from bareline.testing.messages import raises


def delays(generator, width, shape):
    """Give logarithms of a floor and exponential delays, with median 1."""
    return np.log(1 + width * (generator.exponential(size=shape) - np.log(2)))


def said(draw, pages=200):
    """Give the share of pages that are called lopsided."""
    generator = np.random.default_rng(5)
    p = [stats.asymmetry_p(draw(generator)) for _ in range(pages)]
    return np.mean(np.array(p) <= stats.ASYMMETRY_ALPHA)


@pytest.mark.parametrize("loss", [0.0, 0.5])
def test_noise_of_unlike_shape_is_seen_whatever_differs_beside(loss):
    shape = (20, 10)
    share = said(lambda g: delays(g, 0.06, shape) + loss - delays(g, 0.02, shape), pages=50)
    assert share > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [7, 10, 20])
@pytest.mark.parametrize("kind", ["normal", "wider", "alike"])
def test_what_is_symmetric_is_rarely_called_lopsided(kind, blocks):
    shape = (15, blocks)
    draws = {
        "normal": lambda g: g.normal(0, 0.02, shape) - g.normal(0, 0.02, shape),
        "wider": lambda g: g.normal(0, 0.1, shape) - g.normal(0, 0.01, shape),
        "alike": lambda g: delays(g, 0.03, shape) - delays(g, 0.03, shape),
    }
    # 200 pages: three standard errors above the level, and what skewed noise adds.
    assert said(draws[kind]) <= stats.ASYMMETRY_ALPHA + 0.07


def test_one_disturbed_block_is_no_shape():
    generator = np.random.default_rng(3)
    rows = generator.normal(0, 0.01, (30, 10))
    rows[:, 4] += 2.0
    assert stats.asymmetry_p(rows) > 0.2


def test_too_few_blocks_and_constant_rows_say_nothing():
    assert np.isnan(stats.asymmetry_p(np.ones((3, 6))))
    assert np.isnan(stats.asymmetry_p(np.full((3, 9), np.nan)))
    assert stats.asymmetry_p(np.ones((3, 9))) == 1.0
    with raises(ValueError, "BL-STATS-827"):
        stats.asymmetry_p([1.0, 2.0])


def test_absent_blocks_are_left_out_row_by_row():
    generator = np.random.default_rng(3)
    rows = delays(generator, 0.2, (40, 12))
    rows[::2, 3] = np.nan
    rows[1::2, 8] = np.nan
    assert stats.asymmetry_p(rows) <= stats.ASYMMETRY_ALPHA


def test_middles_within_the_spread():
    base = np.ones((3, 9)) + np.linspace(-0.05, 0.05, 9)
    values = base * np.array([[1.0], [1.03], [1.2]])
    assert stats.within_spread(values, base).tolist() == [True, True, False]
