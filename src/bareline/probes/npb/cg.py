"""CG of the NAS Parallel Benchmarks: sparse linear algebra with scattered memory access."""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.npb._kernel import NpbKernel, at_most, power_of_two

#: Rows of the matrix in each class.
_ROWS = {
    "S": 1_400,
    "W": 7_000,
    "A": 14_000,
    "B": 75_000,
    "C": 150_000,
    "D": 1_500_000,
    "E": 9_000_000,
}


class Cg(NpbKernel):
    """An eigenvalue of a random sparse matrix by conjugate gradients."""

    name: ClassVar[str] = "npb.cg"
    title: ClassVar[str] = "the NAS benchmark CG"
    summary: ClassVar[str] = "NAS CG: sparse linear algebra; irregular memory, long messages"
    kernel: ClassVar[str] = "cg"

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """The ranks form a grid of powers of two over the matrix."""
        return power_of_two(ranks) or at_most(ranks, _ROWS[problem_class])


PROBE = Cg()
