"""MPI_Reduce: time by message size and number of ranks.

Counterparts: ``osu_reduce``, IMB Reduce.
"""

from __future__ import annotations

from typing import ClassVar

from bareline.probes.mpi._mpibench import MpiFunction


class Reduce(MpiFunction):
    """Reduce (sum of doubles)."""

    name: ClassVar[str] = "mpi.reduce"
    title: ClassVar[str] = "MPI_Reduce"
    summary: ClassVar[str] = "Reduce (sum of doubles): time by message size"
    source: ClassVar[str] = "osu_reduce, IMB Reduce"
    benchmark: ClassVar[str] = "reduce"
    collective: ClassVar[bool] = True
    smallest_bytes: ClassVar[int] = 8


PROBE = Reduce()
