"""Coverage on planted distributions: a quick version of benchmarks/interval_coverage.py.

Bounds are in Monte-Carlo standard errors, and each is checked to be tighter than the step to the
interval that is wrong by one order statistic.
"""

import math
import runpy
from pathlib import Path

import numpy as np
import pytest
from simulated_coverage import (
    DISTRIBUTIONS,
    block_drift_coverage,
    family_corrections,
    lost_coverage,
    median_coverage,
    normal,
    ratio_coverage,
    sequence_drift_coverage,
    stopped_coverage,
    unlike_coverage,
    unlike_truth,
)

from bareline.stats import paired_ratio, unpaired_ratio

SIMULATIONS = 40_000
ERRORS = 4.5
EVERY_NOISE = pytest.mark.parametrize("noise", DISTRIBUTIONS, ids=lambda noise: noise.name)

COVERAGE_SCRIPT = Path(__file__).parents[2] / "benchmarks" / "interval_coverage.py"


def rng():
    return np.random.default_rng(20_151_115)


def check(share, levels):
    """Check a coverage against its level, between those of one order statistic more and less."""
    wider, exact, narrower = levels
    tolerance = ERRORS * share.standard_error
    assert share.value == pytest.approx(exact, abs=tolerance)
    assert min(wider - exact, exact - narrower) > tolerance


# From binomial coefficients and tables of the statistics, not from the code under test:
# 1 - 2 P(B <= k - 1) for k = 1, 2, 6, 10 of n = 6, 10, 20, 30, with the ranks before and after.
SIGN = {
    n: tuple(1 - 2 * sum(math.comb(n, i) for i in range(rank)) / 2**n for rank in (k - 1, k, k + 1))
    for n, k in {6: 1, 10: 2, 20: 6, 30: 10}.items()
}
# The numbers of sign assignments with T+ <= -1, 0, 1 (n = 6) and T+ <= 7, 8, 9 (n = 10).
SIGNED_RANK = {
    6: tuple(1 - 2 * count / 64 for count in (0, 1, 2)),
    10: tuple(1 - 2 * count / 1024 for count in (19, 25, 33)),
}
# The numbers of splits of 12 into 6 and 6 with U <= 4, 5, 6.
MANN_WHITNEY_6 = tuple(1 - 2 * count / 924 for count in (12, 19, 30))


@EVERY_NOISE
@pytest.mark.parametrize("n", [6, 10, 20, 30])
def test_median_interval_has_its_exact_level(noise, n):
    check(median_coverage(noise, n, SIMULATIONS, rng()), SIGN[n])


@EVERY_NOISE
@pytest.mark.parametrize("n", [6, 10])
def test_paired_ratio_has_its_exact_level(noise, n):
    share = ratio_coverage(noise, n, SIMULATIONS, rng(), paired_ratio)
    check(share, SIGNED_RANK[n])


@EVERY_NOISE
def test_unpaired_ratio_has_its_exact_level(noise):
    share = ratio_coverage(noise, 6, SIMULATIONS, rng(), unpaired_ratio)
    check(share, MANN_WHITNEY_6)


@pytest.mark.parametrize("n", [20, 30])
@pytest.mark.parametrize("ratio_of", [paired_ratio, unpaired_ratio])
def test_ratios_of_more_launches_cover_as_promised(n, ratio_of):
    share = ratio_coverage(DISTRIBUTIONS[2], n, 10_000, rng(), ratio_of)
    assert 0.94 <= share.value <= 0.97


@pytest.mark.parametrize("n", [6, 10, 20, 30])
def test_randomised_blocks_withstand_drift(n):
    assert block_drift_coverage(normal(0.03), n, 10_000, rng(), 0.01).value >= 0.94


def test_one_platform_after_the_other_does_not():
    assert sequence_drift_coverage(normal(0.075), 10, 10_000, rng(), 0.01).value < 0.45
    assert sequence_drift_coverage(normal(0.075), 10, 10_000, rng(), 0.0).value > 0.94


def test_unlike_noise_costs_little():
    pair = (DISTRIBUTIONS[3], DISTRIBUTIONS[0])
    truth = unlike_truth(pair, 400_000, rng(), paired_ratio)
    assert 1.02 < truth < 1.06
    assert unlike_coverage(pair, truth, (10_000, 10), rng(), paired_ratio).value > 0.93


def test_stopping_costs_little_and_saves_launches():
    stopped = stopped_coverage(normal(0.02), 5_000, rng())
    assert 6 < stopped.mean_launches < 20
    assert stopped.not_reached.value < 0.05
    assert stopped.median.value > 0.93
    assert stopped.ratio.value > 0.93


def test_flips_find_what_holm_cannot():
    holm, flips = family_corrections(6, 200, rng(), slower=1, shared=0.5)
    assert holm.found.value == 0
    assert flips.found.value > 0.2
    _, flips = family_corrections(8, 1000, rng(), slower=12, shared=0.5)
    assert flips.found.value > 0.88
    assert flips.false_claims.value <= 0.05 + 3 * flips.false_claims.standard_error


@pytest.mark.parametrize("n", [10, 30])
def test_launches_lost_to_a_limit_do_not_bias_the_interval(n):
    """Leaving the slowest 20 % of a platform's launches out covers far less than 95 %."""
    noise = normal(0.03)
    left_out = lost_coverage(noise, n, SIMULATIONS, rng(), counted=False)
    assert left_out.value < 0.93
    counted = lost_coverage(noise, n, SIMULATIONS, rng(), counted=True)
    assert counted.value > 0.95 - ERRORS * counted.standard_error


def test_planted_medians_are_the_distributions_medians():
    for noise in DISTRIBUTIONS:
        draws = noise.draw(rng(), (400_000,))
        assert (draws < noise.median).mean() == pytest.approx(0.5, abs=0.004)


def test_page_is_updated_between_its_markers(tmp_path):
    script = runpy.run_path(str(COVERAGE_SCRIPT))
    page = tmp_path / "page.md"
    page.write_text(f"before\n{script['BEGIN']}\nold\n{script['END']}\nafter\n")
    script["update"](page, "new")
    expected = f"before\n{script['BEGIN']}\n\nnew\n\n{script['END']}\nafter\n"
    assert page.read_text() == expected


def test_every_table_is_printed():
    script = runpy.run_path(str(COVERAGE_SCRIPT))
    printed = list(script["tables"](60))
    assert len(printed) == 8
    for table in printed:
        widths = {line.count(" | ") for line in table.splitlines()[2:]}
        assert len(widths) == 1
