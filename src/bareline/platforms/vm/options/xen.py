"""Which options of a guest's hardware Xen has, too.

References
----------
libvirt, "libxl hypervisor driver for Xen", libvirt.org/drvxen.html.
"""

from __future__ import annotations

from collections.abc import Sequence

from bareline.platforms.vm.options.hardware import Clock, Cpu, Disk, Memory, Share
from bareline.platforms.vm.options.nic import Nic

#: Emulated adapters of Xen's device model; virtio stands for Xen's own paravirtual one, netfront.
_NICS = ("virtio", "e1000", "rtl8139")


def beyond_xen(
    nic: Nic, cpu: Cpu, memory: Memory, clock: Clock, disk: Disk, shares: Sequence[Share]
) -> str:
    """Say which option is QEMU's alone; empty where none is."""
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
        "shares": any(share.kind != "nfs" for share in shares),
    }
    asked = next((name for name, wanted in qemus.items() if wanted), "")
    return f'{asked} is an option of hypervisor = "qemu", which Xen does not have' if asked else ""
