/*
 * Noise of the system by a fixed work quantum: the same work, in registers, is timed again and
 * again; whatever lengthens it is not the program's. The method is that of the FWQ benchmark:
 * M. Sottile, R. Minnich (2004), Analysis of Microbenchmarks for Performance Tuning of Clusters,
 * doi:10.1109/CLUSTR.2004.1392636.
 *
 * Exported: bl_noise. One core, or every core at once, each thread kept on its own.
 *
 * The time that each quantum took beyond the shortest one is also put into bins of equal length:
 * their sequence shows what comes back regularly, such as a timer tick.
 */
#include "bl_clock.h"
#include "bl_error.h"
#include "bl_memory.h"
#include "bl_summary.h"
#include "cores.h"
#include "nodebench.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* A quantum's excess is put where it began: half a bin is near enough. */
enum { QUANTA_PER_BIN = 2 };

struct quanta {
    int64_t *begin_ns; /* since the start of all cores */
    double *time_s;
    size_t count;
};

struct noise {
    const struct bl_node_options *options;
    int cores;
    int64_t steps; /* of a quantum */
    size_t most;   /* quanta of a core */
    int64_t begin_ns;
    struct quanta *by_core;
};

/* A dependent chain that no compiler shortens: constants of D. E. Knuth's MMIX generator. */
#define FACTOR UINT64_C(6364136223846793005)
#define ADDEND UINT64_C(1442695040888963407)

static uint64_t work(uint64_t value, int64_t steps)
{
    for (int64_t i = 0; i < steps; i++)
        value = value * FACTOR + ADDEND;
    return value;
}

/* The same by squaring: shows that the work was done. */
static uint64_t jump(uint64_t value, uint64_t steps)
{
    uint64_t factor = FACTOR, addend = ADDEND;
    for (; steps > 0; steps >>= 1) {
        if (steps & 1)
            value = value * factor + addend;
        addend += addend * factor;
        factor *= factor;
    }
    return value;
}

static double time_of(int64_t steps)
{
    volatile uint64_t value = 1;
    const int64_t begin_ns = bl_clock_ns();
    value = work(value, steps);
    return BL_SECONDS_PER_NS * (double)(bl_clock_ns() - begin_ns);
}

/* Steps whose shortest time is about the quantum. */
static int64_t calibrate(double quantum_s)
{
    int64_t steps = 1000;
    for (;;) {
        double shortest_s = time_of(steps);
        for (int i = 0; i < 20; i++)
            shortest_s = fmin(shortest_s, time_of(steps));
        if (shortest_s > quantum_s / 4)
            return (int64_t)((double)steps * quantum_s / shortest_s) + 1;
        steps *= 2;
    }
}

static void run_core(struct noise *noise, struct quanta *quanta, int core)
{
    bl_core_pin(core);
    const int64_t length_ns = (int64_t)(noise->options->duration_s / BL_SECONDS_PER_NS);
    volatile uint64_t value = 1;
    /* Touch the pages before, not while they are measured. */
    for (size_t i = 0; i < noise->most; i++) {
        quanta->begin_ns[i] = 0;
        quanta->time_s[i] = 0;
    }
#pragma omp barrier
#pragma omp master
    noise->begin_ns = bl_clock_ns();
#pragma omp barrier
    const int64_t start_ns = noise->begin_ns;
    int64_t begin_ns = bl_clock_ns();
    size_t count = 0;
    while (begin_ns - start_ns < length_ns && count < noise->most) {
        value = work(value, noise->steps);
        const int64_t end_ns = bl_clock_ns();
        quanta->begin_ns[count] = begin_ns - start_ns;
        quanta->time_s[count] = BL_SECONDS_PER_NS * (double)(end_ns - begin_ns);
        count++;
        begin_ns = end_ns;
    }
    quanta->count = count;
    if (value != jump(1, (uint64_t)noise->steps * count))
        bl_die(BL_STATUS_WRONG, "noise computed a wrong value, do not trust this processor");
}

static double shortest(const struct quanta *quanta)
{
    double shortest_s = quanta->time_s[0];
    for (size_t i = 1; i < quanta->count; i++)
        shortest_s = fmin(shortest_s, quanta->time_s[i]);
    return shortest_s;
}

/* Adds what each quantum took beyond the shortest to the bin in which it began. */
static void add_to_bins(const struct quanta *quanta, double shortest_s, double *bins, size_t count,
                        double bin_s)
{
    for (size_t i = 0; i < quanta->count; i++) {
        const size_t bin = (size_t)(BL_SECONDS_PER_NS * (double)quanta->begin_ns[i] / bin_s);
        if (bin < count)
            bins[bin] += quanta->time_s[i] - shortest_s;
    }
}

/* Ticks that a hypervisor took, and all but idle ones, since boot and over all processors. */
static bool read_steal(long long *stolen, long long *wanted)
{
    long long user, nice, system, idle, iowait, irq, softirq;
    FILE *file = fopen("/proc/stat", "r");
    if (!file)
        return false;
    const int found = fscanf(file, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &user, &nice,
                             &system, &idle, &iowait, &irq, &softirq, stolen);
    fclose(file);
    *wanted = user + nice + system + irq + softirq + *stolen;
    return found == 8;
}

