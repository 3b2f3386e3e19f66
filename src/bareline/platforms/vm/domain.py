"""A guest's libvirt definition: a pure function of options and places.

References
----------
libvirt, "Domain XML format", libvirt.org/formatdomain.html.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree as ET

from bareline.platforms.vm.hardware import SharedFolder, parse_cpu_set, parse_pci_address
from bareline.platforms.vm.options import VmOptions

Accelerator = Literal["kvm", "tcg"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boot:
    """A kernel that is started directly, without boot loader."""

    kernel: str
    initrd: str | None
    command_line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What a definition needs beside the options: this guest's identity and files.

    - `index`: position among all guests of the host, neighbours included, from 0.
    - `host_cpus`: processors of the host that may be used for pinning.
    - `disk`: the guest's own layer over the image.
    - `management_mac`: of a second NIC, through which bareline reaches the guest.
    """

    name: str
    uuid: str
    index: int
    vcpus: int
    accelerator: Accelerator
    disk: str
    console: str
    mac: str
    bridge: str
    disk_format: str = "qcow2"
    boot: Boot | None = None
    seed: str | None = None
    management_mac: str | None = None
    host_cpus: Sequence[int] = ()


#: Alias of the measuring NIC; libvirt keeps aliases that begin with ``ua-``.
NIC_ALIAS = "ua-nic"
#: Name of the network of virtual functions inside bareline's own libvirt.
POOL = "bareline-functions"
#: Beginning of the MAC addresses of NICs that are only used to reach a guest.
MANAGEMENT_MAC = "52:54:00:b1:02"
#: Beginning of the MAC addresses of NICs that are measured.
MEASURED_MAC = "52:54:00:b1:01"


def add_devices(domain: ET.Element, options: VmOptions, places: Places) -> None:
    """Add disks, shares, NICs and the console to a definition."""
    devices = ET.SubElement(domain, "devices")
    _disk(devices, options, places)
    if places.seed:
        _seed(devices, places.seed)
    if options.disk.bus == "scsi":
        controller = ET.SubElement(
            devices, "controller", type="scsi", index="0", model="virtio-scsi"
        )
        if options.disk.iothread:
            ET.SubElement(controller, "driver", iothread="1")
    ET.SubElement(devices, "controller", type="usb", model="none")
    for number, share in enumerate(options.shares):
        _filesystem(devices, share, number)
    if places.management_mac:
        # First, so that its place on the bus does not depend on the NIC that is measured.
        _bridge_nic(devices, places.bridge, places.management_mac, "virtio")
    _nic(devices, options, places)
    serial = ET.SubElement(devices, "serial", type="file")
    ET.SubElement(serial, "source", path=places.console, append="off")
    ET.SubElement(serial, "target", port="0")
    ET.SubElement(ET.SubElement(devices, "video"), "model", type="none")
    ET.SubElement(devices, "memballoon", model="none")


def _disk(devices: ET.Element, options: VmOptions, places: Places) -> None:
    chosen = options.disk
    disk = ET.SubElement(devices, "disk", type="file", device="disk")
    driver = ET.SubElement(disk, "driver", name="qemu", type=places.disk_format)
    ways = {"cache": chosen.cache, "io": chosen.io}
    driver.attrib |= {name: way for name, way in ways.items() if way != "default"}
    driver.attrib |= {"discard": "unmap"} if chosen.discard else {}
    driver.attrib |= {"iothread": "1"} if chosen.iothread and chosen.bus == "virtio" else {}
    ET.SubElement(disk, "source", file=places.disk)
    target = {"virtio": "vda", "ide": "hda"}.get(chosen.bus, "sda")
    ET.SubElement(disk, "target", dev=target, bus=chosen.bus)


def _seed(devices: ET.Element, path: str) -> None:
    """Add the medium for cloud-init, as a disk: kernels for clouds have no driver for a drive."""
    disk = ET.SubElement(devices, "disk", type="file", device="disk")
    ET.SubElement(disk, "driver", name="qemu", type="raw")
    ET.SubElement(disk, "source", file=path)
    ET.SubElement(disk, "target", dev="vdz", bus="virtio")
    ET.SubElement(disk, "readonly")


def share_tag(number: int) -> str:
    """Give the name under which a guest mounts a share of a virtual device."""
    return f"share{number}"


