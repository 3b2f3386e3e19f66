/* See request.h. */
#include "request.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define STRIPES 16
#define FIRST_SLOTS 64
#define NONE UINT32_MAX
/* Per stripe; beyond, requests are counted as untracked. */
#define NODES_MAX (1u << 18)

struct node {
    struct bl_request request;
    uint32_t next;
};

struct slot {
    uintptr_t handle;
    uint32_t first; /* node + 1; 0: the slot is free */
    uint32_t last;
};

/* Handles are spread over stripes, so that threads seldom wait for each other. */
struct stripe {
    pthread_spinlock_t lock;
    struct slot *slots;
    uint32_t mask;
    uint32_t used;
    struct node *nodes;
    uint32_t node_count;
    uint32_t node_capacity;
    uint32_t free_node; /* node + 1 */
} __attribute__((aligned(64)));

static struct stripe stripes[STRIPES];
static bool use_locks;

static uint64_t mix(uintptr_t handle)
{
    return (uint64_t)handle * UINT64_C(0x9e3779b97f4a7c15);
}

static struct stripe *lock(MPI_Request handle)
{
    struct stripe *stripe = &stripes[mix((uintptr_t)handle) >> 60];
    if (use_locks)
        pthread_spin_lock(&stripe->lock);
    return stripe;
}

static void unlock(struct stripe *stripe)
{
    if (use_locks)
        pthread_spin_unlock(&stripe->lock);
}

void bl_requests_init(bool locked)
{
    use_locks = locked;
    for (int i = 0; i < STRIPES; i++)
        pthread_spin_init(&stripes[i].lock, PTHREAD_PROCESS_PRIVATE);
}

/* The slot of the handle, or the free one where it belongs. */
static uint32_t slot_of(const struct stripe *stripe, uintptr_t handle)
{
    uint32_t slot = (uint32_t)(mix(handle) >> 24) & stripe->mask;
    while (stripe->slots[slot].first && stripe->slots[slot].handle != handle)
        slot = (slot + 1) & stripe->mask;
    return slot;
}

static bool make_room(struct stripe *stripe)
{
    if (stripe->slots && 2 * stripe->used < stripe->mask)
        return true;
    const uint32_t old_count = stripe->slots ? stripe->mask + 1 : 0;
    const uint32_t count = old_count ? 2 * old_count : FIRST_SLOTS;
    struct slot *old = stripe->slots;
    struct slot *fresh = calloc(count, sizeof *fresh);
    if (!fresh)
        return false;
    stripe->slots = fresh;
    stripe->mask = count - 1;
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i].first)
            fresh[slot_of(stripe, old[i].handle)] = old[i];
    free(old);
    return true;
}

/* A node of the queue, as its number + 1; 0 without memory. */
static uint32_t new_node(struct stripe *stripe)
{
    if (stripe->free_node) {
        const uint32_t node = stripe->free_node;
        stripe->free_node = stripe->nodes[node - 1].next;
        return node;
    }
    if (stripe->node_count == stripe->node_capacity) {
        const uint32_t capacity = stripe->node_capacity ? 2 * stripe->node_capacity : FIRST_SLOTS;
        struct node *nodes =
            capacity > NODES_MAX ? NULL : realloc(stripe->nodes, capacity * sizeof *nodes);
        if (!nodes)
            return 0;
        stripe->nodes = nodes;
        stripe->node_capacity = capacity;
    }
    return ++stripe->node_count;
}

static void free_slot(struct stripe *stripe, uint32_t slot)
{
    stripe->slots[slot].first = 0;
    stripe->used--;
    for (slot = (slot + 1) & stripe->mask; stripe->slots[slot].first;
         slot = (slot + 1) & stripe->mask) {
        const struct slot moved = stripe->slots[slot];
        stripe->slots[slot].first = 0;
        stripe->slots[slot_of(stripe, moved.handle)] = moved;
    }
}

bool bl_request_add(MPI_Request handle, const struct bl_request *request)
{
    struct stripe *stripe = lock(handle);
    const uint32_t node = make_room(stripe) ? new_node(stripe) : 0;
    if (node) {
        stripe->nodes[node - 1] = (struct node){.request = *request};
        struct slot *slot = &stripe->slots[slot_of(stripe, (uintptr_t)handle)];
        if (slot->first) {
            stripe->nodes[slot->last - 1].next = node;
        } else {
            slot->handle = (uintptr_t)handle;
            slot->first = node;
            stripe->used++;
        }
        slot->last = node;
    }
    unlock(stripe);
    return node != 0;
}

/* The oldest request of a handle with its slot; NULL if there is none. */
static struct node *oldest(struct stripe *stripe, MPI_Request handle, uint32_t *slot)
{
    if (!stripe->slots)
        return NULL;
    *slot = slot_of(stripe, (uintptr_t)handle);
    const uint32_t first = stripe->slots[*slot].first;
    return first ? &stripe->nodes[first - 1] : NULL;
}

static void remove_oldest(struct stripe *stripe, struct node *node, uint32_t slot)
{
    const uint32_t number = stripe->slots[slot].first;
    stripe->slots[slot].first = node->next;
    node->next = stripe->free_node;
    stripe->free_node = number;
    if (!stripe->slots[slot].first)
        free_slot(stripe, slot);
}

bool bl_request_take(MPI_Request handle, struct bl_request *request)
{
    uint32_t slot;
    bool found = false;
    struct stripe *stripe = lock(handle);
    struct node *node = oldest(stripe, handle, &slot);
    if (node) {
        *request = node->request;
        /* Completing an inactive persistent request tells nothing. */
        found = !request->persistent || request->active;
        node->request.active = false;
        if (!request->persistent)
            remove_oldest(stripe, node, slot);
    }
    unlock(stripe);
    return found;
}

bool bl_request_start(MPI_Request handle, uint64_t now, uint32_t post,
                      uint64_t (*row_of)(const struct bl_request *request, unsigned base),
                      unsigned base, struct bl_request *request)
{
    uint32_t slot;
    struct stripe *stripe = lock(handle);
    struct node *node = oldest(stripe, handle, &slot);
    if (node) {
        node->request.active = true;
        node->request.posted = now;
        node->request.post = post;
        node->request.what = row_of(&node->request, base);
        *request = node->request;
    }
    unlock(stripe);
    return node != NULL;
}

void bl_request_drop(MPI_Request handle)
{
    uint32_t slot;
    struct stripe *stripe = lock(handle);
    struct node *node = oldest(stripe, handle, &slot);
    if (node)
        remove_oldest(stripe, node, slot);
    unlock(stripe);
}

uint64_t bl_requests_forget(void)
{
    uint64_t count = 0;
    for (int i = 0; i < STRIPES; i++) {
        struct stripe *stripe = &stripes[i];
        if (use_locks)
            pthread_spin_lock(&stripe->lock);
        for (uint32_t slot = 0; stripe->slots && slot <= stripe->mask; slot++) {
            struct node *node = NULL;
            while (stripe->slots[slot].first &&
                   !(node = &stripe->nodes[stripe->slots[slot].first - 1])->request.persistent) {
                remove_oldest(stripe, node, slot);
                count++;
            }
            if (stripe->slots[slot].first && node->request.active) {
                node->request.active = false;
                count++;
            }
        }
        unlock(stripe);
    }
    return count;
}
