/*
 * Values that all ranks agree on between measurements.
 *
 * Exported: bl_agree, with the arguments of MPI_Allreduce; collective over comm. It is that
 * function with a real MPI library. A simulator takes some 20 us of one core for each message, so
 * that the n log2(n) messages of an agreement on 1024 ranks cost as much as what is measured: there
 * it is a reduction to rank 0 and a broadcast, 2 (n - 1) messages, after which all ranks go on at
 * the same moment of simulated time.
 */
#ifndef BL_AGREE_H
#define BL_AGREE_H

#include <mpi.h>

#ifdef BL_TIMER_MPI_WTIME
int bl_agree(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op how, MPI_Comm comm);
#else
#define bl_agree MPI_Allreduce
#endif

#endif
