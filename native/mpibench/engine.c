/* See engine.h. */
#include "engine.h"

#include "agree.h"
#include "bl_clock.h"
#include "bl_error.h"
#include "bl_memory.h"
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* How the budget is spent. */
static const double warmup_share = 0.1;
static const double timed_share = 0.5;
static const double loop_share = 0.4;

/* A batch is at most this much longer than everything before it: a bad estimate costs little. */
enum { BATCH_GROWTH = 10 };

/* The fewest iterations of both phases. */
enum { MINIMUM_CALLS = 2 * BL_ITERATIONS_MIN };

enum { CALIBRATING_CALLS = 3 };

typedef void run_calls_fn(struct bl_operation *op, long calls, double *time_s);

static double seconds_between(int64_t begin_ns, int64_t end_ns)
{
    return BL_SECONDS_PER_NS * (double)(end_ns - begin_ns);
}

static double over_ranks(const struct bl_operation *op, double value, MPI_Op how)
{
    double result;
    BL_MPI(bl_agree(&value, &result, 1, MPI_DOUBLE, how, op->comm));
    return result;
}

/* Sums of two values over all ranks, in one call: a simulator pays for each. */
static void sum_over_ranks(const struct bl_operation *op, double values[2])
{
    BL_MPI(bl_agree(MPI_IN_PLACE, values, 2, MPI_DOUBLE, MPI_SUM, op->comm));
}

static bool counts(const struct bl_operation *op)
{
    return !op->benchmark->timed || op->benchmark->timed(op);
}

/* Phase (b)'s loop, and the warm-up. */
static void run_plain(struct bl_operation *op, long calls, double *time_s)
{
    (void)time_s;
    void (*const call)(struct bl_operation *) = op->benchmark->call;
    for (long i = 0; i < calls; i++)
        call(op);
}

/* Phase (a)'s loop. */
static void run_timed(struct bl_operation *op, long calls, double *time_s)
{
    void (*const call)(struct bl_operation *) = op->benchmark->call;
    const bool synchronised = op->benchmark->synchronised;
    /* The agreement on the batch lets ranks in at different times; without a barrier before each
     * call the first one would measure that. */
    if (!synchronised)
        call(op);
    for (long i = 0; i < calls; i++) {
        if (synchronised)
            BL_MPI(MPI_Barrier(op->comm));
        const int64_t begin_ns = bl_clock_ns();
        call(op);
        const int64_t end_ns = bl_clock_ns();
        time_s[i] = seconds_between(begin_ns, end_ns);
    }
}

/*
 * Runs up to `wanted` calls, at least `minimum`, within about `allowance_s`. `estimate_s` goes in
 * as the expected time of a call and comes out as the observed one. Returns the number of calls.
 */
static long run_bounded(struct bl_operation *op, run_calls_fn *run, double *time_s, long wanted,
                        long minimum, double allowance_s, double *estimate_s)
{
    long done = 0;
    double spent_s = 0;
    while (done < wanted) {
        const double affordable = (allowance_s - spent_s) / *estimate_s;
        long batch = BATCH_GROWTH * (done + 1);
        if (batch > wanted - done)
            batch = wanted - done;
        if (affordable < (double)batch)
            batch = affordable > 0 ? (long)affordable : 0;
        if (done + batch < minimum)
            batch = minimum - done;
        if (batch < 1)
            break;
        const int64_t begin_ns = bl_clock_ns();
        run(op, batch, time_s ? time_s + done : NULL);
        spent_s += over_ranks(op, seconds_between(begin_ns, bl_clock_ns()), MPI_MAX);
        done += batch;
        /* A simulated clock may stand still. */
        *estimate_s = fmax(spent_s / (double)done, BL_SECONDS_PER_NS);
    }
    return done;
}

struct bl_effort bl_effort_of(const struct bl_operation *op)
{
    const struct bl_options *options = op->options;
    const bool large = op->size_bytes > BL_LARGE_BYTES;
    return (struct bl_effort){
        .iterations = large ? options->iterations.large : options->iterations.small,
        .warmup = large ? options->warmup.large : options->warmup.small,
        .budget_s = options->budget_s,
        .cut_above_s = options->budget_s,
    };
}

void bl_verify(struct bl_operation *op)
{
    const struct bl_benchmark *benchmark = op->benchmark;
    op->root = 0;
    op->rotates = false;
    if (benchmark->fill)
        benchmark->fill(op);
    BL_MPI(MPI_Barrier(op->comm));
    benchmark->call(op);
    const int wrong = benchmark->check(op) ? op->ranks : op->rank;
    int first_wrong;
    BL_MPI(bl_agree(&wrong, &first_wrong, 1, MPI_INT, MPI_MIN, op->comm));
    if (first_wrong == op->rank)
        bl_die(BL_STATUS_WRONG,
               "%s delivered wrong data on rank %d at %zu B, do not trust this MPI library or its "
               "transport; try another",
               benchmark->name, op->rank, op->size_bytes);
    if (first_wrong < op->ranks)
        BL_MPI(MPI_Barrier(op->comm)); /* which that rank's abort ends */
}

