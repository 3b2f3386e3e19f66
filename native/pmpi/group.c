/* See group.h. */
#include "group.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64

struct entry {
    uintptr_t handle;
    int kind;
    struct bl_group *group;
};

static struct {
    pthread_mutex_t lock;
    struct entry *slots;
    uint32_t mask;
    uint32_t used;
    struct bl_slice *slice;
    int rank;
    int ranks;
    const int *nodes_of;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

atomic_uint bl_group_generation = 1;

void bl_groups_init(struct bl_slice *slice, int rank, int ranks, const int *nodes_of)
{
    known.slice = slice;
    known.rank = rank;
    known.ranks = ranks;
    known.nodes_of = nodes_of;
    /* Class 0 is "no communicator". */
    slice->classes = 1;
}

static uint32_t slot_of(uintptr_t handle, int kind)
{
    uint32_t slot = (uint32_t)((handle ^ (uintptr_t)kind) * UINT64_C(0x9e3779b97f4a7c15) >> 40);
    for (slot &= known.mask; known.slots[slot].group; slot = (slot + 1) & known.mask)
        if (known.slots[slot].handle == handle && known.slots[slot].kind == kind)
            break;
    return slot;
}

static bool make_room(void)
{
    if (known.slots && 2 * known.used < known.mask)
        return true;
    const uint32_t slots = known.slots ? 2 * (known.mask + 1) : FIRST_SLOTS;
    struct entry *old = known.slots;
    const uint32_t old_slots = old ? known.mask + 1 : 0;
    struct entry *fresh = calloc(slots, sizeof *fresh);
    if (!fresh)
        return false;
    known.slots = fresh;
    known.mask = slots - 1;
    for (uint32_t i = 0; i < old_slots; i++)
        if (old[i].group)
            fresh[slot_of(old[i].handle, old[i].kind)] = old[i];
    free(old);
    return true;
}

/* Ranks of `group` as ranks of MPI_COMM_WORLD, -1 outside of it. */
static int *world_ranks(MPI_Group group, int size)
{
    MPI_Group world;
    int *ranks = malloc(2 * (size_t)size * sizeof *ranks);
    if (!ranks)
        return NULL;
    for (int i = 0; i < size; i++)
        ranks[size + i] = i;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, size, ranks + size, world, ranks);
    PMPI_Group_free(&world);
    for (int i = 0; i < size; i++)
        if (ranks[i] == MPI_UNDEFINED)
            ranks[i] = -1;
    return ranks;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Number of different nodes; processes outside of MPI_COMM_WORLD count as one more. */
static int count_nodes(const int *world, int size, const int *more, int more_size)
{
    int *nodes = malloc(((size_t)size + (size_t)more_size + 1) * sizeof *nodes);
    if (!nodes)
        return 0;
    const int all = size + more_size;
    for (int i = 0; i < all; i++) {
        const int rank = i < size ? world[i] : more[i - size];
        nodes[i] = rank < 0 ? -1 : known.nodes_of[rank];
    }
    qsort(nodes, (size_t)all, sizeof *nodes, compare);
    int count = 0;
    for (int i = 0; i < all; i++)
        count += i == 0 || nodes[i] != nodes[i - 1];
    free(nodes);
    return count;
}

/* FNV-1a over the members, both sides of an inter-communicator in the same order on each. */
static uint32_t id_of(const int *world, int size, const int *more, int more_size)
{
    uint32_t id = UINT32_C(2166136261);
    if (more_size > 0 && more[0] < world[0]) {
        const int *const first = more;
        more = world;
        world = first;
        const int first_size = more_size;
        more_size = size;
        size = first_size;
    }
    for (int i = 0; i < size + more_size; i++)
        id = (id ^ (uint32_t)(i < size ? world[i] : more[i - size] + 1)) * UINT32_C(16777619);
    return id ? id : 1;
}

static uint16_t class_of(int size, int nodes, bool inter)
{
    struct bl_slice *slice = known.slice;
    for (uint32_t i = 1; i < slice->classes; i++)
        if (slice->class[i].size == size && slice->class[i].nodes == nodes &&
            slice->class[i].inter == (int)inter)
            return (uint16_t)i;
    if (slice->classes == BL_CLASSES_MAX)
        return 0;
    slice->class[slice->classes] = (struct bl_class){.size = size, .nodes = nodes, .inter = inter};
    return (uint16_t)slice->classes++;
}

/* The groups of a handle; `remote` stays MPI_GROUP_NULL unless it is an inter-communicator. */
static bool ask_groups(uintptr_t handle, int kind, MPI_Group *local, MPI_Group *remote)
{
    int inter = 0;
    *remote = MPI_GROUP_NULL;
    if (kind == BL_COMM) {
        const MPI_Comm comm = (MPI_Comm)handle;
        if (PMPI_Comm_test_inter(comm, &inter) || PMPI_Comm_group(comm, local))
            return false;
        return !inter || PMPI_Comm_remote_group(comm, remote) == MPI_SUCCESS;
    }
    if (kind == BL_WINDOW)
        return PMPI_Win_get_group((MPI_Win)handle, local) == MPI_SUCCESS;
    return PMPI_File_get_group((MPI_File)handle, local) == MPI_SUCCESS;
}

static struct bl_group *ask(uintptr_t handle, int kind)
{
    MPI_Group local;
    MPI_Group remote;
    if (!ask_groups(handle, kind, &local, &remote))
        return NULL;
    struct bl_group *group = calloc(1, sizeof *group);
    int size;
    PMPI_Group_size(local, &size);
    int *world = world_ranks(local, size);
    if (group && world) {
        group->size = group->peers = size;
        group->in_degree = group->out_degree = -1;
        PMPI_Group_rank(local, &group->rank);
        if (remote != MPI_GROUP_NULL) {
            PMPI_Group_size(remote, &group->peers);
            group->inter = true;
            group->size += group->peers;
            group->world = world_ranks(remote, group->peers);
        }
        group->id = id_of(world, size, group->world, group->world ? group->peers : 0);
        const int nodes = count_nodes(world, size, group->world, group->world ? group->peers : 0);
        if (!group->world) {
            group->world = world;
            world = NULL;
        }
        group->class = class_of(group->size, nodes, group->inter);
    }
    free(world);
    PMPI_Group_free(&local);
    if (remote != MPI_GROUP_NULL)
        PMPI_Group_free(&remote);
    return group;
}

static bool is_null(uintptr_t handle, int kind)
{
    return kind == BL_COMM     ? (MPI_Comm)handle == MPI_COMM_NULL
           : kind == BL_WINDOW ? (MPI_Win)handle == MPI_WIN_NULL
                               : (MPI_File)handle == MPI_FILE_NULL;
}

const struct bl_group *bl_group_look_up(struct bl_group_cache *cache, uintptr_t handle, int kind)
{
    if (is_null(handle, kind))
        return NULL;
    pthread_mutex_lock(&known.lock);
    const unsigned generation = atomic_load(&bl_group_generation);
    const struct bl_group *group = NULL;
    if (make_room()) {
        const uint32_t slot = slot_of(handle, kind);
        if (!known.slots[slot].group) {
            known.slots[slot] =
                (struct entry){.handle = handle, .kind = kind, .group = ask(handle, kind)};
            known.used += known.slots[slot].group != NULL;
        }
        group = known.slots[slot].group;
    }
    pthread_mutex_unlock(&known.lock);
    if (cache->generation != generation) {
        memset(cache, 0, sizeof *cache);
        cache->generation = generation;
    }
    const unsigned line = (unsigned)(handle ^ handle >> 6) % BL_GROUP_CACHE;
    cache->line[line].handle = handle;
    cache->line[line].kind = group ? kind : 0;
    cache->line[line].group = group;
    return group;
}

/*
 * Receives from any rank that are on their way: a program may free their communicator before they
 * are complete, and then a few bytes stay.
 */
static atomic_int held;

void bl_group_hold(void)
{
    atomic_fetch_add(&held, 1);
}

void bl_group_release(void)
{
    atomic_fetch_sub(&held, 1);
}

void bl_group_forget(uintptr_t handle, int kind)
{
    pthread_mutex_lock(&known.lock);
    if (known.slots) {
        uint32_t slot = slot_of(handle, kind);
        struct bl_group *group = known.slots[slot].group;
        if (group) {
            atomic_fetch_add(&bl_group_generation, 1);
            if (atomic_load(&held) == 0) {
                free(group->world);
                free(group);
            }
            known.used--;
            known.slots[slot].group = NULL;
            /* What was put further along because of this entry must be found again. */
            for (slot = (slot + 1) & known.mask; known.slots[slot].group;
                 slot = (slot + 1) & known.mask) {
                const struct entry moved = known.slots[slot];
                known.slots[slot].group = NULL;
                known.slots[slot_of(moved.handle, moved.kind)] = moved;
            }
        }
    }
    pthread_mutex_unlock(&known.lock);
}

void bl_group_degree(const struct bl_group *group, MPI_Comm comm, int *in, int *out)
{
    struct bl_group *known_group = (struct bl_group *)(uintptr_t)group;
    if (group->in_degree < 0) {
        int topology;
        int weighted;
        int dimensions;
        int neighbours = 0;
        int out_neighbours = -1;
        PMPI_Topo_test(comm, &topology);
        if (topology == MPI_CART) {
            PMPI_Cartdim_get(comm, &dimensions);
            neighbours = 2 * dimensions;
        } else if (topology == MPI_GRAPH) {
            PMPI_Graph_neighbors_count(comm, group->rank, &neighbours);
        } else if (topology == MPI_DIST_GRAPH) {
            PMPI_Dist_graph_neighbors_count(comm, &neighbours, &out_neighbours, &weighted);
        }
        known_group->out_degree = out_neighbours < 0 ? neighbours : out_neighbours;
        known_group->in_degree = neighbours;
    }
    *in = group->in_degree;
    *out = group->out_degree;
}

int bl_world_rank(const struct bl_group *group, int peer)
{
    return !group || peer < 0 || peer >= group->peers ? -1 : group->world[peer];
}

unsigned bl_place_of(int world_rank)
{
    if (world_rank < 0)
        return BL_ANYWHERE;
    if (world_rank == known.rank)
        return BL_SELF;
    return known.nodes_of[world_rank] == known.nodes_of[known.rank] ? BL_SAME_NODE : BL_OTHER_NODE;
}
