/* Sendrecv as IMB does it: a plain loop around a ring; the slowest rank's mean. */
#include "reference.h"

static void shift(const struct reference *r, int size, long calls)
{
    const int right = (r->rank + 1) % r->ranks;
    const int left = (r->rank + r->ranks - 1) % r->ranks;
    for (long i = 0; i < calls; i++)
        MPI_Sendrecv(r->send, size, MPI_CHAR, right, 1, r->receive, size, MPI_CHAR, left, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double slowest_mean(const struct reference *r, int size, long iterations, long warmup)
{
    return reference_slowest_mean(r, shift, size, iterations, warmup);
}

int main(int argc, char **argv)
{
    return reference_main(argc, argv, slowest_mean);
}