static double stolen_share(const long long before[2])
{
    long long stolen, wanted;
    if (!read_steal(&stolen, &wanted))
        bl_die(BL_STATUS_FAILED, "/proc/stat does not report stolen time, noise needs Linux");
    return wanted > before[1] ? (double)(stolen - before[0]) / (double)(wanted - before[1]) : 0;
}

static void measure(struct noise *noise)
{
    for (int core = 0; core < noise->cores; core++) {
        struct quanta *quanta = &noise->by_core[core];
        quanta->begin_ns = bl_allocate(noise->most * sizeof(int64_t), "the times of noise");
        quanta->time_s = bl_allocate(noise->most * sizeof(double), "the times of noise");
    }
#pragma omp parallel num_threads(noise->cores)
    {
#ifdef _OPENMP
        const int core = omp_get_thread_num();
#else
        const int core = 0;
#endif
        run_core(noise, &noise->by_core[core], core);
    }
}

static void report_bins(const struct noise *noise, struct bl_json *json)
{
    const double bin_s = QUANTA_PER_BIN * noise->options->quantum_s;
    const size_t count = (size_t)(noise->options->duration_s / bin_s + 0.5);
    double *bins = bl_allocate(count * sizeof *bins, "the bins of noise");
    for (size_t i = 0; i < count; i++)
        bins[i] = 0;
    for (int core = 0; core < noise->cores; core++)
        add_to_bins(&noise->by_core[core], shortest(&noise->by_core[core]), bins, count, bin_s);
    bl_json_number(json, "bin_s", bin_s);
    bl_json_open_array(json, "lost_ns");
    for (size_t i = 0; i < count; i++)
        bl_json_integer(json, NULL, (int64_t)(bins[i] / BL_SECONDS_PER_NS + 0.5));
    bl_json_close_array(json);
    free(bins);
}

/* All times of all cores in one series. */
static double *pool(const struct noise *noise, size_t *count)
{
    *count = 0;
    for (int core = 0; core < noise->cores; core++)
        *count += noise->by_core[core].count;
    double *pooled = bl_allocate(*count * sizeof *pooled, "the times of noise");
    size_t at = 0;
    for (int core = 0; core < noise->cores; core++) {
        for (size_t i = 0; i < noise->by_core[core].count; i++)
            pooled[at++] = noise->by_core[core].time_s[i];
    }
    return pooled;
}

static double lost_share(const struct quanta *quanta)
{
    double total_s = 0;
    for (size_t i = 0; i < quanta->count; i++)
        total_s += quanta->time_s[i];
    return total_s / (double)quanta->count / shortest(quanta) - 1;
}

static void report_point(const struct noise *noise, double stolen, struct bl_json *json)
{
    double most = 0, sum = 0;
    for (int core = 0; core < noise->cores; core++) {
        const double lost = lost_share(&noise->by_core[core]);
        most = fmax(most, lost);
        sum += lost;
    }
    size_t count;
    double *pooled = pool(noise, &count);
    const struct bl_summary summary = bl_summarise(pooled, count);
    free(pooled);
    bl_json_begin(json);
    bl_json_open_object(json, "point");
    bl_json_close_object(json);
    bl_json_integer(json, "iterations", (int64_t)count);
    bl_json_bool(json, "verified", true);
    bl_json_summary(json, "quantum", &summary);
    bl_json_number(json, "lost_share", sum / noise->cores);
    bl_json_number(json, "lost_share_max", most);
    bl_json_number(json, "stolen_share", stolen);
    report_bins(noise, json);
    bl_json_write(json, stdout);
}

static void add_options(struct bl_json *json, const void *data)
{
    const struct noise *noise = data;
    bl_json_string(json, "mode", bl_mode_names[noise->options->mode]);
    bl_json_number(json, "quantum_s", noise->options->quantum_s);
    bl_json_number(json, "duration_s", noise->options->duration_s);
    bl_json_integer(json, "steps", noise->steps);
}

void bl_noise(const struct bl_node_options *options)
{
    if (options->duration_s < 16 * QUANTA_PER_BIN * options->quantum_s)
        bl_die(BL_STATUS_USAGE, "--duration: %g s is too short for quanta of %g s, use %g or more",
               options->duration_s, options->quantum_s, 16 * QUANTA_PER_BIN * options->quantum_s);
    struct noise noise = {.options = options, .cores = bl_cores_of_mode(options)};
    noise.steps = calibrate(options->quantum_s);
    /* Half as many again: the shortest quantum may turn out shorter than the calibration's. */
    noise.most = (size_t)(1.5 * options->duration_s / options->quantum_s) + 1;
    noise.by_core = bl_allocate((size_t)noise.cores * sizeof *noise.by_core, "the cores of noise");
    struct bl_json json = {0};
    bl_node_report_header(&json, options, noise.cores, add_options, &noise, NULL);
    long long before[2];
    if (!read_steal(&before[0], &before[1]))
        bl_die(BL_STATUS_FAILED, "/proc/stat does not report stolen time, noise needs Linux");
    measure(&noise);
    report_point(&noise, stolen_share(before), &json);
    bl_node_report_end(&json, 1, NULL, 0);
    bl_json_free(&json);
    for (int core = 0; core < noise.cores; core++) {
        free(noise.by_core[core].begin_ns);
        free(noise.by_core[core].time_s);
    }
    free(noise.by_core);
}
