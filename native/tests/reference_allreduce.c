/*
 * Allreduce of doubles in two styles:
 *   osu   each call is timed, a barrier follows it; mean over calls and ranks
 *   imb   a plain loop; mean over calls and ranks
 */
#include "reference.h"

static void reduce(const struct reference *r, int count)
{
    MPI_Allreduce(r->send, r->receive, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static double timed_calls(const struct reference *r, int count, long iterations, long warmup)
{
    double spent = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < iterations + warmup; i++) {
        const double begin = MPI_Wtime();
        reduce(r, count);
        const double end = MPI_Wtime();
        if (i >= warmup)
            spent += end - begin;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return spent / (double)iterations;
}

static double plain_loop(const struct reference *r, int count, long iterations, long warmup)
{
    for (long i = 0; i < warmup; i++)
        reduce(r, count);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long i = 0; i < iterations; i++)
        reduce(r, count);
    return (MPI_Wtime() - begin) / (double)iterations;
}

int main(int argc, char **argv)
{
    struct reference r = reference_open(argc, argv);
    const int osu = strcmp(r.style, "osu") == 0;
    /* Numbers of no account to the arithmetic: no denormals, no overflow. */
    memset(r.send, 0, (size_t)r.max_bytes);
    for (long size = r.min_bytes; size <= r.max_bytes; size *= 2) {
        const int count = (int)(size / (long)sizeof(double));
        double mean = (osu ? timed_calls : plain_loop)(&r, count, reference_iterations(&r, size),
                                                       reference_warmup(&r, size));
        double sum;
        MPI_Allreduce(&mean, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        reference_print(&r, size, sum / r.ranks);
    }
    return reference_close(&r);
}
