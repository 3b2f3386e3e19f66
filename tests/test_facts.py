"""Facts: captured nodes, damaged captures, and real nodes.

`kvm-guest.out` is what the script printed on a cloud guest. `intel-smt.out` (a bare node of 2010
as the published studies used them) and `minimal-guest.out` (a translated guest with a shell and
little more) follow the same form and are written by hand.
"""

from __future__ import annotations

import os
import platform as host
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bareline.errors import PlatformError
from bareline.facts import (
    FACT_KEYS,
    Group,
    Kind,
    StealReading,
    describe,
    diff,
    format_fact,
    gather,
    merge_nodes,
    parse_node,
    read_steal,
    script,
    steal_caveats,
    steal_ratio,
    table,
    to_rows,
)
from bareline.facts.network import parse_network
from bareline.facts.processor import parse_processor
from bareline.facts.sections import list_count
from bareline.facts.software import compiler_version, mpi_version
from bareline.facts.steal import parse_stat
from bareline.model import Layout, Scalar
from bareline.platforms.hosts import HostsAllocation, Node

DATA = Path(__file__).parent / "data" / "facts"
CAPTURES = ("kvm-guest", "intel-smt", "minimal-guest")


def capture(name: str) -> str:
    return (DATA / f"{name}.out").read_text(encoding="utf-8")


def expect(facts: Mapping[str, object], **expected: object) -> None:
    found = {key: facts.get(key.replace("__", ".")) for key in expected}
    assert found == expected


# Captured nodes ----------------------------------------------------------------------------------


def test_bare_node_with_smt() -> None:
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


def test_network_of_a_bare_node() -> None:
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


def test_storage_of_the_deepest_mount() -> None:
    expect(
        parse_node(capture("intel-smt")),
        fs__type="xfs",
        fs__mount="/scratch/user one",
        fs__options="rw,noatime,noquota",
        fs__disk__name="sdb",
        fs__disk__model="INTEL SSDSC2BB12",
        fs__disk__rotational=False,
        fs__disk__scheduler="mq-deadline",
    )


def test_kvm_guest() -> None:
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


def test_node_without_lscpu_and_ethtool() -> None:
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


def test_kernel_options_keep_what_matters_and_nothing_private() -> None:
    assert parse_node(capture("kvm-guest"))["kernel.options"] == "mitigations=auto isolcpus=1"
    assert parse_node(capture("intel-smt"))["kernel.options"] == "nosmt=force mitigations=off"


@pytest.mark.parametrize("name", CAPTURES)
def test_every_fact_has_a_label(name: str) -> None:
    assert parse_node(capture(name)).keys() <= FACT_KEYS.keys()


def test_the_reference_lists_every_fact() -> None:
    page = Path(__file__).parent.parent / "docs" / "reference" / "facts.md"
    listed = re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", page.read_text(encoding="utf-8"), re.M)
    assert listed == [(fact.key, fact.label) for fact in FACT_KEYS.values()]


# Parts -------------------------------------------------------------------------------------------


def processor(model: str, vendor: str, family: int, number: int, flags: str) -> dict[str, object]:
    text = (
        f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {number}\n"
        f"model name\t: {model}\nphysical id\t: 0\ncore id\t\t: 0\nflags\t\t: {flags}\n"
        "bogomips\t: 4800.00\n"
    )
    return dict(parse_processor({"cpuinfo": text}))


@pytest.mark.parametrize(
    ("chip", "peak"),
    [
        (("Xeon E5520 @ 2.27GHz", "GenuineIntel", 6, 26, "sse2 sse4_2"), 9.08e9),
        (("Xeon E5-2650 0 @ 2.00GHz", "GenuineIntel", 6, 45, "sse2 avx"), 16e9),
        (("Xeon E5-2680 v3 @ 2.50GHz", "GenuineIntel", 6, 63, "sse2 avx avx2 fma"), 40e9),
        # The guest of a Haswell whose CPU model hides AVX reaches an SSE peak only.
        (("Xeon E5-2680 v3 @ 2.50GHz", "GenuineIntel", 6, 63, "sse2 hypervisor"), 10e9),
        (("Xeon Gold 6148 CPU @ 2.40GHz", "GenuineIntel", 6, 85, "sse2 fma avx2 avx512f"), 76.8e9),
        # One or two AVX-512 units: the name does not say.
        (("Xeon Silver 4114 CPU @ 2.20GHz", "GenuineIntel", 6, 85, "sse2 fma avx2 avx512f"), None),
        (("EPYC 7742", "AuthenticAMD", 23, 49, "sse2 avx avx2 fma constant_tsc"), 38.4e9),
        (("EPYC 7601", "AuthenticAMD", 23, 1, "sse2 avx avx2 fma constant_tsc"), 19.2e9),
        (("EPYC 9654", "AuthenticAMD", 25, 17, "sse2 avx2 fma avx512f constant_tsc"), 38.4e9),
        # Without a steady counter nobody knows the nominal frequency.
        (("EPYC 7742", "AuthenticAMD", 23, 49, "sse2 avx avx2 fma"), None),
        (("QEMU TCG CPU version 2.5+", "AuthenticAMD", 23, 49, "sse2 avx2 fma constant_tsc"), None),
    ],
)
def test_peak_rate(chip: tuple[str, str, int, int, str], peak: float | None) -> None:
    facts = processor(*chip)
    assert facts.get("cpu.peak_flops_per_core") == (None if peak is None else pytest.approx(peak))


