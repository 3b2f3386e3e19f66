"""Options of a guest's hardware: processor, memory, clock, disk, image, network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

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

    Raises ValueError: the text is not such a list.
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
        raise ValueError(f"{text[:40]!r} contains no number of a processor")
    return tuple(sorted(cpus))


def _checked_cpu_set(text: str) -> str:
    parse_cpu_set(text)
    return text


CpuSet = Annotated[str, AfterValidator(_checked_cpu_set)]
SizeBytes = Annotated[int, BeforeValidator(_size_bytes)]


class Ruled(BaseModel):
    """Options with rules that involve several of them."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for is_broken, message in self._rules():
            if is_broken:
                raise ValueError(message)
        return self

    def _rules(self) -> Iterator[tuple[object, str]]:
        """Yield for each rule whether it is broken, and its message."""
        yield from ()


class GuestPart(Ruled):
    """A part of a guest's options, with its own table in the platform file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Cpu(GuestPart):
    """The guest's processor.

    - `count`: virtual processors of each guest; by default the host's cores divided evenly.
    - `model`: ``auto`` (host passthrough, or everything that QEMU can emulate),
      ``host-passthrough``, ``host-model``, ``maximum``, or a named model such as ``Nehalem``.
    - `sockets`, `threads`: topology of the processor; the number of cores follows from `count`.
      With ``threads = 2`` the guest sees SMT.
    - `pin`: processors of the host for each virtual processor, guest after guest; ``"spread"``
      gives each virtual processor its own core, ``"none"`` leaves the choice to the host's
      scheduler.
    - `emulator_pin`: processors of the host for QEMU's own threads.
    """

    count: Annotated[int, Field(ge=1, le=512)] | None = None
    model: str = "auto"
    sockets: Annotated[int, Field(ge=1, le=64)] = 1
    threads: Annotated[int, Field(ge=1, le=8)] = 1
    pin: Literal["none", "spread"] | tuple[CpuSet, ...] = "none"
    emulator_pin: CpuSet | None = None

    def _rules(self) -> Iterator[tuple[object, str]]:
        message = f"{self.model!r} is not a processor model; see `virsh cpu-models x86_64`"
        yield not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+-]*", self.model), message
        per_core = self.sockets * self.threads
        message = "a topology of `sockets` and `threads` needs the `count`"
        yield self.count is None and per_core > 1, message
        yield (
            (self.count or 0) % per_core,
            f"{self.count} virtual processors cannot be laid over {self.sockets} sockets of "
            f"{self.threads} threads per core",
        )

    @property
    def mode(self) -> str:
        """The mode of the processor's choice in libvirt; ``custom`` for a named model."""
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

    def _rules(self) -> Iterator[tuple[object, str]]:
        yield self.size_bytes % (1 << 20), "a guest's memory is a whole number of MiB"
        message = f"the memory is not a whole number of {self.huge_pages} pages"
        yield self.huge_pages and self.size_bytes % self.huge_page_bytes, message

    @property
    def huge_page_bytes(self) -> int:
        """Size of a huge page in bytes, 0 if there are no huge pages."""
        return {"2MiB": 2 << 20, "1GiB": 1 << 30}.get(self.huge_pages or "", 0)


class GuestClock(GuestPart):
    """The clocks of the guest.

    - `source`: clock source of the guest's kernel; ``auto`` leaves the choice to the kernel.
    - `tsc`: whether the guest reads the real time stamp counter, or an emulated one.
    - `hpet`: whether the guest has a high-precision event timer as a fallback.
    """

    source: Literal["auto", "tsc", "kvm-clock", "hpet", "acpi_pm"] = "auto"
    tsc: Literal["auto", "native", "emulate"] = "auto"
    hpet: bool = True

    def _rules(self) -> Iterator[tuple[object, str]]:
        message = 'source = "hpet" with hpet = false leaves the guest without a clock'
        yield self.source == "hpet" and not self.hpet, message


