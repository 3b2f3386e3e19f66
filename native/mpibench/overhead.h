/*
 * The processor time of a short message on its sender and receiver, without the time in the
 * network. It is called overhead by D. Culler et al. (1993), LogP: towards a realistic model of
 * parallel computation, doi:10.1145/155332.155333.
 *
 * Exported: bl_point_overhead. It is collective over op->comm.
 */
#ifndef BL_OVERHEAD_H
#define BL_OVERHEAD_H

#include "benchmark.h"

/*
 * Measures one size: the time of MPI_Send while no other message is in flight, and the time of
 * MPI_Recv for a message that has arrived. If the sender waits for the receiver (rendezvous), the
 * time of MPI_Send includes the wait and is not overhead.
 */
const char *bl_point_overhead(struct bl_operation *op, struct bl_json *json);

#endif
