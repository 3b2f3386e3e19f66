/*
 * Command line and output of the reference loops: plain programs in the manner of OSU's and Intel's
 * benchmarks, without measuring code of mpibench. benchmarks/loop_agreement.py compares the loop
 * means of mpibench with the results of these programs.
 *
 *   reference_X MIN MAX SMALL LARGE WARMUP_SMALL WARMUP_LARGE [STYLE]
 *
 * Sizes are powers of two in bytes; LARGE applies above 8192 B. The program prints a line for each
 * size on stdout: the size and the result (s, or B/s).
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reference {
    long min_bytes, max_bytes, small, large, warmup_small, warmup_large;
    const char *style;
    int rank, ranks;
    char *send, *receive;
    int *counts; /* one for every rank */
};

/*
 * Starts MPI, reads the command line, and gives buffers for two messages, or one for every rank, of
 * MAX bytes each. They hold zeros, which no sum makes large or denormal, and are touched.
 */
static inline struct reference reference_open(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc < 7) {
        fprintf(stderr, "usage: %s MIN MAX SMALL LARGE WARMUP_SMALL WARMUP_LARGE [STYLE]\n",
                argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    struct reference r = {
        .min_bytes = atol(argv[1]),
        .max_bytes = atol(argv[2]),
        .small = atol(argv[3]),
        .large = atol(argv[4]),
        .warmup_small = atol(argv[5]),
        .warmup_large = atol(argv[6]),
        .style = argc > 7 ? argv[7] : "",
    };
    MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r.ranks);
    const size_t length = (size_t)r.max_bytes * (size_t)(r.ranks > 2 ? r.ranks : 2) + 4096;
    void *buffers[2];
    for (int i = 0; i < 2; i++) {
        if (posix_memalign(&buffers[i], 4096, length))
            MPI_Abort(MPI_COMM_WORLD, 1);
        memset(buffers[i], 0, length);
    }
    r.counts = malloc((size_t)r.ranks * sizeof *r.counts);
    if (!r.counts)
        MPI_Abort(MPI_COMM_WORLD, 1);
    r.send = buffers[0];
    r.receive = buffers[1];
    return r;
}

static inline long reference_iterations(const struct reference *r, long size_bytes)
{
    return size_bytes > 8192 ? r->large : r->small;
}

static inline long reference_warmup(const struct reference *r, long size_bytes)
{
    return size_bytes > 8192 ? r->warmup_large : r->warmup_small;
}

static inline void reference_print(const struct reference *r, long size_bytes, double figure)
{
    if (r->rank == 0) {
        printf("%ld %.9g\n", size_bytes, figure);
        fflush(stdout);
    }
}

/* A way to measure: gives the figure of one size, after WARMUP calls that do not count. */
typedef double reference_measure(const struct reference *r, int size_bytes, long iterations,
                                 long warmup);

/* A loop of calls, for a mean over all of them. */
typedef void reference_loop(const struct reference *r, int size_bytes, long calls);

/* The mean time of a loop's calls on the slowest rank, which is IMB's t_max. */
static inline double reference_slowest_mean(const struct reference *r, reference_loop *loop,
                                            int size_bytes, long iterations, long warmup)
{
    loop(r, size_bytes, warmup);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    loop(r, size_bytes, iterations);
    double mean = (MPI_Wtime() - begin) / (double)iterations, slowest;
    MPI_Allreduce(&mean, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static inline int reference_close(struct reference *r)
{
    free(r->send);
    free(r->receive);
    free(r->counts);
    MPI_Finalize();
    return 0;
}

/* The whole of a program that measures every size in the same way. */
static inline int reference_main(int argc, char **argv, reference_measure *measure)
{
    struct reference r = reference_open(argc, argv);
    for (long size = r.min_bytes; size <= r.max_bytes; size *= 2)
        reference_print(
            &r, size,
            measure(&r, (int)size, reference_iterations(&r, size), reference_warmup(&r, size)));
    return reference_close(&r);
}

#endif
