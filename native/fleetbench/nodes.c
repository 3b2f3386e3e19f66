/*
 * What a node computes and streams on all of its cores, all nodes at once: they share neither.
 *
 * Rates are those of the whole time and not of its best moment: what is wrong with a node (a limit
 * of power, a hot socket, a foreign program) shows in what it sustains. The vectors are a = b + q
 * c, 24 bytes an element, as in triad of J. D. McCalpin (1995), Memory Bandwidth and Machine
 * Balance in Current High Performance Computers.
 */
#include "bl_clock.h"
#include "bl_error.h"
#include "bl_memory.h"
#include "bl_peak.h"
#include "check.h"
#include "fleetbench.h"

#include <math.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#define FACTOR 3.0

static int count_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1; /* refused before */
#endif
}

static int this_thread(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

static double since_s(int64_t begin_ns)
{
    return BL_SECONDS_PER_NS * (double)(bl_clock_ns() - begin_ns);
}

/* Rounds that take about 1 ms, counted on this thread. */
static double compute(const struct bl_peak_kernel *kernel, double duration_s)
{
    volatile double factor = 1 - 1e-9, addend = 1e-9, used = 0;
    const double a = factor, b = addend;
    int64_t rounds = 1000;
    for (double time_s = 0; time_s < 5e-4; rounds *= 2) {
        const int64_t begin_ns = bl_clock_ns();
        used = kernel->run(rounds, a, b);
        time_s = since_s(begin_ns);
    }
    double done = 0, time_s = 0;
    const int64_t begin_ns = bl_clock_ns();
    while (time_s < duration_s) {
        used = kernel->run(rounds, a, b);
        done += (double)rounds;
        time_s = since_s(begin_ns);
    }
    if (!isfinite(used))
        bl_die(BL_STATUS_WRONG, "arithmetic gave %g, replace this node's processor", used);
    return done * kernel->round_flops / time_s;
}

static double processor_rate(const struct bl_fleet_options *options)
{
    const struct bl_peak_kernel *kernels;
    const struct bl_peak_kernel *kernel = NULL;
    const int count = bl_peak_kernels(&kernels);
    kernel = &kernels[count - 1];
    double rate = 0;
#pragma omp parallel reduction(+ : rate)
    rate = compute(kernel, options->duration_s);
    return rate;
}

struct vectors {
    double *a, *b, *c;
    size_t count; /* of a thread's part */
};

static double stream(const struct vectors *all, int thread, double duration_s)
{
    const size_t first = all->count * (size_t)thread, count = all->count;
    double *restrict a = all->a + first;
    const double *restrict b = all->b + first;
    const double *restrict c = all->c + first;
    double passes = 0, time_s = 0;
    const int64_t begin_ns = bl_clock_ns();
    while (time_s < duration_s) {
        for (size_t i = 0; i < count; i++)
            a[i] = b[i] + FACTOR * c[i];
        passes++;
        time_s = since_s(begin_ns);
    }
    return passes * 24.0 * (double)count / time_s;
}

static double memory_rate(const struct bl_fleet_options *options)
{
    const int threads = count_threads();
    const size_t count = options->array_bytes / sizeof(double) / (size_t)threads;
    const size_t bytes = count * (size_t)threads * sizeof(double);
    struct vectors all = {bl_allocate(bytes, "the first array"),
                          bl_allocate(bytes, "the second array"),
                          bl_allocate(bytes, "the third array"), count};
    double rate = 0;
#pragma omp parallel reduction(+ : rate)
    {
        const size_t first = count * (size_t)this_thread();
        for (size_t i = first; i < first + count; i++) {
            all.a[i] = 0; /* touched by the thread that uses it: near its core */
            all.b[i] = (double)(i % 1024);
            all.c[i] = 1.0;
        }
#pragma omp barrier
        rate = stream(&all, this_thread(), options->duration_s);
    }
    for (size_t i = 0; i < count * (size_t)threads; i += 1 + count / 64) {
        if (all.a[i] != (double)(i % 1024) + FACTOR)
            bl_die(BL_STATUS_WRONG, "element %zu is %g, replace this node's memory", i, all.a[i]);
    }
    free(all.a);
    free(all.b);
    free(all.c);
    return rate;
}

long bl_fleet_nodes(const struct bl_fleet_options *options, const struct bl_world *world)
{
#ifndef _OPENMP
    bl_die(BL_STATUS_USAGE,
           "this program was built without OpenMP, and would use one core of each node, build with "
           "a compiler that has OpenMP (clang: libomp)");
#endif
    BL_MPI(MPI_Barrier(MPI_COMM_WORLD));
    const double rate =
        options->what == BL_FLEET_PROCESSOR ? processor_rate(options) : memory_rate(options);
    double *rates = NULL;
    if (world->rank == 0)
        rates = bl_allocate((size_t)world->ranks * sizeof *rates, "the rates");
    BL_MPI(MPI_Gather(&rate, 1, MPI_DOUBLE, rates, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    struct bl_json json = {0};
    for (int i = 0; world->rank == 0 && i < world->ranks; i++) {
        bl_json_begin(&json);
        bl_json_open_object(&json, "point");
        bl_json_integer(&json, "rank", i);
        bl_json_close_object(&json);
        bl_json_bool(&json, "verified", true);
        bl_json_number(&json, "rate", rates[i]);
        bl_json_write(&json, stdout);
    }
    bl_json_free(&json);
    free(rates);
    return world->ranks;
}
