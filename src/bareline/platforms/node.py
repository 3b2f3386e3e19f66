"""A host of an allocation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """A host, by its name and the address under which the other nodes reach it.

    `cores` are the processor cores that its ranks may use.
    """

    name: str
    address: str
    cores: int
