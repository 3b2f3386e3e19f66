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
    shift(r, size, warmup);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    shift(r, size, iterations);
    double mean = (MPI_Wtime() - begin) / (double)iterations, slowest;
    MPI_Allreduce(&mean, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

int main(int argc, char **argv)
{
    struct reference r = reference_open(argc, argv);
    for (long size = r.min_bytes; size <= r.max_bytes; size *= 2)
        reference_print(&r, size,
                        slowest_mean(&r, (int)size, reference_iterations(&r, size),
                                     reference_warmup(&r, size)));
    return reference_close(&r);
}
