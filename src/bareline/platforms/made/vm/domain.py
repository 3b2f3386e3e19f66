"""A guest's libvirt definition, as a pure function of options and `Places`.

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

from bareline.platforms.made.vm.elements import (
    element,
    element_unless_empty,
    pci_address,
    written,
)
from bareline.platforms.made.vm.hardware import Cpu, SharedFolder
from bareline.platforms.made.vm.options import VmOptions

Accelerator = Literal["kvm", "tcg"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boot:
    """A kernel that QEMU starts directly, without a boot loader."""

    kernel: str
    initrd: str | None
    command_line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """The identity of a guest.

    - `index`: position among all guests of the host, from 0.
    - `tenant`: number of the guest's tenant, from 0; `SERVER` for the file server.
    - `address`: address on the measured network.
    - `management_address`: address for bareline's connections. It differs from `address` if the
      measured NIC is attached to the host's own interfaces.
    """

    index: int
    tenant: int
    name: str
    uuid: str
    mac: str
    address: str
    management_mac: str | None
    management_address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The parts of a definition that are not options: the guest's identity and files.

    - `host_cpus`: processors of the host that may be used for pinning.
    """

    guest: Guest
    vcpus: int
    accelerator: Accelerator
    disk: str
    console: str
    bridge: str
    boot: Boot | None = None
    seed: str | None = None
    host_cpus: Sequence[int] = ()


#: Alias of the measuring NIC; libvirt keeps aliases that begin with ``ua-``.
NIC_ALIAS = "ua-nic"
#: Name of the network of virtual functions inside bareline's own libvirt.
POOL = "bareline-functions"
#: Beginning of the MAC addresses of NICs that are only used to reach a guest.
MANAGEMENT_MAC = "52:54:00:b1:02"
#: Beginning of the MAC addresses of NICs that are measured.
MEASURED_MAC = "52:54:00:b1:01"
#: Libvirt's names of the ways in which a guest's processors work.
_DOMAIN_TYPES: dict[Accelerator, str] = {"kvm": "kvm", "tcg": "qemu"}
_QEMU = "http://libvirt.org/schemas/domain/qemu/1.0"


def domain_xml(options: VmOptions, places: Places) -> str:
    """Return the definition of one guest."""
    ET.register_namespace("qemu", _QEMU)
    memory = options.memory
    events = [element(f"on_{event}", "destroy") for event in ("poweroff", "reboot", "crash")]
    domain = element(
        "domain",
        element("name", f"bareline-{places.guest.name}"),
        element("uuid", places.guest.uuid),
        element("memory", str(memory.size_bytes), unit="b"),
        _memory_backing(options),
        element("vcpu", str(places.vcpus), placement="static"),
        _io_threads(options),
        _pinning(options, places),
        _numa_tuning(options),
        _operating_system(options, places.boot),
        element("features", element("acpi"), element("apic")),
        _cpu(options, places),
        _clock(options, places),
        *events,
        _devices(options, places),
        _overrides(options),
        type=_DOMAIN_TYPES[places.accelerator],
    )
    return written(domain)


def moved(definition: str, *, disk: Path, initrd: Path, console: Path) -> str:
    """Return a definition with other file paths, for a guest that was saved elsewhere."""
    domain = ET.fromstring(definition)
    ramdisk = domain.find("os/initrd")
    source = domain.find("devices/disk[@device='disk']/source")
    assert ramdisk is not None and source is not None
    ramdisk.text = str(initrd)
    source.set("file", str(disk))
    for kind in ("serial", "console"):
        for place in domain.findall(f"devices/{kind}/source"):
            place.set("path", str(console))
    return ET.tostring(domain, encoding="unicode")


def pool_xml(device: str) -> str:
    """Return the definition of a network whose ports are free virtual functions of a NIC."""
    forward = element("forward", element("pf", dev=device), mode="hostdev", managed="yes")
    return written(element("network", element("name", POOL), forward))


# Memory and processor ------------------------------------------------------------------------


def _memory_backing(options: VmOptions) -> ET.Element | None:
    memory = options.memory
    inside = []
    if memory.huge_pages:
        page = element("page", size=memory.huge_page_bytes >> 10, unit="KiB")
        inside.append(element("hugepages", page))
    if any(share.kind == "virtiofs" for share in options.shares):
        # virtiofsd works in the guest's memory.
        inside += [element("source", type="memfd"), element("access", mode="shared")]
    return element_unless_empty("memoryBacking", inside)


def _numa_tuning(options: VmOptions) -> ET.Element | None:
    memory = options.memory
    if not memory.numa_nodes:
        return None
    nodes = element("memory", mode=memory.numa_mode, nodeset=memory.numa_nodes)
    return element("numatune", nodes)


def _io_threads(options: VmOptions) -> ET.Element | None:
    if not options.disk.iothread:
        return None
    return element("iothreads", "1")


