"""Causes in the memory."""

import pytest

from .planted import explained, factors, found, names


def test_slower_modules_bound_what_memory_loses():
    facts, base = ({"memory.transfers_per_s": rate} for rate in (2.4e9, 3.2e9))
    one = explained(found("memory.stream", 1.3), facts=facts, base=base)
    assert factors(one) == pytest.approx((1.0, 4 / 3))
    assert not explained(found("memory.stream", 1.3), facts=base, base=facts).known


@pytest.mark.parametrize("probe", ["memory.latency", "memory.random_access", "memory.stream"])
def test_huge_pages_that_only_the_baseline_has_cost_random_accesses(probe):
    facts, base = ({"memory.transparent_hugepages": state} for state in ("never", "always"))
    one = explained(found(probe, 1.4), facts=facts, base=base)
    assert names(one) == ([] if probe == "memory.stream" else ["pages"])
    assert not explained(found(probe, 1.4), facts=facts, base=facts).known