def _filesystem(devices: ET.Element, share: SharedFolder, number: int) -> None:
    if share.kind == "nfs":
        return
    filesystem = ET.SubElement(devices, "filesystem", type="mount", accessmode="passthrough")
    if share.kind == "virtiofs":
        ET.SubElement(filesystem, "driver", type="virtiofs")
        if share.cache != "default":
            binary = ET.SubElement(filesystem, "binary")
            ET.SubElement(binary, "cache", mode=share.cache)
    ET.SubElement(filesystem, "source", dir=share.source)
    ET.SubElement(filesystem, "target", dir=share_tag(number))
    if share.read_only and share.kind == "9p":
        ET.SubElement(filesystem, "readonly")


# NIC -----------------------------------------------------------------------------------------


def _nic(devices: ET.Element, options: VmOptions, places: Places) -> None:
    match options.nic.attach:
        case "bridge":
            interface = _bridge_nic(devices, places.bridge, places.mac)
            _virtual_device(interface, options, places)
            ET.SubElement(interface, "mtu", size=str(options.nic.mtu))
            ET.SubElement(interface, "alias", name=NIC_ALIAS)
        case "macvtap":
            interface = ET.SubElement(devices, "interface", type="direct")
            ET.SubElement(interface, "mac", address=places.mac)
            ET.SubElement(interface, "source", dev=str(options.nic.device), mode="bridge")
            _virtual_device(interface, options, places)
            ET.SubElement(interface, "alias", name=NIC_ALIAS)
        case "vf":
            _virtual_function(devices, options, places)
        case "adapter":
            device = ET.SubElement(devices, "hostdev", mode="subsystem", type="pci", managed="yes")
            source = ET.SubElement(device, "source")
            _pci_address(source, options.nic.addresses[places.index])


def _bridge_nic(devices: ET.Element, bridge: str, mac: str, model: str | None = None) -> ET.Element:
    interface = ET.SubElement(devices, "interface", type="bridge")
    ET.SubElement(interface, "mac", address=mac)
    ET.SubElement(interface, "source", bridge=bridge)
    if model:
        ET.SubElement(interface, "model", type=model)
    return interface


def _virtual_device(interface: ET.Element, options: VmOptions, places: Places) -> None:
    nic = options.nic
    ET.SubElement(interface, "model", type=nic.model)
    if nic.model != "virtio":
        return
    driver = ET.SubElement(
        interface, "driver", name="vhost" if uses_vhost(options, places) else "qemu"
    )
    if nic.queues > 1:
        driver.set("queues", str(nic.queues))
    if nic.offloads and nic.mergeable_buffers:
        return
    switch = "on" if nic.offloads else "off"
    host = ET.SubElement(driver, "host")
    guest = ET.SubElement(driver, "guest")
    for side in (host, guest):
        for offload in ("csum", "tso4", "tso6", "ecn", "ufo"):
            side.set(offload, switch)
    host.attrib |= {"gso": switch, "mrg_rxbuf": "on" if nic.mergeable_buffers else "off"}


def uses_vhost(options: VmOptions, places: Places) -> bool:
    """Tell whether virtio frames are moved by the host's kernel.

    Emulated processors take their interrupts from QEMU, which vhost goes around.
    """
    chosen = options.nic.vhost
    wanted = places.accelerator == "kvm" if chosen is None else chosen
    return wanted and options.nic.model == "virtio"


def _virtual_function(devices: ET.Element, options: VmOptions, places: Places) -> None:
    """Add a virtual function as an interface, which sets MAC and VLAN; a plain hostdev does not."""
    nic = options.nic
    kind = "network" if nic.device else "hostdev"
    interface = ET.SubElement(devices, "interface", type=kind)
    if not nic.device:
        interface.set("managed", "yes")
    ET.SubElement(interface, "mac", address=places.mac)
    if nic.device:
        ET.SubElement(interface, "source", network=POOL)
    else:
        source = ET.SubElement(interface, "source")
        _pci_address(source, nic.addresses[places.index], type="pci")
    if nic.vlan is not None:
        ET.SubElement(ET.SubElement(interface, "vlan"), "tag", id=str(nic.vlan))
    ET.SubElement(interface, "alias", name=NIC_ALIAS)


