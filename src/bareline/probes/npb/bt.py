"""BT of the NAS Parallel Benchmarks: a flow solver with block tridiagonal systems."""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.npb._kernel import NpbKernel, at_most, square

#: Points of the grid in each direction.
_POINTS = {"S": 12, "W": 24, "A": 64, "B": 102, "C": 162, "D": 408, "E": 1020}


class Bt(NpbKernel):
    """Alternating directions; each line is a system of small dense blocks."""

    name: ClassVar[str] = "npb.bt"
    title: ClassVar[str] = "the NAS benchmark BT"
    summary: ClassVar[str] = "NAS BT: flow solver, dense blocks; computation, few large messages"
    kernel: ClassVar[str] = "bt"

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """The ranks cut the grid into cells of at least three points, as many as their root."""
        return square(ranks) or at_most(ranks, (_POINTS[problem_class] // 3) ** 2)


PROBE = Bt()
