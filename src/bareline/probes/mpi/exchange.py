"""Boundary exchange with both neighbours in a ring, by message size and number of ranks.

Counterpart: IMB Exchange. The bandwidth counts what a rank sends and receives.
"""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.mpi._mpibench import MpiNeighbours


class Exchange(MpiNeighbours):
    """Boundary exchange with both neighbours in a ring."""

    name: ClassVar[str] = "mpi.exchange"
    title: ClassVar[str] = "MPI neighbour exchange"
    summary: ClassVar[str] = "boundary exchange with both neighbours in a ring"
    source: ClassVar[str] = "IMB Exchange"
    benchmark: ClassVar[str] = "exchange"


PROBE = Exchange()
