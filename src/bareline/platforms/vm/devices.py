"""A guest's devices in its libvirt definition: disks, shares, NICs, the console.

References
----------
libvirt, "Domain XML format", libvirt.org/formatdomain.html.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as ET

from bareline.platforms.vm.options import VmOptions
from bareline.platforms.vm.options.hardware import Share
from bareline.platforms.vm.options.nic import parse_pci_address

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
    - `vcpus`: virtual processors.
    - `disk`, `disk_format`: the guest's own layer over the image.
    - `seed`: medium for cloud-init.
    - `console`: file that the serial console is written to.
    - `mac`: of the NIC that is measured.
    - `management_mac`: of a second NIC through which bareline reaches the guest; None when one
      serves both.
    - `bridge`: the host's private bridge.
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
        _seed(devices, places.seed, options)
    if options.disk.bus == "scsi":
        controller = ET.SubElement(
            devices, "controller", type="scsi", index="0", model="virtio-scsi"
        )
        if options.disk.iothread:
            ET.SubElement(controller, "driver", iothread="1")
    if options.hypervisor != "xen":
        ET.SubElement(devices, "controller", type="usb", model="none")
    for number, share in enumerate(options.shares):
        _filesystem(devices, share, number)
    if places.management_mac:
        # First, so that its place on the bus does not depend on the NIC that is measured.
        _bridge_nic(devices, places.bridge, places.management_mac, paravirtual_nic(options))
    _nic(devices, options, places)
    _console(devices, options, places)
    if options.hypervisor != "xen":
        ET.SubElement(ET.SubElement(devices, "video"), "model", type="none")
    ET.SubElement(devices, "memballoon", model="xen" if options.hypervisor == "xen" else "none")


def paravirtual(options: VmOptions, places: Places) -> bool:
    """Tell whether Xen needs no device model: a PVH guest, started by its kernel."""
    return options.nic.model == "virtio" and places.boot is not None


def paravirtual_nic(options: VmOptions) -> str:
    """Give the hypervisor's own model of a NIC that is made for guests."""
    return "netfront" if options.hypervisor == "xen" else "virtio"


def _console(devices: ET.Element, options: VmOptions, places: Places) -> None:
    """Write the console to a file; a PVH guest has no serial port."""
    bare = options.hypervisor == "xen" and paravirtual(options, places)
    port = ET.SubElement(devices, "console" if bare else "serial", type="file")
    ET.SubElement(port, "source", path=places.console, append="off")
    target = ET.SubElement(port, "target", port="0")
    if bare:
        target.set("type", "xen")


def _disk(devices: ET.Element, options: VmOptions, places: Places) -> None:
    chosen = options.disk
    disk = ET.SubElement(devices, "disk", type="file", device="disk")
    driver = ET.SubElement(disk, "driver", name="qemu", type=places.disk_format)
    if chosen.cache != "default":
        driver.set("cache", chosen.cache)
    if chosen.io != "default":
        driver.set("io", chosen.io)
    if chosen.discard:
        driver.set("discard", "unmap")
    if chosen.iothread and chosen.bus == "virtio":
        driver.set("iothread", "1")
    ET.SubElement(disk, "source", file=places.disk)
    if options.hypervisor == "xen":
        ET.SubElement(disk, "target", dev="xvda", bus="xen")
        return
    target = {"virtio": "vda", "ide": "hda"}.get(chosen.bus, "sda")
    ET.SubElement(disk, "target", dev=target, bus=chosen.bus)


def _seed(devices: ET.Element, path: str, options: VmOptions) -> None:
    """Add the medium for cloud-init, as a disk: kernels for clouds have no driver for a drive."""
    disk = ET.SubElement(devices, "disk", type="file", device="disk")
    ET.SubElement(disk, "driver", name="qemu", type="raw")
    ET.SubElement(disk, "source", file=path)
    bus = {"dev": "xvdz", "bus": "xen"} if options.hypervisor == "xen" else {}
    ET.SubElement(disk, "target", bus or {"dev": "vdz", "bus": "virtio"})
    ET.SubElement(disk, "readonly")


def share_tag(number: int) -> str:
    """Give the name under which a guest mounts a share of a virtual device."""
    return f"share{number}"


def _filesystem(devices: ET.Element, share: Share, number: int) -> None:
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
    own = paravirtual_nic(options) if nic.model == "virtio" else nic.model
    ET.SubElement(interface, "model", type=own)
    if nic.model != "virtio" or options.hypervisor == "xen":
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
    if options.nic.model != "virtio":
        return False
    if options.nic.vhost is None:
        return places.accelerator == "kvm"
    return options.nic.vhost


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
    ET.SubElement(
        source,
        "address",
        {
            **attributes,
            "domain": f"0x{domain:04x}",
            "bus": f"0x{bus:02x}",
            "slot": f"0x{slot:02x}",
            "function": f"0x{function:x}",
        },
    )
