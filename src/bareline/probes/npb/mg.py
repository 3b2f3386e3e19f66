"""MG of the NAS Parallel Benchmarks: multigrid cycles, memory and messages of all sizes."""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.npb._kernel import NpbKernel, at_most, power_of_two

#: Points of the finest grid in each direction.
_POINTS = {"S": 32, "W": 128, "A": 256, "B": 256, "C": 512, "D": 1024, "E": 2048}


class Mg(NpbKernel):
    """V-cycles for the Poisson equation on a periodic cube."""

    name: ClassVar[str] = "npb.mg"
    title: ClassVar[str] = "the NAS benchmark MG"
    summary: ClassVar[str] = "NAS MG: multigrid; memory bandwidth, messages near and far"
    kernel: ClassVar[str] = "mg"

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """The ranks form a block of powers of two, each with two points in every direction."""
        return power_of_two(ranks) or at_most(ranks, (_POINTS[problem_class] // 2) ** 3)


PROBE = Mg()
