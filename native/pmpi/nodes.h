/*
 * The node of each rank, by MPI's processor name.
 *
 * Exported: bl_nodes_find, which is collective.
 */
#ifndef BL_PMPI_NODES_H
#define BL_PMPI_NODES_H

#include <mpi.h>

/*
 * Numbers the nodes in the order of their first rank. Gives the node of every rank, to be freed,
 * the number of nodes, and this process's host (BL_HOST_SIZE); NULL on all ranks without memory.
 */
int *bl_nodes_find(MPI_Comm comm, int rank_count, char *host, int *nodes);

#endif
