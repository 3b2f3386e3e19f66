"""What a platform holds, and what a plan leaves out of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bareline.vocabulary.model import Case
from bareline.vocabulary.units import listing


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a platform holds.

    - `nodes`: nodes over which ranks can be spread.
    - `cores_per_node`: cores of each for ranks and their threads; None where that is not known.
    """

    nodes: int = 1
    cores_per_node: int | None = None

    def ranks(self, threads: int, nodes: int) -> int:
        """Give how many ranks of so many threads have cores of their own on so many nodes."""
        return (self.cores_per_node or 0) // threads * nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A case that a plan does not ask of a platform.

    - `reason`: why, as the predicate of a sentence: "does not fit: needs 4 nodes, the platform has
      2".
    """

    platform: str
    case: Case
    reason: str


def left_out_lines(left_out: Iterable[LeftOut]) -> list[str]:
    """Say in a line for each reason what is left out: on which platforms, of which probes."""
    probes: dict[tuple[str, str], dict[str, list[int]]] = {}
    for row in left_out:
        probes.setdefault((row.platform, row.reason), {}).setdefault(row.case.probe, []).append(
            row.case.ranks
        )
    alike: dict[tuple[str, str], list[str]] = {}
    for (platform, reason), cases in probes.items():
        text = f"{cases_words(cases)}{':' if len(cases) > 1 else ''} {reason}"
        alike.setdefault((reason, text), []).append(platform)
    return [f"{listing(platforms)}: {text}" for (_, text), platforms in alike.items()]


def cases_words(ranks: Mapping[str, Iterable[int]]) -> str:
    """Name cases by probe and ranks: ``mpi.pingpong and mpi.allreduce with 2 ranks``."""
    alike: dict[tuple[int, ...], list[str]] = {}
    for probe, numbers in ranks.items():
        alike.setdefault(tuple(sorted(set(numbers))), []).append(probe)
    return listing([f"{listing(probes)}{_with(numbers)}" for numbers, probes in alike.items()])


def _with(ranks: Sequence[int]) -> str:
    if tuple(ranks) == (1,):
        return ""
    return f" with {listing([str(number) for number in ranks])} ranks"
