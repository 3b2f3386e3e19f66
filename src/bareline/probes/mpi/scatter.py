"""MPI_Scatter: time by message size and number of ranks.

Counterparts: ``osu_scatter``, IMB Scatter.
"""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.mpi._mpibench import MpiFunction


class Scatter(MpiFunction):
    """Scatter, by size of one rank's block."""

    name: ClassVar[str] = "mpi.scatter"
    title: ClassVar[str] = "MPI_Scatter"
    summary: ClassVar[str] = "Scatter, by size of one rank's block: time by message size"
    source: ClassVar[str] = "osu_scatter, IMB Scatter"
    benchmark: ClassVar[str] = "scatter"
    collective: ClassVar[bool] = True
    smallest_bytes: ClassVar[int] = 1


PROBE = Scatter()
