"""MPI_Allreduce: the sum of doubles over all ranks, by message size and number of ranks.

Counterparts: ``osu_allreduce``, IMB Allreduce.
"""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.mpi._mpibench import MpiFunction


class Allreduce(MpiFunction):
    """MPI_Allreduce with MPI_SUM on doubles."""

    name: ClassVar[str] = "mpi.allreduce"
    title: ClassVar[str] = "MPI_Allreduce"
    summary: ClassVar[str] = "Allreduce (sum of doubles): time by message size and ranks"
    source: ClassVar[str] = "osu_allreduce, IMB Allreduce"
    benchmark: ClassVar[str] = "allreduce"
    collective: ClassVar[bool] = True
    smallest_bytes: ClassVar[int] = 8


PROBE = Allreduce()