@pytest.mark.parametrize(
    ("line", "size"),
    [("L2 cache: 2 MiB (2 instances)", 1 << 20), ("L2 cache:   256K", 256 << 10)],
)
def test_caches_from_lscpu(line: str, size: int) -> None:
    assert parse_processor({"lscpu": line})["cpu.l2_bytes"] == size


def test_quota_and_pinning() -> None:
    facts = parse_processor({"allowed": "Cpus_allowed_list:\t0-3,8\n150000 100000\n"})
    assert facts == {"cpu.allowed": 5, "cpu.quota_cores": 1.5}


@pytest.mark.parametrize(
    ("text", "count"), [("0", 1), ("0-3,8,10-11", 7), ("", None), ("3-1", None), ("0-x", None)]
)
def test_list_count(text: str, count: int | None) -> None:
    assert list_count(text) == count


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mpirun (Open MPI) 4.1.4\n\nReport bugs to", ("openmpi", "4.1.4")),
        ("mpirun.openmpi (OpenRTE) 4.1.4\n", ("openmpi", "4.1.4")),
        ("HYDRA build details:\n    Version:         4.0.2\n", ("mpich", "4.0.2")),
        (
            "Intel(R) MPI Library for Linux* OS, Version 2018 Update 3 Build",
            ("intel", "2018 Update 3"),
        ),
        ("command not found", (None, None)),
    ],
)
def test_mpi_version(text: str, expected: tuple[str | None, str | None]) -> None:
    assert mpi_version(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright", "12.2.0"),
        ("GNU Fortran (GCC) 11.4.1 20230605 (Red Hat 11.4.1-2)", "11.4.1"),
        ("\nnvc 23.9-0 64-bit target on x86-64 Linux", "23.9"),
        ("", None),
    ],
)
def test_compiler_version(text: str, expected: str | None) -> None:
    assert compiler_version(text) == expected


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


# Damaged output ----------------------------------------------------------------------------------


@pytest.mark.parametrize("raw", ["", "\n\n", "Permission denied\n", "\n\036end\n", "\036\036\0"])
def test_nothing_of_use_gives_no_facts(raw: str) -> None:
    assert parse_node(raw) == {}


def test_output_that_ends_early_says_so() -> None:
    facts = parse_node(capture("kvm-guest")[:9000])
    assert facts["node.incomplete"] is True
    assert facts["cpu.cores"] == 2
    assert "node.incomplete" not in parse_node(capture("kvm-guest"))


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(CAPTURES),
    cuts=st.lists(st.integers(0, 18_000), min_size=1, max_size=8),
    junk=st.lists(st.text(max_size=12), min_size=1, max_size=8),
)
def test_damage_never_raises(name: str, cuts: list[int], junk: list[str]) -> None:
    raw = capture(name)
    for cut, text in zip(sorted(cuts), junk, strict=False):
        raw = raw[:cut] + text + raw[cut + 2 * len(text) :]
    for value in parse_node(raw).values():
        assert isinstance(value, str | int | float | bool)


# Several nodes, several platforms ----------------------------------------------------------------


def test_equal_nodes_are_shown_once() -> None:
    node = parse_node(capture("kvm-guest"))
    merged = merge_nodes([node, dict(node)])
    assert merged == {**node, "node.count": 2, "node.heterogeneous": False}


