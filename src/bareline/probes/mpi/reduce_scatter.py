"""MPI_Reduce_scatter: time by message size and number of ranks.

Counterparts: ``osu_reduce_scatter``, IMB Reduce_scatter.
"""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.mpi._mpibench import MpiFunction


class ReduceScatter(MpiFunction):
    """Reduce_scatter (sum of doubles), by size of the whole vector."""

    name: ClassVar[str] = "mpi.reduce_scatter"
    title: ClassVar[str] = "MPI_Reduce_scatter"
    summary: ClassVar[str] = (
        "Reduce_scatter (sum of doubles), by size of the whole vector: time by message size"
    )
    source: ClassVar[str] = "osu_reduce_scatter, IMB Reduce_scatter"
    benchmark: ClassVar[str] = "reduce_scatter"
    collective: ClassVar[bool] = True
    smallest_bytes: ClassVar[int] = 8


PROBE = ReduceScatter()
