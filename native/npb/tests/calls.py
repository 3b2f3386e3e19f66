"""How often the NAS Parallel Benchmarks call MPI's functions."""

from __future__ import annotations

#: Calls of MPI functions in the timed part of class S on four processes, all together, as they
#: follow from the specification's communication patterns.
CALLS_ON_4 = {
    "ep": {"MPI_Allreduce": 4 * 3},
    "is": {"MPI_Allreduce": 4 * 10, "MPI_Alltoall": 4 * 10, "MPI_Alltoallv": 4 * 10},
    # 15 iterations of 26 products (sum over the row by all; transposition by the two processes off
    # the diagonal) and 53 pairs of sums.
    "cg": dict.fromkeys(("MPI_Irecv", "MPI_Send", "MPI_Wait"), 15 * (26 * (4 + 2) + 53 * 4)),
    # After each of 14 operators of 4 cycles and the first residual, two axes, both sides.
    "mg": {
        **dict.fromkeys(("MPI_Irecv", "MPI_Send", "MPI_Wait"), (4 * 14 + 1) * 4 * 2 * 2),
        "MPI_Allreduce": 4 * 2 * 2,
    },
    "ft": {"MPI_Alltoall": 4 * (1 + 6), "MPI_Reduce": 4 * 6},
    # Each step six faces and, along each axis, one message up and one down.
    "bt": {
        **dict.fromkeys(("MPI_Irecv", "MPI_Isend", "MPI_Wait"), 60 * 4 * (6 + 3 * 2)),
        "MPI_Waitall": 60 * 4,
    },
    "sp": {
        **dict.fromkeys(("MPI_Irecv", "MPI_Isend", "MPI_Wait"), 100 * 4 * (6 + 3 * 2)),
        "MPI_Waitall": 100 * 4,
    },
    # 4 links between the processes; two sweeps of 10 planes one way, ghosts both ways.
    "lu": {
        **dict.fromkeys(("MPI_Irecv", "MPI_Wait"), 50 * 4 * 2),
        "MPI_Recv": 50 * 2 * 10 * 4,
        "MPI_Send": 50 * (2 * 10 * 4 + 4 * 2),
        "MPI_Allreduce": 4 * 2,
    },
}
