"""Options: what is impossible is refused by name before anything starts."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bareline.platforms.config import make_spec
from bareline.platforms.made.vm import preflight
from bareline.platforms.made.vm.options import VmOptions
from bareline.platforms.made.vm.platform import VmPlatform
from bareline.platforms.made.vm.preflight import check_host
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError

VF = "0000:3b:02.0"

IMPOSSIBLE = {
    "VF without address": ({"nic": {"attach": "vf"}}, "BL-PLATFORMS-526"),
    "VF by address and by adapter": (
        {"nic": {"attach": "vf", "device": "eth0", "addresses": [VF]}},
        "BL-PLATFORMS-989",
    ),
    "adapter without address": ({"nic": {"attach": "adapter"}}, "BL-PLATFORMS-924"),
    "fewer VFs than guests": (
        {"guests": 2, "nic": {"attach": "vf", "addresses": [VF]}},
        "BL-PLATFORMS-215",
    ),
    "the same VF twice": ({"nic": {"attach": "vf", "addresses": [VF, VF]}}, "BL-PLATFORMS-735"),
    "not a PCI address": ({"nic": {"attach": "vf", "addresses": ["eth0", VF]}}, "BL-PLATFORMS-833"),
    "macvtap without device": ({"nic": {"attach": "macvtap"}}, "BL-PLATFORMS-454"),
    "a device on the private bridge": ({"nic": {"device": "eth0"}}, "BL-PLATFORMS-625"),
    "VLAN without VF": ({"nic": {"vlan": 7}}, "BL-PLATFORMS-190"),
    "queues of an emulated NIC": ({"nic": {"model": "e1000", "queues": 2}}, "BL-PLATFORMS-329"),
    "offloads of an emulated NIC": (
        {"nic": {"model": "e1000", "offloads": False}},
        "BL-PLATFORMS-329",
    ),
    "mitigation of virtio": ({"nic": {"mitigation": False}}, "BL-PLATFORMS-604"),
    "a model for real hardware": (
        {"guests": 1, "nic": {"attach": "vf", "addresses": [VF], "model": "virtio"}},
        "BL-PLATFORMS-114",
    ),
    "MTU beyond rtl8139": ({"nic": {"model": "rtl8139", "mtu": 9000}}, "BL-PLATFORMS-274"),
    "MTU beyond e1000": ({"nic": {"model": "e1000", "mtu": 16111}}, "BL-PLATFORMS-274"),
    "MTU below IPv4's": ({"nic": {"mtu": 100}}, "BL-KEY-GREATER-THAN-EQUAL"),
    "no subnet": ({"nic": {"subnet": "10.0.0.0/24"}}, "BL-PLATFORMS-790"),
    "emulated passthrough": (
        {"acceleration": "tcg", "cpu": {"model": "host-passthrough"}},
        "BL-PLATFORMS-441",
    ),
    "emulated vhost": ({"acceleration": "tcg", "nic": {"vhost": True}}, "BL-PLATFORMS-292"),
    "emulated kvm-clock": (
        {"acceleration": "tcg", "clock": {"source": "kvm-clock"}},
        "BL-PLATFORMS-291",
    ),
    "VF of an emulated guest": (
        {"guests": 1, "acceleration": "tcg", "nic": {"attach": "vf", "addresses": [VF]}},
        "BL-PLATFORMS-898",
    ),
    "packages for an image of one's own": (
        {"packages": ["lammps"], "image": {"path": "/x.qcow2"}},
        "BL-PLATFORMS-410",
    ),
    "no name of a package": ({"packages": ["lammps; reboot"]}, "BL-KEY-STRING-PATTERN-MISMATCH"),
    "topology without count": ({"cpu": {"threads": 2}}, "BL-PLATFORMS-952"),
    "topology that does not divide": ({"cpu": {"count": 3, "threads": 2}}, "BL-PLATFORMS-891"),
    "pins for another count": (
        {"guests": 2, "cpu": {"count": 2, "pin": ["0", "1"]}},
        "BL-PLATFORMS-606",
    ),
    "a pin that would take all memory": (
        {"cpu": {"emulator_pin": "0-9999999999"}},
        "BL-PLATFORMS-825",
    ),
    "a NUMA node that would take all memory": (
        {"memory": {"numa_nodes": "0-9999999999"}},
        "BL-PLATFORMS-825",
    ),
    "memory beyond numbers": ({"memory": {"size_bytes": "9" * 400 + "GiB"}}, "BL-PLATFORMS-305"),
    "a pin that is no list": (
        {"guests": 1, "cpu": {"count": 1, "pin": ["a"]}},
        "BL-KEY-LITERAL-ERROR",
    ),
    "memory in halves of huge pages": (
        {"memory": {"size_bytes": "1025MiB", "huge_pages": "2MiB"}},
        "BL-PLATFORMS-743",
    ),
    "too little memory": ({"memory": {"size_bytes": "16MiB"}}, "BL-KEY-GREATER-THAN-EQUAL"),
    "NUMA nodes without processors": (
        {"cpu": {"count": 1}, "memory": {"guest_numa_nodes": 2}},
        "BL-PLATFORMS-534",
    ),
    "native I/O through the page cache": ({"disk": {"io": "native"}}, "BL-PLATFORMS-840"),
    "I/O thread of a SATA disk": ({"disk": {"bus": "sata", "iothread": True}}, "BL-PLATFORMS-778"),
    "IDE on q35": ({"disk": {"bus": "ide"}}, "BL-PLATFORMS-644"),
    "no clock at all": ({"clock": {"source": "hpet", "hpet": False}}, "BL-PLATFORMS-775"),
    "a relative share": ({"shares": [{"source": "data", "target": "/data"}]}, "BL-PLATFORMS-119"),
    "two shares in one place": (
        {"shares": [{"source": "/a", "target": "/x"}, {"source": "/b", "target": "/x"}]},
        "BL-PLATFORMS-457",
    ),
    "initrd without kernel": ({"image": {"path": "/x", "initrd": "/y"}}, "BL-KEY-LITERAL-ERROR"),
    "a shell in a setting": (
        {"guest_tuning": {"sysctl": {"net.core.rmem_max": "1; reboot"}}},
        "BL-PLATFORMS-507",
    ),
    "a setting that is not the network's": (
        {"host_tuning": {"sysctl": {"kernel.core_pattern": "x"}}},
        "BL-PLATFORMS-714",
    ),
    "a shell on the kernel's command line": (
        {"kernel_args": "a$(b)"},
        "BL-KEY-STRING-PATTERN-MISMATCH",
    ),
    "too many guests": ({"guests": 150, "neighbours": {"count": 1}}, "BL-PLATFORMS-205"),
    "a hypervisor that the contributed package knows": ({"hypervisor": "xen"}, "BL-PLATFORMS-476"),
    "a kernel for an own image": ({"kernel": "/k", "image": {"path": "/x"}}, "BL-PLATFORMS-375"),
    "a release for an own image": (
        {"release": "trixie", "image": {"path": "/x"}},
        "BL-PLATFORMS-308",
    ),
    "modules without a kernel": ({"modules": "/m"}, "BL-PLATFORMS-193"),
    "a package that is no kernel": ({"kernel": "bash"}, "BL-KEY-STRING-PATTERN-MISMATCH"),
    "a kernel with soft-RoCE": (
        {"kernel": "linux-image-amd64/bullseye", "nic": {"soft_roce": True}},
        "BL-PLATFORMS-201",
    ),
    "cores for guests": ({"neighbours": {"cores": [0]}}, "BL-PLATFORMS-182"),
    "saved state with shares": (
        {"saved_state": True, "shares": [{"source": "/a", "target": "/b"}]},
        "BL-PLATFORMS-771",
    ),
    "an unknown option": ({"nics": 2}, "BL-KEY-EXTRA-FORBIDDEN"),
}


@pytest.mark.parametrize(("options", "code"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_impossible_combinations_are_refused(options, code):
    with raises(ValidationError, code):
        VmOptions.model_validate(options)


def test_a_platform_file_with_an_impossible_combination_names_platform_and_key():
    table = {"type": "vm", "nic": {"model": "rtl8139", "mtu": 9000}}
    with raises(PlatformError, "BL-PLATFORMS-274", "[platform.vm-old]", "'nic'", "rtl8139"):
        make_spec("vm-old", table, where="platforms.toml, [platform.vm-old]")


TOO_MUCH = {
    "memory": ({"memory": {"size_bytes": "64TiB"}}, "memory.size_bytes", "MiB"),
    "huge pages": (
        {"memory": {"size_bytes": "64GiB", "huge_pages": "1GiB"}, "guests": 1},
        "memory",
        "",
    ),
    "processor": ({"guests": 1, "cpu": {"count": 1, "pin": ["4095"]}}, "cpu", "4095"),
    "spread": ({"guests": 1, "cpu": {"count": 400, "pin": "spread"}}, "cpu.pin", ""),
    "NUMA node": ({"memory": {"numa_nodes": "63"}}, "memory.numa_nodes", "63"),
    "VF": (
        {"guests": 1, "nic": {"attach": "vf", "addresses": ["ffff:ff:1f.7"]}},
        "nic.addresses",
        "ffff:ff:1f.7",
    ),
    "interface": (
        {"nic": {"attach": "macvtap", "device": "nosuchnic"}},
        "nic.device",
        "nosuchnic",
    ),
    "image": ({"image": {"path": "/no/such/image.qcow2"}}, "image.path", "/no/such/image.qcow2"),
    "share": (
        {"shares": [{"source": "/no/such/folder", "target": "/data"}]},
        "shares.source",
        "/no/such/folder",
    ),
}


@pytest.mark.parametrize(("options", "where", "says"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_more_than_the_host_has_is_refused(options, where, says):
    checked = VmOptions.model_validate(options)
    with pytest.raises(PlatformError) as caught:
        check_host(checked, checked.cpu.count or 1)
    assert (caught.value.where or "").startswith(where)
    assert says in caught.value.what


def test_an_mtu_beyond_the_hosts_interface_is_refused(tmp_path, monkeypatch):
    (tmp_path / "eth9").mkdir()
    (tmp_path / "eth9" / "mtu").write_text("1500\n")
    monkeypatch.setattr(preflight, "_NETWORK", tmp_path)
    options = VmOptions.model_validate(
        {"nic": {"attach": "macvtap", "device": "eth9", "mtu": 9000}}
    )
    with raises(PlatformError, "BL-PLATFORMS-655", "1500"):
        check_host(options, 1)


def test_defaults_share_the_hosts_cores_out():
    assert VmOptions(guests=64).cores_per_node == 1
    assert VmOptions.model_validate({"cpu": {"count": 3}}).cores_per_node == 3


def test_the_built_in_platform_of_a_virtual_function_says_what_it_needs():
    spec = make_spec("v", {"type": "vm", "nic": {"attach": "vf", "device": "auto"}}, where="test")
    available = VmPlatform.available(spec)
    assert available.ok or (available.reason and available.hint)
