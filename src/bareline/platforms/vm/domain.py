"""The libvirt domain definition of a guest: a pure function of options and places.

References
----------
libvirt, "Domain XML format", libvirt.org/formatdomain.html.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from bareline.platforms.vm.devices import NIC_ALIAS, POOL, Places, add_devices, paravirtual
from bareline.platforms.vm.options import VmOptions
from bareline.platforms.vm.options.hardware import parse_cpu_set

_QEMU_NAMESPACE = "http://libvirt.org/schemas/domain/qemu/1.0"


def domain_xml(options: VmOptions, places: Places) -> str:
    """Give the definition of one guest."""
    ET.register_namespace("qemu", _QEMU_NAMESPACE)
    domain = ET.Element("domain", type=_kind(options, places))
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


def _kind(options: VmOptions, places: Places) -> str:
    if options.hypervisor == "xen":
        return "xen"
    return "kvm" if places.accelerator == "kvm" else "qemu"


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
        mode = "maximum" if emulated and options.hypervisor != "xen" else "host-passthrough"
    cpu = ET.SubElement(domain, "cpu", mode=mode)
    if mode == "custom":
        # An emulated processor lacks a feature or two of many models; libvirt would refuse them.
        cpu.attrib |= {"match": "exact", "check": "none" if emulated else "partial"}
        _text(cpu, "model", chosen.model, fallback="forbid")
    cores = places.vcpus // (chosen.sockets * chosen.threads)
    ET.SubElement(
        cpu,
        "topology",
        sockets=str(chosen.sockets),
        cores=str(cores),
        threads=str(chosen.threads),
    )
    nodes = options.memory.guest_numa_nodes
    if nodes > 1:
        numa = ET.SubElement(cpu, "numa")
        share, cpus = options.memory.size_bytes // nodes, places.vcpus // nodes
        for node in range(nodes):
            span = f"{node * cpus}-{(node + 1) * cpus - 1}" if cpus > 1 else str(node)
            ET.SubElement(
                numa, "cell", id=str(node), cpus=span, memory=str(share >> 10), unit="KiB"
            )


def _clock(domain: ET.Element, options: VmOptions, places: Places) -> None:
    clock = ET.SubElement(domain, "clock", offset="utc")
    if options.hypervisor == "xen":
        if options.clock.tsc != "auto":
            ET.SubElement(clock, "timer", name="tsc", mode=options.clock.tsc)
        return
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
    if options.hypervisor == "xen":
        kind, machine = ("xenpvh", "xenpvh") if paravirtual(options, places) else ("hvm", "xenfv")
        _text(system, "type", kind, arch="x86_64", machine=machine)
    else:
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
    if options.nic.mitigation or options.nic.passed_through or options.hypervisor == "xen":
        return
    override = ET.SubElement(domain, f"{{{_QEMU_NAMESPACE}}}override")
    device = ET.SubElement(override, f"{{{_QEMU_NAMESPACE}}}device", alias=NIC_ALIAS)
    frontend = ET.SubElement(device, f"{{{_QEMU_NAMESPACE}}}frontend")
    ET.SubElement(
        frontend,
        f"{{{_QEMU_NAMESPACE}}}property",
        {"name": "mitigation", "type": "bool", "value": "false"},
    )


def host_cpus_needed(options: VmOptions) -> tuple[int, ...]:
    """List the host's processors that the options name, to be checked against the host's."""
    lists = options.cpu.pin if isinstance(options.cpu.pin, tuple) else ()
    named = [*lists, *([options.cpu.emulator_pin] if options.cpu.emulator_pin else [])]
    return tuple(sorted({cpu for text in named for cpu in parse_cpu_set(text)}))
