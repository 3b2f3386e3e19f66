"""Descriptions of nodes, and the common instruction set of nodes that differ.

A job whose ranks run different code does not measure either kind of node, and its results
differ by where a rank happened to run.
"""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.instructions import X86_SETS, KernelSet, kernel_set
from bareline.vocabulary.nodeset import nodes_text


@dataclass(frozen=True, slots=True)
class Description:
    """The output of the script ``description``; `addresses`: pairs of device and IPv4."""

    cores: int
    is_root: bool
    flags: tuple[str, ...]
    addresses: tuple[tuple[str, str], ...]


def read_description(node: str, said: Mapping[str, Sequence[str]]) -> Description:
    """Read the description that a node printed."""

    def answer(word: str) -> str:
        if not said.get(word):
            raise PlatformError(
                f"the node does not report its {word}", where=node, hint=f"see what runs on {node}"
            )
        return said[word][0]

    cores = number_of(answer("cores"), node, "cores")
    if not 1 <= cores <= 1 << 16:
        raise _odd("cores", answer("cores"), node)
    addresses = []
    for line in said.get("address", ()):
        device, _, address = line.partition(" ")
        try:
            addresses.append((device, str(ipaddress.IPv4Address(address))))
        except ValueError as error:
            raise _odd("address", line, node) from error
    return Description(
        cores, answer("user") == "0", tuple(answer("flags").split()), tuple(addresses)
    )


def number_of(text: str, node: str, what: str) -> int:
    """Read a count that a node reports."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise _odd(what, text, node)
    return int(text)


def text_of(content: str, node: str, what: str) -> str:
    """Read a text that a node gives in base64."""
    try:
        return base64.b64decode(content, validate=True).decode(errors="replace")
    except ValueError as error:
        raise PlatformError(f"{what} did not arrive whole", where=node) from error


def _odd(what: str, text: str, node: str) -> PlatformError:
    return PlatformError(
        f"the node reports '{text[:60]}' as its {what}", where=node, hint=f"see what runs on {node}"
    )


@dataclass(frozen=True, slots=True)
class CommonSet:
    """The instruction set that all nodes can run.

    - `chosen`: the widest set that the native programs may choose.
    - `lacking`: the sets that each node lacks and another one has, by its name.
    """

    chosen: KernelSet
    lacking: Mapping[str, tuple[str, ...]]

    @property
    def variables(self) -> dict[str, str]:
        """Return the variables that limit bareline's programs and OpenBLAS to the set."""
        return {
            "BARELINE_INSTRUCTION_SET": self.chosen.name,
            "OPENBLAS_CORETYPE": self.chosen.openblas,
        }

    def __str__(self) -> str:
        alike: dict[tuple[str, ...], list[str]] = {}
        for name, sets in self.lacking.items():
            alike.setdefault(sets, []).append(name)
        said = "; ".join(
            f"{nodes_text(names)} lack{'s' if len(names) == 1 else ''} {', '.join(sets)}"
            for sets, names in alike.items()
        )
        return f"instruction sets differ ({said}): every node uses '{self.chosen.name}'"


def common_set(flags: Mapping[str, Collection[str]]) -> CommonSet | None:
    """Return the common set of nodes; None where they do not differ."""
    known = {name: set(said) for name, said in flags.items() if "sse2" in said}
    if len(known) < len(flags) or not known:
        return None  # not x86, or a node that does not report it
    anywhere = set.union(*known.values())
    lacking = {}
    for name, said in known.items():
        if sets := tuple(one.title for one in X86_SETS if one.flag in anywhere - said):
            lacking[name] = sets
    if not lacking:
        return None
    return CommonSet(kernel_set(set.intersection(*known.values())), lacking)
