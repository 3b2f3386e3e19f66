"""Which measured curve stands for which function, and in which size it counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: How the ranks of a collective depend on each other: all on all, all on the root, or the root on
#: all.
Role = Literal["all", "from-root", "to-root"]


@dataclass(frozen=True, slots=True)
class Collective:
    """A collective function: its curve, who waits for whom, and what the curve's size is.

    Attributes
    ----------
    per_peer
        The profile's size is what a rank sends to all; the curve's is what it sends to each.
    """

    probe: str
    role: Role = "all"
    per_peer: bool = False


COLLECTIVES = {
    "MPI_Allreduce": Collective("mpi.allreduce"),
    "MPI_Scan": Collective("mpi.allreduce"),
    "MPI_Exscan": Collective("mpi.allreduce"),
    "MPI_Reduce": Collective("mpi.reduce", "to-root"),
    "MPI_Reduce_scatter": Collective("mpi.reduce_scatter"),
    "MPI_Reduce_scatter_block": Collective("mpi.reduce_scatter"),
    "MPI_Bcast": Collective("mpi.bcast", "from-root"),
    "MPI_Gather": Collective("mpi.gather", "to-root"),
    "MPI_Gatherv": Collective("mpi.gather", "to-root"),
    "MPI_Scatter": Collective("mpi.scatter", "from-root"),
    "MPI_Scatterv": Collective("mpi.scatter", "from-root"),
    "MPI_Allgather": Collective("mpi.allgather"),
    "MPI_Allgatherv": Collective("mpi.allgather"),
    "MPI_Alltoall": Collective("mpi.alltoall", per_peer=True),
    "MPI_Alltoallv": Collective("mpi.alltoall", per_peer=True),
    "MPI_Alltoallw": Collective("mpi.alltoall", per_peer=True),
    "MPI_Barrier": Collective("mpi.barrier"),
}
#: Making a communicator takes about so many short reductions.
COMMUNICATOR_REDUCTIONS = 3
#: Smallest message that a reduction of doubles can have.
_DOUBLE = 8
POINT_TO_POINT = ("send", "receive", "send-receive")
#: What starting up takes: once, and once for each rank that a rank talks to.
INIT, FIRST_MESSAGE = "mpi.init", "mpi.first_message"
START_UP = (INIT, FIRST_MESSAGE)
#: What a message costs its ends themselves: two curves of one probe.
OVERHEAD = "mpi.overhead"
SENDING, RECEIVING = f"{OVERHEAD} send", f"{OVERHEAD} receive"
IO_KINDS = ("mpi-io", "posix-io")
#: Kinds that no curve stands for: their time is taken over as it is.
UNCHARGED = ("window", "one-sided", "one-sided-sync", "mpi-io", "posix-io", "other", "setup")


def collective_of(call: str) -> Collective | None:
    """Give what a blocking, non-blocking or persistent collective is; None for what is none."""
    if call.startswith("MPI_I"):
        call = f"MPI_{call[5:].capitalize()}"
    return COLLECTIVES.get(call.removesuffix("_init"))


def curve_size(collective: Collective, size: float, comm_size: int) -> float:
    """Give the size at which a collective's curve is looked up."""
    if collective.probe == "mpi.barrier":
        return 0.0
    if collective.per_peer:
        return size / max(1, comm_size)
    return max(size, _DOUBLE) if "reduce" in collective.probe else size
