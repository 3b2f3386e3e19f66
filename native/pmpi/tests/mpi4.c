/*
 * Known traffic by what MPI 4 added: persistent collectives and large counts. Ends with 77 where
 * the library is older. Any number of ranks.
 */
#include <mpi.h>

#if MPI_VERSION >= 4

#define STARTS 3
/* More than an int holds; on a communicator of one process nobody reads the buffer. */
#define LARGE 3000000000

static double values[64], results[64];

static void persistent_collectives(void)
{
    MPI_Request request[2];
    MPI_Allreduce_init(values, results, 20, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request[0]);
    MPI_Bcast_init(values, 7, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
    for (int i = 0; i < STARTS; i++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Start(&request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

static void large_counts(int rank, int ranks)
{
    MPI_Request request;
    const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    MPI_Irecv_c(results, 40, MPI_DOUBLE, previous, 1, MPI_COMM_WORLD, &request);
    MPI_Send_c(values, 30, MPI_DOUBLE, next, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce_c(values, results, 11, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast_c(values, LARGE, MPI_CHAR, 0, MPI_COMM_SELF);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    persistent_collectives();
    large_counts(rank, ranks);
    MPI_Finalize();
    return 0;
}

#else

int main(void)
{
    return 77;
}

#endif
