/*
 * How much computation a non-blocking call hides.
 *
 * Exported: bl_point_overlap, the `point` function of benchmarks with a `start`; collective over
 * op->comm.
 *
 * Three things are measured at each point, as OSU's non-blocking programs do: the communication
 * alone (start, wait), the computation alone, made to last as long, and both (start, computation,
 * wait). With their times,
 *     overlap = 1 - (total - computation) / communication, within [0, 1]:
 * the part of the communication that costs no time when there is something else to do. Some MPI
 * libraries make progress only when they are called: --test-calls puts calls of MPI_Testall into
 * the computation.
 */
#ifndef BL_OVERLAP_H
#define BL_OVERLAP_H

#include "benchmark.h"

const char *bl_point_overlap(struct bl_operation *op, struct bl_json *json);

#endif
