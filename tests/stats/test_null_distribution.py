"""Null distributions against enumeration, published quantiles and scipy."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from bareline.stats import null_distribution
from bareline.stats.null_distribution import mann_whitney, sign, signed_rank


def lower(null, size):
    return null.lower(np.arange(-1, size + 2))


@pytest.mark.parametrize("n", [1, 2, 5, 6, 9])
def test_signed_rank_is_the_enumeration_of_all_signs(n):
    sums = [
        sum(rank for rank, positive in enumerate(signs, start=1) if positive)
        for signs in itertools.product((False, True), repeat=n)
    ]
    size = n * (n + 1) // 2
    expected = [np.mean(np.array(sums) <= t) for t in range(-1, size + 2)]
    assert signed_rank(n).size == size
    np.testing.assert_allclose(lower(signed_rank(n), size), expected, atol=1e-14)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 3), (3, 2), (4, 5), (6, 5)])
def test_mann_whitney_is_the_enumeration_of_all_splits(n, m):
    statistics = [
        sum(1 for x in chosen for y in set(range(n + m)) - set(chosen) if x > y)
        for chosen in itertools.combinations(range(n + m), n)
    ]
    expected = [np.mean(np.array(statistics) <= t) for t in range(-1, n * m + 2)]
    np.testing.assert_allclose(lower(mann_whitney(n, m), n * m), expected, atol=1e-14)


@pytest.mark.parametrize("n", [1, 6, 7, 10, 31, 200])
def test_sign_is_the_binomial(n):
    values = np.arange(-1, n + 1)
    np.testing.assert_allclose(
        sign(n).lower(values), scipy_stats.binom.cdf(values, n, 0.5), atol=1e-12
    )


@pytest.mark.parametrize("n", [6, 10, 20, 30, 50])
def test_exact_signed_rank_agrees_with_scipy(n):
    rng = np.random.default_rng(n)
    sample = rng.normal(0.3, 1.0, n)
    expected = scipy_stats.wilcoxon(sample, method="exact")
    tail = np.array([int(expected.statistic)])
    assert signed_rank(n).two_sided_p(tail)[0] == pytest.approx(expected.pvalue, rel=1e-10)


@pytest.mark.parametrize(("n", "rank", "level"), [(6, 1, 0.96875), (10, 9, 0.951171875)])
def test_signed_rank_interval_at_small_n(n, rank, level):
    # n = 10: P(T+ <= 8) = 0.0244 is the last tail under 2.5 % (Hollander, Wolfe, Chicken, A.4).
    assert signed_rank(n).interval_rank(0.95) == rank
    assert signed_rank(n).level(rank) == pytest.approx(level)


@pytest.mark.parametrize(
    ("null", "rank"),
    [(signed_rank(20), 53), (signed_rank(30), 138), (mann_whitney(10, 10), 24)],
)
def test_interval_rank_is_the_published_critical_value_plus_one(null, rank):
    # Critical values for a two-sided 5 % test: 52 (n = 20), 137 (n = 30), U = 23 (10 against 10).
    assert null.interval_rank(0.95) == rank


@pytest.mark.parametrize("null", [sign(5), signed_rank(5), mann_whitney(3, 3)])
def test_no_interval_where_even_the_whole_range_is_too_short(null):
    assert null.interval_rank(0.95) == 0
    assert math.isnan(null.level(0))


@pytest.mark.parametrize("null", [sign(40), signed_rank(25), signed_rank(80), mann_whitney(60, 9)])
def test_interval_rank_is_the_largest_that_keeps_the_level(null):
    rank = null.interval_rank(0.95)
    assert null.level(rank) >= 0.95 > null.level(rank + 1)


@pytest.mark.parametrize("n", [51, 60, 200])
def test_normal_approximation_meets_the_exact_signed_rank(n, monkeypatch):
    values = np.arange(n * (n + 1) // 2 + 1)
    found = signed_rank(n).lower(values)
    monkeypatch.setattr(null_distribution, "EXACT_SIGNED_RANK", n)
    exact = signed_rank.__wrapped__(n).lower(values)
    assert np.abs(found - exact).max() > 0
    np.testing.assert_allclose(found, exact, atol=2e-3)
    tail = exact < 0.05
    np.testing.assert_allclose(found[tail], exact[tail], atol=5e-4)


def test_normal_approximation_meets_the_exact_mann_whitney(monkeypatch):
    approximate = mann_whitney(55, 52).lower(np.arange(55 * 52 + 1))
    monkeypatch.setattr(null_distribution, "EXACT_MANN_WHITNEY", 60)
    exact = mann_whitney.__wrapped__(55, 52).lower(np.arange(55 * 52 + 1))
    tail = exact < 0.05
    assert np.abs(approximate - exact).max() > 0
    np.testing.assert_allclose(approximate[tail], exact[tail], atol=5e-4)


@pytest.mark.parametrize("null", [sign(9), signed_rank(12), mann_whitney(7, 9), signed_rank(70)])
def test_distributions_are_symmetric(null):
    values = np.arange(-1, null.size + 1)
    upper = 1.0 - null.lower(null.size - values - 1)
    np.testing.assert_allclose(null.lower(values)[1:-1], upper[1:-1], atol=1e-9)
