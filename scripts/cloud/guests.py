"""Nova's driver of a cloud whose instances are guests: QEMU, with a configuration drive.

QEMU emulates the processor, so that this works where no guest can have the machine's own. Disk and
kernel are those that bareline builds for its guests (`image.py`); Nova makes the drive.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hosts import HostDriver, Machine, own_folder
from nova.api.metadata.base import InstanceMetadata
from nova.conf import CONF
from nova.virt.configdrive import ConfigDriveBuilder
from switch import check, inside, switch


class GuestDriver(HostDriver):
    """Instances as emulated guests."""

    def _machine(self, instance: Any, network_info: Any) -> Machine:
        return Guest(own_folder(), Path(CONF.bareline_guests), instance, network_info)


class Guest(Machine):
    """A guest, on the switch of this cloud."""

    def __init__(self, folder: Path, image: Path, instance: Any, network_info: Any) -> None:
        super().__init__(folder, instance)
        disk, drive = self.folder / "disk.qcow2", self.folder / "config.iso"
        base = str((image / "disk").resolve())
        check("qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", base, str(disk))
        about = InstanceMetadata(instance, network_info=network_info)
        with ConfigDriveBuilder(instance_md=about) as builder:
            builder.make_drive(str(drive))
        there = inside(switch(folder))
        words = [
            *("qemu-system-x86_64", "-nodefaults", "-no-reboot", "-display", "none"),
            *("-machine", "q35,accel=tcg", "-cpu", "max", "-smp", str(instance.flavor.vcpus)),
            *("-m", str(instance.flavor.memory_mb), "-kernel", str((image / "kernel").resolve())),
            *("-initrd", str(image / "initramfs"), "-append", (image / "arguments").read_text()),
            *("-drive", f"file={disk},if=virtio,format=qcow2,cache=unsafe"),
            *("-drive", f"file={drive},if=virtio,format=raw,readonly=on"),
            *("-serial", f"file:{self.folder}/console"),
        ]
        for number, vif in enumerate(network_info):
            tap = f"t{vif['id'][:11]}"
            check(*there, "ip", "tuntap", "add", tap, "mode", "tap")
            check(*there, "ip", "link", "set", tap, "master", "switch", "up")
            words += [
                *("-netdev", f"tap,id=n{number},ifname={tap},script=no,downscript=no"),
                *("-device", f"virtio-net-pci,netdev=n{number},mac={vif['address']},romfile="),
            ]
        self._taps = [
            (*there, "ip", "link", "delete", f"t{vif['id'][:11]}") for vif in network_info
        ]
        self._begin([*there, *words])

    def close(self) -> None:
        """End the guest, and take its adapters off the switch."""
        super().close()
        for words in self._taps:
            check(*words)
