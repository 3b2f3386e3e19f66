"""MPI_Alltoall: time by message size and number of ranks.

Counterparts: ``osu_alltoall``, IMB Alltoall.
"""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.mpi._mpibench import MpiFunction


class Alltoall(MpiFunction):
    """Alltoall, by size of one block."""

    name: ClassVar[str] = "mpi.alltoall"
    title: ClassVar[str] = "MPI_Alltoall"
    summary: ClassVar[str] = "Alltoall, by size of one block: time by message size"
    source: ClassVar[str] = "osu_alltoall, IMB Alltoall"
    benchmark: ClassVar[str] = "alltoall"
    collective: ClassVar[bool] = True
    smallest_bytes: ClassVar[int] = 1


PROBE = Alltoall()
