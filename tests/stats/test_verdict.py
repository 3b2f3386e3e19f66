"""Verdicts: every rule, its edges, and the errors it promises."""

import numpy as np
import pytest

from bareline.stats import holm, judge, judge_shift, paired_ratio
from bareline.testing.messages import raises
from bareline.vocabulary.verdicts import Verdict

SLOWER, FASTER = Verdict.SLOWER, Verdict.FASTER
EQUIVALENT, INCONCLUSIVE = Verdict.EQUIVALENT, Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ((1.10, 1.05, 1.15, 10, 0.002), SLOWER),
        ((1.03, 1.005, 1.05, 10, 0.01), SLOWER),
        ((1 / 1.10, 1 / 1.15, 1 / 1.05, 10, 0.002), FASTER),
        ((1.00, 0.99, 1.01, 10, 0.9), EQUIVALENT),
        ((1.01, 1.005, 1.015, 10, 0.002), EQUIVALENT),  # real, and too small to matter
        ((1.00, 1 / 1.02, 1.02, 10, 1.0), EQUIVALENT),
        ((1.00, 0.98, 1.01, 10, 1.0), INCONCLUSIVE),  # 0.98 lies beyond 1/1.02
        ((1.015, 1.005, 1.03, 10, 0.002), INCONCLUSIVE),  # real, on either side of the margin
        ((1.10, 1.05, 1.15, 10, 0.06), INCONCLUSIVE),  # not after Holm
        ((1.10, 0.99, 1.15, 10, 0.04), INCONCLUSIVE),
        ((1.10, 1.05, 1.15, 5, 0.002), INCONCLUSIVE),
        ((1.00, 1.00, 1.00, 5, 1.0), INCONCLUSIVE),
        ((1.10, np.nan, np.nan, 10, 0.002), INCONCLUSIVE),
        ((1.10, 1.05, 1.15, 10, np.nan), INCONCLUSIVE),
        ((np.nan, np.nan, np.nan, 0, np.nan), INCONCLUSIVE),
        ((1.00, 1.00, 1.00, 6, 1.0), EQUIVALENT),
    ],
)
def test_rules(case, expected):
    assert judge(*case).item() is expected


def test_margin_is_the_callers():
    assert judge(1.10, 1.08, 1.12, 10, 0.002, margin=0.15).item() is EQUIVALENT
    assert judge(1.10, 1.08, 1.12, 10, 0.002, margin=0.0).item() is SLOWER
    assert judge(1.0, 1.0, 1.0, 10, 1.0, margin=0.0).item() is EQUIVALENT
    with raises(ValueError, "BL-STATS-972", "margin"):
        judge(1.0, 1.0, 1.0, 10, 1.0, margin=-0.1)
    with raises(ValueError, "BL-STATS-972", "margin"):
        judge(1.0, 1.0, 1.0, 10, 1.0, margin=np.nan)


def test_rows_are_judged_apart():
    verdicts = judge([1.1, 0.9, 1.0], [1.05, 0.85, 1.0], [1.2, 0.95, 1.0], 10, [0.01, 0.01, 1.0])
    assert verdicts.tolist() == ["slower", "faster", "equivalent"]
    assert all(isinstance(verdict, Verdict) for verdict in verdicts)


def test_swapping_the_platforms_swaps_the_verdict():
    rng = np.random.default_rng(1)
    values = 1.02 * np.exp(rng.normal(0, 0.02, (2000, 10)))
    baseline = np.exp(rng.normal(0, 0.02, (2000, 10)))
    there, back = paired_ratio(values, baseline), paired_ratio(baseline, values)
    swapped = {SLOWER: FASTER, FASTER: SLOWER, EQUIVALENT: EQUIVALENT, INCONCLUSIVE: INCONCLUSIVE}
    forth = judge(there.ratio, there.lo, there.hi, there.n, there.p)
    again = judge(back.ratio, back.lo, back.hi, back.n, back.p)
    assert [swapped[verdict] for verdict in forth] == again.tolist()
    assert set(forth) == {SLOWER, EQUIVALENT, INCONCLUSIVE}


def test_differences_of_counts():
    assert judge_shift(42.5, 40, 45, 6, 0.03, tolerance=0.0).item() is SLOWER
    assert judge_shift(-42.5, -45, -40, 6, 0.03, tolerance=0.0).item() is FASTER
    assert judge_shift(0, 0, 0, 6, 1.0, tolerance=0.0).item() is EQUIVALENT
    assert judge_shift(1, -1, 3, 6, 0.5, tolerance=2.0).item() is INCONCLUSIVE
    with raises(ValueError, "BL-STATS-972", "tolerance"):
        judge_shift(0, 0, 0, 6, 1.0, tolerance=-1.0)


def test_false_verdicts_stay_within_the_family_wise_error():
    # No difference at any of 12 sizes: a family with any "slower" or "faster" is an error.
    rng = np.random.default_rng(2)
    values, baseline = np.exp(rng.normal(0, 0.1, (2, 3000, 12, 10)))
    found = paired_ratio(values, baseline)
    adjusted = np.stack([holm(family) for family in found.p])
    verdicts = judge(found.ratio, found.lo, found.hi, found.n, adjusted)
    wrong = ((verdicts == SLOWER) | (verdicts == FASTER)).any(axis=1).mean()
    assert 0 < wrong <= 0.05


def test_equivalence_is_rarely_wrong_at_the_edge_of_the_margin():
    rng = np.random.default_rng(3)
    values = 1.02 * np.exp(rng.normal(0, 0.008, (20_000, 10)))
    found = paired_ratio(values, np.exp(rng.normal(0, 0.008, (20_000, 10))))
    verdicts = judge(found.ratio, found.lo, found.hi, found.n, found.p)
    assert 0.005 < (verdicts == EQUIVALENT).mean() <= 0.027
