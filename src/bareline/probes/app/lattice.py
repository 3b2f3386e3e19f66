"""A quark propagator on a four-dimensional lattice: conjugate gradients on small matrices."""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.app._mini import MiniApp, prime_factors

#: Sites along y, z and t, the directions that are cut.
_SITES = {
    "S": (8, 8, 8),
    "W": (8, 16, 16),
    "A": (16, 16, 32),
    "B": (32, 32, 32),
    "C": (32, 32, 64),
}


class Lattice(MiniApp):
    """MILC's pattern: faces three deep to all neighbours, a sum of 32 bytes an iteration."""

    name: ClassVar[str] = "app.lattice"
    title: ClassVar[str] = "lattice (MILC's kind)"
    summary: ClassVar[str] = (
        "lattice QCD (MILC's pattern): faces point to point; Allreduce of 32 bytes"
    )
    source: ClassVar[str] = "Kogut and Susskind 1975"
    kernel: ClassVar[str] = "lattice"

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """Every prime factor of the ranks must divide what is left of y, z or t."""
        lengths = list(_SITES[problem_class])
        for factor in sorted(prime_factors(ranks), reverse=True):
            fit = [length for length in lengths if length % factor == 0]
            if not fit:
                return "it takes a number whose factors divide the lattice along y, z or t"
            longest = len(lengths) - 1 - lengths[::-1].index(max(fit))
            lengths[longest] //= factor
        return ""


PROBE = Lattice()
