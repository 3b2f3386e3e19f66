"""Options of a guest's network: the adapter, how it is attached, its frame size."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

Model = Literal["e1000", "e1000e", "rtl8139", "virtio"]
Attachment = Literal["bridge", "macvtap", "vf", "adapter"]

#: Largest frame payload in bytes that each emulated device and its Linux driver take.
MAX_MTU: dict[str, int] = {"e1000": 16110, "e1000e": 9216, "rtl8139": 4096, "virtio": 65521}
#: Largest one that adapters passed through are known to take.
MAX_HARDWARE_MTU = 9978

_PCI_ADDRESS = re.compile(r"(?:([0-9a-f]{4}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])", re.IGNORECASE)
_DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,14}")


def parse_pci_address(text: str) -> tuple[int, int, int, int]:
    """Read ``0000:3b:02.1`` as domain, bus, slot and function.

    Raises ValueError: the text is no PCI address.
    """
    match = _PCI_ADDRESS.fullmatch(text)
    if match is None or int(match[3], 16) > 0x1F:
        raise ValueError(f"{text!r} is no PCI address; write it like 0000:3b:02.1, see `lspci -D`")
    domain, bus, slot, function = match.groups(default="0")
    return int(domain, 16), int(bus, 16), int(slot, 16), int(function, 16)


def _checked_pci_address(text: str) -> str:
    domain, bus, slot, function = parse_pci_address(text)
    return f"{domain:04x}:{bus:02x}:{slot:02x}.{function:x}"


def _checked_device(text: str) -> str:
    if not _DEVICE.fullmatch(text):
        raise ValueError(f"{text!r} is no name of a network interface; see `ip link`")
    return text


PciAddress = Annotated[str, AfterValidator(_checked_pci_address)]
DeviceName = Annotated[str, AfterValidator(_checked_device)]


class Nic(BaseModel):
    """The adapter that each guest measures with.

    - `model`: what the guest sees: a real device imitated in full (``e1000``, ``e1000e``,
      ``rtl8139``) or the paravirtual ``virtio``. Ignored for ``vf`` and ``adapter``, which are
      real.
    - `attach`: ``bridge``: a bridge private to bareline. ``macvtap``: directly to a network
      interface of the host. ``vf``: an SR-IOV virtual function. ``adapter``: a whole adapter.
    - `device`: the host's interface for ``macvtap``; for ``vf`` the physical function whose free
      virtual functions are handed out, ``auto`` being the first that has any.
    - `addresses`: PCI addresses, one for each guest, of virtual functions or adapters.
    - `vhost`: virtio frames are moved by the host's kernel instead of by QEMU; by default where the
      host can and the processor is not emulated.
    - `queues`: pairs of virtio queues.
    - `offloads`: checksums and segmentation are left to the adapter (virtio only).
    - `mergeable_buffers`: virtio receives large frames into several small buffers.
    - `mitigation`: the ``e1000``'s delayed interrupts, as QEMU has them by default.
    - `soft_roce`: an RDMA device in software (RoCE over the adapter, Linux' ``rdma_rxe``), for
      programs that need one; its figures say nothing about RDMA hardware.
    - `mtu`: frame payload in bytes on bridge, tap and guest alike.
    - `vlan`: VLAN that a virtual function tags its frames with.
    - `subnet`: first three parts of the guests' addresses; its own network in every case but
      ``macvtap``, ``vf`` and ``adapter``, where it must be free on the network outside.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

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
        """Whether the guest drives real hardware."""
        return self.attach in ("vf", "adapter")

    @property
    def needs_kvm(self) -> bool:
        """Whether the adapter works with hardware virtualization only."""
        return self.passed_through or bool(self.vhost)

    @property
    def outside(self) -> bool:
        """Whether frames leave on the host's own interfaces instead of a private bridge."""
        return self.attach != "bridge"

    @property
    def title(self) -> str:
        """Name for people, e.g. ``e1000 without interrupt mitigation``."""
        if self.attach == "vf":
            return "SR-IOV virtual function"
        if self.attach == "adapter":
            return "adapter passed through"
        text = self.model if self.attach == "bridge" else f"{self.model} over macvtap"
        text += "" if self.mitigation else " without interrupt mitigation"
        return text + ("" if self.offloads else " without offloads")

    @model_validator(mode="after")
    def _fits_together(self) -> Nic:
        for problem in (self._wrong_attachment(), self._wrong_device_option(), self._wrong_mtu()):
            if problem:
                raise ValueError(problem)
        parts = self.subnet.split(".")
        if len(parts) != 3 or not all(part.isdigit() and int(part) < 256 for part in parts):
            raise ValueError(f"subnet is three numbers like 10.94.7, not {self.subnet!r}")
        return self

    def _wrong_attachment(self) -> str:
        match self.attach:
            case "vf" if not self.addresses and not self.device:
                return (
                    'attach = "vf" needs the virtual functions\' PCI addresses in `addresses`, or '
                    "the physical function in `device`; see `lspci -D | grep 'Virtual Function'`"
                )
            case "vf" if self.addresses and self.device:
                return "give either `addresses` or `device` for a virtual function, not both"
            case "adapter" if not self.addresses:
                return 'attach = "adapter" needs the adapters\' PCI addresses in `addresses`'
            case "macvtap" if not self.device:
                return 'attach = "macvtap" needs the host\'s interface in `device`; see `ip link`'
            case "bridge" if self.device or self.addresses:
                return "the private bridge takes no `device` or `addresses`; set `attach` too"
            case "adapter" | "macvtap" if self.device and self.addresses:
                return f'attach = "{self.attach}" takes `device` or `addresses`, not both'
        if len(set(self.addresses)) != len(self.addresses):
            return "the same PCI address stands twice in `addresses`"
        if self.vlan is not None and self.attach != "vf":
            return 'a `vlan` can only be set on a virtual function (attach = "vf")'
        return ""

    def _wrong_device_option(self) -> str:
        if self.passed_through:
            chosen = {"model", "vhost", "queues", "offloads", "mergeable_buffers", "mitigation"}
            set_anyway = sorted(chosen & self.model_fields_set)
            if set_anyway:
                return f"`{set_anyway[0]}` is an option of virtual devices, not of {self.attach}"
            return ""
        if not self.mitigation and self.model != "e1000":
            return f"interrupt mitigation is an option of e1000, not of {self.model}"
        if self.model != "virtio":
            for name, default in (("vhost", None), ("queues", 1), ("offloads", True)):
                if getattr(self, name) != default:
                    return f"`{name}` is an option of virtio, not of {self.model}"
            if not self.mergeable_buffers:
                return f"`mergeable_buffers` is an option of virtio, not of {self.model}"
        return ""

    def _wrong_mtu(self) -> str:
        limit = MAX_HARDWARE_MTU if self.passed_through else MAX_MTU[self.model]
        name = self.attach if self.passed_through else self.model
        if self.mtu > limit:
            return f"an MTU of {self.mtu} is beyond what {name} takes ({limit} bytes)"
        return ""
