/*
 * The processes of a communicator, window or file: their number, the number of their nodes, and
 * their ranks in MPI_COMM_WORLD.
 *
 * Exported: struct bl_group, struct bl_groups, bl_groups_init, bl_group_of_*, bl_group_forget,
 * bl_group_hold, bl_group_release, bl_group_degree, bl_place_of, bl_world_rank. Only local MPI
 * functions are called.
 *
 * The information about a handle is kept until the handle is freed. Every thread has a small cache
 * in front of the shared table; a change of `generation` means that a handle was freed.
 */
#ifndef BL_PMPI_GROUP_H
#define BL_PMPI_GROUP_H

#include "journal.h"
#include "table.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

enum bl_handle_kind { BL_COMM = 1, BL_WINDOW, BL_FILE };

struct bl_group {
    int size;      /* processes, both sides of an inter-communicator */
    int peers;     /* processes that a rank argument can name */
    int rank;      /* of this process */
    int in_degree; /* neighbours of a topology, -1: not asked yet */
    int out_degree;
    uint32_t id;    /* of its members: the same on all of them */
    uint16_t class; /* index of struct bl_class */
    bool inter;
    int *world; /* of the peers; NULL: the ranks of MPI_COMM_WORLD themselves */
};

#define BL_GROUP_CACHE 8

/* A thread's cache. */
struct bl_group_cache {
    unsigned generation;
    struct {
        uintptr_t handle;
        int kind;
        const struct bl_group *group;
    } line[BL_GROUP_CACHE];
};

extern atomic_uint bl_group_generation;

/* `nodes_of` gives the node of every rank of MPI_COMM_WORLD and must stay. */
void bl_groups_init(struct bl_slice *slice, int rank, int ranks, const int *nodes_of);

/* The slow path: the shared table or calls of MPI. NULL for a null handle. */
const struct bl_group *bl_group_look_up(struct bl_group_cache *cache, uintptr_t handle, int kind);

static inline const struct bl_group *bl_group_find(struct bl_group_cache *cache, uintptr_t handle,
                                                   int kind)
{
    const unsigned line = (unsigned)(handle ^ handle >> 6) % BL_GROUP_CACHE;
    if (__builtin_expect(cache->line[line].handle == handle && cache->line[line].kind == kind &&
                             cache->generation ==
                                 atomic_load_explicit(&bl_group_generation, memory_order_acquire),
                         1))
        return cache->line[line].group;
    return bl_group_look_up(cache, handle, kind);
}

static inline const struct bl_group *bl_group_of_comm(struct bl_group_cache *cache, MPI_Comm comm)
{
    return bl_group_find(cache, (uintptr_t)comm, BL_COMM);
}
static inline const struct bl_group *bl_group_of_win(struct bl_group_cache *cache, MPI_Win win)
{
    return bl_group_find(cache, (uintptr_t)win, BL_WINDOW);
}
static inline const struct bl_group *bl_group_of_file(struct bl_group_cache *cache, MPI_File file)
{
    return bl_group_find(cache, (uintptr_t)file, BL_FILE);
}

/* Before the handle is freed. */
void bl_group_forget(uintptr_t handle, int kind);

/* Between these two calls, the information about groups is not freed. */
void bl_group_hold(void);
void bl_group_release(void);

/* Neighbours in the topology of the communicator. */
void bl_group_degree(const struct bl_group *group, MPI_Comm comm, int *in, int *out);

/* Rank of MPI_COMM_WORLD, or -1: outside of it, no process, or any. */
int bl_world_rank(const struct bl_group *group, int peer);

unsigned bl_place_of(int world_rank);

#endif
