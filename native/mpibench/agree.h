/*
 * Values that all ranks agree on between measurements.
 *
 * Exported: bl_agree, with the arguments of MPI_Allreduce; collective over comm. With a real MPI
 * library, bl_agree is MPI_Allreduce. A simulator needs about 20 us of a core for each message, so
 * that the n log2(n) messages of MPI_Allreduce on 1024 ranks would take as long as the measurement.
 * In a simulator, bl_agree is therefore a reduction to rank 0 and a broadcast, with 2 (n - 1)
 * messages. All ranks then continue at the same simulated time.
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
