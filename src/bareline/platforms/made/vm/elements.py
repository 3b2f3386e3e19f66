"""XML elements for libvirt's definitions."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from bareline.platforms.made.vm.nic import parse_pci_address


def element(tag: str, *inside: ET.Element | str | None, **attributes: object) -> ET.Element:
    """Return an element with content (elements or text) and attributes; None is left out."""
    given = {name: str(value) for name, value in attributes.items() if value is not None}
    element = ET.Element(tag, given)
    for part in inside:
        if isinstance(part, str):
            element.text = part
        elif part is not None:
            element.append(part)
    return element


def written(top: ET.Element) -> str:
    """Return an element as indented text."""
    ET.indent(top)
    return ET.tostring(top, encoding="unicode") + "\n"


def element_unless_empty(tag: str, inside: Sequence[ET.Element]) -> ET.Element | None:
    """Return an element that contains other elements; None if there are none."""
    if not inside:
        return None
    return element(tag, *inside)


def pci_address(address: str, **kind: str) -> ET.Element:
    """Return the element of a PCI address."""
    domain, bus, slot, function = parse_pci_address(address)
    place = {"domain": f"0x{domain:04x}", "bus": f"0x{bus:02x}", "slot": f"0x{slot:02x}"}
    return element("address", **kind, **place, function=f"0x{function:x}")
