"""Electrons in plane waves: Fourier transforms by transposition, products of matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from bareline.probes._blas import kernels_of_header
from bareline.probes._native import read_report
from bareline.probes.app._mini import MiniApp, MiniAppParams
from bareline.vocabulary.model import Output, Scalar

#: Planes of the grid, of which each rank needs one.
_PLANES = {"S": 24, "W": 32, "A": 48, "B": 64, "C": 96}


class Planewave(MiniApp):
    """PARATEC's pattern: two Alltoall a band and iteration, sums of matrices, BLAS."""

    name: ClassVar[str] = "app.planewave"
    title: ClassVar[str] = "planewave (PARATEC's kind)"
    summary: ClassVar[str] = "plane waves (PARATEC's pattern): Alltoall; products of matrices"
    source: ClassVar[str] = "Payne et al. 1992"
    kernel: ClassVar[str] = "planewave"

    def rank_rule(self, problem_class: str, ranks: int) -> str:
        """Each rank has a plane of the grid at least."""
        most = _PLANES[problem_class]
        return f"it takes at most {most}" if ranks > most else ""

    def facts(self, params: MiniAppParams, output: Output) -> Mapping[str, Scalar]:
        """Tell whose kernels the BLAS ran."""
        return kernels_of_header(read_report(output, self.suite, self.kernel).header)


PROBE = Planewave()
