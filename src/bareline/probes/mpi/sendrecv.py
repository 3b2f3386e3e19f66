"""MPI_Sendrecv around a ring: to the right, from the left, by message size and number of ranks.

Counterpart: IMB Sendrecv. The bandwidth counts what a rank sends and receives.
"""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.mpi._mpibench import MpiNeighbours


class Sendrecv(MpiNeighbours):
    """MPI_Sendrecv around a ring: to the right, from the left."""

    name: ClassVar[str] = "mpi.sendrecv"
    title: ClassVar[str] = "MPI_Sendrecv"
    summary: ClassVar[str] = "MPI_Sendrecv around a ring: to the right, from the left"
    source: ClassVar[str] = "IMB Sendrecv"
    benchmark: ClassVar[str] = "sendrecv"


PROBE = Sendrecv()