def test_names_counters_and_calibration_do_not_make_nodes_differ() -> None:
    node = parse_node(capture("kvm-guest"))
    other = {**node, "node.name": "guest1", "cpu.steal_ratio": 0.3, "cpu.base_hz": 2.59611e9}
    merged = merge_nodes([node, other])
    assert merged["node.heterogeneous"] is False
    assert merged["node[1].node.name"] == "guest1"
    assert "node[1].cpu.base_hz" not in merged


def test_nodes_that_differ() -> None:
    node = parse_node(capture("kvm-guest"))
    other = {key: value for key, value in node.items() if key != "net.driver"} | {"net.mtu": 9000}
    merged = merge_nodes([node, other])
    assert merged["net.mtu"] == 1400
    assert merged["node[1].net.mtu"] == 9000
    assert merged["node[1].missing"] == "net.driver"
    assert merged["node.heterogeneous"] is True
    rows = {row.fact.key: row for row in table({"a": merge_nodes([node]), "b": merged})}
    assert rows["net.mtu"].texts == {"a": "1400", "b": "1400; node 1: 9000"}
    assert rows["net.driver"].texts["b"] == "virtio_net; node 1: -"
    assert not rows["net.mtu"].equal


def test_diff_leaves_out_what_means_nothing() -> None:
    left, right = parse_node(capture("kvm-guest")), parse_node(capture("minimal-guest"))
    rows = {row.fact.key: row for row in diff(left, right)}
    assert rows["net.mtu"].texts == {"a": "1400", "b": "1500"}
    assert rows["net.shaped_bps"].texts == {"a": "-", "b": "950 Mb/s"}
    assert all(row.fact.kind is Kind.CHARACTERISTIC for row in rows.values())
    assert not {"node.name", "load.one_minute", "memory.available_bytes"} & rows.keys()
    assert diff(left, dict(left)) == []
    # The guest without ethtool does not tell its other offloads, which says nothing about them.
    assert "net.offload.rx_hash" not in rows
    assert rows["net.offload.tso"].texts["b"] == "-"


def test_table_is_grouped_and_ordered() -> None:
    facts = {name: parse_node(capture(name)) for name in CAPTURES}
    rows = table(facts)
    groups = [row.fact.group for row in rows]
    assert groups == sorted(groups, key=list(Group).index)
    assert rows[0].fact.key == "cpu.model"
    assert {row.fact.key for row in rows} == set().union(*facts.values())


def test_machine_readable_rows() -> None:
    rows = to_rows({"a": {"net.mtu": 1500}, "b": {"net.mtu": 9000, "vm.nic": "virtio"}})
    assert [row["value"] for row in rows if row["key"] == "net.mtu"] == [1500, 9000]
    nic = [row for row in rows if row["key"] == "vm.nic"]
    assert nic[0]["value"] is None
    assert nic[0]["group"] == "Virtualization"


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("net.speed_bps", 10e9, "10.0 Gb/s"),
        ("memory.transfers_per_s", 2666e6, "2666 MT/s"),
        ("cpu.peak_flops_per_core", 11.2e9, "11.2 Gflop/s"),
        ("memory.total_bytes", 16 << 30, "16 GiB"),
        ("cpu.smt", True, "on"),
        ("cpu.flags.avx2", True, "yes"),
        ("cpu.steal_ratio", 0.0123, "1.2 %"),
        ("mpi.flavour", "openmpi", "Open MPI"),
        ("load.uptime_s", 7200.0, "2 h 00 min"),
        ("net.mtu", None, "-"),
        ("node[1].net.mtu", 9000, "9000"),
        ("vm.disk_bytes", 1 << 30, "1 GiB"),
        ("planted.factor", 1.5, "1.50"),
    ],
)
def test_values_for_people(key: str, value: float | str | None, text: str) -> None:
    assert format_fact(key, value) == text


def test_unknown_facts_are_described_from_their_key() -> None:
    fact = describe("vm.boot_time_s")
    assert (fact.label, fact.group, fact.unit) == ("Boot time", Group.VIRTUALIZATION, "s")
    assert describe("node[2].net.mtu").label == "MTU (node 2)"
    assert describe("planted.factor").group is Group.PLATFORM


# Steal time --------------------------------------------------------------------------------------


def test_steal_is_a_share_of_the_wanted_time() -> None:
    # 64 idle processors do not dilute what one rank lost.
    before = parse_stat("cpu  100 0 100 900000 5 0 0 10 7 7\ncpu0 1 2\n")
    after = parse_stat("cpu  180 0 100 964000 5 0 0 30 7 7\n")
    assert before == StealReading(10, 210)
    assert steal_ratio(before, after) == pytest.approx(0.2)
    assert steal_caveats(before, after) == ("steal-time",)