def vcpu_pins(cpu: Cpu, index: int, vcpus: int, host_cpus: Sequence[int]) -> list[str]:
    """Return the host's processors for each virtual processor of guest number `index`.

    Empty if processors are not pinned.
    """
    first = index * vcpus
    if isinstance(cpu.pin, tuple):
        return list(cpu.pin[first : first + vcpus])
    if cpu.pin == "spread" and host_cpus:
        return [str(host_cpus[(first + vcpu) % len(host_cpus)]) for vcpu in range(vcpus)]
    return []


def _pinning(options: VmOptions, places: Places) -> ET.Element | None:
    pins = vcpu_pins(options.cpu, places.guest.index, places.vcpus, places.host_cpus)
    tunes = [element("vcpupin", vcpu=vcpu, cpuset=cpus) for vcpu, cpus in enumerate(pins)]
    if options.cpu.emulator_pin:
        tunes.append(element("emulatorpin", cpuset=options.cpu.emulator_pin))
    return element_unless_empty("cputune", tunes)


def _cpu(options: VmOptions, places: Places) -> ET.Element:
    chosen = options.cpu
    is_emulated = places.accelerator == "tcg"
    cores = places.vcpus // (chosen.sockets * chosen.threads)
    topology = element("topology", sockets=chosen.sockets, cores=cores, threads=chosen.threads)
    numa = _guest_numa(options, places)
    if chosen.mode == "custom":
        model = element("model", chosen.model, fallback="forbid")
        # An emulated processor lacks a feature or two of many models; libvirt would refuse them.
        check = "none" if is_emulated else "partial"
        return element("cpu", model, topology, numa, mode="custom", match="exact", check=check)
    mode = chosen.mode
    if mode == "auto":
        mode = "maximum" if is_emulated else "host-passthrough"
    return element("cpu", topology, numa, mode=mode)


