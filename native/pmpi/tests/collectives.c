/*
 * Every collective once, with MPI_IN_PLACE where it has a meaning, on 4 ranks; then those of a ring
 * topology and of an inter-communicator. What the profile must hold: tests/profile/planted.py.
 */
#include <mpi.h>
#include <string.h>

static int rank;
static int from[400], to[400];
static const int counts[4] = {1, 2, 3, 4};
static const int places[4] = {0, 10, 20, 30};

static void rooted(MPI_Comm comm)
{
    MPI_Reduce(from, to, 5, MPI_INT, MPI_SUM, 3, comm);
    MPI_Reduce(rank == 3 ? MPI_IN_PLACE : (void *)from, to, 6, MPI_INT, MPI_SUM, 3, comm);
    if (rank == 2)
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 7, MPI_INT, 2, comm);
    else
        MPI_Gather(from, 7, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, 2, comm);
    MPI_Gatherv(from, counts[rank], MPI_INT, to, counts, places, MPI_INT, 0, comm);
    if (rank == 1)
        MPI_Scatter(from, 9, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 1, comm);
    else
        MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, to, 9, MPI_INT, 1, comm);
    MPI_Scatterv(from, counts, places, MPI_INT, to, counts[rank], MPI_INT, 0, comm);
}

static void all_to_all(MPI_Comm comm)
{
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    const int one_each[4] = {1, 1, 1, 1};
    int bytes[4] = {0, 4, 8, 12};
    MPI_Allgather(from, 3, MPI_INT, to, 3, MPI_INT, comm);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 4, MPI_INT, comm);
    MPI_Allgatherv(from, counts[rank], MPI_INT, to, counts, places, MPI_INT, comm);
    MPI_Alltoall(from, 5, MPI_INT, to, 5, MPI_INT, comm);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 6, MPI_INT, comm);
    MPI_Alltoallw(from, one_each, bytes, types, to, one_each, bytes, types, comm);
    MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, comm);
    MPI_Reduce_scatter_block(from, to, 2, MPI_INT, MPI_SUM, comm);
    MPI_Scan(from, to, 8, MPI_INT, MPI_SUM, comm);
    MPI_Exscan(from, to, 9, MPI_INT, MPI_SUM, comm);
}

static void ring(void)
{
    MPI_Comm comm;
    int size = 4;
    int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comm);
    MPI_Neighbor_allgather(from, 3, MPI_INT, to, 3, MPI_INT, comm);
    MPI_Neighbor_alltoall(from, 4, MPI_INT, to, 4, MPI_INT, comm);
    MPI_Comm_free(&comm);
}

/* Ranks 0 and 1 on one side, 2 and 3 on the other. */
static void two_sides(void)
{
    MPI_Comm half, between;
    const int root = rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 1, &between);
    MPI_Bcast(from, 21, MPI_INT, root, between);
    MPI_Gather(from, 22, MPI_INT, to, 22, MPI_INT, root, between);
    MPI_Allgather(from, 23, MPI_INT, to, 23, MPI_INT, between);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    rooted(MPI_COMM_WORLD);
    all_to_all(MPI_COMM_WORLD);
    ring();
    two_sides();
    MPI_Finalize();
    return 0;
}
