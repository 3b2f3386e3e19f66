/*
 * The profile as a file of JSON lines; docs/reference/profile.md describes it.
 *
 * Exported: struct bl_rank_record, struct bl_profile, bl_profile_write. Called by rank 0 alone.
 */
#ifndef BL_PMPI_WRITE_H
#define BL_PMPI_WRITE_H

#include "facts.h"
#include "merge.h"
#include "site.h"

#include <stdbool.h>

/* What is kept per rank; sent between ranks as it is. */
struct bl_rank_record {
    int32_t rank;
    int32_t node;
    int32_t pid;
    int32_t threads;
    int64_t wall_ns;
    int64_t compute_ns;
    int64_t mpi_ns;
    int64_t posix_ns;
    int64_t waited_ns; /* in the barriers of --split */
    int64_t paused_ns;
    int64_t init_ns;
    int64_t processor_ns; /* of the main thread */
    int64_t calls;
    int64_t dropped;
    int64_t untracked;
    struct bl_facts facts;
    char host[BL_HOST_SIZE];
    char clock[40];
    char clock_source[32];
};

struct bl_profile {
    const char *path;
    const char *regions; /* "3=solver,4=halo", or NULL */
    const char *library;
    const char *command;
    int64_t began_unix_ns;
    bool split;
    int thread_level;
    int ranks;
    int nodes;
    uint32_t ranks_per_cell;
    const struct bl_rank_record *records;
    const struct bl_total *total;
    const struct bl_site_total *sites;
};

/* Writes a temporary file and renames it, so that the profile is complete or does not exist. */
bool bl_profile_write(const struct bl_profile *profile);

#endif
