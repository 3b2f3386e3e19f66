/*
 * The measuring engine: how often a call is made, and which times count. The only place that reads
 * the clock around measured calls.
 *
 * Exported: struct bl_effort, struct bl_measurement, bl_effort_of, bl_verify, bl_measure,
 * bl_cut_reason,
 * bl_measurement_free. bl_verify and bl_measure are collective over op->comm.
 *
 * A point is measured in two phases, after warming up:
 *   (a) timed calls: two clock reads around nothing but the call; for each iteration the slowest
 *       rank counts. Where a benchmark is `synchronised`, an MPI_Barrier goes before the first
 *       read, as between the calls of OSU's collectives and, since 2017, IMB's: ranks start
 *       together but for the barrier's own exit skew, which is part of the slowest rank's time.
 *   (b) a plain loop in the manner of OSU's and IMB's point-to-point benchmarks: two clock reads
 *       around all calls. Rooted collectives rotate their root, as IMB's do with -root_shift on,
 *       otherwise a root could run ahead of the others.
 * Its time is bounded: the number of iterations follows from how long the earlier ones took, in
 * batches before which all ranks agree on the slowest rank's estimate. When not even
 * BL_ITERATIONS_MIN iterations of both phases fit the point is cut.
 */
#ifndef BL_ENGINE_H
#define BL_ENGINE_H

#include "benchmark.h"

/* What a point may cost. */
struct bl_effort {
    long iterations;
    long warmup;
    double budget_s;
    double cut_above_s; /* the point is cut when the fewest iterations would take longer */
};

struct bl_measurement {
    long iterations;        /* of phase (a) */
    double *time_s;         /* their times, slowest rank; on rank 0 of the team, unsorted */
    double rank_mean_s;     /* mean over the ranks of each rank's mean: OSU's average, ... */
    double rank_mean_min_s; /* ... minimum ... */
    double rank_mean_max_s; /* ... and maximum */
    long loop_iterations;   /* of phase (b) */
    double loop_mean_s;     /* mean over the ranks */
    double loop_mean_max_s; /* slowest rank */
    double estimate_s;      /* of one call, when the point was cut */
};

/* What the options grant to the operation's size. */
struct bl_effort bl_effort_of(const struct bl_operation *op);

/* Makes one call with known data and compares what arrives. Ends the job when it is wrong. */
void bl_verify(struct bl_operation *op);

/* Measures the operation; false when it was cut. Times are whole calls: time_share is not applied.
 */
bool bl_measure(struct bl_operation *op, const struct bl_effort *effort,
                struct bl_measurement *measurement);

/* Why a point was cut, in words; valid until the next call. */
const char *bl_cut_reason(const struct bl_effort *effort, double estimate_s);

void bl_measurement_free(struct bl_measurement *measurement);

#endif
