"""IS of the NAS Parallel Benchmarks: integers ranked by counting, moved all-to-all."""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.npb._kernel import NpbKernel, at_least, at_most, power_of_two

#: Fewest and most ranks that the benchmark is defined for in each class.
_RANKS = {
    "S": (1, 128),
    "W": (1, 1024),
    "A": (1, 1024),
    "B": (1, 1024),
    "C": (1, 1024),
    "D": (4, 1024),
    "E": (64, 1024),
}


class Is(NpbKernel):
    """Ten rankings of small integers."""

    name: ClassVar[str] = "npb.is"
    title: ClassVar[str] = "the NAS benchmark IS"
    summary: ClassVar[str] = "NAS IS: ranking of integers; memory and all-to-all messages"
    kernel: ClassVar[str] = "is"

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """Keys and buckets are shared out evenly, within the classes' limits."""
        least, most = _RANKS[problem_class]
        return power_of_two(ranks) or at_least(ranks, least) or at_most(ranks, most)


PROBE = Is()
