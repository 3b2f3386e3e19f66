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
    "VF without address": ({"nic": {"attach": "vf"}}, "PCI addresses"),
    "VF by address and by adapter": (
        {"nic": {"attach": "vf", "device": "eth0", "addresses": [VF]}},
        "not both",
    ),
    "adapter without address": ({"nic": {"attach": "adapter"}}, "PCI addresses"),
    "fewer VFs than guests": (
        {"guests": 2, "nic": {"attach": "vf", "addresses": [VF]}},
        "2 guests need 2 PCI addresses",
    ),
    "the same VF twice": ({"nic": {"attach": "vf", "addresses": [VF, VF]}}, "twice"),
    "not a PCI address": ({"nic": {"attach": "vf", "addresses": ["eth0", VF]}}, "PCI address"),
    "macvtap without device": ({"nic": {"attach": "macvtap"}}, "`device`"),
    "a device on the private bridge": ({"nic": {"device": "eth0"}}, "`attach`"),
    "VLAN without VF": ({"nic": {"vlan": 7}}, "vlan"),
    "queues of an emulated NIC": ({"nic": {"model": "e1000", "queues": 2}}, "virtio"),
    "offloads of an emulated NIC": ({"nic": {"model": "e1000", "offloads": False}}, "virtio"),
    "mitigation of virtio": ({"nic": {"mitigation": False}}, "e1000"),
    "a model for real hardware": (
        {"guests": 1, "nic": {"attach": "vf", "addresses": [VF], "model": "virtio"}},
        "virtual devices",
    ),
    "MTU beyond rtl8139": ({"nic": {"model": "rtl8139", "mtu": 9000}}, "above the limit"),
    "MTU beyond e1000": ({"nic": {"model": "e1000", "mtu": 16111}}, "above the limit"),
    "MTU below IPv4's": ({"nic": {"mtu": 100}}, "576"),
    "no subnet": ({"nic": {"subnet": "10.0.0.0/24"}}, "subnet"),
    "emulated passthrough": (
        {"acceleration": "tcg", "cpu": {"model": "host-passthrough"}},
        "passed through",
    ),
    "emulated vhost": ({"acceleration": "tcg", "nic": {"vhost": True}}, "vhost"),
    "emulated kvm-clock": ({"acceleration": "tcg", "clock": {"source": "kvm-clock"}}, "kvm-clock"),
    "VF of an emulated guest": (
        {"guests": 1, "acceleration": "tcg", "nic": {"attach": "vf", "addresses": [VF]}},
        "hardware virtualization",
    ),
    "packages for an image of one's own": (
        {"packages": ["lammps"], "image": {"path": "/x.qcow2"}},
        'image = "auto"',
    ),
    "no name of a package": ({"packages": ["lammps; reboot"]}, "pattern"),
    "topology without count": ({"cpu": {"threads": 2}}, "count"),
    "topology that does not divide": ({"cpu": {"count": 3, "threads": 2}}, "3 virtual processors"),
    "pins for another count": (
        {"guests": 2, "cpu": {"count": 2, "pin": ["0", "1"]}},
        "2 entries for 4",
    ),
    "a pin that would take all memory": (
        {"cpu": {"emulator_pin": "0-9999999999"}},
        "above 9999",
    ),
    "a NUMA node that would take all memory": (
        {"memory": {"numa_nodes": "0-9999999999"}},
        "above 9999",
    ),
    "memory beyond numbers": ({"memory": {"size_bytes": "9" * 400 + "GiB"}}, "any memory"),
    "a pin that is no list": ({"guests": 1, "cpu": {"count": 1, "pin": ["a"]}}, "processor list"),
    "memory in halves of huge pages": (
        {"memory": {"size_bytes": "1025MiB", "huge_pages": "2MiB"}},
        "2MiB pages",
    ),
    "too little memory": ({"memory": {"size_bytes": "16MiB"}}, "134217728"),
    "NUMA nodes without processors": (
        {"cpu": {"count": 1}, "memory": {"guest_numa_nodes": 2}},
        "multiple",
    ),
    "native I/O through the page cache": ({"disk": {"io": "native"}}, "cache"),
    "I/O thread of a SATA disk": ({"disk": {"bus": "sata", "iothread": True}}, "I/O thread"),
    "IDE on q35": ({"disk": {"bus": "ide"}}, "IDE"),
    "no clock at all": ({"clock": {"source": "hpet", "hpet": False}}, "hpet"),
    "a relative share": ({"shares": [{"source": "data", "target": "/data"}]}, "absolute"),
    "two shares in one place": (
        {"shares": [{"source": "/a", "target": "/x"}, {"source": "/b", "target": "/x"}]},
        "same target",
    ),
    "initrd without kernel": ({"image": {"path": "/x", "initrd": "/y"}}, "kernel"),
    "a shell in a setting": (
        {"guest_tuning": {"sysctl": {"net.core.rmem_max": "1; reboot"}}},
        "not a value",
    ),
    "a setting that is not the network's": (
        {"host_tuning": {"sysctl": {"kernel.core_pattern": "x"}}},
        "not a network setting",
    ),
    "a shell on the kernel's command line": ({"kernel_args": "a$(b)"}, "pattern"),
    "too many guests": ({"guests": 150, "neighbours": {"count": 1}}, "300 guests"),
    "a hypervisor that the contributed package knows": ({"hypervisor": "xen"}, "bareline-contrib"),
    "a kernel for an own image": ({"kernel": "/k", "image": {"path": "/x"}}, "image.kernel"),
    "a release for an own image": ({"release": "trixie", "image": {"path": "/x"}}, "release"),
    "modules without a kernel": ({"modules": "/m"}, "given as a path"),
    "a package that is no kernel": ({"kernel": "bash"}, "pattern"),
    "a kernel with soft-RoCE": (
        {"kernel": "linux-image-amd64/bullseye", "nic": {"soft_roce": True}},
        "no modules",
    ),
    "cores for guests": ({"neighbours": {"cores": [0]}}, "cpu.pin"),
    "saved state with shares": (
        {"saved_state": True, "shares": [{"source": "/a", "target": "/b"}]},
        "cannot be saved",
    ),
    "an unknown option": ({"nics": 2}, "Extra inputs"),
}


