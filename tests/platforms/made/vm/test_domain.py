"""Domain definitions: every option reaches the definition, and every definition is valid."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bareline.host.cache import cache_folder
from bareline.platforms.config import make_spec
from bareline.platforms.made.vm.domain import Boot, Places, domain_xml, pool_xml
from bareline.platforms.made.vm.guest import make_guests
from bareline.platforms.made.vm.hypervisor import TOOLS, Hypervisor
from bareline.platforms.made.vm.options import VmOptions
from bareline.platforms.made.vm.platform import VmPlatform

SCHEMA = Path("/usr/share/libvirt/schemas/domain.rng")

NICS = [
    *({"model": model} for model in ("e1000", "e1000e", "rtl8139", "virtio")),
    {"model": "e1000", "mitigation": False, "mtu": 9000},
    {"model": "virtio", "mtu": 9000, "queues": 4, "vhost": True},
    {"model": "virtio", "vhost": False, "offloads": False, "mergeable_buffers": False},
    {"model": "virtio", "mergeable_buffers": False},
    {"attach": "macvtap", "device": "eth0", "model": "e1000"},
    {"attach": "macvtap", "device": "eth0", "queues": 2},
    {"attach": "vf", "addresses": ["3b:02.0", "0000:3b:02.1"], "vlan": 42, "mtu": 9000},
    {"attach": "vf", "device": "eth1"},
    {"attach": "adapter", "addresses": ["0001:3b:00.0", "0001:3b:00.1"]},
]
CPUS = [
    {},
    {"count": 1, "model": "Nehalem"},
    {"count": 4, "model": "host-model", "sockets": 2, "threads": 2},
    {"count": 2, "model": "host-passthrough", "pin": ["0", "1", "2-3", "0,2"]},
    {"count": 2, "model": "maximum", "pin": "spread", "emulator_pin": "0-1"},
]
MEMORIES = [
    {},
    {"size_bytes": "2GiB", "huge_pages": "2MiB"},
    {"size_bytes": "2GiB", "huge_pages": "1GiB", "numa_nodes": "0-1", "numa_mode": "interleave"},
    {"numa_nodes": "0", "numa_mode": "preferred"},
]
CLOCKS = [
    {},
    {"source": "tsc", "tsc": "native"},
    {"source": "kvm-clock", "tsc": "emulate", "hpet": False},
    {"source": "hpet"},
]
DISKS = [
    {},
    {"bus": "virtio", "cache": "none", "io": "native", "iothread": True},
    {"bus": "scsi", "cache": "writeback", "io": "threads", "iothread": True, "discard": True},
    {"bus": "sata", "cache": "unsafe", "io": "io_uring"},
    {"bus": "scsi", "cache": "directsync", "io": "native"},
]
SHARES = [
    [],
    [
        {"source": "/srv", "target": "/data"},
        {"source": "/srv", "target": "/ro", "read_only": True},
    ],
    [{"source": "/srv", "target": "/data", "kind": "virtiofs", "cache": "always"}],
    [{"source": "/srv", "target": "/data", "kind": "nfs"}],
]
IMAGES = ["auto", {"path": "/images/cloud.qcow2"}]


def places_of(options: VmOptions, accelerator: str = "tcg", node: int = 0) -> Places:
    guest = make_guests(options, options.guests)[node]
    direct = options.image == "auto"
    return Places(
        guest=guest,
        vcpus=options.cpu.count or 1,
        accelerator=accelerator,
        disk="/run/guests/g1.qcow2",
        console="/run/guests/g1.console",
        bridge="bareline0",
        boot=Boot(kernel="/k", initrd="/i", command_line="root=/dev/vda a<b&c") if direct else None,
        seed=None if direct else "/run/guests/seed.iso",
        host_cpus=(0, 1),
    )


def every_combination():
    """Yield all pairs of options of two parts, and all of the NIC with the rest's extremes."""
    parts = {
        "nic": NICS,
        "cpu": CPUS,
        "memory": MEMORIES,
        "clock": CLOCKS,
        "disk": DISKS,
        "shares": SHARES,
        "image": IMAGES,
    }
    for (first, some), (second, others) in itertools.combinations(parts.items(), 2):
        for one, other in itertools.product(some, others):
            yield {first: one, second: other}
    yield {"machine": "pc", "disk": {"bus": "ide"}, "image": {"path": "/x"}}


