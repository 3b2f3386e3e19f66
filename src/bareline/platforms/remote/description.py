"""What a node tells of itself, held against what it may be."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bareline.vocabulary.errors import PlatformError

#: No node has more.
_MOST_CORES = 1 << 16


@dataclass(frozen=True, slots=True)
class Description:
    """What the script ``description`` says of a node.

    `cores`: that its processes may use.
    `is_root`: whether it runs what we ask for as root.
    `flags`: of its processor, as the kernel names them.
    `addresses`: each of its devices with an IPv4 address of it.
    """

    cores: int
    is_root: bool
    flags: tuple[str, ...]
    addresses: tuple[tuple[str, str], ...]


def read_description(node: str, said: Mapping[str, Sequence[str]]) -> Description:
    """Read what a node said of itself.

    `said`: its words, each with what followed it.
    """

    def told(word: str) -> str:
        if not said.get(word):
            raise PlatformError(
                f"the node does not tell its {word}", where=node, hint=f"see what runs on {node}"
            )
        return said[word][0]

    cores = number_of(told("cores"), node, "cores")
    if not 1 <= cores <= _MOST_CORES:
        raise _odd("cores", told("cores"), node)
    addresses = []
    for line in said.get("address", ()):
        device, _, address = line.partition(" ")
        try:
            addresses.append((device, str(ipaddress.IPv4Address(address))))
        except ValueError as error:
            raise _odd("address", line, node) from error
    return Description(cores, told("user") == "0", tuple(told("flags").split()), tuple(addresses))


def number_of(text: str, node: str, what: str) -> int:
    """Read a count that a node tells."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise _odd(what, text, node)
    return int(text)


def _odd(what: str, text: str, node: str) -> PlatformError:
    return PlatformError(
        f"the node tells '{text[:60]}' as its {what}", where=node, hint=f"see what runs on {node}"
    )
