"""Facts of kernel and machine."""

from __future__ import annotations

from collections.abc import Callable

from bareline.facts.gather import parse_node


def test_kernel_options_keep_what_matters_and_nothing_private(
    capture: Callable[[str], str],
) -> None:
    assert parse_node(capture("kvm-guest"))["kernel.options"] == "mitigations=auto isolcpus=1"
    assert parse_node(capture("intel-smt"))["kernel.options"] == "nosmt=force mitigations=off"
