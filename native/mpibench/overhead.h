/*
 * What a short message costs the ranks themselves, apart from its way: overhead in the words of
 * D. Culler et al. (1993), LogP: towards a realistic model of parallel computation,
 * doi:10.1145/155332.155333.
 *
 * Exported: bl_point_overhead. It is collective over op->comm.
 */
#ifndef BL_OVERHEAD_H
#define BL_OVERHEAD_H

#include "benchmark.h"

/*
 * Measures one size: the time of MPI_Send while nothing else is under way, and that of MPI_Recv of
 * a message that has arrived. A message that waits for its receiver (rendezvous) makes the sender
 * wait until the other one looks: such a size tells nothing of overhead.
 */
const char *bl_point_overhead(struct bl_operation *op, struct bl_json *json);

#endif