@pytest.mark.parametrize(("options", "says"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_impossible_combinations_are_refused(options, says):
    with pytest.raises(ValidationError) as caught:
        VmOptions.model_validate(options)
    assert says in str(caught.value)


def test_a_platform_file_with_an_impossible_combination_names_platform_and_key():
    table = {"type": "vm", "nic": {"model": "rtl8139", "mtu": 9000}}
    with pytest.raises(PlatformError) as caught:
        make_spec("vm-old", table, where="platforms.toml, [platform.vm-old]")
    assert "vm-old" in str(caught.value)
    assert "'nic'" in str(caught.value)
    assert "rtl8139" in str(caught.value)


TOO_MUCH = {
    "memory": ({"memory": {"size_bytes": "64TiB"}}, "memory.size_bytes", "the host has"),
    "huge pages": (
        {"memory": {"size_bytes": "64GiB", "huge_pages": "1GiB"}, "guests": 1},
        "memory",
        "",
    ),
    "processor": ({"guests": 1, "cpu": {"count": 1, "pin": ["4095"]}}, "cpu", "4095"),
    "spread": ({"guests": 1, "cpu": {"count": 400, "pin": "spread"}}, "cpu.pin", "a core each"),
    "NUMA node": ({"memory": {"numa_nodes": "63"}}, "memory.numa_nodes", "63"),
    "VF": (
        {"guests": 1, "nic": {"attach": "vf", "addresses": ["ffff:ff:1f.7"]}},
        "nic.addresses",
        "no device",
    ),
    "interface": (
        {"nic": {"attach": "macvtap", "device": "nosuchnic"}},
        "nic.device",
        "nosuchnic",
    ),
    "image": ({"image": {"path": "/no/such/image.qcow2"}}, "image.path", "no file"),
    "share": (
        {"shares": [{"source": "/no/such/folder", "target": "/data"}]},
        "shares.source",
        "no folder",
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
