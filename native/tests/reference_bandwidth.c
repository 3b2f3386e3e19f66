/* Bandwidth as osu_bw does it: windows of 64 messages, each answered with a short one. */
#include "reference.h"

enum { WINDOW = 64 };

static double bandwidth(const struct reference *r, int size, long iterations, long warmup)
{
    MPI_Request requests[WINDOW];
    double begin = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < iterations + warmup; i++) {
        if (i == warmup)
            begin = MPI_Wtime();
        if (r->rank == 0) {
            for (int j = 0; j < WINDOW; j++)
                MPI_Isend(r->send, size, MPI_CHAR, 1, 100, MPI_COMM_WORLD, &requests[j]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            MPI_Recv(r->receive, 4, MPI_CHAR, 1, 101, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            for (int j = 0; j < WINDOW; j++)
                MPI_Irecv(r->receive, size, MPI_CHAR, 0, 100, MPI_COMM_WORLD, &requests[j]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            MPI_Send(r->send, 4, MPI_CHAR, 0, 101, MPI_COMM_WORLD);
        }
    }
    return (double)size * WINDOW * (double)iterations / (MPI_Wtime() - begin);
}

int main(int argc, char **argv)
{
    return reference_main(argc, argv, bandwidth);
}
