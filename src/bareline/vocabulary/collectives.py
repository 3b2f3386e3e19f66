"""The collective functions of MPI, declared once for probes, importers, prediction and simulation.

``native/mpibench/collectives.c`` measures the functions that have a summary; a test compares both
lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: How ranks depend on each other: "all" on all, all on the root ("from-root"), or the root on all.
Role = Literal["all", "from-root", "to-root"]


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective function of MPI.

    - `name`: the function's name without ``MPI_`` and in lower case, as in OSU's program names.
    - `osu`: the name in the titles of OSU's outputs; empty if IMB and OSU have no program for it.
    - `summary`: the description of the function's probe; a function without a summary has no probe.
    - `curve`: the measured function whose times are used for this function; empty if this function
      is measured itself.
    - `per_peer`: whether the size of this function is the amount that a rank sends to all ranks
      together, while the size of `curve` is the amount for each rank.
    - `anew`: the simulated cluster implements the function itself, because SimGrid's algorithm
      differs from Open MPI's.
    """

    name: str
    osu: str
    summary: str = ""
    curve: str = ""
    role: Role = "all"
    per_peer: bool = False
    anew: bool = False

    @property
    def function(self) -> str:
        """The name of the MPI function, e.g. ``MPI_Reduce_scatter``."""
        return f"MPI_{self.imb}"

    @property
    def imb(self) -> str:
        """The name of IMB's benchmark, e.g. ``Reduce_scatter``."""
        return self.name.capitalize()

    @property
    def probe(self) -> str:
        """The name of the probe whose curve represents the function."""
        return f"mpi.{self.curve or self.name}"

    @property
    def reduces(self) -> bool:
        """Whether the function computes with its elements, which are then numbers."""
        return "reduce" in self.name or "scan" in self.name

    @property
    def smallest_bytes(self) -> int:
        """The size of the smallest message: a double for reductions, 0 for a barrier."""
        if self.name == "barrier":
            return 0
        return 8 if self.reduces else 1

    @property
    def simulated(self) -> str:
        """The name of the function's action in traces that SimGrid replays."""
        return (self.curve or self.name).replace("_", "")


_TIME = "time by message size"
_BLOCK = f"by size of one rank's block: {_TIME}"
_REDUCE_SCATTER = f"Reduce_scatter (sum of doubles), by size of the whole vector: {_TIME}"
COLLECTIVES = {
    each.name: each
    for each in (
        Collective(
            "allreduce", "Allreduce", f"Allreduce (sum of doubles): {_TIME} and ranks", anew=True
        ),
        Collective("scan", "", curve="allreduce"),
        Collective("exscan", "", curve="allreduce"),
        Collective(
            "alltoall", "All-to-All", f"Alltoall, by size of one block: {_TIME}", per_peer=True
        ),
        Collective("alltoallv", "All-to-Allv", curve="alltoall", per_peer=True, anew=True),
        Collective("alltoallw", "All-to-Allw", curve="alltoall", per_peer=True),
        Collective("allgather", "Allgather", f"Allgather, {_BLOCK}", anew=True),
        Collective("allgatherv", "Allgatherv", curve="allgather", anew=True),
        Collective("bcast", "Broadcast", f"Bcast: {_TIME}", role="from-root", anew=True),
        Collective(
            "reduce", "Reduce", f"Reduce (sum of doubles): {_TIME}", role="to-root", anew=True
        ),
        Collective("reduce_scatter", "Reduce_scatter", _REDUCE_SCATTER, anew=True),
        Collective("reduce_scatter_block", "Reduce_scatter_block", curve="reduce_scatter"),
        Collective("gather", "Gather", f"Gather, {_BLOCK}", role="to-root", anew=True),
        Collective("gatherv", "Gatherv", curve="gather", role="to-root"),
        Collective("scatter", "Scatter", f"Scatter, {_BLOCK}", role="from-root"),
        Collective("scatterv", "Scatterv", curve="scatter", role="from-root"),
        Collective("barrier", "Barrier", "Barrier: time by ranks"),
    )
}
#: Making a communicator takes about as long as this number of short reductions.
COMMUNICATOR_REDUCTIONS = 3
#: The functions that a probe measures.
MEASURED = tuple(each for each in COLLECTIVES.values() if each.summary)
#: The measured functions that transfer data.
SIZED = tuple(each for each in MEASURED if each.smallest_bytes)


def collective_of(call: str) -> Collective | None:
    """Return the collective of a blocking, non-blocking or persistent call, or None."""
    name = call.removeprefix("MPI_").removesuffix("_init").lower()
    return COLLECTIVES.get(name) or COLLECTIVES.get(name.removeprefix("i"))
