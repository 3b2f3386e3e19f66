"""FT of the NAS Parallel Benchmarks: three-dimensional Fourier transforms, all-to-all messages."""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.npb._kernel import NpbKernel, at_most, power_of_two

#: Points of the grid in the slowest direction.
_PLANES = {"S": 64, "W": 32, "A": 128, "B": 256, "C": 512, "D": 1024, "E": 2048}


class Ft(NpbKernel):
    """A diffusion equation solved by Fourier transforms."""

    name: ClassVar[str] = "npb.ft"
    title: ClassVar[str] = "the NAS benchmark FT"
    summary: ClassVar[str] = "NAS FT: Fourier transforms; all data moves all-to-all"
    kernel: ClassVar[str] = "ft"

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """Planes are shared out first, then lines."""
        return power_of_two(ranks) or at_most(ranks, _PLANES[problem_class] ** 2)


PROBE = Ft()