def _guest_numa(options: VmOptions, places: Places) -> ET.Element | None:
    """Return the guest's NUMA nodes, with equal parts of its memory; None without NUMA."""
    nodes = options.memory.guest_numa_nodes
    if nodes == 1:
        return None
    memory_kib = (options.memory.size_bytes // nodes) >> 10
    cpus = places.vcpus // nodes
    cells = []
    for node in range(nodes):
        first = node * cpus
        last = first + cpus - 1
        span = f"{first}-{last}" if cpus > 1 else str(node)
        cells.append(element("cell", id=node, cpus=span, memory=memory_kib, unit="KiB"))
    return element("numa", *cells)


def _clock(options: VmOptions, places: Places) -> ET.Element:
    chosen = options.clock
    has_hpet = "yes" if chosen.hpet else "no"
    timers = [
        element("timer", name="rtc", tickpolicy="catchup"),
        element("timer", name="pit", tickpolicy="delay"),
        element("timer", name="hpet", present=has_hpet),
    ]
    if places.accelerator == "kvm":
        wanted = "yes" if chosen.source in ("auto", "kvm-clock") else "no"
        timers.append(element("timer", name="kvmclock", present=wanted))
        if chosen.tsc != "auto":
            timers.append(element("timer", name="tsc", mode=chosen.tsc))
    return element("clock", *timers, offset="utc")


# Boot and devices ----------------------------------------------------------------------------


def _operating_system(options: VmOptions, boot: Boot | None) -> ET.Element:
    kind = element("type", "hvm", arch="x86_64", machine=options.machine)
    if boot is None:
        return element("os", kind, element("boot", dev="hd"))
    kernel = element("kernel", boot.kernel)
    command_line = element("cmdline", boot.command_line)
    if not boot.initrd:
        return element("os", kind, kernel, command_line)
    return element("os", kind, kernel, element("initrd", boot.initrd), command_line)


def _devices(options: VmOptions, places: Places) -> ET.Element:
    filesystems = [
        _filesystem(share, number)
        for number, share in enumerate(options.shares)
        if share.kind != "nfs"
    ]
    return element(
        "devices",
        _disk(options, places),
        _seed(places),
        _scsi_controller(options),
        element("controller", type="usb", model="none"),
        *filesystems,
        # First, so that its place on the bus does not depend on the NIC that is measured.
        _management_nic(places),
        _nic(options, places),
        element(
            "serial",
            element("source", path=places.console, append="off"),
            element("target", port=0),
            type="file",
        ),
        element("video", element("model", type="none")),
        element("memballoon", model="none"),
    )


def _seed(places: Places) -> ET.Element | None:
    """Return the disk with cloud-init's seed; cloud kernels have no driver for a CD drive."""
    if not places.seed:
        return None
    return _drive(places.seed, "vdz", "virtio", element("readonly"), type="raw")


def _scsi_controller(options: VmOptions) -> ET.Element | None:
    if options.disk.bus != "scsi":
        return None
    thread = element("driver", iothread=1) if options.disk.iothread else None
    return element("controller", thread, type="scsi", index=0, model="virtio-scsi")


def _management_nic(places: Places) -> ET.Element | None:
    """Return the NIC for bareline's connections, if it is not the measured NIC."""
    if not places.guest.management_mac:
        return None
    return element(
        "interface",
        element("mac", address=places.guest.management_mac),
        element("source", bridge=places.bridge),
        element("model", type="virtio"),
        type="bridge",
    )


def _disk(options: VmOptions, places: Places) -> ET.Element:
    chosen = options.disk
    driver: dict[str, object] = {"type": "qcow2"}
    if chosen.cache != "default":
        driver["cache"] = chosen.cache
    if chosen.io != "default":
        driver["io"] = chosen.io
    if chosen.discard:
        driver["discard"] = "unmap"
    if chosen.iothread and chosen.bus == "virtio":
        driver["iothread"] = 1
    name = {"virtio": "vda", "ide": "hda"}.get(chosen.bus, "sda")
    return _drive(places.disk, name, chosen.bus, **driver)


def _drive(file: str, name: str, bus: str, *more: ET.Element, **driver: object) -> ET.Element:
    target = element("target", dev=name, bus=bus)
    driver_of = element("driver", name="qemu", **driver)
    source = element("source", file=file)
    return element("disk", driver_of, source, target, *more, type="file", device="disk")


def share_tag(number: int) -> str:
    """Return the mount tag of a shared folder, by which a guest finds the virtual device."""
    return f"share{number}"


def _filesystem(share: SharedFolder, number: int) -> ET.Element:
    source = element("source", dir=share.source)
    target = element("target", dir=share_tag(number))
    inside = [source, target]
    if share.kind == "virtiofs":
        driver = [element("driver", type="virtiofs")]
        if share.cache != "default":
            driver.append(element("binary", element("cache", mode=share.cache)))
        inside = [*driver, source, target]
    elif share.read_only:
        inside.append(element("readonly"))
    return element("filesystem", *inside, type="mount", accessmode="passthrough")


def _nic(options: VmOptions, places: Places) -> ET.Element:
    nic = options.nic
    index = places.guest.index
    mac = element("mac", address=places.guest.mac)
    alias = element("alias", name=NIC_ALIAS)
    if nic.attach == "adapter":
        source = element("source", pci_address(nic.addresses[index]))
        return element("hostdev", source, mode="subsystem", type="pci", managed="yes")
    if nic.attach == "vf":
        # The element `interface` sets MAC and VLAN; the element `hostdev` does not.
        vlan = None if nic.vlan is None else element("vlan", element("tag", id=nic.vlan))
        if nic.device:
            pool = element("source", network=POOL)
            return element("interface", mac, pool, vlan, alias, type="network")
        source = element("source", pci_address(nic.addresses[index], type="pci"))
        return element("interface", mac, source, vlan, alias, type="hostdev", managed="yes")
    device = _virtual_device(options, places)
    if nic.attach == "macvtap":
        source = element("source", dev=nic.device, mode="bridge")
        return element("interface", mac, source, *device, alias, type="direct")
    bridge = element("source", bridge=places.bridge)
    mtu = element("mtu", size=nic.mtu)
    return element("interface", mac, bridge, *device, mtu, alias, type="bridge")


def _virtual_device(options: VmOptions, places: Places) -> list[ET.Element]:
    nic = options.nic
    model = element("model", type=nic.model)
    if nic.model != "virtio":
        return [model]
    sides = []
    if not (nic.offloads and nic.mergeable_buffers):
        switch = _switch(nic.offloads)
        buffers = _switch(nic.mergeable_buffers)
        offloads = dict.fromkeys(("csum", "tso4", "tso6", "ecn", "ufo"), switch)
        sides.append(element("host", **offloads, gso=switch, mrg_rxbuf=buffers))
        sides.append(element("guest", **offloads))
    # Emulated processors get their interrupts from QEMU, which vhost would bypass.
    vhost = places.accelerator == "kvm" if nic.vhost is None else nic.vhost
    mover = "vhost" if vhost else "qemu"
    queues = nic.queues if nic.queues > 1 else None
    return [model, element("driver", *sides, name=mover, queues=queues)]


def _switch(is_on: bool) -> str:
    return "on" if is_on else "off"


def _overrides(options: VmOptions) -> ET.Element | None:
    """Return the properties of QEMU's devices for which libvirt has no element."""
    if options.nic.mitigation or options.nic.passed_through:
        return None
    off = element(f"{{{_QEMU}}}property", name="mitigation", type="bool", value="false")
    device = element(f"{{{_QEMU}}}device", element(f"{{{_QEMU}}}frontend", off), alias=NIC_ALIAS)
    return element(f"{{{_QEMU}}}override", device)
