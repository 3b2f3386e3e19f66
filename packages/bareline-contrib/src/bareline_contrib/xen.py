"""Definitions of Xen guests for libvirt's libxl, made from the definitions of QEMU guests.

The definitions are valid by libvirt's schema. No guest is started, because the module was never
tested with Xen: a Xen guest is not a process of bareline, so its end after a kill is not certain.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from pydantic import model_validator

from bareline.platforms.made.vm.domain import Places, domain_xml
from bareline.platforms.made.vm.options import VmOptions
from bareline.platforms.made.vm.platform import VmPlatform, first_guest
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.platform import PlatformSpec

_CAPABILITIES = Path("/proc/xen/capabilities")
_LIBXL = tuple(
    Path(folder, "libvirt/connection-driver/libvirt_driver_libxl.so")
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
)
#: Emulated adapters of Xen's device model; virtio stands for Xen's own paravirtual one, netfront.
_NICS = ("virtio", "e1000", "rtl8139")


class XenOptions(VmOptions):
    """Options of a platform of Xen guests: the options of `VmOptions` that do not need QEMU."""

    @model_validator(mode="after")
    def _known_to_xen(self) -> XenOptions:
        nic, cpu, memory, clock, disk = self.nic, self.cpu, self.memory, self.clock, self.disk
        qemus = {
            f'nic.model = "{nic.model}"': nic.model not in _NICS,
            f'nic.attach = "{nic.attach}"': nic.attach not in ("bridge", "vf") or bool(nic.device),
            "nic.vhost": nic.vhost is not None,
            "nic.queues": nic.queues > 1,
            "nic.offloads": not nic.offloads,
            "nic.mergeable_buffers": not nic.mergeable_buffers,
            "nic.mitigation": not nic.mitigation,
            f'cpu.model = "{cpu.model}"': cpu.model not in ("auto", "host-passthrough"),
            "cpu.emulator_pin": cpu.emulator_pin is not None,
            "memory.huge_pages": memory.huge_pages is not None,
            "memory.numa_nodes": memory.numa_nodes is not None,
            "memory.guest_numa_nodes": memory.guest_numa_nodes > 1,
            f'clock.source = "{clock.source}"': clock.source not in ("auto", "tsc"),
            f'disk.bus = "{disk.bus}"': disk.bus != "virtio",
            "disk.io": disk.io != "default",
            "disk.iothread": disk.iothread,
            "shares": any(share.kind != "nfs" for share in self.shares),
        }
        for name, asked in qemus.items():
            if asked:
                raise ValueError(f"{name} is an option of QEMU's guests, which Xen does not have")
        return self


def xen_domain(options: VmOptions, places: Places) -> str:
    """Return the definition of a guest: PVH with its kernel, or full with boot loader or model."""
    domain = ET.fromstring(domain_xml(options, places))
    domain.set("type", "xen")
    pvh = options.nic.model == "virtio" and places.boot is not None
    kind = domain.find("os/type")
    cpu, clock, devices = (domain.find(name) for name in ("cpu", "clock", "devices"))
    assert kind is not None and cpu is not None and clock is not None and devices is not None
    kind.text, machine = ("xenpvh", "xenpvh") if pvh else ("hvm", "xenfv")
    kind.set("machine", machine)
    cpu.set("mode", "host-passthrough")
    for timer in clock.findall("timer"):
        clock.remove(timer)
    if options.clock.tsc != "auto":
        ET.SubElement(clock, "timer", name="tsc", mode=options.clock.tsc)
    for tag in ("controller", "video"):
        for device in devices.findall(tag):
            devices.remove(device)
    for target in devices.findall("disk/target"):
        target.attrib = {"dev": "xvdz" if target.get("dev") == "vdz" else "xvda", "bus": "xen"}
    for interface in devices.findall("interface"):
        for driver in interface.findall("driver"):
            interface.remove(driver)
        for model in interface.findall("model[@type='virtio']"):
            model.set("type", "netfront")
    serial, balloon = devices.find("serial"), devices.find("memballoon")
    assert serial is not None and balloon is not None
    if pvh:  # which has no serial port
        serial.tag = "console"
        serial.find("target").set("type", "xen")  # type: ignore[union-attr]
    balloon.set("model", "xen")
    ET.indent(domain)
    return ET.tostring(domain, encoding="unicode") + "\n"


class XenPlatform(VmPlatform):
    """The platform type that defines Xen guests."""

    type_name = "xen"
    summary = "definitions of Xen's guests for libvirt; they are not started"
    options = XenOptions

    @classmethod
    def definition(cls, spec: PlatformSpec[VmOptions]) -> str:
        """Return the libvirt definition of the platform's first guest."""
        return xen_domain(*first_guest(spec.options, "root=/dev/xvda console=hvc0"))

    @classmethod
    def check(cls, spec: PlatformSpec[VmOptions]) -> None:
        """Raise an error about a missing requirement of Xen guests, or that none are started."""
        try:
            control = "control_d" in _CAPABILITIES.read_text(encoding="ascii")
        except OSError:
            control = False
        if not control:
            raise PlatformError(
                "this host does not run under Xen as its control domain",
                hint="install xen-system-amd64 and libvirt-daemon-driver-xen, and boot Xen's entry",
            )
        if not any(path.exists() for path in _LIBXL):
            raise PlatformError(
                "libvirt has no driver for Xen (libxl)",
                hint="run `apt-get install libvirt-daemon-driver-xen`",
            )
        raise PlatformError(
            "bareline makes definitions for Xen, and does not start its guests",
            hint=f"start them from `bareline platforms show {spec.name} --xml`, and measure them "
            "as a platform of type ssh",
        )


PLATFORM = XenPlatform
