"""LU of the NAS Parallel Benchmarks: a flow solver whose sweeps send many small messages."""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.npb._kernel import NpbKernel

#: Points of the grid in each direction.
_POINTS = {"S": 12, "W": 33, "A": 64, "B": 102, "C": 162, "D": 408, "E": 1020}
#: Points that a rank needs in a direction that is divided.
_FEWEST = 3


class Lu(NpbKernel):
    """Symmetric successive over-relaxation of a flow, plane by plane in a pipeline of ranks."""

    name: ClassVar[str] = "npb.lu"
    title: ClassVar[str] = "the NAS benchmark LU"
    summary: ClassVar[str] = "NAS LU: pipelined flow solver; many small messages"
    kernel: ClassVar[str] = "lu"

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """The ranks form a rectangle at most twice as long as wide, each with three points."""
        lengths = [
            ranks // width
            for width in range(1, ranks + 1)
            if ranks % width == 0 and width <= ranks // width <= 2 * width
        ]
        if not lengths:
            return "it takes a product of two factors, the larger at most twice the smaller"
        if _POINTS[problem_class] // min(lengths) < _FEWEST:
            return f"each needs {_FEWEST} of the {_POINTS[problem_class]} points in a direction"
        return ""


PROBE = Lu()
