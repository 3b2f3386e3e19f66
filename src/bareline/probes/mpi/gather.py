"""MPI_Gather: time by message size and number of ranks.

Counterparts: ``osu_gather``, IMB Gather.
"""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.mpi._mpibench import MpiFunction


class Gather(MpiFunction):
    """Gather, by size of one rank's block."""

    name: ClassVar[str] = "mpi.gather"
    title: ClassVar[str] = "MPI_Gather"
    summary: ClassVar[str] = "Gather, by size of one rank's block: time by message size"
    source: ClassVar[str] = "osu_gather, IMB Gather"
    benchmark: ClassVar[str] = "gather"
    collective: ClassVar[bool] = True
    smallest_bytes: ClassVar[int] = 1


PROBE = Gather()