class Disk(GuestPart):
    """The guest's disk, a copy-on-write layer over the image.

    - `bus`: the kind of device that the guest sees.
    - `cache`: the host's caching: ``none`` bypasses the host's page cache.
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

    def _rules(self) -> Iterator[tuple[object, str]]:
        message = 'io = "native" needs cache = "none" or "directsync"'
        yield self.io == "native" and self.cache not in ("none", "directsync"), message
        message = f"a {self.bus} disk has no I/O thread; use bus virtio or scsi"
        yield self.iothread and self.bus not in ("virtio", "scsi"), message


class SharedFolder(GuestPart):
    """A folder of the host that the guests mount.

    - `source`: absolute path of the folder on the host.
    - `target`: absolute path of the folder in the guests.
    - `kind`: ``9p`` and ``virtiofs`` share the folder through a virtual device, ``nfs`` exports it
      over the virtual network.
    - `read_only`: whether guests may only read.
    - `cache`: mode of ``virtiofs``'s caching in guests; by default virtiofsd decides.
    - `options`: mount options in guests, which replace bareline's.
    """

    source: str
    target: str
    kind: Literal["9p", "virtiofs", "nfs"] = "9p"
    read_only: bool = False
    cache: Literal["default", "none", "always"] = "default"
    options: Annotated[str, Field(pattern=r"^[A-Za-z0-9_=.,:/+-]*$")] = ""

    def _rules(self) -> Iterator[tuple[object, str]]:
        message = f"cache = {self.cache!r} is of virtiofs, not of {self.kind}"
        yield self.cache != "default" and self.kind != "virtiofs", message
        for name, path in (("source", self.source), ("target", self.target)):
            is_absolute = path.startswith("/") and len(path) > 1
            message = f"{name} = {path!r} is not an absolute path"
            yield not is_absolute or ".." in path.split("/"), message
            message = f"{name} = {path!r} contains a space, comma or quote"
            yield re.search(r"""[\s,'"\\]""", path), message


class Image(GuestPart):
    """A guest image of the user's own.

    - `path`: a cloud image (qcow2 or raw) that cloud-init sets up.
    - `format`: format of the image; by default found from the file.
    - `kernel`, `initrd`, `kernel_args`: boot this kernel directly instead of the image's boot
      loader.
    """

    path: str
    format: Literal["qcow2", "raw"] | None = None
    kernel: str | None = None
    initrd: str | None = None
    kernel_args: str = ""

    def _rules(self) -> Iterator[tuple[object, str]]:
        message = "`initrd` and `kernel_args` need `kernel`"
        yield self.kernel is None and (self.initrd or self.kernel_args), message


Model = Literal["e1000", "e1000e", "rtl8139", "virtio"]
Attachment = Literal["bridge", "macvtap", "vf", "adapter"]

#: Largest frame payload in bytes that each emulated device and its Linux driver take.
_MAX_MTU: dict[str, int] = {"e1000": 16110, "e1000e": 9216, "rtl8139": 4096, "virtio": 65521}
#: Options that no real adapter has.
_OF_VIRTUAL_DEVICES = ("mergeable_buffers", "mitigation", "model", "offloads", "queues", "vhost")
#: Options that virtio alone has, with their defaults.
_OF_VIRTIO = {"vhost": None, "queues": 1, "offloads": True, "mergeable_buffers": True}
_PCI_ADDRESS = re.compile(r"(?:([0-9a-f]{4}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])", re.IGNORECASE)


def parse_pci_address(text: str) -> tuple[int, int, int, int]:
    """Return domain, bus, slot and function of a PCI address such as ``0000:3b:02.1``.

    Raises ValueError: the text is not a PCI address.
    """
    match = _PCI_ADDRESS.fullmatch(text)
    if match is None or int(match[3], 16) > 0x1F:
        raise ValueError(
            f"{text!r} is not a PCI address; write it like 0000:3b:02.1, see `lspci -D`"
        )
    domain, bus, slot, function = (int(part, 16) for part in match.groups(default="0"))
    return domain, bus, slot, function


def _checked_pci_address(text: str) -> str:
    domain, bus, slot, function = parse_pci_address(text)
    return f"{domain:04x}:{bus:02x}:{slot:02x}.{function:x}"


def _checked_device(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,14}", text):
        raise ValueError(f"{text!r} is not the name of a network interface; see `ip link`")
    return text


PciAddress = Annotated[str, AfterValidator(_checked_pci_address)]
DeviceName = Annotated[str, AfterValidator(_checked_device)]


class Nic(GuestPart):
    """The network adapter of each guest that is measured.

    - `model`: the guest's device: a fully emulated real device (``e1000``, ``e1000e``, ``rtl8139``)
      or the paravirtual ``virtio``. Ignored for ``vf`` and ``adapter``, which are real devices.
    - `attach`: ``bridge``: a bridge private to bareline. ``macvtap``: directly to a network
      interface of the host. ``vf``: an SR-IOV virtual function. ``adapter``: a whole adapter.
    - `device`: the host's interface for ``macvtap``; for ``vf`` the physical function whose free
      virtual functions the guests get; ``auto`` is the first function that has any.
    - `addresses`: PCI addresses, one for each guest, of virtual functions or adapters.
    - `vhost`: whether the host's kernel moves virtio frames instead of QEMU; by default it does if
      the host can and the processor is not emulated.
    - `queues`: number of pairs of virtio queues.
    - `offloads`: whether the adapter does checksums and segmentation (virtio only).
    - `mergeable_buffers`: whether virtio receives a large frame into several small buffers.
    - `mitigation`: whether the ``e1000`` delays interrupts, as is QEMU's default.
    - `soft_roce`: an RDMA device in software (RoCE over the adapter, Linux' ``rdma_rxe``), for
      programs that need one; results measured with it do not apply to RDMA hardware.
    - `mtu`: frame payload in bytes on bridge, tap and guest.
    - `vlan`: VLAN that a virtual function tags its frames with.
    - `subnet`: first three parts of the guests' addresses. The subnet is private, except for
      ``macvtap``, ``vf`` and ``adapter``: for these, it must be unused on the outer network.
    """

    model: Model = "virtio"
    attach: Attachment = "bridge"
    device: DeviceName | None = None
    addresses: tuple[PciAddress, ...] = ()
    vhost: bool | None = None
    queues: Annotated[int, Field(ge=1, le=256)] = 1
    offloads: bool = True
    mergeable_buffers: bool = True
    mitigation: bool = True
    soft_roce: bool = False
    mtu: Annotated[int, Field(ge=576, le=65_535)] = 1500
    vlan: Annotated[int, Field(ge=1, le=4094)] | None = None
    subnet: str = "10.94.7"

    @property
    def passed_through(self) -> bool:
        """Whether the guest uses real hardware directly."""
        return self.attach in ("vf", "adapter")

    @property
    def needs_kvm(self) -> bool:
        """Whether the adapter only works with hardware virtualization."""
        return self.passed_through or bool(self.vhost)

    @property
    def outside(self) -> bool:
        """Whether frames leave by the host's own interfaces instead of a private bridge."""
        return self.attach != "bridge"

    @property
    def title(self) -> str:
        """Name of the adapter for people, e.g. ``e1000 without interrupt mitigation``."""
        if self.attach == "vf":
            return "SR-IOV virtual function"
        if self.attach == "adapter":
            return "adapter passed through"
        text: str = self.model
        if self.attach != "bridge":
            text += " over macvtap"
        if not self.mitigation:
            text += " without interrupt mitigation"
        if not self.offloads:
            text += " without offloads"
        return text

    def _rules(self) -> Iterator[tuple[object, str]]:
        yield from self._source_rules()
        yield from self._device_rules()
        # Adapters are known to take at most so much.
        taker: str = self.attach if self.passed_through else self.model
        limit = 9978 if self.passed_through else _MAX_MTU[self.model]
        message = f"an MTU of {self.mtu} is above the limit of {taker} ({limit} bytes)"
        yield self.mtu > limit, message
        parts = self.subnet.split(".")
        are_bytes = all(part.isdigit() and int(part) < 256 for part in parts)
        message = f"subnet is three numbers like 10.94.7, not {self.subnet!r}"
        yield len(parts) != 3 or not are_bytes, message

    def _source_rules(self) -> Iterator[tuple[object, str]]:
        """Yield the rules for the host's interfaces and adapters that the options name."""
        attach = self.attach
        addresses = self.addresses
        device = self.device
        if attach == "vf":
            yield (
                not addresses and not device,
                'attach = "vf" needs the virtual functions\' PCI addresses in `addresses`, or '
                "the physical function in `device`; see `lspci -D | grep 'Virtual Function'`",
            )
            message = "give either `addresses` or `device` for a virtual function, not both"
            yield addresses and device, message
        message = 'attach = "adapter" needs the adapters\' PCI addresses in `addresses`'
        yield attach == "adapter" and not addresses, message
        message = 'attach = "macvtap" needs the host\'s interface in `device`; see `ip link`'
        yield attach == "macvtap" and not device, message
        message = "the private bridge takes no `device` or `addresses`; set `attach` too"
        yield attach == "bridge" and (device or addresses), message
        yield device and addresses, f'attach = "{attach}" takes `device` or `addresses`, not both'
        message = "the same PCI address appears twice in `addresses`"
        yield len(set(addresses)) != len(addresses), message
        message = 'a `vlan` can only be set on a virtual function (attach = "vf")'
        yield self.vlan is not None and attach != "vf", message

    def _device_rules(self) -> Iterator[tuple[object, str]]:
        """Yield the rules for options that only some of the guest's devices have."""
        if self.passed_through:
            for name in _OF_VIRTUAL_DEVICES:
                message = f"`{name}` is an option of virtual devices, not of {self.attach}"
                yield name in self.model_fields_set, message
            return
        message = f"interrupt mitigation is an option of e1000, not of {self.model}"
        yield not self.mitigation and self.model != "e1000", message
        for name, default in _OF_VIRTIO.items():
            is_given = getattr(self, name) != default
            message = f"`{name}` is an option of virtio, not of {self.model}"
            yield is_given and self.model != "virtio", message
