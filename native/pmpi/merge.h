/*
 * The rows of all threads and ranks become one set.
 *
 * Exported: struct bl_merged, struct bl_total, struct bl_pair, bl_total_*. bl_total_reduce is
 * collective over its communicator: a binomial tree towards rank 0, so that no rank ever holds more
 * than the distinct rows, and the root receives log2(ranks) messages.
 *
 * Times are in ns here, because ticks differ between nodes.
 */
#ifndef BL_PMPI_MERGE_H
#define BL_PMPI_MERGE_H

#include "thread.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct bl_merged {
    uint64_t what; /* as in struct bl_key, class 0 */
    uint64_t size;
    struct bl_class class;
    int32_t ranks; /* that have the row */
    uint64_t count;
    uint64_t bytes;
    uint64_t sent;
    uint64_t received;
    double time;
    double squares;
    double shortest;
    double longest;
    double waited;
    double waited_least; /* negative: never waited */
    uint64_t finished;
    double window;
    double flight;
    uint64_t queued; /* ns */
    uint64_t receives;
    uint64_t awaited;
    double rank_least; /* time of the rank that spent least and most in it */
    double rank_most;
};

/* A cell of the communication matrix. */
struct bl_pair {
    uint32_t from;
    uint32_t to;
    uint64_t count;
    uint64_t bytes;
};

struct bl_total {
    struct bl_merged *rows;
    size_t row_count;
    struct bl_pair *pairs; /* sorted by from, to */
    size_t pair_count;
};

/* All threads of this process. */
struct bl_total bl_total_of_process(double ns_per_tick, uint32_t cells, int rank);

/*
 * Collective. If one rank has put the sizes of a call into bins, all ranks do this before the
 * merge, so that the numbers per rank remain correct.
 */
void bl_total_agree_on_bins(struct bl_total *total, MPI_Comm comm);

/* Merges over the communicator; afterwards rank 0 has all and the others nothing. */
void bl_total_reduce(struct bl_total *total, MPI_Comm comm);

void bl_total_free(struct bl_total *total);

#endif
