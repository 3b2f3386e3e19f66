"""Options of a guest's network adapter, and of the host's adapters that a guest may use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from bareline.platforms.made.vm.option_rules import GuestPart, OptionRule

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
    """The measured network adapter of each guest.

    - `model`: the guest's device: a fully emulated real device (``e1000``, ``e1000e``, ``rtl8139``)
      or the paravirtual ``virtio``. Ignored for ``vf`` and ``adapter``, which are real devices.
    - `attach`: ``bridge``: a bridge private to bareline. ``macvtap``: directly to a network
      interface of the host. ``vf``: an SR-IOV virtual function. ``adapter``: a whole adapter.
    - `device`: for ``macvtap``, the host's interface; for ``vf``, the physical function whose free
      virtual functions the guests get. ``auto`` selects the first physical function that has
      virtual functions.
    - `addresses`: PCI addresses, one for each guest, of virtual functions or adapters.
    - `vhost`: whether the host's kernel, instead of QEMU, moves virtio frames; by default it does,
      if the host supports this and the guest's processor is not emulated.
    - `queues`: number of pairs of virtio queues.
    - `offloads`: whether the adapter does checksums and segmentation (virtio only).
    - `mergeable_buffers`: whether virtio receives a large frame into several small buffers.
    - `mitigation`: whether the ``e1000`` delays interrupts to merge them; QEMU's default is that it
      does.
    - `soft_roce`: an RDMA device in software (RoCE over the adapter, Linux' ``rdma_rxe``), for
      programs that need one; results measured with it do not apply to RDMA hardware.
    - `mtu`: frame payload in bytes on bridge, tap and guest.
    - `vlan`: VLAN that a virtual function tags its frames with.
    - `subnet`: first three parts of the guests' IPv4 addresses. With ``macvtap``, ``vf`` and
      ``adapter``, the guests use these addresses on the host's network, so the subnet must be
      unused there.
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
        """Whether frames leave through the host's own interfaces, not through a private bridge."""
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

    def _rules(self) -> Iterator[OptionRule]:
        yield from self._source_rules()
        yield from self._device_rules()
        # Adapters are known to take at most so much.
        taker: str = self.attach if self.passed_through else self.model
        limit = 9978 if self.passed_through else _MAX_MTU[self.model]
        yield OptionRule(
            self.mtu > limit, f"an MTU of {self.mtu} is above the limit of {taker} ({limit} bytes)"
        )
        parts = self.subnet.split(".")
        are_bytes = all(part.isdigit() and int(part) < 256 for part in parts)
        yield OptionRule(
            len(parts) != 3 or not are_bytes,
            f"subnet is three numbers like 10.94.7, not {self.subnet!r}",
        )

    def _source_rules(self) -> Iterator[OptionRule]:
        """Yield the rules for the options that name interfaces and adapters of the host."""
        attach = self.attach
        addresses = self.addresses
        device = self.device
        if attach == "vf":
            yield OptionRule(
                not addresses and not device,
                'attach = "vf" needs the virtual functions\' PCI addresses in `addresses`, or '
                "the physical function in `device`; see `lspci -D | grep 'Virtual Function'`",
            )
            yield OptionRule(
                addresses and device,
                "give either `addresses` or `device` for a virtual function, not both",
            )
        yield OptionRule(
            attach == "adapter" and not addresses,
            'attach = "adapter" needs the adapters\' PCI addresses in `addresses`',
        )
        yield OptionRule(
            attach == "macvtap" and not device,
            'attach = "macvtap" needs the host\'s interface in `device`; see `ip link`',
        )
        yield OptionRule(
            attach == "bridge" and (device or addresses),
            "the private bridge takes neither `device` nor `addresses`; set `attach`, or"
            " remove these keys",
        )
        yield OptionRule(
            device and addresses, f'attach = "{attach}" takes `device` or `addresses`, not both'
        )
        yield OptionRule(
            len(set(addresses)) != len(addresses),
            "the same PCI address appears twice in `addresses`",
        )
        yield OptionRule(
            self.vlan is not None and attach != "vf",
            'a `vlan` can only be set on a virtual function (attach = "vf")',
        )

    def _device_rules(self) -> Iterator[OptionRule]:
        """Yield the rules for options that only some of the guest's devices have."""
        if self.passed_through:
            for name in _OF_VIRTUAL_DEVICES:
                yield OptionRule(
                    name in self.model_fields_set,
                    f"`{name}` is an option of virtual devices, not of {self.attach}",
                )
            return
        yield OptionRule(
            not self.mitigation and self.model != "e1000",
            f"interrupt mitigation is an option of e1000, not of {self.model}",
        )
        for name, default in _OF_VIRTIO.items():
            is_given = getattr(self, name) != default
            yield OptionRule(
                is_given and self.model != "virtio",
                f"`{name}` is an option of virtio, not of {self.model}",
            )
