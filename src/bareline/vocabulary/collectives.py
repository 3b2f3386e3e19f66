"""The collective functions of MPI, declared once: probes, importers, prediction and simulation.

``native/mpibench/collectives.c`` measures those with a summary; a test compares both lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: How the ranks of a collective depend on each other: all on all, all on the root, or the root on
#: all.
Role = Literal["all", "from-root", "to-root"]


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective function, named without ``MPI_`` and in lower case, as OSU names its programs.

    `curve` is the measured function that represents it. `per_peer`: its size is the amount that a
    rank sends to all, the curve's the amount to each. A function with a `summary` has a probe.
    `osu` is its name in OSU's titles; IMB and OSU have no program for one without it. `anew`: the
    simulated cluster makes it itself, since SimGrid's algorithm is not Open MPI's.
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
        """The function of MPI, e.g. ``MPI_Reduce_scatter``."""
        return f"MPI_{self.imb}"

    @property
    def imb(self) -> str:
        """The name of IMB's benchmark, e.g. ``Reduce_scatter``."""
        return self.name.capitalize()

    @property
    def probe(self) -> str:
        """The probe whose curve it is looked up on."""
        return f"mpi.{self.curve or self.name}"

    @property
    def reduces(self) -> bool:
        """Whether it computes, so that its elements are numbers."""
        return "reduce" in self.name or "scan" in self.name

    @property
    def smallest_bytes(self) -> int:
        """Size of the smallest message: a double for reductions, 0 for a barrier."""
        if self.name == "barrier":
            return 0
        return 8 if self.reduces else 1

    @property
    def simulated(self) -> str:
        """The action of a trace that SimGrid replays."""
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
#: Making a communicator takes about so many short reductions.
COMMUNICATOR_REDUCTIONS = 3
#: Those with a probe of their own.
MEASURED = tuple(each for each in COLLECTIVES.values() if each.summary)
#: Those with a message.
SIZED = tuple(each for each in MEASURED if each.smallest_bytes)


def collective_of(call: str) -> Collective | None:
    """Return the collective of a blocking, non-blocking or persistent call, or None."""
    name = call.removeprefix("MPI_").removesuffix("_init").lower()
    return COLLECTIVES.get(name) or COLLECTIVES.get(name.removeprefix("i"))
