/*
 * A plain loop around cblas_dgemm, which shares no measuring code with nodebench:
 * benchmarks/node_compute.py holds nodebench's rates against its.
 *
 *   reference_dgemm N REPEAT
 *
 * One line on stdout: the median rate (flop/s) of one core, and the rate of the whole loop.
 */
#define _POSIX_C_SOURCE 200809L
#include "reference_timing.h"

#include <stdio.h>
#include <stdlib.h>

extern void cblas_dgemm(int layout, int transpose_a, int transpose_b, int m, int n, int k,
                        double alpha, const double *a, int lda, const double *b, int ldb,
                        double beta, double *c, int ldc);
#pragma weak openblas_set_num_threads
extern void openblas_set_num_threads(int threads);

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 0, repeats = argc > 2 ? atoi(argv[2]) : 0;
    if (n < 1 || repeats < 1) {
        fprintf(stderr, "usage: reference_dgemm N REPEAT\n");
        return 2;
    }
    const size_t count = (size_t)n * (size_t)n;
    double *a = malloc(3 * count * sizeof *a), *b = a + count, *c = b + count;
    double *time_s = malloc((size_t)repeats * sizeof *time_s);
    if (!a || !time_s)
        return 1;
    for (size_t i = 0; i < 3 * count; i++)
        a[i] = (double)(i % 1009) / 1009 - 0.5;
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    cblas_dgemm(101, 111, 111, n, n, n, 1, a, n, b, n, 0, c, n);
    const double begin_s = now_s();
    for (int i = 0; i < repeats; i++) {
        const double start_s = now_s();
        cblas_dgemm(101, 111, 111, n, n, n, 1, a, n, b, n, 0, c, n);
        time_s[i] = now_s() - start_s;
    }
    const double loop_s = (now_s() - begin_s) / repeats;
    qsort(time_s, (size_t)repeats, sizeof *time_s, ascending);
    const double median_s = (time_s[(repeats - 1) / 2] + time_s[repeats / 2]) / 2;
    const double flops = 2.0 * n * n * n;
    printf("%.9g %.9g\n", flops / median_s, flops / loop_s);
    free(a);
    free(time_s);
    return 0;
}
