/* See overlap.h. */
#include "overlap.h"

#include "bl_clock.h"
#include "bl_summary.h"
#include "check.h"
#include "engine.h"

#include <math.h>
#include <stdio.h>

/* What is measured at a point, in this order. */
enum part { COMMUNICATION, COMPUTATION, TOTAL, PARTS };

struct computation {
    long steps;
    int test_calls;
    volatile double result; /* keeps the compiler from dropping the steps */
};

/* Each step needs the one before it: it lasts the same on every occasion and needs no memory. */
static void compute(struct computation *computation, long steps)
{
    double x = computation->result;
    for (long i = 0; i < steps; i++)
        x = 0.5 * x + 1.0;
    computation->result = x;
}

static void wait_for_all(struct bl_operation *op)
{
    BL_MPI(MPI_Waitall(op->active, op->requests, MPI_STATUSES_IGNORE));
}

static void call_communication(struct bl_operation *op)
{
    op->benchmark->start(op);
    wait_for_all(op);
}

static void call_computation(struct bl_operation *op)
{
    struct computation *computation = op->detail;
    compute(computation, computation->steps);
}

static void call_total(struct bl_operation *op)
{
    struct computation *computation = op->detail;
    const int pieces = computation->test_calls + 1;
    op->benchmark->start(op);
    for (int piece = 0; piece < pieces; piece++) {
        int done;
        if (piece > 0)
            BL_MPI(MPI_Testall(op->active, op->requests, &done, MPI_STATUSES_IGNORE));
        compute(computation,
                computation->steps * (piece + 1) / pieces - computation->steps * piece / pieces);
    }
    wait_for_all(op);
}

/* Steps that last `wanted_s` on this rank: the fastest of some trials is the undisturbed one. */
static long steps_for(struct computation *computation, double wanted_s)
{
    enum { TRIAL_STEPS = 20000, TRIALS = 10 };
    double fastest_s = INFINITY;
    for (int i = 0; i < TRIALS; i++) {
        const int64_t begin_ns = bl_clock_ns();
        compute(computation, TRIAL_STEPS);
        fastest_s = fmin(fastest_s, BL_SECONDS_PER_NS * (double)(bl_clock_ns() - begin_ns));
    }
    const double steps = wanted_s / fmax(fastest_s, BL_SECONDS_PER_NS) * TRIAL_STEPS;
    return steps < 1 ? 1 : (long)steps;
}

static double clamp(double x)
{
    return fmin(fmax(x, 0), 1);
}

static double overlap_of(double total_s, double computation_s, double communication_s)
{
    return clamp(1 - (total_s - computation_s) / fmax(communication_s, BL_SECONDS_PER_NS));
}

static void report(struct bl_json *json, const struct bl_effort *effort,
                   struct bl_measurement parts[PARTS])
{
    static const char *const names[PARTS] = {"time_communication", "time_computation", "time"};
    struct bl_summary summaries[PARTS];
    bl_json_integer(json, "iterations", parts[TOTAL].iterations);
    bl_json_integer(json, "iterations_asked", effort->iterations);
    bl_json_bool(json, "verified", true);
    for (int i = 0; i < PARTS; i++) {
        summaries[i] = bl_summarise(parts[i].time_s, (size_t)parts[i].iterations);
        bl_json_summary(json, names[i], &summaries[i]);
    }
    bl_json_number(json, "overlap",
                   overlap_of(summaries[TOTAL].median, summaries[COMPUTATION].median,
                              summaries[COMMUNICATION].median));
    bl_json_number(json, "rank_mean_overlap",
                   overlap_of(parts[TOTAL].rank_mean_s, parts[COMPUTATION].rank_mean_s,
                              parts[COMMUNICATION].rank_mean_s));
}

/* The median of the slowest rank, which only rank 0 has, known to all. */
static double agreed_median_s(struct bl_operation *op, const struct bl_measurement *measurement)
{
    double median_s = 0;
    if (op->rank == 0)
        median_s = bl_summarise(measurement->time_s, (size_t)measurement->iterations).median;
    BL_MPI(MPI_Bcast(&median_s, 1, MPI_DOUBLE, 0, op->comm));
    return median_s;
}

const char *bl_point_overlap(struct bl_operation *op, struct bl_json *json)
{
    static void (*const calls[PARTS])(struct bl_operation *) = {call_communication,
                                                                call_computation, call_total};
    const struct bl_benchmark *whole = op->benchmark;
    struct computation computation = {.test_calls = op->options->test_calls};
    struct bl_effort effort = bl_effort_of(op);
    effort.budget_s /= PARTS;
    effort.cut_above_s /= PARTS;
    struct bl_measurement parts[PARTS] = {{0}};
    const char *reason = NULL;
    op->detail = &computation;
    for (int i = 0; i < PARTS && !reason; i++) {
        struct bl_benchmark part = *whole;
        part.call = calls[i];
        op->benchmark = &part;
        if (i != COMPUTATION)
            bl_verify(op);
        if (!bl_measure(op, &effort, &parts[i]))
            reason = bl_cut_reason(&effort, parts[i].estimate_s);
        else if (i == COMMUNICATION)
            computation.steps = steps_for(&computation, agreed_median_s(op, &parts[i]));
        op->benchmark = whole;
    }
    if (op->rank == 0 && !reason)
        report(json, &effort, parts);
    for (int i = 0; i < PARTS; i++)
        bl_measurement_free(&parts[i]);
    return reason;
}
