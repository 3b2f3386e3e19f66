"""Which of this machine's cores nodes may use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from bareline.vocabulary.model import Scalar


def core_facts(cores: Mapping[str, Sequence[int]]) -> dict[str, Scalar]:
    """Tell which of this machine's cores each node may use, and which of them it shares.

    Two nodes on one core look like two nodes on two in every other fact.

    `cores`: numbers of the cores by the node's name.
    """
    users = Counter(core for each in cores.values() for core in set(each))
    shared = sorted(core for core, count in users.items() if count > 1)
    listed = [f"{name}: {_numbers(each)}" for name, each in cores.items()]
    return {
        "cpu.pinned_to": "; ".join(listed),
        "cpu.shared_cores": _numbers(shared) or "none",
    }


def _numbers(cores: Sequence[int]) -> str:
    return ", ".join(map(str, sorted(cores)))
