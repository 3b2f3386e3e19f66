/*
 * What the network costs the processor: fixed code right after a message and after itself, and a
 * short MPI_Allreduce after much memory was read.
 *
 * Exported: bl_beside. Its functions are collective over op->comm.
 *
 * A kernel that sends and receives takes the processor's caches of instructions and what it
 * learned of branches; arrays stay in the next cache, and reading them in order hides the way
 * there. So the code is long, has no loop, and branches by what it reads. Both its times are taken
 * by turns, so that they share what the machine does meanwhile.
 */
#include "bl_clock.h"
#include "bl_error.h"
#include "bl_memory.h"
#include "bl_summary.h"
#include "check.h"
#include "engine.h"
#include "families.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 5, MESSAGE_BYTES = 1024 };
enum { CODE_DOUBLES = 1024, BLOCK_DOUBLES = (64 << 10) / sizeof(double), TRIALS = 3 };
enum { STREAM_DOUBLES = (24 << 20) / sizeof(double) };
enum series { BETWEEN, ALONE, WARM, COLD, SERIES };

static const double stream_s = 100e-6;

struct memory {
    double *code, *stream;
    long at; /* in the stream */
    volatile double result;
    char send[MESSAGE_BYTES], receive[MESSAGE_BYTES];
};

static double seconds_since(int64_t begin_ns)
{
    return BL_SECONDS_PER_NS * (double)(bl_clock_ns() - begin_ns);
}

/* A step of the code, its own instructions and its own branch. Which way that goes differs from
 * step to step and never changes: a processor that ran the code just now knows it. */
#define STEP(k)                                                                                    \
    sum += values[389 * (k) % CODE_DOUBLES];                                                       \
    if (values[211 * (k) % CODE_DOUBLES] < 0.5)                                                    \
        values[CODE_DOUBLES + 677 * (k) % CODE_DOUBLES] = sum;                                     \
    else                                                                                           \
        sum *= 0.5;
#define STEPS_4(k) STEP(k) STEP((k) + 1) STEP((k) + 2) STEP((k) + 3)
#define STEPS_16(k) STEPS_4(k) STEPS_4((k) + 4) STEPS_4((k) + 8) STEPS_4((k) + 12)
#define STEPS_64(k) STEPS_16(k) STEPS_16((k) + 16) STEPS_16((k) + 32) STEPS_16((k) + 48)
#define STEPS_256(k) STEPS_64(k) STEPS_64((k) + 64) STEPS_64((k) + 128) STEPS_64((k) + 192)

static double code_s(struct memory *memory)
{
    double *const values = memory->code;
    double sum = 0;
    const int64_t begin_ns = bl_clock_ns();
    STEPS_256(0);
    STEPS_256(256);
    memory->result = sum;
    return seconds_since(begin_ns);
}

/* Half of them 1, in no order. */
static void fill(double *values)
{
    uint32_t drawn = 1;
    for (long i = 0; i < 2 * CODE_DOUBLES; i++) {
        drawn = drawn * 1664525 + 1013904223;
        values[i] = drawn >> 31;
    }
}

static void stream(struct memory *memory)
{
    const int64_t begin_ns = bl_clock_ns();
    while (seconds_since(begin_ns) < stream_s) {
        double *const block = memory->stream + memory->at;
        for (long i = 0; i < BLOCK_DOUBLES; i++)
            block[i] = 0.5 * block[i] + 1.0;
        memory->result = block[BLOCK_DOUBLES / 2];
        memory->at = (memory->at + BLOCK_DOUBLES) % STREAM_DOUBLES;
    }
}

static void exchange(struct bl_operation *op, struct memory *memory)
{
    BL_MPI(MPI_Sendrecv(memory->send, MESSAGE_BYTES, MPI_CHAR, op->right, TAG, memory->receive,
                        MESSAGE_BYTES, MPI_CHAR, op->left, TAG, op->comm, MPI_STATUS_IGNORE));
}

