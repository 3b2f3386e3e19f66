/*
 * Known traffic, in C. planted.F90 asks for exactly the same in Fortran; what the profile must hold
 * is written down once, in tests/profile/planted.py. Wants 4 ranks and a file to write as argument.
 */
#include <mpi.h>
#include <stddef.h>

static int rank, ranks, next, previous;
static double values[1000], results[1000];
static int numbers[1000], others[1000];

static void whole_world(void)
{
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(values, results, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        MPI_Allreduce(MPI_IN_PLACE, numbers, 50, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Gather(numbers, 8, MPI_INT, others, 8, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank r sends r + 1 numbers to everybody. */
static void vectors(void)
{
    int send_counts[4], receive_counts[4], send_at[4], receive_at[4];
    for (int i = 0; i < 4; i++) {
        send_counts[i] = rank + 1;
        receive_counts[i] = i + 1;
        send_at[i] = i * (rank + 1);
        receive_at[i] = i * 10;
    }
    MPI_Alltoallv(numbers, send_counts, send_at, MPI_INT, others, receive_counts, receive_at,
                  MPI_INT, MPI_COMM_WORLD);
}

static void point_to_point(void)
{
    if (rank == 0)
        for (int i = 0; i < 2; i++)
            MPI_Send(numbers, 10, MPI_INT, 1, 3, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Status status;
        MPI_Recv(others, 100, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(others, 100, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG != 3 || status.MPI_SOURCE != 0)
            MPI_Abort(MPI_COMM_WORLD, 9);
    }
    for (int i = 0; i < 2; i++)
        MPI_Sendrecv(values, 25, MPI_DOUBLE, next, 4, results, 40, MPI_DOUBLE, previous, 4,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(values, 5, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static void requests(void)
{
    MPI_Request request[2];
    MPI_Status status;
    int index, flag = 0;
    for (int i = 0; i < 4; i++) {
        MPI_Irecv(results, 60, MPI_DOUBLE, previous, 5, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(values, 30, MPI_DOUBLE, next, 5, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Irecv(others, 7, MPI_INT, previous, 6, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(numbers, 7, MPI_INT, next, 6, MPI_COMM_WORLD, &request[1]);
    MPI_Waitany(2, request, &index, &status);
    MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
    MPI_Ibarrier(MPI_COMM_WORLD, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Iallreduce(values, results, 20, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request[0]);
    while (!flag)
        MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    MPI_Request request[2];
    MPI_Recv_init(results, 12, MPI_DOUBLE, previous, 7, MPI_COMM_WORLD, &request[0]);
    MPI_Send_init(values, 12, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &request[1]);
    for (int i = 0; i < 5; i++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Start(&request[0]);
    MPI_Start(&request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

/* Even and odd ranks, then an inter-communicator between them. */
static void communicators(void)
{
    MPI_Comm half, between;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int i = 0; i < 3; i++)
        MPI_Bcast(values, 8, MPI_DOUBLE, 0, half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 8, &between);
    if (rank % 2 == 0)
        MPI_Send(numbers, 9, MPI_INT, rank / 2, 9, between);
    else
        MPI_Recv(others, 9, MPI_INT, rank / 2, 9, between, MPI_STATUS_IGNORE);
    MPI_Allreduce(numbers, others, 6, MPI_INT, MPI_SUM, between);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/* 3 blocks of 2 numbers each, 5 apart: 48 B of data that span 96 B. */
static void derived_type(void)
{
    MPI_Datatype gaps;
    MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Sendrecv(values, 2, gaps, next, 10, results, 2, gaps, previous, 10, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&gaps);
}

static void one_sided(void)
{
    MPI_Win window;
    MPI_Win_create(results, sizeof results, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(values, 5, MPI_DOUBLE, next, 0, 5, MPI_DOUBLE, window);
    MPI_Accumulate(values, 3, MPI_DOUBLE, next, 100, 3, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_fence(0, window);
    MPI_Get(values, 6, MPI_DOUBLE, previous, 200, 6, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void file(const char *name)
{
    MPI_File handle;
    MPI_Status status;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &handle);
    MPI_File_write_at_all(handle, (MPI_Offset)rank * 64, numbers, 16, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(handle);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(handle);
    MPI_File_read_at(handle, (MPI_Offset)rank * 64, others, 16, MPI_INT, &status);
    MPI_File_close(&handle);
}

static void regions(void)
{
    MPI_Pcontrol(5);
    MPI_Bcast(numbers, 11, MPI_INT, 2, MPI_COMM_WORLD);
    MPI_Pcontrol(-5);
    MPI_Pcontrol(0);
    MPI_Bcast(numbers, 13, MPI_INT, 2, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    MPI_Bcast(numbers, 17, MPI_INT, 2, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 4 || argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    next = (rank + 1) % ranks;
    previous = (rank + ranks - 1) % ranks;
    whole_world();
    vectors();
    point_to_point();
    requests();
    persistent();
    communicators();
    derived_type();
    one_sided();
    file(argv[1]);
    regions();
    MPI_Finalize();
    return 0;
}
