"""A case of tens of thousands of launches: the same answers, in bounded memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from bareline.stats import flips
from bareline.stats.asymmetry import asymmetry_p
from bareline.stats.flips import MANY_BLOCKS, false_discovery_q, family_wise_p


@pytest.mark.parametrize("test", [false_discovery_q, family_wise_p, asymmetry_p])
def test_memory_does_not_grow_with_launches_times_flips(test):
    rows = np.random.default_rng(1).normal(0.0, 1.0, (1, 50_000))
    tracemalloc.start()
    test(rows)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 400 << 20  # all signs at once are 1.6 GB


@pytest.mark.parametrize("n", [MANY_BLOCKS, MANY_BLOCKS + 1])
def test_a_difference_is_found_and_none_is_made_up(n):
    generator = np.random.default_rng(n)
    rows = generator.normal(0.0, 1.0, (3, n)) + np.array([[0.2], [0.0], [-0.2]])
    p = family_wise_p(rows)
    assert p[0] < 0.01 and p[2] < 0.01
    q = false_discovery_q(generator.normal(0.0, 1.0, (1, n)))
    assert 0.0 < q[0] <= 1.0


def test_false_claims_are_as_rare_as_they_are_declared(monkeypatch):
    monkeypatch.setattr(flips, "MANY_BLOCKS", 100)
    generator = np.random.default_rng(7)
    rows = generator.normal(0.0, 1.0, (60, 200))
    claims = sum(family_wise_p(row[None, :])[0] <= 0.05 for row in rows)
    assert claims <= 9  # 3 are expected; more than 9 come once in a thousand times