def test_one_tick_is_no_steal() -> None:
    before = StealReading(10, 1000)
    assert steal_caveats(before, StealReading(11, 1010)) == ()
    assert steal_caveats(before, before) == ()
    assert steal_caveats(None, before) == ()


@pytest.mark.parametrize(
    "text", ["", "cpu", "cpu 1 2 3", "intr 1 2 3 4 5 6 7 8", "cpu a b c d e f g h"]
)
def test_no_steal_counter(text: str) -> None:
    assert parse_stat(text) is None


# Real nodes --------------------------------------------------------------------------------------


class Here(HostsAllocation):
    """This machine as one or more nodes; each runs commands behind a prefix of its own."""

    def __init__(self, *prefixes: Sequence[str], address: str = "127.0.0.1") -> None:
        super().__init__([Node(f"n{i}", address, 1) for i in range(len(prefixes))])
        self._prefixes = prefixes

    def node_argv(
        self, node: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        return [*self._prefixes[node], *argv]

    def mpi_argv(
        self, argv: Sequence[str], layout: Layout, env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        raise NotImplementedError

    def native_folder(self) -> str:
        raise NotImplementedError

    def facts(self) -> Mapping[str, Scalar]:
        return gather(self)

    def work_folder(self) -> str:
        return "/tmp/not-made-yet/run"


def test_this_machine() -> None:
    facts = gather(Here([]))
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


@pytest.mark.parametrize("address", ["localhost", "::1", "127.0.0.1"])
def test_device_by_name_and_by_address(address: str) -> None:
    if address == "::1" and not Path("/proc/net/if_inet6").exists():
        pytest.skip("no IPv6")
    assert gather(Here([], address=address))["net.device"] == "lo"


@pytest.mark.parametrize("address", ["-x", "no such host", "$(id)", "beef"])
def test_strange_addresses_are_only_not_found(address: str) -> None:
    facts = gather(Here([], address=address))
    assert facts.get("net.chosen_by", "default route") == "default route"
    assert facts["cpu.logical"] == os.sysconf("SC_NPROCESSORS_ONLN")


def test_steal_of_this_machine() -> None:
    allocation = Here([])
    before, after = read_steal(allocation), read_steal(allocation)
    assert before is not None
    assert after is not None
    assert after.wanted >= before.wanted


@pytest.mark.netns
def test_a_node_with_another_network() -> None:
    other = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*other, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no permission for network namespaces")
    facts = gather(Here([], other))
    assert facts["node.heterogeneous"] is True
    assert facts["node.count"] == 2
    # The loopback of a new namespace is down and carries no address.
    assert "net.mtu" in str(facts["node[1].missing"])
    assert "node[1].cpu.model" not in facts


@pytest.mark.netns
def test_device_of_a_namespace_is_not_mixed_up_with_the_host_s() -> None:
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
    facts = gather(Here(inside, address="10.99.0.1"))
    expect(facts, net__device=name, net__driver="veth", net__kind="virtual link", net__mtu=4321)
    expect(facts, net__shaped_bps=1e9, net__qdisc="tbf")
    assert not {"net.speed_bps", "net.pci_id"} & facts.keys()


def test_a_node_that_does_not_answer() -> None:
    with pytest.raises(PlatformError, match="n1: the node does not tell its facts"):
        gather(Here([], ["false"]))


_APPLETS = ("sh", "cat", "grep", "head", "id", "ls", "uname", "cut", "tr", "dirname", "df", "ip")


@pytest.mark.skipif(shutil.which("busybox") is None, reason="busybox is not installed")
def test_busybox_is_enough(tmp_path: Path) -> None:
    busybox = shutil.which("busybox")
    assert busybox is not None
    for applet in _APPLETS:
        (tmp_path / applet).symlink_to(busybox)
    done = subprocess.run(
        [str(tmp_path / "sh"), "-s", "--", "localhost", "/tmp"],
        input=script(),
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "not found" not in done.stderr
    facts = parse_node(done.stdout)
    expect(
        facts,
        cpu__logical=os.sysconf("SC_NPROCESSORS_ONLN"),
        kernel__release=host.release(),
        net__device="lo",
    )
    assert {"cpu.cores", "memory.total_bytes", "fs.type", "clock.source"} <= facts.keys()


@pytest.mark.skipif(shutil.which("dash") is None, reason="dash is not installed")
def test_script_is_plain_shell() -> None:
    done = subprocess.run(
        ["dash", "-n"], input=script(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
