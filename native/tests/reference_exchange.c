/*
 * Exchange as IMB does it: a plain loop around a ring; two sends from places of their own, to the
 * right first, two receives into one buffer, from the left first; the slowest rank's mean.
 */
#include "reference.h"

static void exchange(const struct reference *r, int size, long calls)
{
    const int right = (r->rank + 1) % r->ranks;
    const int left = (r->rank + r->ranks - 1) % r->ranks;
    MPI_Request requests[2];
    for (long i = 0; i < calls; i++) {
        MPI_Isend(r->send, size, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(r->send + size, size, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Recv(r->receive, size, MPI_BYTE, left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(r->receive, size, MPI_BYTE, right, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static double slowest_mean(const struct reference *r, int size, long iterations, long warmup)
{
    return reference_slowest_mean(r, exchange, size, iterations, warmup);
}

int main(int argc, char **argv)
{
    return reference_main(argc, argv, slowest_mean);
}
