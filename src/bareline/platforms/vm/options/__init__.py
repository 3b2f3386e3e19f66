"""Options of the platform type ``vm``, checked as a whole before anything starts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator

from bareline.platforms.layers.filesystem.options import Gluster, Guests, Nfs
from bareline.platforms.layers.neighbours import Neighbours
from bareline.platforms.vm.options.hardware import Clock, Cpu, Disk, Image, Memory, Share
from bareline.platforms.vm.options.nic import Nic
from bareline.platforms.vm.tuning import Tuning
from bareline.vocabulary.platform import PinningOptions

#: The path of a kernel, or a package, perhaps of another release.
_KERNEL = r"^(/.+|linux-image-[a-z0-9.+~-]+(/[a-z]+)?)$"
#: Guests are numbered into the last part of an address, beside the host's own.
MAX_GUESTS = 200


class VmOptions(PinningOptions):
    """Options of a platform of virtual machines.

    - `guests`: the nodes of the platform; every neighbour has as many.
    - `image`: ``auto`` builds a minimal guest out of the host's own package sources; otherwise a
      cloud image.
    - `release`: release of the host's distribution that the built image is of, such as ``trixie``;
      the host's own by default.
    - `kernel`: kernel of the built image's guests: a package (``linux-image-6.12-amd64``), one of
      another release (``linux-image-amd64/bullseye``), or the path of a kernel; the image's by
      default.
    - `modules`: folder of the modules (``.../lib/modules/VERSION``) of a kernel that is given as a
      path.
    - `packages`: packages of the host's distribution that the built image holds, too: programs to
      run.
    - `mpi`: MPI library: ``auto``, ``openmpi``, ``mpich``, or the path of a launcher.
    - `acceleration`: ``auto`` uses hardware virtualization where a guest has really been seen to
      boot with it, ``kvm`` insists on it, ``tcg`` emulates.
    - `hypervisor`: what libvirt drives: ``qemu``, or ``xen`` (libxl). Of the latter definitions are
      made and checked, no guests are started.
    - `machine`: QEMU's board.
    - `nic`, `cpu`, `memory`, `clock`, `disk`: the guests' hardware; see each.
    - `neighbours`: other tenants with guests of the same hardware on this host; see `Neighbours`.
    - `shares`: folders of the host that the guests see.
    - `host_tuning`, `guest_tuning`: TCP settings.
    - `kernel_args`: added to the guest kernel's command line.
    - `attempts`: how often each guest is started anew until it comes up as asked.
    - `boot_timeout_s`: how long a guest may take to its first answer.
    - `io_folder`: folder of the guests in which trials make their working directories: its file
      system is what I/O probes measure. It may lie on a share.
    - `filesystem`: a file system that the guests mount for the trials, which then work on it; what
      it lies in is in `io_folder` of the guests, or on the host.
    - `saved_state`: start guests from a saved state, made at the first start of a configuration.
    """

    guests: Annotated[int, Field(ge=1, le=MAX_GUESTS)] = 2
    image: Literal["auto"] | Image = "auto"
    release: Annotated[str, Field(pattern=r"^[a-z]+$")] | None = None
    kernel: Annotated[str, Field(pattern=_KERNEL)] | None = None
    modules: Annotated[str, Field(pattern=r"^/")] | None = None
    packages: tuple[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]+$")], ...] = ()
    mpi: str = "auto"
    acceleration: Literal["auto", "kvm", "tcg"] = "auto"
    hypervisor: Literal["qemu", "xen"] = "qemu"
    machine: Literal["q35", "pc"] = "q35"
    nic: Nic = Nic()
    cpu: Cpu = Cpu()
    memory: Memory = Memory()
    clock: Clock = Clock()
    disk: Disk = Disk()
    neighbours: Neighbours | None = None
    shares: tuple[Share, ...] = ()
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
        """Guests over which ranks can be spread."""
        return self.guests

    @property
    def cores_per_node(self) -> int:
        """Virtual processors of each guest: as asked, or the host's cores shared out.

        Neighbours do not make a guest smaller: platforms with and without them differ in nothing
        else, and the host promises more processors than it has.
        """
        if self.cpu.count is not None:
            return self.cpu.count
        return max(1, len(os.sched_getaffinity(0)) // self.guests)

    @property
    def guest_total(self) -> int:
        """Guests on the host, the neighbours' and the file server's included."""
        return self.guests * self.tenants + self.file_servers

    @property
    def file_servers(self) -> int:
        """Guests that do nothing but serve files: one, or none."""
        return int(isinstance(self.filesystem, Nfs) and self.filesystem.server == "own")

    @property
    def tenants(self) -> int:
        """Sets of guests on the host."""
        return 1 + (self.neighbours.count if self.neighbours else 0)

    @property
    def image_packages(self) -> tuple[str, ...]:
        """Packages of the built image that are the user's, or that other options need."""
        beside = self.neighbours.programs if self.neighbours else ()
        gluster = ("glusterfs-server", "glusterfs-client")
        served = gluster if isinstance(self.filesystem, Gluster) else ()
        return (*self.packages, *beside, *served)

    @model_validator(mode="after")
    def _fits_together(self) -> VmOptions:
        problems = (
            self._wrong_count(),
            self._wrong_processor(),
            self._wrong_memory(),
            self._wrong_disk(),
            self._wrong_state(),
            self._wrong_image(),
            self._wrong_neighbours(),
            self._wrong_for_xen(),
        )
        for problem in problems:
            if problem:
                raise ValueError(problem)
        return self

    def _wrong_image(self) -> str:
        built = {"packages": self.packages, "release": self.release, "kernel": self.kernel}
        asked = [name for name, value in built.items() if value]
        if asked and self.image != "auto":
            own = "give it as image.kernel" if asked == ["kernel"] else "has its own"
            return f'{asked[0]}: for image = "auto" alone; an image of your own {own}'
        if self.modules and not (self.kernel or "").startswith("/"):
            return "modules are those of a kernel that is given as a path"
        if self.kernel and (self.nic.passed_through or self.nic.soft_roce):
            return "the guest's disk has no modules of another kernel for this adapter"
        return ""

    def _wrong_for_xen(self) -> str:
        if self.hypervisor != "xen":
            return ""
        return beyond_xen(self.nic, self.cpu, self.memory, self.clock, self.disk, self.shares)

    def _wrong_neighbours(self) -> str:
        if self.neighbours and self.neighbours.cores:
            return "neighbours of guests are guests: cpu.pin says on which cores all of them run"
        return ""

    def _wrong_count(self) -> str:
        total = self.guest_total
        if total > MAX_GUESTS:
            return f"{total} guests on one host are more than {MAX_GUESTS}"
        addresses = len(self.nic.addresses)
        if addresses and addresses < total:
            return f"{total} guests need {total} PCI addresses, nic.addresses has {addresses}"
        targets = [share.target for share in self.shares]
        if len(set(targets)) != len(targets):
            return "two shares have the same target"
        return ""

    def _wrong_processor(self) -> str:
        if isinstance(self.cpu.pin, tuple):
            if self.cpu.count is None:
                return "cpu.pin as a list needs cpu.count"
            needed = self.guest_total * self.cpu.count
            if len(self.cpu.pin) != needed:
                return f"cpu.pin has {len(self.cpu.pin)} entries for {needed} virtual processors"
        if self.acceleration == "tcg" and self.cpu.model == "host-passthrough":
            return 'an emulated processor cannot be passed through; use cpu.model = "maximum"'
        if self.acceleration == "tcg" and self.clock.source == "kvm-clock":
            return "an emulated machine has no kvm-clock"
        if self.acceleration == "tcg" and self.nic.vhost:
            return "vhost needs hardware virtualization (acceleration)"
        if self.acceleration == "tcg" and self.nic.passed_through:
            return "hardware can only be passed to a guest with hardware virtualization"
        return ""

    def _wrong_memory(self) -> str:
        nodes, count = self.memory.guest_numa_nodes, self.cpu.count
        if nodes > 1 and (count is None or count % nodes):
            return f"cpu.count must be a multiple of the {nodes} guest NUMA nodes"
        if nodes > 1 and (self.memory.size_bytes >> 20) % nodes:
            return f"the memory cannot be shared out over {nodes} guest NUMA nodes"
        return ""

    def _wrong_disk(self) -> str:
        if self.disk.bus == "ide" and self.machine == "q35":
            return 'the q35 board has no IDE; use disk.bus = "sata" or machine = "pc"'
        return ""

    def _wrong_state(self) -> str:
        if not self.saved_state:
            return ""
        if self.image != "auto":
            return 'saved_state needs image = "auto"'
        if self.nic.outside or self.shares or self.filesystem:
            return "a guest with shares, mounts or a NIC of the host's cannot be saved"
        return ""


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
