"""HPC Challenge's rings: latency and bandwidth with all ranks communicating at once.

In the natural order a rank's neighbours are the next ranks; in the random order they are anywhere,
so that the network between nodes carries almost every message.

References
----------
P. Luszczek et al., "The HPC Challenge (HPCC) Benchmark Suite", SC'06, doi:10.1145/1188455.1188677.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from bareline.probes.mpi._mpibench import MpiNeighbours, MpiParams


@dataclass(frozen=True, slots=True)
class RingParams(MpiParams):
    """Parameters of a ring.

    Attributes
    ----------
    order
        "natural" or "random" (several seeded orders).
    """

    order: Literal["natural", "random"] = "random"


class Ring(MpiNeighbours):
    """Every rank exchanges with both neighbours of a ring, in natural or random order."""

    name: ClassVar[str] = "mpi.ring"
    title: ClassVar[str] = "the MPI ring"
    summary: ClassVar[str] = "HPC Challenge's natural or random order ring: latency and bandwidth"
    source: ClassVar[str] = "HPCC natural and random order ring"
    params = RingParams
    smallest_bytes: ClassVar[int] = 1

    def benchmark_of(self, params: MpiParams) -> str:
        """Choose the order of the ring."""
        assert isinstance(params, RingParams)
        return f"ring_{params.order}"


PROBE = Ring()
