"""Electrons in plane waves: Fourier transforms by transposition, products of matrices."""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.app._mini import MiniApp

#: Planes of the grid, of which each rank needs one.
_PLANES = {"S": 24, "W": 32, "A": 48, "B": 64, "C": 96}


class Planewave(MiniApp):
    """PARATEC's pattern: two Alltoall a band and iteration, sums of matrices, BLAS."""

    name: ClassVar[str] = "app.planewave"
    title: ClassVar[str] = "the mini-app planewave"
    summary: ClassVar[str] = "plane waves (PARATEC's pattern): Alltoall; products of matrices"
    source: ClassVar[str] = "Payne et al. 1992"
    kernel: ClassVar[str] = "planewave"

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """Each rank has a plane of the grid at least."""
        most = _PLANES[problem_class]
        return f"it takes at most {most}" if ranks > most else ""


PROBE = Planewave()
