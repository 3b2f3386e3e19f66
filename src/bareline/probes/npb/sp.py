"""SP of the NAS Parallel Benchmarks: a flow solver with scalar pentadiagonal systems."""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.npb._kernel import NpbKernel, at_most, square

#: Points of the grid in each direction.
_POINTS = {"S": 12, "W": 36, "A": 64, "B": 102, "C": 162, "D": 408, "E": 1020}


class Sp(NpbKernel):
    """Alternating directions; each line is five systems with five diagonals."""

    name: ClassVar[str] = "npb.sp"
    title: ClassVar[str] = "the NAS benchmark SP"
    summary: ClassVar[str] = "NAS SP: flow solver, scalar systems; memory and many messages"
    kernel: ClassVar[str] = "sp"

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """The ranks cut the grid into cells of at least three points, as many as their root."""
        return square(ranks) or at_most(ranks, (_POINTS[problem_class] // 3) ** 2)


PROBE = Sp()
