"""What the planted programs of native/pmpi/tests ask of MPI, worked out by hand from their sources.

A row is (call, kind, region, size, communicator size, inter, peer): (count, bytes, sent, received),
summed over 4 ranks on one node. Ints have 4 B, doubles 8.
"""

from __future__ import annotations

Key = tuple[str, str, int, int, int, bool, str]
Sums = tuple[int, int, int, int]

NODE, NONE = "same-node", "none"

#: planted.c and planted.F90; MPI_Test polls and is left out.
PLANTED: dict[Key, Sums] = {
    # whole_world
    ("MPI_Allreduce", "collective", 0, 800, 4, False, NONE): (12, 9600, 9600, 9600),
    ("MPI_Allreduce", "collective", 0, 200, 4, False, NONE): (8, 1600, 1600, 1600),
    ("MPI_Gather", "collective", 0, 32, 4, False, NONE): (4, 128, 128, 128),
    ("MPI_Barrier", "collective", 0, 0, 4, False, NONE): (12, 0, 0, 0),
    # vectors: rank r sends r + 1 ints to each of 4 and receives 1 + 2 + 3 + 4
    ("MPI_Alltoallv", "collective", 0, 16, 4, False, NONE): (1, 16, 16, 40),
    ("MPI_Alltoallv", "collective", 0, 32, 4, False, NONE): (1, 32, 32, 40),
    ("MPI_Alltoallv", "collective", 0, 48, 4, False, NONE): (1, 48, 48, 40),
    ("MPI_Alltoallv", "collective", 0, 64, 4, False, NONE): (1, 64, 64, 40),
    # point_to_point: buffers of 100 ints receive 10
    ("MPI_Send", "send", 0, 40, 4, False, NODE): (2, 80, 80, 0),
    ("MPI_Recv", "receive", 0, 40, 4, False, NODE): (2, 80, 0, 80),
    ("MPI_Sendrecv", "send-receive", 0, 200, 4, False, NODE): (8, 1600, 1600, 1600),
    ("MPI_Send", "send", 0, 0, 4, False, NONE): (4, 0, 0, 0),
    # requests: buffers of 60 doubles receive 30
    ("MPI_Irecv", "receive", 0, 480, 4, False, NODE): (16, 7680, 0, 3840),
    ("MPI_Isend", "send", 0, 240, 4, False, NODE): (16, 3840, 3840, 0),
    ("MPI_Irecv", "receive", 0, 28, 4, False, NODE): (4, 112, 0, 112),
    ("MPI_Isend", "send", 0, 28, 4, False, NODE): (4, 112, 112, 0),
    ("MPI_Iallreduce", "collective", 0, 160, 4, False, NONE): (4, 640, 640, 640),
    ("MPI_Ibarrier", "collective", 0, 0, 4, False, NONE): (4, 0, 0, 0),
    ("MPI_Waitany", "wait", 0, 0, 0, False, NONE): (8, 0, 0, 0),
    ("MPI_Wait", "wait", 0, 0, 0, False, NONE): (4, 0, 0, 0),
    # persistent: 5 times both by MPI_Startall, once each by MPI_Start
    ("MPI_Send_init", "setup", 0, 96, 4, False, NODE): (4, 384, 0, 0),
    ("MPI_Recv_init", "setup", 0, 96, 4, False, NODE): (4, 384, 0, 0),
    ("MPI_Startall", "send", 0, 96, 4, False, NODE): (20, 1920, 1920, 0),
    ("MPI_Startall", "receive", 0, 96, 4, False, NODE): (20, 1920, 0, 1920),
    ("MPI_Start", "send", 0, 96, 4, False, NODE): (4, 384, 384, 0),
    ("MPI_Start", "receive", 0, 96, 4, False, NODE): (4, 384, 0, 384),
    ("MPI_Waitall", "wait", 0, 0, 0, False, NONE): (40, 0, 0, 0),
    ("MPI_Request_free", "other", 0, 0, 0, False, NONE): (8, 0, 0, 0),
    # communicators
    ("MPI_Comm_split", "communicator", 0, 0, 4, False, NONE): (4, 0, 0, 0),
    ("MPI_Bcast", "collective", 0, 64, 2, False, NONE): (12, 768, 384, 384),
    ("MPI_Intercomm_create", "communicator", 0, 0, 2, False, NONE): (4, 0, 0, 0),
    ("MPI_Send", "send", 0, 36, 4, True, NODE): (2, 72, 72, 0),
    ("MPI_Recv", "receive", 0, 36, 4, True, NODE): (2, 72, 0, 72),
    ("MPI_Allreduce", "collective", 0, 24, 4, True, NONE): (4, 96, 96, 96),
    ("MPI_Comm_free", "communicator", 0, 0, 4, True, NONE): (4, 0, 0, 0),
    ("MPI_Comm_free", "communicator", 0, 0, 2, False, NONE): (4, 0, 0, 0),
    # derived_type: 2 * 3 * 2 doubles without their gaps
    ("MPI_Sendrecv", "send-receive", 0, 96, 4, False, NODE): (4, 384, 384, 384),
    # one_sided
    ("MPI_Win_create", "window", 0, 0, 4, False, NONE): (4, 0, 0, 0),
    ("MPI_Win_fence", "one-sided-sync", 0, 0, 4, False, NONE): (12, 0, 0, 0),
    ("MPI_Put", "one-sided", 0, 40, 4, False, NODE): (4, 160, 160, 0),
    ("MPI_Accumulate", "one-sided", 0, 24, 4, False, NODE): (4, 96, 96, 0),
    ("MPI_Get", "one-sided", 0, 48, 4, False, NODE): (4, 192, 0, 192),
    ("MPI_Win_free", "window", 0, 0, 4, False, NONE): (4, 0, 0, 0),
    # file
    ("MPI_File_open", "mpi-io", 0, 0, 4, False, NONE): (4, 0, 0, 0),
    ("MPI_File_write_at_all", "mpi-io", 0, 64, 4, False, NONE): (4, 256, 256, 0),
    ("MPI_File_sync", "mpi-io", 0, 0, 4, False, NONE): (8, 0, 0, 0),
    ("MPI_File_read_at", "mpi-io", 0, 64, 4, False, NONE): (4, 256, 0, 256),
    ("MPI_File_close", "mpi-io", 0, 0, 4, False, NONE): (4, 0, 0, 0),
    # regions: the broadcast of 52 B falls into a pause
    ("MPI_Bcast", "collective", 5, 44, 4, False, NONE): (4, 176, 44, 132),
    ("MPI_Bcast", "collective", 0, 68, 4, False, NONE): (4, 272, 68, 204),
    ("MPI_Init", "other", 0, 0, 0, False, NONE): (4, 0, 0, 0),
}

