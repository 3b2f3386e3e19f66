"""Options of a guest's hardware: processor, memory, clock, disk and image."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from bareline.platforms.made.vm.option_rules import GuestPart, OptionRule

#: Digits of the highest number of a processor: Linux knows 8192 at most.
_DIGITS = 4


def _size_bytes(given: object) -> object:
    """Return a size such as ``"512MiB"`` in bytes; other values stay unchanged."""
    if not isinstance(given, str):
        return given
    from bareline.vocabulary.errors import BarelineError
    from bareline.vocabulary.units import parse_size

    try:
        return parse_size(given)
    except BarelineError as error:
        raise ValueError(str(error)) from error
    except OverflowError as error:
        raise ValueError("the size is larger than any memory") from error


def parse_cpu_set(text: str) -> tuple[int, ...]:
    """Return the processors of a list such as ``0-3,8``.

    Raises ValueError: the text is not a list of processors.
    """
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        raise ValueError(f"{text[:40]!r} is not a processor list; write it like 0-3,8")
    cpus: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        # Before any range is made: one of billions would take all memory.
        if len(first) > _DIGITS or len(last) > _DIGITS:
            raise ValueError(f"{text[:40]!r} names a processor above {10**_DIGITS - 1}")
        cpus.update(range(int(first), int(last or first) + 1))
    if not cpus:
        raise ValueError(f"{text[:40]!r} contains no processor; write a list like 0-3,8")
    return tuple(sorted(cpus))


def _checked_cpu_set(text: str) -> str:
    parse_cpu_set(text)
    return text


CpuSet = Annotated[str, AfterValidator(_checked_cpu_set)]
SizeBytes = Annotated[int, BeforeValidator(_size_bytes)]


class Cpu(GuestPart):
    """The guest's processor.

    - `count`: virtual processors of each guest; by default the host's cores divided evenly.
    - `model`: ``auto`` (host passthrough, or everything that QEMU can emulate),
      ``host-passthrough``, ``host-model``, ``maximum``, or a named model such as ``Nehalem``.
    - `sockets`: number of sockets.
    - `threads`: threads of each core; with 2, the guest sees SMT. The number of cores follows from
      `count`.
    - `pin`: ``"spread"`` (each virtual processor has its own core), ``"none"`` (the host's
      scheduler chooses), or a list: the host's processors for each virtual processor of the first
      guest, then of the next guest, and so on.
    - `emulator_pin`: processors of the host for QEMU's own threads.
    """

    count: Annotated[int, Field(ge=1, le=512)] | None = None
    model: str = "auto"
    sockets: Annotated[int, Field(ge=1, le=64)] = 1
    threads: Annotated[int, Field(ge=1, le=8)] = 1
    pin: Literal["none", "spread"] | tuple[CpuSet, ...] = "none"
    emulator_pin: CpuSet | None = None

    def _rules(self) -> Iterator[OptionRule]:
        yield OptionRule(
            not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+-]*", self.model),
            f"{self.model!r} is not a processor model; see `virsh cpu-models x86_64`",
        )
        per_core = self.sockets * self.threads
        yield OptionRule(
            self.count is None and per_core > 1,
            "`sockets` and `threads` need the number of virtual processors in `count`",
        )
        yield OptionRule(
            (self.count or 0) % per_core,
            f"{self.count} virtual processors cannot be divided evenly among "
            f"{self.sockets} sockets with {self.threads} threads per core",
        )

    @property
    def mode(self) -> str:
        """The processor's attribute ``mode`` for libvirt; ``custom`` for a named model."""
        if self.model in ("auto", "host-passthrough", "host-model", "maximum"):
            return self.model
        return "custom"


class Memory(GuestPart):
    """The guest's memory.

    - `size_bytes`: memory of each guest; a number or a text like ``"1GiB"``.
    - `huge_pages`: size of the host's huge pages that contain the memory; none by default.
    - `numa_nodes`: NUMA nodes of the host from which the memory is taken.
    - `numa_mode`: how strictly memory is taken from these nodes.
    - `guest_numa_nodes`: number of NUMA nodes of the guest; its memory and processors are divided
      evenly among them.
    """

    size_bytes: Annotated[SizeBytes, Field(ge=128 << 20, le=1 << 50)] = 1 << 30
    huge_pages: Literal["2MiB", "1GiB"] | None = None
    numa_nodes: CpuSet | None = None
    numa_mode: Literal["strict", "preferred", "interleave"] = "strict"
    guest_numa_nodes: Annotated[int, Field(ge=1, le=64)] = 1

    def _rules(self) -> Iterator[OptionRule]:
        yield OptionRule(
            self.size_bytes % (1 << 20), "the memory of a guest must be a whole number of MiB"
        )
        yield OptionRule(
            self.huge_pages and self.size_bytes % self.huge_page_bytes,
            f"the memory of a guest must be a multiple of its huge pages ({self.huge_pages})",
        )

    @property
    def huge_page_bytes(self) -> int:
        """Size of a huge page in bytes, 0 if there are no huge pages."""
        return {"2MiB": 2 << 20, "1GiB": 1 << 30}.get(self.huge_pages or "", 0)


