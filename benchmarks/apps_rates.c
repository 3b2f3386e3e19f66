/*
 * What one core does in a second, for the rooflines of apps.py, which compiles and runs it; prints
 * one JSON line.
 *
 *     apps_rates            divisions and square roots
 *     apps_rates BYTES      bytes that are read, and nothing else, of an array of so many
 *
 * Divisions and roots: vectors of arrays that stay in the first-level cache. Processors do both in a
 * unit of its own, beside sums and products and slower.
 *
 * Reading: one array from its begin to its end, in large pages where the system gives them, as the
 * apps have. A triad writes a third of its bytes; a core that only reads may be slower than that for
 * each byte, since its reads in flight are what bounds it.
 */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { COUNT = 1024, SWEEPS = 4000, REPEATS = 9, LANES = 64 };
#define LARGE_PAGE ((size_t)2 << 20)
/* At least so much is read between two looks at the clock, and so often. */
#define LEAST_BYTES 4e8
enum { READINGS = 15 };

_Alignas(64) static double a[COUNT], b[COUNT];

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((noinline)) static void divide(void)
{
    for (int i = 0; i < COUNT; i++)
        a[i] = b[i] / a[i];
}

__attribute__((noinline)) static void root(void)
{
    for (int i = 0; i < COUNT; i++)
        a[i] = sqrt(b[i]);
}

/* The best rate: what disturbs only makes it less. */
static double rate(void (*sweep)(void))
{
    double best_s = 1e30;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double begin_s = now_s();
        for (int i = 0; i < SWEEPS; i++)
            sweep();
        best_s = fmin(best_s, now_s() - begin_s);
    }
    return (double)COUNT * SWEEPS / best_s;
}

/* What was read, where the compiler must write it: else it reads once for several passes. */
static volatile double seen;

/* Sums of eight vectors side by side, so that no sum waits for the one before. */
__attribute__((noinline)) static void read_all(const double *array, size_t count)
{
    double sums[LANES] = {0};
    for (size_t i = 0; i + LANES <= count; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            sums[lane] += array[i + (size_t)lane];
    for (int lane = 1; lane < LANES; lane++)
        sums[0] += sums[lane];
    seen = sums[0];
}

static int ascending(const void *left, const void *right)
{
    const double x = *(const double *)left, y = *(const double *)right;
    return (x > y) - (x < y);
}

/* The median, as of the triad beside which it stands. */
static int print_reading(size_t bytes)
{
    double *const array = aligned_alloc(LARGE_PAGE, (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
    if (!array)
        return 1;
    madvise(array, bytes, MADV_HUGEPAGE); /* a request only */
    const size_t count = bytes / sizeof *array;
    for (size_t i = 0; i < count; i++)
        array[i] = 1;
    const int passes = 1 + (int)(LEAST_BYTES / (double)bytes);
    double rates[READINGS];
    for (int reading = 0; reading < READINGS; reading++) {
        const double begin_s = now_s();
        for (int pass = 0; pass < passes; pass++)
            read_all(array, count);
        rates[reading] = passes * (double)bytes / (now_s() - begin_s);
    }
    free(array);
    qsort(rates, READINGS, sizeof *rates, ascending);
    printf("{\"reads\": %.6g}\n", rates[READINGS / 2]);
    return seen > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return print_reading((size_t)strtoull(argv[1], NULL, 10));
    for (int i = 0; i < COUNT; i++) {
        a[i] = 1 + i / (double)COUNT;
        b[i] = 2 + i / (double)COUNT;
    }
    const double divisions = rate(divide);
    printf("{\"divisions\": %.6g, \"roots\": %.6g}\n", divisions, rate(root));
    return a[COUNT / 2] > 0 ? 0 : 1;
}
