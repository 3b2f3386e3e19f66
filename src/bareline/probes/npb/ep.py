"""EP of the NAS Parallel Benchmarks: random numbers and logarithms, hardly a message."""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.npb._kernel import ClassParams, NpbProgram, at_most

#: Batches of 2^16 pairs in each class.
_BATCHES = {
    "S": 1 << 8,
    "W": 1 << 9,
    "A": 1 << 12,
    "B": 1 << 14,
    "C": 1 << 16,
    "D": 1 << 20,
    "E": 1 << 24,
}


class Ep(NpbProgram[ClassParams]):
    """Pairs of Gaussian deviates from uniform ones, counted by size."""

    name: ClassVar[str] = "npb.ep"
    title: ClassVar[str] = "the NAS benchmark EP"
    summary: ClassVar[str] = "NAS EP: pure floating-point computation"
    kernel: ClassVar[str] = "ep"
    params: type[ClassParams] = ClassParams

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """Every rank needs a batch."""
        return at_most(ranks, _BATCHES[problem_class])


PROBE = Ep()
