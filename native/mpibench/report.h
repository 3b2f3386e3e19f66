/*
 * The JSON lines of mpibench: header, points, end. Written by rank 0 of MPI_COMM_WORLD, which is
 * rank 0 of every team.
 *
 * Exported: bl_report_*. Nothing here is collective.
 */
#ifndef BL_REPORT_H
#define BL_REPORT_H

#include "engine.h"
#include "world.h"

/* A size that was not measured. */
struct bl_cut {
    bool sized;
    size_t size_bytes;
    char reason[200];
};

void bl_report_header(struct bl_json *json, const struct bl_options *options,
                      const struct bl_world *world, int team_ranks);

/* Starts a point's line with its parameters. */
void bl_report_point(struct bl_json *json, const struct bl_operation *op);

/* Adds iterations, times and rates of a measurement; sorts its times. */
void bl_report_measurement(struct bl_json *json, const struct bl_operation *op,
                           const struct bl_effort *effort, struct bl_measurement *measurement);

void bl_report_end(struct bl_json *json, long points, const struct bl_cut *cuts, int cut_count);

#endif
