/*
 * Command line and output of the reference loops: plain programs in the manner of OSU's and Intel's
 * benchmarks, which share no measuring code with mpibench. benchmarks/loop_agreement.py holds
 * mpibench's loop means against theirs.
 *
 *   reference_X MIN MAX SMALL LARGE WARMUP_SMALL WARMUP_LARGE [STYLE]
 *
 * Sizes are powers of two in bytes; LARGE holds above 8192 B. One line a size on stdout: the size
 * and the figure (s, or B/s).
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

static inline int reference_close(struct reference *r)
{
    free(r->send);
    free(r->receive);
    free(r->counts);
    MPI_Finalize();
    return 0;
}

#endif
