/*
 * What of an LU factorisation is no matrix product, each part alone, on one core:
 * benchmarks/node_compute.py adds it to products at DGEMM's rate and holds the sum against Linpack.
 *
 *   reference_linpack N WIDTH
 *
 * One line on stdout, in s: factorising all panels of WIDTH columns (that of the average height
 * times their number), swapping all rows of the matrix, the triangular systems of all levels of the
 * recursion (orders N/2, N/4, ... down to WIDTH), and the two triangular solutions.
 */
#define _POSIX_C_SOURCE 200809L
#include "reference_timing.h"

#include <stdio.h>
#include <stdlib.h>

extern void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info);
extern void dlaswp_(const int *columns, double *a, const int *lda, const int *first,
                    const int *last, const int *pivots, const int *step);
extern void dgetrs_(const char *transpose, const int *n, const int *columns, const double *a,
                    const int *lda, const int *pivots, double *b, const int *ldb, int *info,
                    unsigned long transpose_length);
extern void dtrsm_(const char *side, const char *triangle, const char *transpose,
                   const char *diagonal, const int *m, const int *n, const double *alpha,
                   const double *a, const int *lda, double *b, const int *ldb, unsigned long,
                   unsigned long, unsigned long, unsigned long);
#pragma weak openblas_set_num_threads
extern void openblas_set_num_threads(int threads);

enum { REPEATS = 5 };

struct parts {
    int n, width;
    int order; /* of the triangular system */
    double *a, *b;
    int *pivots;
};

/* Little beside the diagonal: solutions stay finite. Rows are swapped with later ones at random. */
static void fill(const struct parts *p)
{
    unsigned long state = 1;
    for (int j = 0; j < p->n; j++) {
        for (int i = 0; i < p->n; i++) {
            state = state * 6364136223846793005UL + 1442695040888963407UL;
            p->a[(size_t)j * (size_t)p->n + (size_t)i] =
                ((double)(state >> 11) * 0x1p-53 - 0.5) / p->n + (i == j ? 1 : 0);
        }
        p->b[j] = 1;
        p->pivots[j] = j + 1 + (int)((state >> 20) % (unsigned long)(p->n - j));
    }
}

static void factorise_panel(const struct parts *p)
{
    const int rows = p->n / 2;
    int info;
    dgetrf_(&rows, &p->width, p->a, &p->n, p->pivots, &info);
}

static void swap_rows(const struct parts *p)
{
    const int one = 1;
    dlaswp_(&p->n, p->a, &p->n, &one, &p->n, p->pivots, &one);
}

/* The block above and right of the middle, under the triangle at the left. */
static void solve_block(const struct parts *p)
{
    const double one = 1;
    const int m = p->order;
    dtrsm_("L", "L", "N", "U", &m, &m, &one, p->a, &p->n, p->a + (size_t)m * (size_t)p->n, &p->n, 1,
           1, 1, 1);
}

static void solve(const struct parts *p)
{
    const int one = 1;
    int info;
    dgetrs_("N", &p->n, &one, p->a, &p->n, p->pivots, p->b, &p->n, &info, 1);
}

static double median_time(void (*part)(const struct parts *), const struct parts *p)
{
    double time_s[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        fill(p);
        const double begin_s = now_s();
        part(p);
        time_s[i] = now_s() - begin_s;
    }
    qsort(time_s, REPEATS, sizeof *time_s, ascending);
    return time_s[REPEATS / 2];
}

int main(int argc, char **argv)
{
    struct parts p = {argc > 1 ? atoi(argv[1]) : 0, argc > 2 ? atoi(argv[2]) : 0, 0, 0, 0, 0};
    if (p.n < 2 || p.width < 1 || p.width > p.n / 2) {
        fprintf(stderr, "usage: reference_linpack N WIDTH\n");
        return 2;
    }
    p.a = malloc((size_t)p.n * (size_t)p.n * sizeof *p.a);
    p.b = malloc((size_t)p.n * sizeof *p.b);
    p.pivots = malloc((size_t)p.n * sizeof *p.pivots);
    if (!p.a || !p.b || !p.pivots)
        return 1;
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    const double panels_s = (double)p.n / p.width * median_time(factorise_panel, &p);
    const double swaps_s = median_time(swap_rows, &p);
    double blocks_s = 0;
    for (p.order = p.n / 2; p.order >= p.width; p.order /= 2)
        blocks_s += (double)p.n / (2 * p.order) * median_time(solve_block, &p);
    printf("%.9g %.9g %.9g %.9g\n", panels_s, swaps_s, blocks_s, median_time(solve, &p));
    free(p.a);
    free(p.b);
    free(p.pivots);
    return 0;
}
