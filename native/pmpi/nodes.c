/* See nodes.h. */
#include "nodes.h"

#include "journal.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int compare_ids(const void *a, const void *b)
{
    const uint64_t *left = a;
    const uint64_t *right = b;
    return left[0] < right[0] ? -1 : left[0] > right[0] ? 1 : left[1] < right[1] ? -1 : 1;
}

int *bl_nodes_find(MPI_Comm comm, int rank_count, char *host, int *nodes)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length;
    PMPI_Get_processor_name(name, &length);
    snprintf(host, BL_HOST_SIZE, "%.*s", BL_HOST_SIZE - 1, name);
    uint64_t id = UINT64_C(14695981039346656037);
    for (const char *c = name; *c; c++)
        id = (id ^ (unsigned char)*c) * UINT64_C(1099511628211);
    const size_t ranks = (size_t)rank_count;
    int *nodes_of = malloc(ranks * sizeof *nodes_of);
    uint64_t *ids = malloc(ranks * sizeof *ids);
    uint64_t(*order)[2] = malloc(ranks * sizeof *order);
    *nodes = 0;
    int all = nodes_of && ids && order;
    PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
    if (all) {
        PMPI_Allgather(&id, 1, MPI_UINT64_T, ids, 1, MPI_UINT64_T, comm);
        for (size_t i = 0; i < ranks; i++) {
            order[i][0] = ids[i];
            order[i][1] = i;
        }
        qsort(order, ranks, sizeof *order, compare_ids);
        /* The first rank of a node stands for it, then first ranks are numbered in order. */
        for (size_t i = 0, first = 0; i < ranks; i++) {
            if (order[i][0] != order[first][0])
                first = i;
            nodes_of[order[i][1]] = (int)order[first][1];
        }
        for (size_t i = 0; i < ranks; i++)
            nodes_of[i] = nodes_of[i] == (int)i ? (*nodes)++ : nodes_of[nodes_of[i]];
    }
    free(ids);
    free(order);
    if (all)
        return nodes_of;
    free(nodes_of);
    return NULL;
}