static double sum_s(struct bl_operation *op)
{
    const double one = 1;
    double sum = 0;
    const int64_t begin_ns = bl_clock_ns();
    BL_MPI(MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, op->comm));
    const double taken_s = seconds_since(begin_ns);
    if (sum != op->ranks)
        bl_die(BL_STATUS_WRONG, "%s added %d ones up to %g, do not trust this MPI library",
               op->benchmark->name, op->ranks, sum);
    return taken_s;
}

static void measure(struct bl_operation *op, struct memory *memory, double *times_s[SERIES], long i)
{
    for (int warm = 0; warm < 3; warm++) /* what the stream emptied */
        code_s(memory);
    exchange(op, memory);
    times_s[BETWEEN][i] = code_s(memory);
    times_s[ALONE][i] = code_s(memory);
    sum_s(op);
    times_s[WARM][i] = sum_s(op);
    stream(memory);
    times_s[COLD][i] = sum_s(op);
}

/* Of the code the mean over ranks; of a sum what the rank that came last spent, which did not
 * wait. */
static void over_ranks(struct bl_operation *op, double *times_s[SERIES], long iterations)
{
    for (int which = 0; which < SERIES; which++) {
        const bool code = which == BETWEEN || which == ALONE;
        const void *mine = op->rank == 0 ? MPI_IN_PLACE : times_s[which];
        BL_MPI(MPI_Reduce(mine, times_s[which], (int)iterations, MPI_DOUBLE,
                          code ? MPI_SUM : MPI_MIN, 0, op->comm));
        for (long i = 0; code && i < iterations; i++)
            times_s[which][i] /= op->ranks;
    }
}

static void report(struct bl_json *json, const struct bl_effort *effort, double *times_s[SERIES],
                   long iterations)
{
    static const char *const names[SERIES] = {"between", "alone", "allreduce", "allreduce_cold"};
    bl_json_integer(json, "iterations", iterations);
    bl_json_integer(json, "iterations_asked", effort->iterations);
    bl_json_bool(json, "verified", true);
    for (int which = 0; which < SERIES; which++) {
        const struct bl_summary summary = bl_summarise(times_s[which], (size_t)iterations);
        bl_json_summary(json, names[which], &summary);
    }
}

static const char *point_beside(struct bl_operation *op, struct bl_json *json)
{
    const struct bl_effort effort = bl_effort_of(op);
    struct memory memory = {.at = 0};
    memory.code = bl_allocate(2 * CODE_DOUBLES * sizeof(double), "the code's memory");
    memory.stream = bl_allocate(STREAM_DOUBLES * sizeof(double), "the stream's memory");
    fill(memory.code);
    memset(memory.stream, 0, STREAM_DOUBLES * sizeof(double));
    double *times_s[SERIES];
    for (int which = 0; which < SERIES; which++)
        times_s[which] = bl_allocate((size_t)effort.iterations * sizeof(double), "the times");
    double each_s = INFINITY; /* one alone may have been held up */
    for (int i = 0; i < TRIALS; i++) {
        const int64_t begin_ns = bl_clock_ns();
        measure(op, &memory, times_s, 0);
        each_s = fmin(each_s, seconds_since(begin_ns));
    }
    BL_MPI(MPI_Allreduce(MPI_IN_PLACE, &each_s, 1, MPI_DOUBLE, MPI_MAX, op->comm));
    const long iterations = (long)fmin((double)effort.iterations, effort.budget_s / each_s);
    const bool cut = iterations < BL_ITERATIONS_MIN;
    for (long i = 0; i < iterations && !cut; i++)
        measure(op, &memory, times_s, i);
    if (!cut) {
        over_ranks(op, times_s, iterations);
        if (op->rank == 0)
            report(json, &effort, times_s, iterations);
    }
    free(memory.code);
    free(memory.stream);
    for (int which = 0; which < SERIES; which++)
        free(times_s[which]);
    return cut ? bl_cut_reason(&effort, each_s) : NULL;
}

const struct bl_benchmark bl_beside[] = {
    {
        .name = "beside_compute",
        .title = "code without loops after a message and after itself, all ranks together",
        .element = BL_NO_SIZE,
        .iterations = {.small = 500, .large = 500},
        .team = BL_TEAM_ALL,
        .ranks_min = 2,
        .point = point_beside,
    },
    {0},
};