class GuestClock(GuestPart):
    """The clocks of the guest.

    - `source`: clock source of the guest's kernel; ``auto`` leaves the choice to the kernel.
    - `tsc`: the guest's time stamp counter: ``native`` (the processor's counter), ``emulate`` (an
      emulated counter), or ``auto`` (libvirt's default).
    - `hpet`: whether the guest has a high-precision event timer as a fallback.
    """

    source: Literal["auto", "tsc", "kvm-clock", "hpet", "acpi_pm"] = "auto"
    tsc: Literal["auto", "native", "emulate"] = "auto"
    hpet: bool = True

    def _rules(self) -> Iterator[OptionRule]:
        yield OptionRule(
            self.source == "hpet" and not self.hpet,
            'source = "hpet" with hpet = false leaves the guest without a clock',
        )


class Disk(GuestPart):
    """The guest's disk, a copy-on-write layer over the image.

    - `bus`: the kind of device that the guest sees.
    - `cache`: mode of the host's caching; ``none`` bypasses the host's page cache.
    - `io`: how QEMU reads and writes; ``native`` needs ``cache = "none"`` or ``"directsync"``.
    - `iothread`: whether a separate thread serves the disk (virtio and scsi).
    - `discard`: whether freed blocks are returned to the host.
    """

    bus: Literal["virtio", "scsi", "sata", "ide"] = "virtio"
    cache: Literal["default", "none", "writeback", "writethrough", "directsync", "unsafe"] = (
        "default"
    )
    io: Literal["default", "native", "threads", "io_uring"] = "default"
    iothread: bool = False
    discard: bool = False

    def _rules(self) -> Iterator[OptionRule]:
        yield OptionRule(
            self.io == "native" and self.cache not in ("none", "directsync"),
            'io = "native" needs cache = "none" or "directsync"',
        )
        yield OptionRule(
            self.iothread and self.bus not in ("virtio", "scsi"),
            f"a {self.bus} disk has no I/O thread; use bus virtio or scsi",
        )


class SharedFolder(GuestPart):
    """A folder of the host that the guests mount.

    - `source`: absolute path of the folder on the host.
    - `target`: absolute path of the folder in the guests.
    - `kind`: ``9p`` and ``virtiofs`` share the folder through a virtual device, ``nfs`` exports it
      over the virtual network.
    - `read_only`: whether guests may only read.
    - `cache`: mode of ``virtiofs``'s caching in guests; by default virtiofsd decides.
    - `options`: mount options in guests; they replace the options that bareline would use.
    """

    source: str
    target: str
    kind: Literal["9p", "virtiofs", "nfs"] = "9p"
    read_only: bool = False
    cache: Literal["default", "none", "always"] = "default"
    options: Annotated[str, Field(pattern=r"^[A-Za-z0-9_=.,:/+-]*$")] = ""

    def _rules(self) -> Iterator[OptionRule]:
        yield OptionRule(
            self.cache != "default" and self.kind != "virtiofs",
            f"cache = {self.cache!r} is an option of virtiofs, not of {self.kind}",
        )
        for name, path in (("source", self.source), ("target", self.target)):
            is_absolute = path.startswith("/") and len(path) > 1
            yield OptionRule(
                not is_absolute or ".." in path.split("/"),
                f"{name} = {path!r} is not an absolute path",
            )
            yield OptionRule(
                re.search(r"""[\s,'"\\]""", path),
                f"{name} = {path!r} contains a space, comma or quote",
            )


class Image(GuestPart):
    """A guest image that the user provides.

    - `path`: a cloud image (qcow2 or raw) that cloud-init sets up.
    - `format`: format of the image; by default, the format that the file's content shows.
    - `kernel`: a kernel that is booted directly, instead of the image's boot loader.
    - `initrd`: the initramfs of `kernel`.
    - `kernel_args`: the command line of `kernel`.
    """

    path: str
    format: Literal["qcow2", "raw"] | None = None
    kernel: str | None = None
    initrd: str | None = None
    kernel_args: str = ""

    def _rules(self) -> Iterator[OptionRule]:
        yield OptionRule(
            self.kernel is None and (self.initrd or self.kernel_args),
            "`initrd` and `kernel_args` need `kernel`",
        )
