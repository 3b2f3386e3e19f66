"""A processor by name: printed rates against this machine's."""

from uuid import uuid4

import pytest

from bareline.host.cache import cache_folder
from bareline.platforms.base import Context
from bareline.platforms.config import load_platforms, make_spec
from bareline.platforms.sim.compute import (
    Rates,
    compute_factor,
    processors,
    rates_here,
    rates_of,
)
from bareline.published.catalogue import publications
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError


def test_the_geometric_mean_of_both_rates_counts():
    then, now = Rates(10e9, 2e9), Rates(40e9, 18e9)
    assert then.times_slower(now) == pytest.approx((4 * 9) ** 0.5)
    assert now.times_slower(now) == 1


def test_printed_rates_are_those_of_the_publication():
    printed = {result.id: result for result in publications()["nebula"].results}
    for name in processors():
        dgemm, stream = (printed[f"hpcc-{what}-{name}"] for what in ("epdgemm", "stream"))
        rates = rates_of(name)
        assert rates.dgemm_flops_per_s == pytest.approx(float(dgemm.value) * 1e9)
        assert rates.stream_bytes_per_s == pytest.approx(float(stream.value) * 1e9)


def test_nebula_s_virtual_machines_compute_as_much_slower_as_was_printed():
    factor = rates_of("nebula").times_slower(rates_of("pleiades"))
    assert factor == pytest.approx((1.49 * 1.10) ** 0.5, rel=0.01)


@pytest.mark.mpi
def test_this_machine_s_rates_are_measured_once(tmp_path):
    context = Context(tmp_path, cache_folder())
    uuid = uuid4().hex
    name = f"a processor of {uuid}"
    first = rates_here(context, name)
    assert first.dgemm_flops_per_s > 1e8 and first.stream_bytes_per_s > 1e8
    assert rates_here(context, name) == first
    assert "busy cores" in first.summary
    factor = compute_factor("pleiades", 2.0, context, name)
    assert factor == pytest.approx(2 * rates_of("pleiades").times_slower(first))
    assert compute_factor(None, 2.0, context, name) == 2.0
    for path in (cache_folder() / "compute").glob(f"rates-*{uuid}*"):
        path.unlink()


def test_built_in_platforms_name_a_processor():
    for name, spec in load_platforms().items():
        if spec.type == "sim":
            assert spec.options.processor in processors(), name
    with raises(PlatformError, "BL-PLATFORMS-523", "nebula"):
        make_spec("s", {"type": "sim", "network": "1g", "processor": "nebulla"}, where="test")
