"""Descriptions of nodes, and the common instruction set of different nodes.

If the nodes of a job have different processors, libraries may choose different code on each kind of
node. The results then describe neither kind of node, and depend on the placement of the ranks.
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
    """The output of the script ``description``.

    - `addresses`: pairs of network device and IPv4 address.
    """

    cores: int
    is_root: bool
    flags: tuple[str, ...]
    addresses: tuple[tuple[str, str], ...]


def read_description(node: str, answers: Mapping[str, Sequence[str]]) -> Description:
    """Read the description that a node printed.

    - `answers`: the lines of the node, by their first word.
    """

    def answer(word: str) -> str:
        if not answers.get(word):
            raise PlatformError(
                f"the node does not report its {word}",
                where=node,
                hint=f"log in to {node} and check that its shell and standard commands work",
            )
        return answers[word][0]

    cores = number_of(answer("cores"), node, "cores")
    if not 1 <= cores <= 1 << 16:
        refusal = _odd("number of cores", answer("cores"), node)
        raise refusal
    addresses = [_address_of(line, node) for line in answers.get("address", ())]
    return Description(
        cores=cores,
        is_root=answer("user") == "0",
        flags=tuple(answer("flags").split()),
        addresses=tuple(addresses),
    )


def _address_of(line: str, node: str) -> tuple[str, str]:
    """Read a network device and its address from a line."""
    device, _, address = line.partition(" ")
    try:
        return device, str(ipaddress.IPv4Address(address))
    except ValueError as error:
        refusal = _odd("address", line, node)
        raise refusal from error


def number_of(text: str, node: str, noun: str) -> int:
    """Read a count that a node reports; `noun` names the count in error messages."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise _odd(noun, text, node)
    return int(text)


def text_of(content: str, node: str, noun: str) -> str:
    """Read a text that a node reports in base64; `noun` names the text in error messages."""
    try:
        return base64.b64decode(content, validate=True).decode(errors="replace")
    except ValueError as error:
        raise PlatformError(f"{noun} did not arrive completely", where=node) from error


def _odd(noun: str, text: str, node: str) -> PlatformError:
    return PlatformError(
        f"the node reports '{text[:60]}' as its {noun}",
        where=node,
        hint=f"log in to {node} and check that its shell and standard commands work",
    )


@dataclass(frozen=True, slots=True)
class CommonSet:
    """The instruction set that all nodes can run.

    - `chosen`: the widest set that the native programs may choose.
    - `lacking`: for each node, by its name, the instruction sets that only other nodes have.
    """

    chosen: KernelSet
    lacking: Mapping[str, tuple[str, ...]]

    @property
    def variables(self) -> dict[str, str]:
        """Return the variables that limit bareline's programs and OpenBLAS to the common set."""
        return {
            "BARELINE_INSTRUCTION_SET": self.chosen.name,
            "OPENBLAS_CORETYPE": self.chosen.openblas,
        }

    def __str__(self) -> str:
        alike: dict[tuple[str, ...], list[str]] = {}
        for name, sets in self.lacking.items():
            alike.setdefault(sets, []).append(name)
        clauses = []
        for sets, names in alike.items():
            verb = "lacks" if len(names) == 1 else "lack"
            clauses.append(f"{nodes_text(names)} {verb} {', '.join(sets)}")
        differences = "; ".join(clauses)
        return f"instruction sets differ ({differences}): every node uses '{self.chosen.name}'"


def common_set(flags: Mapping[str, Collection[str]]) -> CommonSet | None:
    """Return the common instruction set of nodes; None if all nodes have the same sets."""
    by_node = {name: set(words) for name, words in flags.items() if "sse2" in words}
    if len(by_node) < len(flags) or not by_node:
        return None  # not x86, or a node that does not report it
    anywhere = set.union(*by_node.values())
    lacking = {}
    for name, words in by_node.items():
        absent = anywhere - words
        titles = tuple(known_set.title for known_set in X86_SETS if known_set.flag in absent)
        if titles:
            lacking[name] = titles
    if not lacking:
        return None
    common = set.intersection(*by_node.values())
    return CommonSet(kernel_set(common), lacking)