#: Messages and bytes from each rank of planted to another.
#: To the next one: Sendrecv 2 * 200 + 96, Isend 4 * 240 + 28, starts 6 * 96, Put 40, Accumulate 24;
#: from the previous one a Get of 48; rank 0 sends 2 * 40 to rank 1 and, as every even one, 36 to
#: the odd rank of its pair.
_TO_NEXT, _NEXT_BYTES = 2 + 1 + 4 + 1 + 6 + 2, 400 + 96 + 960 + 28 + 576 + 64
PLANTED_SENDS: dict[tuple[int, int], tuple[int, int]] = {
    (0, 1): (_TO_NEXT + 3, _NEXT_BYTES + 80 + 36),
    (1, 2): (_TO_NEXT, _NEXT_BYTES),
    (2, 3): (_TO_NEXT + 1, _NEXT_BYTES + 36),
    (3, 0): (_TO_NEXT, _NEXT_BYTES),
    (0, 3): (1, 48),
    (1, 0): (1, 48),
    (2, 1): (1, 48),
    (3, 2): (1, 48),
}

_ALL = "collective"
#: collectives.c: size by size what each rank puts in (sent) and gets out (received).
COLLECTIVES: dict[Key, Sums] = {
    ("MPI_Reduce", _ALL, 0, 20, 4, False, NONE): (4, 80, 80, 20),
    ("MPI_Reduce", _ALL, 0, 24, 4, False, NONE): (4, 96, 96, 24),
    ("MPI_Gather", _ALL, 0, 28, 4, False, NONE): (4, 112, 112, 112),
    ("MPI_Gatherv", _ALL, 0, 4, 4, False, NONE): (1, 4, 4, 40),
    ("MPI_Gatherv", _ALL, 0, 8, 4, False, NONE): (1, 8, 8, 0),
    ("MPI_Gatherv", _ALL, 0, 12, 4, False, NONE): (1, 12, 12, 0),
    ("MPI_Gatherv", _ALL, 0, 16, 4, False, NONE): (1, 16, 16, 0),
    ("MPI_Scatter", _ALL, 0, 36, 4, False, NONE): (4, 144, 144, 144),
    ("MPI_Scatterv", _ALL, 0, 4, 4, False, NONE): (1, 4, 40, 4),
    ("MPI_Scatterv", _ALL, 0, 8, 4, False, NONE): (1, 8, 0, 8),
    ("MPI_Scatterv", _ALL, 0, 12, 4, False, NONE): (1, 12, 0, 12),
    ("MPI_Scatterv", _ALL, 0, 16, 4, False, NONE): (1, 16, 0, 16),
    ("MPI_Allgather", _ALL, 0, 12, 4, False, NONE): (4, 48, 48, 192),
    ("MPI_Allgather", _ALL, 0, 16, 4, False, NONE): (4, 64, 64, 256),
    ("MPI_Allgatherv", _ALL, 0, 4, 4, False, NONE): (1, 4, 4, 40),
    ("MPI_Allgatherv", _ALL, 0, 8, 4, False, NONE): (1, 8, 8, 40),
    ("MPI_Allgatherv", _ALL, 0, 12, 4, False, NONE): (1, 12, 12, 40),
    ("MPI_Allgatherv", _ALL, 0, 16, 4, False, NONE): (1, 16, 16, 40),
    ("MPI_Alltoall", _ALL, 0, 80, 4, False, NONE): (4, 320, 320, 320),
    ("MPI_Alltoall", _ALL, 0, 96, 4, False, NONE): (4, 384, 384, 384),
    ("MPI_Alltoallw", _ALL, 0, 16, 4, False, NONE): (4, 64, 64, 64),
    ("MPI_Reduce_scatter", _ALL, 0, 40, 4, False, NONE): (4, 160, 160, 40),
    ("MPI_Reduce_scatter_block", _ALL, 0, 32, 4, False, NONE): (4, 128, 128, 32),
    ("MPI_Scan", _ALL, 0, 32, 4, False, NONE): (4, 128, 128, 128),
    ("MPI_Exscan", _ALL, 0, 36, 4, False, NONE): (4, 144, 144, 144),
    # two neighbours each
    ("MPI_Neighbor_allgather", _ALL, 0, 12, 4, False, NONE): (4, 48, 48, 96),
    ("MPI_Neighbor_alltoall", _ALL, 0, 32, 4, False, NONE): (4, 128, 128, 128),
    # between two sides: one root, one bystander, two members; 84, 88 and 92 B
    ("MPI_Bcast", _ALL, 0, 84, 4, True, NONE): (3, 252, 84, 168),
    ("MPI_Bcast", _ALL, 0, 0, 4, True, NONE): (1, 0, 0, 0),
    ("MPI_Gather", _ALL, 0, 88, 4, True, NONE): (2, 176, 176, 0),
    ("MPI_Gather", _ALL, 0, 0, 4, True, NONE): (2, 0, 0, 176),
    ("MPI_Allgather", _ALL, 0, 92, 4, True, NONE): (4, 368, 368, 736),
}

