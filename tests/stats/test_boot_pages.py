"""Pages with boots, lost launches and losses everywhere: a quick version of the benchmark."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "boot_pages.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("boot_pages", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["boot_pages"] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


def false_claims(bench, planted, count=60):
    found = bench.pages(planted, count)
    return sum(one.claims and not one.few_boots for one in found), found


@pytest.mark.parametrize(("every", "launches"), [(1, 6), (2, 12), (0, 10)])
@pytest.mark.parametrize("effect", [0.0, 0.02, 0.05])
def test_boots_are_no_finding(bench, every, launches, effect):
    """Three pages of sixty are allowed, and their standard error is 1.7."""
    false, found = false_claims(bench, bench.Planted(every, launches, effect, 0.01))
    assert false <= 8
    assert found[0].few_boots is (every == 0)


def test_boots_are_findings_where_launches_are_exchanged(bench):
    """Five boots are too few to exchange: the claims are of these boots alone."""
    found = bench.pages(bench.Planted(2, 10, 0.05, 0.01), 20)
    assert sum(one.claims for one in found) >= 8
    assert all(one.few_boots for one in found)


def test_a_lone_loss_is_found_over_boots(bench):
    planted = bench.Planted(2, 12, 0.02, 0.01, loss=1.2, slower=1)
    assert all(one.points[0].decided for one in bench.pages(planted, 20))


def test_a_loss_everywhere_is_found_by_the_mean(bench):
    found = bench.pages(bench.Planted(1, 6, 0.0, 0.05, loss=1.05, slower=bench.CASES), 60)
    assert sum(one.mean.decided for one in found) >= 54
    assert sum(any(verdict.decided for verdict in one.points) for one in found) <= 35


def test_launches_over_their_limit_are_a_loss_on_one_side_only(bench):
    all_lost = bench.Planted(1, 8, cases=8, lost=1.0)
    assert all(one.points[0].decided for one in bench.pages(all_lost, 10))
    both = bench.Planted(1, 8, cases=20, lost=0.4, base_lost=0.4)
    assert false_claims(bench, both, 40)[0] <= 5
