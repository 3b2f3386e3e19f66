"""The distribution functions of our own against scipy's."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from bareline.stats import special


@pytest.mark.parametrize("n", [0, 1, 2, 7, 200, 1001, 50_000])
def test_binomial(n):
    k = np.arange(-2, n + 3)
    expected = scipy_stats.binom.cdf(k, n, 0.5)
    np.testing.assert_allclose(special.binomial_half_cdf(k, n), expected, atol=2e-11)


def test_normal_keeps_its_tails():
    x = np.linspace(-37, 8, 200)
    np.testing.assert_allclose(special.normal_cdf(x), scipy_stats.norm.cdf(x), rtol=1e-12)
    p = np.linspace(1e-6, 1 - 1e-6, 99)
    np.testing.assert_allclose(special.normal_quantile(p), scipy_stats.norm.ppf(p), rtol=1e-9)


@pytest.mark.parametrize("freedom", [5, 6, 10, 100, 50_000])
def test_student_is_as_near_as_it_says(freedom):
    for p in (0.006, 0.025, 0.5, 0.9, 0.975, 0.994):
        expected = scipy_stats.t.ppf(p, freedom)
        assert special.student_quantile(p, freedom) == pytest.approx(expected, rel=5e-3, abs=1e-12)


@pytest.mark.parametrize(("ends", "error"), [(0.05, 0.02), (0.01, 0.1)])
@pytest.mark.parametrize("freedom", [5, 6, 10, 100, 50_000])
def test_chi_square_is_as_near_as_it_says(freedom, ends, error):
    p = np.linspace(ends, 1 - ends, 99)
    expected = scipy_stats.chi2.ppf(p, freedom)
    np.testing.assert_allclose(special.chi_square_quantile(p, freedom), expected, rtol=error)
