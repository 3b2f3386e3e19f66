"""What a platform holds, and what a plan leaves out of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bareline.vocabulary.model import Case
from bareline.vocabulary.units import listing


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a platform holds.

    Parameters
    ----------
    nodes
        Nodes over which ranks can be spread.
    cores_per_node
        Cores of each for ranks and their threads; None where that is not known.
    """

    nodes: int = 1
    cores_per_node: int | None = None

    def ranks(self, threads: int, nodes: int) -> int:
        """Give how many ranks of so many threads have cores of their own on so many nodes."""
        return (self.cores_per_node or 0) // threads * nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A case that a plan does not ask of a platform.

    Parameters
    ----------
    reason
        Why, as the predicate of a sentence: "does not fit: needs 4 nodes, the platform has 2".
    """

    platform: str
    case: Case
    reason: str


def told(left_out: Iterable[LeftOut]) -> list[str]:
    """Say in a line each what is left out, cases that differ in their ranks alone together."""
    groups: dict[tuple[str, str, str], dict[int, None]] = {}
    for row in left_out:
        key = (row.platform, row.case.probe, row.reason)
        groups.setdefault(key, {})[row.case.ranks] = None
    return [
        f"{platform}: {probe}{_with(list(ranks))} {reason}"
        for (platform, probe, reason), ranks in groups.items()
    ]


def _with(ranks: list[int]) -> str:
    if ranks == [1]:
        return ""
    return f" with {listing([str(number) for number in ranks])} ranks"