static void summarise_timed(struct bl_operation *op, struct bl_measurement *measurement)
{
    const bool counted = counts(op);
    double sum_s = 0;
    for (long i = 0; i < measurement->iterations; i++) {
        sum_s += measurement->time_s[i];
        if (!counted)
            measurement->time_s[i] = 0;
    }
    const double mean_s = sum_s / (double)measurement->iterations;
    double sums[2] = {counted ? mean_s : 0, counted ? 1 : 0};
    sum_over_ranks(op, sums);
    double ends_s[2] = {counted ? -mean_s : -INFINITY, counted ? mean_s : 0};
    BL_MPI(bl_agree(MPI_IN_PLACE, ends_s, 2, MPI_DOUBLE, MPI_MAX, op->comm));
    measurement->rank_mean_s = sums[0] / sums[1];
    measurement->rank_mean_min_s = -ends_s[0];
    measurement->rank_mean_max_s = ends_s[1];
    const void *mine = op->rank == 0 ? MPI_IN_PLACE : measurement->time_s;
    BL_MPI(MPI_Reduce(mine, measurement->time_s, (int)measurement->iterations, MPI_DOUBLE, MPI_MAX,
                      0, op->comm));
}

static void run_loop(struct bl_operation *op, double allowance_s, long wanted, double estimate_s,
                     struct bl_measurement *measurement)
{
    long calls = (long)fmin((double)wanted, allowance_s / estimate_s);
    if (calls < BL_ITERATIONS_MIN)
        calls = BL_ITERATIONS_MIN;
    op->rotates = op->benchmark->rooted;
    BL_MPI(MPI_Barrier(op->comm));
    run_plain(op, 1, NULL);
    const int64_t begin_ns = bl_clock_ns();
    run_plain(op, calls, NULL);
    const double mean_s = seconds_between(begin_ns, bl_clock_ns()) / (double)calls;
    op->rotates = false;
    op->root = 0;

    const bool counted = counts(op);
    double sums[2] = {counted ? mean_s : 0, counted ? 1 : 0};
    sum_over_ranks(op, sums);
    measurement->loop_iterations = calls;
    measurement->loop_mean_s = sums[0] / sums[1];
    measurement->loop_mean_max_s = over_ranks(op, counted ? mean_s : 0, MPI_MAX);
}

/*
 * The time of a call, of the fastest of up to CALIBRATING_CALLS: one call alone may have been held
 * up by something else, and would cut a point, and all larger ones, that could be measured.
 */
static double calibrate(struct bl_operation *op, const struct bl_effort *effort)
{
    double fastest_s = INFINITY;
    for (int i = 0; i < CALIBRATING_CALLS; i++) {
        double estimate_s = effort->budget_s;
        run_bounded(op, run_plain, NULL, 1, 1, 0, &estimate_s);
        fastest_s = fmin(fastest_s, estimate_s);
        if (MINIMUM_CALLS * fastest_s <= effort->cut_above_s)
            break;
    }
    return fastest_s;
}

bool bl_measure(struct bl_operation *op, const struct bl_effort *effort,
                struct bl_measurement *measurement)
{
    *measurement = (struct bl_measurement){0};
    double estimate_s = calibrate(op, effort);
    measurement->estimate_s = estimate_s;
    if (MINIMUM_CALLS * estimate_s > effort->cut_above_s)
        return false;

    run_bounded(op, run_plain, NULL, effort->warmup, 0, warmup_share * effort->budget_s,
                &estimate_s);
    measurement->time_s =
        bl_allocate((size_t)effort->iterations * sizeof(double), "the times of the iterations");
    measurement->iterations =
        run_bounded(op, run_timed, measurement->time_s, effort->iterations, BL_ITERATIONS_MIN,
                    timed_share * effort->budget_s, &estimate_s);
    summarise_timed(op, measurement);
    run_loop(op, loop_share * effort->budget_s, effort->iterations, estimate_s, measurement);
    return true;
}

const char *bl_cut_reason(const struct bl_effort *effort, double estimate_s)
{
    static char reason[160];
    snprintf(reason, sizeof reason,
             "one iteration takes %.3g s, %d take more than the %.3g s that the budget (-t) leaves",
             estimate_s, MINIMUM_CALLS, effort->cut_above_s);
    return reason;
}

void bl_measurement_free(struct bl_measurement *measurement)
{
    free(measurement->time_s);
    measurement->time_s = NULL;
}
