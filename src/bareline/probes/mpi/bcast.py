"""MPI_Bcast: time by message size and number of ranks.

Counterparts: ``osu_bcast``, IMB Bcast.
"""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.mpi._mpibench import MpiFunction


class Bcast(MpiFunction):
    """Bcast."""

    name: ClassVar[str] = "mpi.bcast"
    title: ClassVar[str] = "MPI_Bcast"
    summary: ClassVar[str] = "Bcast: time by message size"
    source: ClassVar[str] = "osu_bcast, IMB Bcast"
    benchmark: ClassVar[str] = "bcast"
    collective: ClassVar[bool] = True
    smallest_bytes: ClassVar[int] = 1


PROBE = Bcast()
