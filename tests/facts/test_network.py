"""Facts of the network: devices, shaping, offloads, RDMA."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bareline.facts.gather import parse_node
from bareline.facts.network import parse_network
from bareline.platforms.hosts.allocation import HostsAllocation


def test_network_of_a_bare_node(capture: Callable[[str], str], expect: Callable[..., None]) -> None:
    facts = parse_node(capture("intel-smt"))
    expect(
        facts,
        net__device="enp5s0f0",
        net__kind="hardware",
        net__driver="ixgbe",
        net__mtu=9000,
        net__speed_bps=10e9,
        net__offload__tso=True,
        net__offload__lro=False,
        net__queues__rx=24,
        net__ring__rx=512,
        net__ring__tx=1024,
        net__sriov_functions=4,
        net__coalesce__adaptive_rx=True,
        net__rdma__rate_bps=40e9,
        net__rdma__width="4X QDR",
        net__rdma__link="InfiniBand",
        net__rdma__active_ports=1,
        tcp__congestion="cubic",
        tcp__rmem_max_bytes=33554432,
        net__core__rmem_max_bytes=67108864,
    )
    assert facts["net.coalesce.rx_s"] == pytest.approx(3e-6)
    assert "net.coalesce.rx_frames" not in facts  # the device says n/a


def test_shaping_by_classes_and_delay() -> None:
    facts = parse_network(
        {
            "device": "h0 address 10.0.0.1",
            "qdisc": "qdisc htb 1: root refcnt 2 r2q 10\nqdisc netem 10: parent 1:1 delay 2ms\n",
            "class": "class htb 1:1 root leaf 10: prio 0 rate 10Gbit ceil 10Gbit burst 0b\n",
        }
    )
    assert (facts["net.qdisc"], facts["net.shaped_bps"]) == ("htb", 10e9)
    assert facts["net.delay_s"] == pytest.approx(2e-3)


@pytest.mark.parametrize(
    ("driver", "links", "flags", "kind"),
    [
        ("veth", "", "", "virtual link"),
        (
            "mlx5_core",
            "/device/driver -> x/mlx5_core\n/device/physfn -> ../0",
            "",
            "virtual function",
        ),
        ("iavf", "/device/driver -> x/iavf", "hypervisor", "virtual function"),
        ("e1000e", "/device/driver -> x/e1000e", "hypervisor", "emulated"),
        ("e1000e", "/device/driver -> x/e1000e", "", "hardware"),
        # A guest cannot tell a passed-through adapter from one of its functions.
        ("mlx5_core", "/device/driver -> x/mlx5_core", "hypervisor", None),
    ],
)
def test_kind_of_device(driver: str, links: str, flags: str, kind: str | None) -> None:
    sections = {
        "device": "eth0 address 10.0.0.1",
        "netlinks": links,
        "ethtool-i": f"driver: {driver}",
        "cpuinfo": f"flags\t: fpu {flags}",
    }
    assert parse_network(sections).get("net.kind") == kind


@pytest.mark.parametrize("address", ["localhost", "::1", "127.0.0.1"])
def test_device_by_name_and_by_address(address: str, hosts: Callable[..., HostsAllocation]) -> None:
    if address == "::1" and not Path("/proc/net/if_inet6").exists():
        pytest.skip("no IPv6")
    assert hosts([], address=address).node_facts()["net.device"] == "lo"


@pytest.mark.netns
def test_device_of_a_namespace_is_not_mixed_up_with_the_host_s(
    expect: Callable[..., None], hosts: Callable[..., HostsAllocation]
) -> None:
    """A link called like this machine's own device, seen through this machine's /sys."""
    names = [path.name for path in Path("/sys/class/net").iterdir() if path.name != "lo"]
    name = names[0] if names else "eth0"
    links = (
        f"ip link add {name} mtu 4321 type veth peer name peer0 && ip link set {name} up && "
        f"ip addr add 10.99.0.1/24 dev {name} && "
        f"tc qdisc add dev {name} root tbf rate 1gbit burst 128k latency 10ms && "
        'exec "$@"'
    )
    unshare = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--net"]
    inside = [*unshare, "sh", "-c", links, "sh"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no permission for network namespaces")
    facts = hosts(inside, address="10.99.0.1").node_facts()
    expect(facts, net__device=name, net__driver="veth", net__kind="virtual link", net__mtu=4321)
    expect(facts, net__shaped_bps=1e9, net__qdisc="tbf")
    assert not {"net.speed_bps", "net.pci_id"} & facts.keys()
