"""Options of a guest's hardware beside the network: processor, memory, clock, disk."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

#: Digits of the highest number of a processor: Linux knows 8192 at most.
_DIGITS = 4
_CPU_SET = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")

#: Processor models that are chosen by libvirt instead of named.
CPU_MODES = ("auto", "host-passthrough", "host-model", "maximum")


def _size_bytes(given: object) -> object:
    """Read ``"512MiB"`` as bytes; numbers stay what they are."""
    if not isinstance(given, str):
        return given
    from bareline.vocabulary.errors import BarelineError
    from bareline.vocabulary.units import parse_size

    try:
        return parse_size(given)
    except BarelineError as error:
        raise ValueError(str(error)) from error
    except OverflowError as error:
        raise ValueError("the size is beyond any memory") from error


def parse_cpu_set(text: str) -> tuple[int, ...]:
    """Read a list of processors like ``0-3,8``, or raise ValueError: the text is no such list."""
    if not _CPU_SET.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is no list of processors; write it like 0-3,8")
    cpus: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        # Before any range is made: one of billions would take all memory.
        if len(first) > _DIGITS or len(last) > _DIGITS:
            raise ValueError(f"{text[:40]!r} names a processor above {10**_DIGITS - 1}")
        cpus.update(range(int(first), int(last or first) + 1))
    if not cpus:
        raise ValueError(f"{text[:40]!r} holds no processor")
    return tuple(sorted(cpus))


def _checked_cpu_set(text: str) -> str:
    parse_cpu_set(text)
    return text


CpuSet = Annotated[str, AfterValidator(_checked_cpu_set)]
SizeBytes = Annotated[int, BeforeValidator(_size_bytes)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Cpu(_Part):
    """The guest's processor.

    - `count`: virtual processors of each guest; by default the host's cores shared out evenly.
    - `model`: ``auto`` (host passthrough, or everything that QEMU can emulate),
      ``host-passthrough``, ``host-model``, ``maximum``, or a named model such as ``Nehalem``.
    - `sockets`, `threads`: topology; cores follow from `count`. ``threads = 2`` shows the guest
      SMT.
    - `pin`: processors of the host for each virtual processor, guest after guest; ``"spread"``
      gives each one a core of its own, ``"none"`` leaves them to the host's scheduler.
    - `emulator_pin`: processors of the host for QEMU's own threads.
    """

    count: Annotated[int, Field(ge=1, le=512)] | None = None
    model: str = "auto"
    sockets: Annotated[int, Field(ge=1, le=64)] = 1
    threads: Annotated[int, Field(ge=1, le=8)] = 1
    pin: Literal["none", "spread"] | tuple[CpuSet, ...] = "none"
    emulator_pin: CpuSet | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Cpu:
        if not _MODEL.fullmatch(self.model):
            raise ValueError(f"{self.model!r} is no processor model; see `virsh cpu-models x86_64`")
        per_core = self.sockets * self.threads
        if self.count is None and per_core > 1:
            raise ValueError("a topology of `sockets` and `threads` needs the `count`")
        if self.count is not None and self.count % per_core:
            raise ValueError(
                f"{self.count} virtual processors cannot be laid over {self.sockets} sockets of "
                f"{self.threads} threads per core"
            )
        return self

    @property
    def mode(self) -> str:
        """How libvirt shall choose: one of `CPU_MODES`, or ``custom`` for a named model."""
        return self.model if self.model in CPU_MODES else "custom"


class Memory(_Part):
    """The guest's memory.

    - `size_bytes`: of each guest; a number or a text like ``"1GiB"``.
    - `huge_pages`: size of the host's huge pages that back it; none by default.
    - `numa_nodes`: NUMA nodes of the host that it is taken from.
    - `numa_mode`: how strictly.
    - `guest_numa_nodes`: NUMA nodes that the guest sees, its memory and processors shared out
      evenly.
    """

    size_bytes: Annotated[SizeBytes, Field(ge=128 << 20, le=1 << 50)] = 1 << 30
    huge_pages: Literal["2MiB", "1GiB"] | None = None
    numa_nodes: CpuSet | None = None
    numa_mode: Literal["strict", "preferred", "interleave"] = "strict"
    guest_numa_nodes: Annotated[int, Field(ge=1, le=64)] = 1

    @model_validator(mode="after")
    def _fits_together(self) -> Memory:
        if self.size_bytes % (1 << 20):
            raise ValueError("a guest's memory is a whole number of MiB")
        if self.huge_pages and self.size_bytes % self.huge_page_bytes:
            raise ValueError(f"the memory is not a whole number of {self.huge_pages} pages")
        return self

    @property
    def huge_page_bytes(self) -> int:
        """Size of a huge page, 0 without."""
        return {"2MiB": 2 << 20, "1GiB": 1 << 30}.get(self.huge_pages or "", 0)


class Clock(_Part):
    """Where the guest takes its time from.

    - `source`: clock source of the guest's kernel; ``auto`` leaves it the choice.
    - `tsc`: how the time stamp counter is offered: untouched or emulated.
    - `hpet`: whether there is a high-precision event timer to fall back to.
    """

    source: Literal["auto", "tsc", "kvm-clock", "hpet", "acpi_pm"] = "auto"
    tsc: Literal["auto", "native", "emulate"] = "auto"
    hpet: bool = True

    @model_validator(mode="after")
    def _fits_together(self) -> Clock:
        if self.source == "hpet" and not self.hpet:
            raise ValueError('source = "hpet" with hpet = false leaves the guest without a clock')
        return self


class Disk(_Part):
    """The guest's disk, a copy-on-write layer over the image.

    - `bus`: how the guest sees it.
    - `cache`: what the host caches: ``none`` goes around the host's page cache.
    - `io`: how QEMU reads and writes; ``native`` needs ``cache = "none"`` or ``"directsync"``.
    - `iothread`: a thread of its own serves the disk (virtio and scsi).
    - `discard`: whether freed blocks are given back to the host.
    """

    bus: Literal["virtio", "scsi", "sata", "ide"] = "virtio"
    cache: Literal["default", "none", "writeback", "writethrough", "directsync", "unsafe"] = (
        "default"
    )
    io: Literal["default", "native", "threads", "io_uring"] = "default"
    iothread: bool = False
    discard: bool = False

    @model_validator(mode="after")
    def _fits_together(self) -> Disk:
        if self.io == "native" and self.cache not in ("none", "directsync"):
            raise ValueError('io = "native" needs cache = "none" or "directsync"')
        if self.iothread and self.bus not in ("virtio", "scsi"):
            raise ValueError(f"a {self.bus} disk has no I/O thread; use bus virtio or scsi")
        return self


class Share(_Part):
    """A folder of the host that the guests see.

    - `source`: folder of the host, absolute.
    - `target`: where the guests mount it, absolute.
    - `kind`: ``9p`` and ``virtiofs`` share it through a virtual device, ``nfs`` exports it over the
      virtual network.
    - `read_only`: whether guests may only read.
    - `cache`: what ``virtiofs`` lets guests keep; QEMU's program decides by default.
    - `options`: options of the mount in guests in place of bareline's.
    """

    source: str
    target: str
    kind: Literal["9p", "virtiofs", "nfs"] = "9p"
    read_only: bool = False
    cache: Literal["default", "none", "always"] = "default"
    options: Annotated[str, Field(pattern=r"^[A-Za-z0-9_=.,:/+-]*$")] = ""

    @model_validator(mode="after")
    def _fits_together(self) -> Share:
        if self.cache != "default" and self.kind != "virtiofs":
            raise ValueError(f"cache = {self.cache!r} is of virtiofs, not of {self.kind}")
        for name in ("source", "target"):
            path = getattr(self, name)
            if not path.startswith("/") or ".." in path.split("/") or len(path) < 2:
                raise ValueError(f"{name} = {path!r} is no absolute path")
            if any(character.isspace() or character in ",'\"\\" for character in path):
                raise ValueError(f"{name} = {path!r} holds a space, comma or quote")
        return self


class Image(_Part):
    """A guest image of the user's own.

    - `path`: a cloud image (qcow2 or raw) that cloud-init sets up.
    - `format`: its format; found by looking when not given.
    - `kernel`, `initrd`, `kernel_args`: boot this kernel directly instead of the image's boot
      loader.
    """

    path: str
    format: Literal["qcow2", "raw"] | None = None
    kernel: str | None = None
    initrd: str | None = None
    kernel_args: str = ""

    @model_validator(mode="after")
    def _fits_together(self) -> Image:
        if self.kernel is None and (self.initrd or self.kernel_args):
            raise ValueError("`initrd` and `kernel_args` need `kernel`")
        return self