def _pci_address(source: ET.Element, address: str, **attributes: str) -> None:
    domain, bus, slot, function = parse_pci_address(address)
    place = {"domain": f"0x{domain:04x}", "bus": f"0x{bus:02x}", "slot": f"0x{slot:02x}"}
    attributes |= place | {"function": f"0x{function:x}"}
    ET.SubElement(source, "address", attributes)


_QEMU_NAMESPACE = "http://libvirt.org/schemas/domain/qemu/1.0"


def domain_xml(options: VmOptions, places: Places) -> str:
    """Give the definition of one guest."""
    ET.register_namespace("qemu", _QEMU_NAMESPACE)
    domain = ET.Element("domain", type="kvm" if places.accelerator == "kvm" else "qemu")
    _text(domain, "name", places.name)
    _text(domain, "uuid", places.uuid)
    _text(domain, "memory", str(options.memory.size_bytes), unit="b")
    _memory_backing(domain, options)
    _text(domain, "vcpu", str(places.vcpus), placement="static")
    if options.disk.iothread:
        _text(domain, "iothreads", "1")
    _pinning(domain, options, places)
    _numa(domain, options)
    _operating_system(domain, options, places)
    features = ET.SubElement(domain, "features")
    ET.SubElement(features, "acpi")
    ET.SubElement(features, "apic")
    _cpu(domain, options, places)
    _clock(domain, options, places)
    for event, action in (("poweroff", "destroy"), ("reboot", "destroy"), ("crash", "destroy")):
        _text(domain, f"on_{event}", action)
    add_devices(domain, options, places)
    _overrides(domain, options)
    ET.indent(domain)
    return ET.tostring(domain, encoding="unicode") + "\n"


def moved(definition: str, *, disk: Path, initrd: Path, console: Path) -> str:
    """Give a definition with files in other places, for a guest that was saved elsewhere."""
    domain = ET.fromstring(definition)
    ramdisk = domain.find("os/initrd")
    assert ramdisk is not None
    ramdisk.text = str(initrd)
    source = domain.find("devices/disk[@device='disk']/source")
    assert source is not None
    source.set("file", str(disk))
    for kind in ("serial", "console"):
        for place in domain.findall(f"devices/{kind}/source"):
            place.set("path", str(console))
    return ET.tostring(domain, encoding="unicode")


def pool_xml(device: str) -> str:
    """Give the network whose members are the free virtual functions of a physical one."""
    network = ET.Element("network")
    _text(network, "name", POOL)
    forward = ET.SubElement(network, "forward", mode="hostdev", managed="yes")
    ET.SubElement(forward, "pf", dev=device)
    ET.indent(network)
    return ET.tostring(network, encoding="unicode") + "\n"


def _text(parent: ET.Element, tag: str, text: str, **attributes: str) -> ET.Element:
    element = ET.SubElement(parent, tag, attributes)
    element.text = text
    return element


# Memory and processor ------------------------------------------------------------------------


def _memory_backing(domain: ET.Element, options: VmOptions) -> None:
    memory = options.memory
    shared = any(share.kind == "virtiofs" for share in options.shares)
    if not memory.huge_pages and not shared:
        return
    backing = ET.SubElement(domain, "memoryBacking")
    if memory.huge_pages:
        pages = ET.SubElement(backing, "hugepages")
        ET.SubElement(pages, "page", size=str(memory.huge_page_bytes >> 10), unit="KiB")
    if shared:
        # virtiofsd works in the guest's memory.
        ET.SubElement(backing, "source", type="memfd")
        ET.SubElement(backing, "access", mode="shared")


def vcpu_pins(options: VmOptions, places: Places) -> list[str]:
    """Give the host's processors for each virtual processor of this guest; empty without pins."""
    pin = options.cpu.pin
    first = places.index * places.vcpus
    if isinstance(pin, tuple):
        return list(pin[first : first + places.vcpus])
    if pin == "spread" and places.host_cpus:
        cpus = places.host_cpus
        return [str(cpus[(first + vcpu) % len(cpus)]) for vcpu in range(places.vcpus)]
    return []


