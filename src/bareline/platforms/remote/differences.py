"""Nodes that differ in their instruction sets: held to what all of them have.

A job whose ranks run different code is no measurement of either kind of node, and its results
differ by where a rank happened to run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bareline.vocabulary.instructions import X86_SETS, KernelSet, kernel_set
from bareline.vocabulary.nodeset import told_nodes


@dataclass(frozen=True, slots=True)
class CommonSet:
    """What all nodes can run.

    `chosen`: the widest set that the native programs may choose.
    `lacking`: what each node lacks that another one has, by its name.
    """

    chosen: KernelSet
    lacking: Mapping[str, tuple[str, ...]]

    @property
    def variables(self) -> dict[str, str]:
        """Give what makes bareline's programs and OpenBLAS keep to the set."""
        return {
            "BARELINE_INSTRUCTION_SET": self.chosen.name,
            "OPENBLAS_CORETYPE": self.chosen.openblas,
        }

    def __str__(self) -> str:
        alike: dict[tuple[str, ...], list[str]] = {}
        for name, sets in self.lacking.items():
            alike.setdefault(sets, []).append(name)
        said = "; ".join(
            f"{told_nodes(names)} lack{'s' if len(names) == 1 else ''} {', '.join(sets)}"
            for sets, names in alike.items()
        )
        return f"instruction sets differ ({said}): every node uses '{self.chosen.name}'"


def common_set(flags: Mapping[str, Collection[str]]) -> CommonSet | None:
    """Find what nodes have in common; None where they do not differ.

    `flags`: what the kernel says of each node's processor, by the node's name.
    """
    known = {name: set(said) for name, said in flags.items() if "sse2" in said}
    if len(known) < len(flags) or not known:
        return None  # no x86, or somebody who does not tell
    anywhere = set.union(*known.values())
    lacking = {
        name: tuple(one.title for one in X86_SETS if one.flag in anywhere - said)
        for name, said in known.items()
    }
    lacking = {name: sets for name, sets in lacking.items() if sets}
    if not lacking:
        return None
    return CommonSet(kernel_set(set.intersection(*known.values())), lacking)
