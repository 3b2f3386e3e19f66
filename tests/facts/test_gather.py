"""Captured nodes, damaged captures, and real nodes.

`kvm-guest.out` is what the script printed on a cloud guest. `intel-smt.out` (a bare node of 2010
as the published studies used them) and `minimal-guest.out` (a translated guest with a shell and
little more) follow the same form and are written by hand.
"""

from __future__ import annotations

import os
import platform as host
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from bareline.facts.gather import parse_node
from bareline.platforms.hosts.allocation import HostsAllocation
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError

CAPTURES = ("kvm-guest", "intel-smt", "minimal-guest")


def test_bare_node_with_smt(capture: Callable[[str], str], expect: Callable[..., None]) -> None:
    facts = parse_node(capture("intel-smt"))
    expect(
        facts,
        cpu__model="Intel Xeon CPU X5660 @ 2.80GHz",
        cpu__sockets=2,
        cpu__cores=12,
        cpu__logical=24,
        cpu__threads_per_core=2,
        cpu__smt=True,
        cpu__turbo=True,
        cpu__governor="ondemand",
        cpu__base_hz=2.8e9,
        cpu__isa="SSE4.2",
        cpu__l1d_bytes=32 << 10,
        cpu__l3_bytes=12 << 20,
        cpu__emulated=False,
        memory__total_bytes=98974284 * 1024,
        memory__type="DDR3",
        memory__modules=12,
        memory__transfers_per_s=1066e6,
        memory__numa_nodes=2,
        memory__hugepages=512,
        memory__transparent_hugepages="always",
        virt__kind="bare metal",
        virt__hypervisor="none",
        system__product="Cirrascale VB1315",
        clock__source="hpet",
        limits__locked_memory_bytes="unlimited",
        mpi__flavour="intel",
        mpi__version="2021.11",
        compiler__c="gcc 11.4.1",
        library__mkl="MKL 2023.2",
    )
    # The published peaks of this processor: 11.2 Gflop/s per core, 134.4 per node.
    assert facts["cpu.peak_flops_per_core"] == pytest.approx(11.2e9)
    assert facts["cpu.peak_flops"] == pytest.approx(134.4e9)


def test_kvm_guest(capture: Callable[[str], str], expect: Callable[..., None]) -> None:
    facts = parse_node(capture("kvm-guest"))
    expect(
        facts,
        cpu__cores=2,
        cpu__smt=False,
        cpu__isa="AVX-512 + FMA",
        cpu__base_from="time stamp counter",
        cpu__emulated=False,
        virt__hypervisor="kvm",
        virt__kind="virtual machine",
        net__kind="paravirtual",
        net__driver="virtio_net",
        net__mtu=1400,
        fs__type="ext4",
        fs__mount="/",
        fs__disk__name="vda",
        mpi__flavour="openmpi",
        library__blas="OpenBLAS 0.3.21 with threads",
    )
    assert "net.speed_bps" not in facts  # -1: the device has no speed
    assert "virt.container" not in facts
    assert 0 < facts["cpu.steal_ratio"] < 0.01


def test_node_without_lscpu_and_ethtool(
    capture: Callable[[str], str], expect: Callable[..., None]
) -> None:
    facts = parse_node(capture("minimal-guest"))
    expect(
        facts,
        cpu__cores=1,
        cpu__logical=1,
        cpu__emulated=True,
        virt__hypervisor="qemu",
        virt__kind="virtual machine",
        net__kind="emulated",
        net__driver="e1000",
        net__speed_bps=1e9,
        net__shaped_bps=950e6,
        net__qdisc="tbf",
        fs__type="overlay",
    )
    # A translated processor has no peak, and what nobody could read has no key.
    absent = {"cpu.peak_flops_per_core", "cpu.base_hz", "net.offload.tso", "mpi.flavour"}
    assert not absent & facts.keys()


@pytest.mark.parametrize("raw", ["", "\n\n", "Permission denied\n", "\n\036end\n", "\036\036\0"])
def test_nothing_of_use_gives_no_facts(raw: str) -> None:
    assert parse_node(raw) == {}


def test_output_that_ends_early_says_so(capture: Callable[[str], str]) -> None:
    facts = parse_node(capture("kvm-guest")[:9000])
    assert facts["node.incomplete"] is True
    assert facts["cpu.cores"] == 2
    assert "node.incomplete" not in parse_node(capture("kvm-guest"))


@settings(max_examples=examples(60), deadline=None)
@given(
    name=st.sampled_from(CAPTURES),
    cuts=st.lists(st.integers(0, 18_000), min_size=1, max_size=8),
    junk=st.lists(st.text(max_size=12), min_size=1, max_size=8),
)
def test_damage_never_raises(
    name: str, cuts: list[int], junk: list[str], capture: Callable[[str], str]
) -> None:
    raw = capture(name)
    for cut, text in zip(sorted(cuts), junk, strict=False):
        raw = raw[:cut] + text + raw[cut + 2 * len(text) :]
    for value in parse_node(raw).values():
        assert isinstance(value, str | int | float | bool)


def test_this_machine(expect: Callable[..., None], hosts: Callable[..., HostsAllocation]) -> None:
    facts = hosts([]).node_facts()
    expect(
        facts,
        node__count=1,
        cpu__logical=os.sysconf("SC_NPROCESSORS_ONLN"),
        kernel__release=host.release(),
        node__name=host.node(),
        net__device="lo",
        net__kind="loopback",
        net__mtu=int(Path("/sys/class/net/lo/mtu").read_text(encoding="ascii")),
    )
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert facts["memory.total_bytes"] == pages
    folder = os.statvfs("/tmp")
    assert facts["fs.total_bytes"] == folder.f_blocks * folder.f_frsize
    assert "node.incomplete" not in facts


@pytest.mark.parametrize("address", ["-x", "no such host", "$(id)", "beef"])
def test_strange_addresses_are_only_not_found(
    address: str, hosts: Callable[..., HostsAllocation]
) -> None:
    facts = hosts([], address=address).node_facts()
    assert facts.get("net.chosen_by", "default route") == "default route"
    assert facts["cpu.logical"] == os.sysconf("SC_NPROCESSORS_ONLN")


@pytest.mark.netns
def test_a_node_with_another_network(hosts: Callable[..., HostsAllocation]) -> None:
    other = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*other, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no permission for network namespaces")
    facts = hosts([], other).node_facts()
    assert facts["node.heterogeneous"] is True
    assert facts["node.count"] == 2
    # The loopback of a new namespace is down and carries no address.
    assert "net.mtu" in str(facts["node[1].missing"])
    assert "node[1].cpu.model" not in facts


def test_a_node_that_does_not_answer(hosts: Callable[..., HostsAllocation]) -> None:
    with raises(PlatformError, "BL-FACTS-229", "n1"):
        hosts([], ["false"]).node_facts()
