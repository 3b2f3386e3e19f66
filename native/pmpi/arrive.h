/*
 * Waiting for the other ranks, with a time limit. The profiler's own messages need all ranks, but a
 * rank without the profiler, or a rank that never ends, would never answer.
 *
 * Exported: bl_arrive_begin, bl_arrive_end. Both are collective over their ranks.
 */
#ifndef BL_PMPI_ARRIVE_H
#define BL_PMPI_ARRIVE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * After MPI_Init: whether all ranks of MPI_COMM_WORLD have the profiler. Ranks of one node find out
 * through a file that no MPI call needs, so that the program can go on without a profile. Ranks of
 * several nodes meet in a barrier. If a rank does not arrive, the program is ended, because the
 * unfinished barrier would disturb the program's own collectives.
 */
bool bl_arrive_begin(int rank, int ranks);

/* Names the ranks that have not arrived, as "rank 3" or "ranks 1 and 3"; "" if it cannot. */
typedef void bl_name_missing(char *text, size_t size);

/* Before MPI_Finalize: whether all ranks have arrived in time. Rank 0 decides and names. */
bool bl_arrive_end(MPI_Comm comm, int rank, bl_name_missing *name_missing);

#endif
