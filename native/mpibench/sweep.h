/*
 * One benchmark from its header line to its end line, over all of its sizes.
 *
 * Exported: bl_sweep (collective over the team), bl_point_measure (same; the usual way to measure
 * a point).
 */
#ifndef BL_SWEEP_H
#define BL_SWEEP_H

#include "benchmark.h"
#include "world.h"

void bl_sweep(const struct bl_options *options, const struct bl_world *world, MPI_Comm team);

/* Verifies and measures; adds the results to `json`. Returns NULL, or why the point was cut. */
const char *bl_point_measure(struct bl_operation *op, struct bl_json *json);

#endif
