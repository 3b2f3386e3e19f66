/*
 * Divisions and square roots that one core does in a second, in vectors, of arrays that stay in its
 * first-level cache. Processors do both in a unit of its own, beside sums and products and slower.
 * Compiled and run by apps.py; prints one JSON line.
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

enum { COUNT = 1024, SWEEPS = 4000, REPEATS = 9 };

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

int main(void)
{
    for (int i = 0; i < COUNT; i++) {
        a[i] = 1 + i / (double)COUNT;
        b[i] = 2 + i / (double)COUNT;
    }
    const double divisions = rate(divide);
    printf("{\"divisions\": %.6g, \"roots\": %.6g}\n", divisions, rate(root));
    return a[COUNT / 2] > 0 ? 0 : 1;
}