#: mpi4.c on 2 ranks: what MPI 4 added. A start of a persistent collective counts as the collective.
MPI4: dict[Key, Sums] = {
    ("MPI_Allreduce_init", "setup", 0, 160, 2, False, NONE): (2, 320, 0, 0),
    ("MPI_Bcast_init", "setup", 0, 56, 2, False, NONE): (2, 112, 0, 0),
    ("MPI_Startall", _ALL, 0, 160, 2, False, NONE): (6, 960, 960, 960),
    ("MPI_Startall", _ALL, 0, 56, 2, False, NONE): (6, 336, 168, 168),
    ("MPI_Start", _ALL, 0, 160, 2, False, NONE): (2, 320, 320, 320),
    ("MPI_Waitall", "wait", 0, 0, 0, False, NONE): (6, 0, 0, 0),
    ("MPI_Wait", "wait", 0, 0, 0, False, NONE): (4, 0, 0, 0),
    ("MPI_Request_free", "other", 0, 0, 0, False, NONE): (4, 0, 0, 0),
    ("MPI_Irecv", "receive", 0, 320, 2, False, NODE): (2, 640, 0, 480),
    ("MPI_Send", "send", 0, 240, 2, False, NODE): (2, 480, 480, 0),
    ("MPI_Allreduce", _ALL, 0, 88, 2, False, NONE): (2, 176, 176, 176),
    ("MPI_Bcast", _ALL, 0, 3_000_000_000, 1, False, NONE): (2, 6_000_000_000, 6_000_000_000, 0),
    ("MPI_Init", "other", 0, 0, 0, False, NONE): (2, 0, 0, 0),
}

#: spawn.c: 2 parents, one of which sends 5 ints to the child, and a sum over both sides.
PARENTS: dict[Key, Sums] = {
    ("MPI_Comm_spawn", "communicator", 0, 0, 2, False, NONE): (2, 0, 0, 0),
    ("MPI_Send", "send", 0, 20, 3, True, "unknown"): (1, 20, 20, 0),
    ("MPI_Allreduce", _ALL, 0, 24, 3, True, NONE): (2, 48, 48, 48),
    ("MPI_Comm_disconnect", "communicator", 0, 0, 3, True, NONE): (2, 0, 0, 0),
    ("MPI_Init", "other", 0, 0, 0, False, NONE): (2, 0, 0, 0),
}
CHILD: dict[Key, Sums] = {
    ("MPI_Recv", "receive", 0, 20, 3, True, "unknown"): (1, 20, 0, 20),
    ("MPI_Allreduce", _ALL, 0, 24, 3, True, NONE): (1, 24, 24, 24),
    ("MPI_Comm_disconnect", "communicator", 0, 0, 3, True, NONE): (1, 0, 0, 0),
    ("MPI_Init", "other", 0, 0, 0, False, NONE): (1, 0, 0, 0),
}