def _pinning(domain: ET.Element, options: VmOptions, places: Places) -> None:
    pins = vcpu_pins(options, places)
    if not pins and not options.cpu.emulator_pin:
        return
    tune = ET.SubElement(domain, "cputune")
    for vcpu, cpus in enumerate(pins):
        ET.SubElement(tune, "vcpupin", vcpu=str(vcpu), cpuset=cpus)
    if options.cpu.emulator_pin:
        ET.SubElement(tune, "emulatorpin", cpuset=options.cpu.emulator_pin)


def _numa(domain: ET.Element, options: VmOptions) -> None:
    memory = options.memory
    if memory.numa_nodes:
        tune = ET.SubElement(domain, "numatune")
        ET.SubElement(tune, "memory", mode=memory.numa_mode, nodeset=memory.numa_nodes)


def _cpu(domain: ET.Element, options: VmOptions, places: Places) -> None:
    chosen, emulated = options.cpu, places.accelerator == "tcg"
    mode = chosen.mode
    if mode == "auto":
        mode = "maximum" if emulated else "host-passthrough"
    cpu = ET.SubElement(domain, "cpu", mode=mode)
    if mode == "custom":
        # An emulated processor lacks a feature or two of many models; libvirt would refuse them.
        cpu.attrib |= {"match": "exact", "check": "none" if emulated else "partial"}
        _text(cpu, "model", chosen.model, fallback="forbid")
    cores = places.vcpus // (chosen.sockets * chosen.threads)
    sockets, threads = str(chosen.sockets), str(chosen.threads)
    ET.SubElement(cpu, "topology", sockets=sockets, cores=str(cores), threads=threads)
    nodes = options.memory.guest_numa_nodes
    if nodes > 1:
        numa = ET.SubElement(cpu, "numa")
        share, cpus = options.memory.size_bytes // nodes, places.vcpus // nodes
        for node in range(nodes):
            span = f"{node * cpus}-{(node + 1) * cpus - 1}" if cpus > 1 else str(node)
            own = {"id": str(node), "cpus": span, "memory": str(share >> 10), "unit": "KiB"}
            ET.SubElement(numa, "cell", own)


def _clock(domain: ET.Element, options: VmOptions, places: Places) -> None:
    clock = ET.SubElement(domain, "clock", offset="utc")
    ET.SubElement(clock, "timer", name="rtc", tickpolicy="catchup")
    ET.SubElement(clock, "timer", name="pit", tickpolicy="delay")
    ET.SubElement(clock, "timer", name="hpet", present="yes" if options.clock.hpet else "no")
    if places.accelerator == "kvm":
        wanted = options.clock.source in ("auto", "kvm-clock")
        ET.SubElement(clock, "timer", name="kvmclock", present="yes" if wanted else "no")
        if options.clock.tsc != "auto":
            ET.SubElement(clock, "timer", name="tsc", mode=options.clock.tsc)


# Boot and devices ----------------------------------------------------------------------------


def _operating_system(domain: ET.Element, options: VmOptions, places: Places) -> None:
    system = ET.SubElement(domain, "os")
    _text(system, "type", "hvm", arch="x86_64", machine=options.machine)
    if places.boot is None:
        ET.SubElement(system, "boot", dev="hd")
        return
    _text(system, "kernel", places.boot.kernel)
    if places.boot.initrd:
        _text(system, "initrd", places.boot.initrd)
    _text(system, "cmdline", places.boot.command_line)


def _overrides(domain: ET.Element, options: VmOptions) -> None:
    """Set what libvirt has no word for: properties of QEMU's devices."""
    if options.nic.mitigation or options.nic.passed_through:
        return
    override = ET.SubElement(domain, f"{{{_QEMU_NAMESPACE}}}override")
    device = ET.SubElement(override, f"{{{_QEMU_NAMESPACE}}}device", alias=NIC_ALIAS)
    frontend = ET.SubElement(device, f"{{{_QEMU_NAMESPACE}}}frontend")
    off = {"name": "mitigation", "type": "bool", "value": "false"}
    ET.SubElement(frontend, f"{{{_QEMU_NAMESPACE}}}property", off)


def host_cpus_needed(options: VmOptions) -> tuple[int, ...]:
    """List the host's processors that the options name, to be checked against the host's."""
    lists = options.cpu.pin if isinstance(options.cpu.pin, tuple) else ()
    named = [*lists, *([options.cpu.emulator_pin] if options.cpu.emulator_pin else [])]
    return tuple(sorted({cpu for text in named for cpu in parse_cpu_set(text)}))