@pytest.mark.skipif(shutil.which("xmllint") is None, reason="xmllint is not installed")
@pytest.mark.skipif(not SCHEMA.exists(), reason="libvirt's schemas are not installed")
def test_definitions_of_all_options_are_valid(tmp_path):
    written = []
    for number, table in enumerate(every_combination()):
        options = VmOptions.model_validate(table)
        for accelerator in ("kvm", "tcg"):
            path = tmp_path / f"{number}-{accelerator}.xml"
            path.write_text(domain_xml(options, places_of(options, accelerator, node=1)))
            written.append(str(path))
    assert len(written) > 800
    done = subprocess.run(
        ["xmllint", "--noout", "--relaxng", str(SCHEMA), *written],
        capture_output=True,
        text=True,
        check=False,
    )
    wrong = [line for line in done.stderr.splitlines() if not line.endswith(" validates")]
    assert done.returncode == 0, "\n".join(wrong[:10])
    assert done.stderr.count(" validates") == len(written)


@pytest.mark.skipif(shutil.which("xmllint") is None, reason="xmllint is not installed")
def test_the_schema_refuses_a_definition_that_is_wrong(tmp_path):
    options = VmOptions()
    text = domain_xml(options, places_of(options)).replace("<vcpu", "<processors")
    path = tmp_path / "wrong.xml"
    path.write_text(text.replace("</vcpu", "</processors"))
    done = subprocess.run(
        ["xmllint", "--noout", "--relaxng", str(SCHEMA), str(path)],
        capture_output=True,
        check=False,
    )
    assert done.returncode != 0


#: Why libvirt may refuse a valid definition on the host that the tests run on.
OF_THIS_HOST = ("hugetlbfs", "NUMA node", "CPU mode", "virtiofsd", "vhost", "Cannot get interface")


@pytest.mark.vm
@pytest.mark.skipif(os.geteuid() != 0, reason="bareline's libvirt is started as root")
@pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason="libvirt or QEMU is not installed")
def test_libvirt_turns_definitions_into_qemus_command_line(tmp_path):
    pytest.importorskip("libvirt")
    with tempfile.TemporaryDirectory(prefix="bl-vm-", dir="/tmp") as folder:
        enclosed = Hypervisor(
            folder=Path(folder),
            cache_folder=cache_folder(),
            bridge="bareline0",
            address="10.94.7.1",
            mtu=1500,
        )
        refused, lines = [], 0
        with enclosed as hypervisor:
            # All of them take most of a minute. libvirt 9 dies of devices that are not there.
            for table in list(every_combination())[::5]:
                options = VmOptions.model_validate(table)
                if options.nic.passed_through:
                    continue
                definition = domain_xml(options, places_of(options))
                try:
                    line = hypervisor.connection.domainXMLToNative("qemu-argv", definition, 0)
                except hypervisor.libvirt.libvirtError as error:
                    if not any(reason in str(error) for reason in OF_THIS_HOST):
                        refused.append(f"{table}: {error}")
                    continue
                lines += 1
                assert "-append" in line or "vdz" in definition
    assert refused == []
    assert lines > 50


def parsed(table: dict, accelerator: str = "tcg", node: int = 0) -> ET.Element:
    options = VmOptions.model_validate(table)
    return ET.fromstring(domain_xml(options, places_of(options, accelerator, node)))


def test_a_bridge_nic_has_model_mtu_and_address():
    domain = parsed({"nic": {"model": "e1000", "mtu": 9000}}, node=1)
    interface = domain.find("devices/interface")
    assert interface.find("model").get("type") == "e1000"
    assert interface.find("mtu").get("size") == "9000"
    assert interface.find("mac").get("address").endswith(":0c")
    assert domain.find("{http://libvirt.org/schemas/domain/qemu/1.0}override") is None


