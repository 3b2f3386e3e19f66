/*
 * Call sites: the places in the program from which a function was called, as return addresses.
 *
 * Exported: struct bl_site, bl_site_count, struct bl_site_total, bl_sites_of_process,
 * bl_sites_reduce. The last is collective: a binomial tree towards rank 0.
 *
 * A thread keeps at most BL_SITES_MAX of them; later ones are counted together, with address 0.
 */
#ifndef BL_PMPI_SITE_H
#define BL_PMPI_SITE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define BL_SITES_MAX 512
#define BL_SITE_SLOTS 1024
#define BL_OBJECT_SIZE 256

struct bl_site {
    uintptr_t address;
    uint64_t count;
    uint64_t time; /* ticks */
    uint64_t longest;
    uint64_t bytes;
    uint32_t call; /* 0: the slot is free */
};

struct bl_sites {
    struct bl_site slot[BL_SITE_SLOTS];
    uint32_t used;
};

/* Finds a site's slot or makes it. */
struct bl_site *bl_site_find(struct bl_sites *sites, uintptr_t address, uint32_t call);

static inline void bl_site_count(struct bl_sites *sites, const void *address, uint32_t call,
                                 uint64_t ticks, uint64_t bytes)
{
    struct bl_site *site = bl_site_find(sites, (uintptr_t)address, call);
    site->count++;
    site->time += ticks;
    site->bytes += bytes;
    if (ticks > site->longest)
        site->longest = ticks;
}

/* A site of the whole job: in ns, with the object file that it is in. */
struct bl_site_row {
    uint64_t offset; /* address as the object file has it; 0: the rest */
    uint32_t call;
    int32_t ranks;
    uint64_t count;
    uint64_t bytes;
    double time;
    double longest;
    double rank_least;
    double rank_most;
    char object[BL_OBJECT_SIZE];
};

struct bl_site_total {
    struct bl_site_row *rows;
    size_t count;
};

/* Adds a thread's sites. */
void bl_sites_add(struct bl_site_total *total, const struct bl_sites *sites, double ns_per_tick);

/* Merges over the communicator; afterwards rank 0 has all and the others nothing. */
void bl_sites_reduce(struct bl_site_total *total, MPI_Comm comm);

#endif
