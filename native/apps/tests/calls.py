"""How often the mini-apps call MPI's functions."""

from __future__ import annotations

#: Calls in the timed part of class S on four processes, all together, as they follow from the
#: communication patterns that docs/method/apps.md describes.
CALLS_ON_4 = {
    # 20 steps: 5 exchanges of fields with levels and 2 of the pressure, each in two parts, along x and
    # along y, and one of r before the first of 25 iterations, one of s in each and one of r in all but
    # the last, whose four messages are one part. Three sums an iteration, two sums and a maximum
    # before the first.
    "ocean": {
        **dict.fromkeys(("MPI_Isend", "MPI_Recv"), 4 * 20 * (5 + 2 + 2 * 25) * 4),
        "MPI_Waitall": 4 * 20 * ((5 + 2) * 2 + 2 * 25),
        "MPI_Allreduce": 4 * 20 * (3 * 25 + 3),
    },
    # 19 iterations of two exchanges; t and z are cut in two: 4 messages, each waited for where it
    # goes and where it comes; one sum an iteration.
    "lattice": {
        **dict.fromkeys(("MPI_Isend", "MPI_Irecv"), 4 * 19 * 2 * 4),
        "MPI_Wait": 4 * 19 * 2 * 4 * 2,
        "MPI_Allreduce": 4 * 19,
    },
    # 20 steps: 10 of the 12 pairs have neighbouring blocks of a zone, all have zones that overlap;
    # each process waits twice and sums once.
    "overset": {
        **dict.fromkeys(("MPI_Isend", "MPI_Irecv"), 20 * (10 + 12)),
        "MPI_Waitall": 4 * 20 * 2,
        "MPI_Allreduce": 4 * 20,
    },
    # 20 cycles of 53 exchanges (11, 22 and 20 on the three levels) with two neighbours, one sum.
    "cartesian": {
        **dict.fromkeys(("MPI_Isend", "MPI_Irecv"), 4 * 20 * 53 * 2),
        "MPI_Waitall": 4 * 20 * 53,
        "MPI_Allreduce": 4 * 20,
    },
    # 25 iterations for 10 bands, forth and back; four matrices and two lists are summed.
    "planewave": {"MPI_Alltoall": 4 * 25 * 10 * 2, "MPI_Allreduce": 4 * 25 * 6},
    # 20 steps of 12 sweeps: shared faces, two colours a sweep, the halo. The box is cut into four
    # columns: each has two neighbours across faces, three in its halo. A sum a step and a sweep.
    "unstructured": {
        **dict.fromkeys(("MPI_Isend", "MPI_Irecv"), 4 * 20 * ((1 + 2 * 12) * 2 + 3)),
        "MPI_Waitall": 4 * 20 * (1 + 2 * 12 + 1),
        "MPI_Allreduce": 4 * 20 * (1 + 12),
    },
}
