"""What this host must have for a platform's options, looked at before anything starts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from bareline.host.load import memory_bytes
from bareline.platforms.layers.filesystem.nfs import PROGRAM
from bareline.platforms.vm.domain import host_cpus_needed
from bareline.platforms.vm.options import VmOptions
from bareline.platforms.vm.options.hardware import Image, parse_cpu_set
from bareline.platforms.vm.options.nic import Nic
from bareline.vocabulary.errors import PlatformError

_XEN = Path("/proc/xen/capabilities")
_LIBXL = tuple(
    Path(folder, "libvirt/connection-driver/libvirt_driver_libxl.so")
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
)
_PCI = Path("/sys/bus/pci/devices")
_NETWORK = Path("/sys/class/net")
_VIRTIOFSD = ("/usr/libexec/virtiofsd", "/usr/lib/qemu/virtiofsd", "/usr/lib/virtiofsd")
#: What the host itself keeps of its memory.
_HOST_RESERVE_BYTES = 512 << 20


def check_host(options: VmOptions, vcpus: int) -> None:
    """See that the host has what the options name."""
    if options.hypervisor == "xen":
        _refuse_xen()
    _check_processors(options, vcpus)
    _check_memory(options)
    _check_image(options)
    _check_shares(options)
    _check_nic(options)


def _refuse_xen() -> None:
    """Say what is missing for guests of Xen; at last that bareline does not start them.

    Xen's guests are no processes of ours: that none remains after a kill was never seen.
    """
    where = 'hypervisor = "xen"'
    try:
        control = "control_d" in _XEN.read_text(encoding="ascii")
    except OSError:
        control = False
    if not control:
        raise PlatformError(
            "this host does not run under Xen as its control domain",
            where=where,
            hint="install xen-system-amd64 and libvirt-daemon-driver-xen, and boot Xen's entry",
        )
    if not any(path.exists() for path in _LIBXL):
        raise PlatformError(
            "libvirt has no driver for Xen (libxl)",
            where=where,
            hint="run `apt-get install libvirt-daemon-driver-xen`",
        )
    raise PlatformError(
        "bareline makes definitions for Xen, and does not start its guests",
        where=where,
        hint="start them from `bareline platforms show NAME --xml`, and measure them as a platform "
        "of type ssh",
    )


def _check_processors(options: VmOptions, vcpus: int) -> None:
    allowed = os.sched_getaffinity(0)
    for cpu in host_cpus_needed(options):
        if cpu not in allowed:
            raise PlatformError(
                f"this process may not use processor {cpu}",
                where="cpu",
                hint=f"use some of {', '.join(map(str, sorted(allowed)))}",
            )
    if options.cpu.pin == "spread" and vcpus * options.guest_total > len(allowed):
        raise PlatformError(
            f"{vcpus * options.guest_total} virtual processors cannot have a core each, the host "
            f"has {len(allowed)}",
            where="cpu.pin",
            hint='use fewer guests, a smaller cpu.count, or pin = "none"',
        )
    if options.acceleration == "kvm" and not Path("/dev/kvm").exists():
        raise PlatformError(
            "/dev/kvm does not exist",
            where='acceleration = "kvm"',
            hint="load kvm_intel or kvm_amd, or enable virtualization in the firmware",
        )


def _check_memory(options: VmOptions) -> None:
    memory = options.memory
    wanted = memory.size_bytes * options.guest_total
    have = memory_bytes()
    if wanted > have - _HOST_RESERVE_BYTES:
        raise PlatformError(
            f"{options.guest_total} guests want {wanted >> 20} MiB, the host has {have >> 20} MiB",
            where="memory.size_bytes",
            hint="use fewer or smaller guests",
        )
    if memory.huge_pages:
        size_kib = memory.huge_page_bytes >> 10
        free = _number(Path(f"/sys/kernel/mm/hugepages/hugepages-{size_kib}kB/free_hugepages"))
        needed = wanted // memory.huge_page_bytes
        if free < needed:
            raise PlatformError(
                f"{needed} free huge pages of {memory.huge_pages} are needed, there are {free}",
                where="memory.huge_pages",
                hint=f"reserve them: /sys/kernel/mm/hugepages/hugepages-{size_kib}kB/nr_hugepages",
            )
        if not any(" hugetlbfs " in line for line in _mounts()):
            raise PlatformError(
                "no file system of huge pages is mounted",
                where="memory.huge_pages",
                hint="run `mount -t hugetlbfs hugetlbfs /dev/hugepages`",
            )
    for node in parse_cpu_set(memory.numa_nodes) if memory.numa_nodes else ():
        if not Path(f"/sys/devices/system/node/node{node}").exists():
            raise PlatformError(
                f"the host has no NUMA node {node}",
                where="memory.numa_nodes",
                hint="see `numactl --hardware`",
            )


def _check_image(options: VmOptions) -> None:
    if not isinstance(options.image, Image):
        return
    for name in ("path", "kernel", "initrd"):
        path = getattr(options.image, name)
        if path and not Path(path).expanduser().is_file():
            raise PlatformError(
                f"there is no file '{path}'", where=f"image.{name}", hint="give its full path"
            )


def _check_shares(options: VmOptions) -> None:
    for share in options.shares:
        if not Path(share.source).is_dir():
            raise PlatformError(f"there is no folder '{share.source}'", where="shares.source")
        if share.kind == "virtiofs" and not any(Path(path).exists() for path in _VIRTIOFSD):
            raise PlatformError(
                "virtiofsd is not installed",
                where="shares.kind",
                hint='install virtiofsd, or use kind = "9p"',
            )
        if share.kind == "nfs" and shutil.which(PROGRAM) is None:
            raise PlatformError(
                "no NFS server that runs in a network of its own is installed",
                where="shares.kind",
                hint='install it with `apt-get install nfs-ganesha-vfs`, or use kind = "9p"',
            )


def _check_nic(options: VmOptions) -> None:
    nic = options.nic
    if nic.vhost and not Path("/dev/vhost-net").exists():
        raise PlatformError(
            "/dev/vhost-net does not exist", where="nic.vhost", hint="run `modprobe vhost_net`"
        )
    if nic.device:
        _check_device(nic, options.guest_total)
    for address in nic.addresses:
        folder = _PCI / address
        if not folder.exists():
            raise PlatformError(
                f"the host has no device {address}",
                where="nic.addresses",
                hint="see `lspci -D`",
            )
        if nic.attach == "vf" and not (folder / "physfn").exists():
            raise PlatformError(
                f"{address} is no virtual function",
                where="nic.addresses",
                hint="make some: `echo 2 > /sys/class/net/DEVICE/device/sriov_numvfs`",
            )
    if nic.passed_through and not any(Path("/sys/class/iommu").glob("*")):
        raise PlatformError(
            "the host has no IOMMU, without which hardware cannot be passed to a guest",
            where="nic.attach",
            hint="enable it in the firmware and boot with intel_iommu=on or amd_iommu=on",
        )


def _check_device(nic: Nic, guests: int) -> None:
    folder = _NETWORK / physical_function(nic.device or "")
    if not folder.exists():
        raise PlatformError(
            f"the host has no network interface '{nic.device}'",
            where="nic.device",
            hint="see `ip link`",
        )
    mtu = _number(folder / "mtu")
    if nic.mtu > mtu:
        raise PlatformError(
            f"an MTU of {nic.mtu} is beyond the {mtu} that {nic.device} is set to",
            where="nic.mtu",
            hint=f"run `ip link set {nic.device} mtu {nic.mtu}`, on the switch too",
        )
    if nic.attach == "vf":
        functions = _number(folder / "device" / "sriov_numvfs")
        if functions < guests:
            raise PlatformError(
                f"{nic.device} has {functions} virtual functions, {guests} guests need one each",
                where="nic.device",
                hint=f"run `echo {guests} > /sys/class/net/{nic.device}/device/sriov_numvfs`",
            )


def physical_function(device: str) -> str:
    """Give the named adapter, or for ``auto`` the first one that has virtual functions."""
    if device != "auto":
        return device
    for folder in sorted(_NETWORK.iterdir()):
        if _number(folder / "device" / "sriov_numvfs"):
            return folder.name
    raise PlatformError(
        "no adapter of this host has SR-IOV virtual functions",
        where="nic.device",
        hint="make some: `echo 2 > /sys/class/net/DEVICE/device/sriov_numvfs`",
    )


def _number(path: Path) -> int:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0


def _mounts() -> list[str]:
    return Path("/proc/mounts").read_text(encoding="utf-8").splitlines()