def test_interrupt_mitigation_is_switched_off_through_qemus_property():
    text = domain_xml(
        options := VmOptions.model_validate({"nic": {"model": "e1000", "mitigation": False}}),
        places_of(options),
    )
    assert 'alias="ua-nic"' in text
    assert 'name="mitigation" type="bool" value="false"' in text


def test_vhost_follows_the_accelerator_unless_chosen():
    for accelerator, vhost, expected in (
        ("kvm", None, "vhost"),
        ("tcg", None, "qemu"),
        ("kvm", False, "qemu"),
        ("kvm", True, "vhost"),
    ):
        nic = {} if vhost is None else {"vhost": vhost}
        driver = parsed({"nic": nic}, accelerator).find("devices/interface/driver")
        assert driver.get("name") == expected


def test_offloads_off_reach_host_and_guest():
    driver = parsed({"nic": {"offloads": False}}).find("devices/interface/driver")
    assert driver.find("host").get("tso4") == driver.find("guest").get("tso4") == "off"
    assert driver.find("host").get("mrg_rxbuf") == "on"


def test_each_guest_gets_its_own_virtual_function_and_keeps_mac_and_vlan():
    table = {"nic": {"attach": "vf", "addresses": ["3b:02.0", "3b:02.1"], "vlan": 5}}
    for node, function in enumerate("01"):
        interface = parsed(table, "kvm", node).findall("devices/interface")[-1]
        assert interface.get("type") == "hostdev"
        assert interface.find("source/address").get("function") == f"0x{function}"
        assert interface.find("mac") is not None
        assert interface.find("vlan/tag").get("id") == "5"


def test_guests_on_the_hosts_adapters_are_reached_through_a_nic_of_their_own():
    interfaces = parsed({"nic": {"attach": "macvtap", "device": "eth0"}}).findall(
        "devices/interface"
    )
    assert [interface.get("type") for interface in interfaces] == ["bridge", "direct"]


def test_pools_hand_out_the_functions_of_one_adapter():
    network = ET.fromstring(pool_xml("eth1"))
    assert network.find("forward").get("mode") == "hostdev"
    assert network.find("forward/pf").get("dev") == "eth1"


def test_pins_follow_the_guests():
    table = {"guests": 2, "cpu": {"count": 2, "pin": ["0", "1", "2", "3"]}}
    pins = [pin.get("cpuset") for pin in parsed(table, node=1).findall("cputune/vcpupin")]
    assert pins == ["2", "3"]
    spread = {"guests": 2, "cpu": {"count": 1, "pin": "spread"}}
    assert parsed(spread, node=1).find("cputune/vcpupin").get("cpuset") == "1"


def test_the_processor_is_passed_through_where_it_is_not_emulated():
    assert parsed({}, "kvm").find("cpu").get("mode") == "host-passthrough"
    assert parsed({}, "tcg").find("cpu").get("mode") == "maximum"
    named = parsed({"cpu": {"model": "Nehalem"}}).find("cpu")
    assert named.get("mode") == "custom"
    assert named.find("model").text == "Nehalem"


def test_memory_is_what_was_asked_for_to_the_byte():
    memory = parsed({"memory": {"size_bytes": "1GiB"}}).find("memory")
    assert (memory.get("unit"), int(memory.text)) == ("b", 1 << 30)


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.text(
        alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), max_size=40
    )
)
def test_no_text_breaks_out_of_the_definition(text):
    options = VmOptions()
    places = places_of(options)
    hostile = replace(places, boot=Boot(kernel="/k", initrd=None, command_line=text))
    domain = ET.fromstring(domain_xml(options, hostile))
    assert (domain.find("os/cmdline").text or "") == text
    assert len(domain.findall("devices/disk")) == 1


def test_hardware_passed_through_is_shown_with_hardware_virtualization():
    """Before, `platforms show --xml` of vm-sriov said "qemu" where KVM is missing."""
    spec = make_spec(
        "vm-sriov", {"type": "vm", "nic": {"attach": "vf", "device": "auto"}}, where="test"
    )
    assert '<domain type="kvm">' in VmPlatform.definition(spec)
