"""Options of the platform type ``vm``, checked as a whole before anything starts.

References
----------
ESnet, fasterdata.es.net, "Linux Tuning": buffers for paths of 10 Gb/s.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from bareline.platforms.hosts.layers.filesystem.options import Gluster, Guests, Nfs
from bareline.platforms.hosts.layers.neighbours import Neighbours
from bareline.platforms.made.vm.hardware import Cpu, Disk, GuestClock, Image, Memory, SharedFolder
from bareline.platforms.made.vm.nic import Nic
from bareline.platforms.made.vm.option_rules import GuestPart, OptionRule, Ruled
from bareline.vocabulary.platform import PinningOptions

#: The path of a kernel, or a package, perhaps of another release.
_KERNEL = r"^(/.+|linux-image-[a-z0-9.+~-]+(/[a-z]+)?)$"
#: The last part of an address is the number of a guest, and must differ from the host's.
MAX_GUESTS = 200


def _not_xen(value: object) -> object:
    if value == "xen":
        raise ValueError('type = "xen" needs the package bareline-contrib, which is not installed')
    return value


_MIB = 1 << 20
#: Settings of each profile. ``lan`` keeps the kernel's buffers and only lengthens the backlog.
PROFILES: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "10g": {
        "net.core.rmem_max": str(64 * _MIB),
        "net.core.wmem_max": str(64 * _MIB),
        "net.ipv4.tcp_rmem": f"4096 87380 {32 * _MIB}",
        "net.ipv4.tcp_wmem": f"4096 65536 {32 * _MIB}",
        "net.core.netdev_max_backlog": "30000",
        "net.ipv4.tcp_mtu_probing": "1",
        "net.ipv4.tcp_no_metrics_save": "1",
    },
    "lan": {"net.core.netdev_max_backlog": "30000", "net.ipv4.tcp_no_metrics_save": "1"},
}


def _checked_settings(settings: Mapping[str, str]) -> Mapping[str, str]:
    for key, value in settings.items():
        if not re.fullmatch(r"net(\.[a-z0-9_]+)+", key):
            raise ValueError(f"'{key}' is not a network setting like net.core.rmem_max")
        if not re.fullmatch(r"[A-Za-z0-9_ -]+", value):
            raise ValueError(f"{value!r} is not a valid value for the setting {key}")
    return settings


class Tuning(GuestPart):
    """TCP settings of the host or of the guests.

    - `profile`: a set of settings; ``default`` changes nothing.
    - `congestion`: congestion control, e.g. ``cubic``, ``bbr``.
    - `sysctl`: additional settings, by name, e.g. ``{"net.core.busy_poll" = "50"}``.
    """

    profile: Literal["default", "10g", "lan"] = "default"
    congestion: Literal["cubic", "reno", "bbr", "dctcp", "htcp"] | None = None
    sysctl: Annotated[dict[str, str], AfterValidator(_checked_settings)] = Field(default={})

    def settings(self) -> dict[str, str]:
        """Return every changed setting, in the order in which they are applied."""
        chosen = dict(PROFILES[self.profile])
        if self.congestion:
            chosen["net.ipv4.tcp_congestion_control"] = self.congestion
        return chosen | self.sysctl


class VmOptions(PinningOptions, Ruled):
    """Options of a platform of virtual machines.

    - `guests`: number of guests, which are the nodes of the platform; every neighbour has the same
      number of guests.
    - `image`: ``auto`` (a minimal image built from the host's own package sources), or a cloud
      image as in `Image`.
    - `release`: release of the host's distribution in the built image, such as ``trixie``; by
      default the host's own release.
    - `kernel`: kernel of the built image's guests: a package (``linux-image-6.12-amd64``), a
      package of another release (``linux-image-amd64/bullseye``), or the path of a kernel; by
      default the image's kernel.
    - `modules`: folder of the modules (``.../lib/modules/VERSION``) of a kernel that is given as a
      path.
    - `packages`: packages of the host's distribution that the built image also contains, for
      programs to run.
    - `mpi`: MPI library: ``auto``, ``openmpi``, ``mpich``, or the path of a launcher.
    - `acceleration`: ``auto`` uses hardware virtualization if a test guest boots with it, and else
      emulation; ``kvm`` always uses hardware virtualization; ``tcg`` emulates processors.
    - `hypervisor`: name of libvirt's driver.
    - `machine`: model of QEMU's board.
    - `nic`, `cpu`, `memory`, `clock`, `disk`: hardware of the guests; see `Nic`, `Cpu`, `Memory`,
      `GuestClock` and `Disk`.
    - `neighbours`: other tenants with guests of the same hardware on this host; see `Neighbours`.
    - `shares`: folders of the host that the guests mount.
    - `host_tuning`: TCP settings of the host.
    - `guest_tuning`: TCP settings of the guests.
    - `kernel_args`: words that are added to the guest kernel's command line.
    - `attempts`: limit for the number of starts of a guest that does not come up as defined.
    - `boot_timeout_s`: time limit in s until a guest reports that it is up.
    - `io_folder`: folder of the guests in which trials make their working directories, so that I/O
      probes measure the file system of the folder. It may be in a shared folder.
    - `filesystem`: a file system on which trials work, and which the guests mount for this purpose.
      Its data is stored in the guests' `io_folder`, or on the host.
    - `saved_state`: whether guests start from a saved state. The first start of a configuration
      saves this state.
    """

    guests: Annotated[int, Field(ge=1, le=MAX_GUESTS)] = 2
    image: Literal["auto"] | Image = "auto"
    release: Annotated[str, Field(pattern=r"^[a-z]+$")] | None = None
    kernel: Annotated[str, Field(pattern=_KERNEL)] | None = None
    modules: Annotated[str, Field(pattern=r"^/")] | None = None
    packages: tuple[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]+$")], ...] = ()
    mpi: str = "auto"
    acceleration: Literal["auto", "kvm", "tcg"] = "auto"
    hypervisor: Annotated[Literal["qemu"], BeforeValidator(_not_xen)] = "qemu"
    machine: Literal["q35", "pc"] = "q35"
    nic: Nic = Nic()
    cpu: Cpu = Cpu()
    memory: Memory = Memory()
    clock: GuestClock = GuestClock()
    disk: Disk = Disk()
    neighbours: Neighbours | None = None
    shares: tuple[SharedFolder, ...] = ()
    host_tuning: Tuning = Tuning()
    guest_tuning: Tuning = Tuning()
    kernel_args: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.,=: /-]*$")] = ""
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    boot_timeout_s: Annotated[float, Field(gt=0, le=1800)] = 180.0
    saved_state: bool = False
    io_folder: Annotated[str, Field(pattern=r"^(/[A-Za-z0-9_.-]+)+$")] = "/var/tmp/bareline"
    filesystem: Guests | None = None

    @property
    def node_count(self) -> int:
        return self.guests

    @property
    def cores_per_node(self) -> int:
        """Processors of each guest: the option's value, or the host's cores divided by the nodes.

        Neighbours do not change the default.
        """
        if self.cpu.count is not None:
            return self.cpu.count
        return max(1, len(os.sched_getaffinity(0)) // self.guests)

    @property
    def guest_total(self) -> int:
        """Number of guests on the host, including the neighbours' guests and the file server."""
        return self.guests * self.tenants + self.file_servers

    @property
    def file_servers(self) -> int:
        """Number of guests that only serve files: 1 or 0."""
        return int(isinstance(self.filesystem, Nfs) and self.filesystem.server == "own")

    @property
    def tenants(self) -> int:
        """Number of tenants on the host, including the measured tenant."""
        if self.neighbours is None:
            return 1
        return 1 + self.neighbours.count

    @property
    def image_packages(self) -> tuple[str, ...]:
        """Additional packages of the built image: the user's, and those that other options need."""
        loads = self.neighbours.programs if self.neighbours else ()
        gluster = ("glusterfs-server", "glusterfs-client")
        served = gluster if isinstance(self.filesystem, Gluster) else ()
        return (*self.packages, *loads, *served)

    def _rules(self) -> Iterator[OptionRule]:
        total = self.guest_total
        yield OptionRule(
            total > MAX_GUESTS, f"{total} guests on one host are more than {MAX_GUESTS}"
        )
        addresses = len(self.nic.addresses)
        yield OptionRule(
            0 < addresses < total,
            f"{total} guests need {total} PCI addresses, but nic.addresses has {addresses}",
        )
        targets = [share.target for share in self.shares]
        yield OptionRule(len(set(targets)) != len(targets), "two shares have the same target")
        yield from self._pin_rules()
        if self.acceleration == "tcg":
            yield from self._emulation_rules()
        if self.memory.guest_numa_nodes > 1:
            yield from self._numa_rules()
        yield OptionRule(
            self.disk.bus == "ide" and self.machine == "q35",
            'the q35 board has no IDE; use disk.bus = "sata" or machine = "pc"',
        )
        if self.saved_state:
            yield OptionRule(self.image != "auto", '`saved_state` needs image = "auto"')
            yield OptionRule(
                self.nic.outside or self.shares or self.filesystem,
                "the state of a guest with shares, a mounted file system or an adapter of the"
                " host cannot be saved; remove `saved_state`",
            )
        yield from self._image_rules()
        yield OptionRule(
            self.neighbours and self.neighbours.cores,
            "remove `cores` from the neighbours: these neighbours are guests, and cpu.pin sets "
            "their cores",
        )

    def _pin_rules(self) -> Iterator[OptionRule]:
        """Yield the rules that a list in `cpu.pin` must satisfy."""
        cpu = self.cpu
        if not isinstance(cpu.pin, tuple):
            return
        yield OptionRule(
            cpu.count is None, "a list as cpu.pin needs the number of processors in cpu.count"
        )
        entries = len(cpu.pin)
        vcpus = self.guest_total * (cpu.count or 0)
        yield OptionRule(
            entries != vcpus,
            f"cpu.pin has {entries} entries, but the guests have {vcpus} virtual processors"
            " in total",
        )

    def _emulation_rules(self) -> Iterator[OptionRule]:
        """Yield the rules for the options of guests whose processors are emulated."""
        yield OptionRule(
            self.cpu.model == "host-passthrough",
            'an emulated processor cannot be passed through; use cpu.model = "maximum"',
        )
        yield OptionRule(
            self.clock.source == ("kvm-clock"),
            "a guest with emulated processors has no kvm-clock; choose another clock.source",
        )
        yield OptionRule(
            self.nic.vhost,
            "nic.vhost needs hardware virtualization, but the guest's processors are emulated",
        )
        yield OptionRule(
            self.nic.passed_through,
            "an adapter can only be passed to a guest with hardware virtualization, but the"
            " guest's processors are emulated",
        )

    def _numa_rules(self) -> Iterator[OptionRule]:
        """Yield the rules for the options of guests that have several NUMA nodes."""
        nodes = self.memory.guest_numa_nodes
        yield OptionRule(
            self.cpu.count is None or self.cpu.count % nodes,
            f"cpu.count must be a multiple of the {nodes} guest NUMA nodes",
        )
        memory_mib = self.memory.size_bytes >> 20
        yield OptionRule(
            memory_mib % nodes,
            f"the guest's memory in MiB must be a multiple of the {nodes} guest NUMA nodes",
        )

    def _image_rules(self) -> Iterator[OptionRule]:
        """Yield the rules for the options of the guests' image and of their kernel."""
        if self.image != "auto":
            start = 'this key needs image = "auto"; an image of your own'
            yield OptionRule(self.packages, f"packages: {start} already contains its packages")
            yield OptionRule(self.release, f"release: {start} already has a release")
            yield OptionRule(self.kernel, f"kernel: {start} takes its kernel from image.kernel")
        kernel = self.kernel or ""
        yield OptionRule(
            self.modules and not kernel.startswith("/"),
            "`modules` can be given only if `kernel` is a path",
        )
        yield OptionRule(
            kernel and (self.nic.passed_through or self.nic.soft_roce),
            "`kernel` cannot be used with this adapter: the guest's disk contains no modules"
            " of another kernel",
        )
