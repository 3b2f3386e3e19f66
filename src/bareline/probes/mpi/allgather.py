"""MPI_Allgather: time by message size and number of ranks.

Counterparts: ``osu_allgather``, IMB Allgather.
"""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.mpi._mpibench import MpiFunction


class Allgather(MpiFunction):
    """Allgather, by size of one rank's block."""

    name: ClassVar[str] = "mpi.allgather"
    title: ClassVar[str] = "MPI_Allgather"
    summary: ClassVar[str] = "Allgather, by size of one rank's block: time by message size"
    source: ClassVar[str] = "osu_allgather, IMB Allgather"
    benchmark: ClassVar[str] = "allgather"
    collective: ClassVar[bool] = True
    smallest_bytes: ClassVar[int] = 1


PROBE = Allgather()
