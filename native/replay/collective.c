/*
 * Collectives: all wait for the last rank, or for the root only, or the root alone waits.
 */
#include "collective.h"

#include "core.h"
#include "request.h"

/* One collective while its ranks come. */
struct group {
    double last, cost, root_at;
    int32_t size, came;
    bool rooted;                 /* its root came, at `root_at` */
    struct request *first, *end; /* those that wait for it */
};

static void let_wait(struct group *group, struct request *request)
{
    request->next = NULL;
    if (group->end)
        group->end->next = request;
    else
        group->first = request;
    group->end = request;
}

/* Those who waited go on. */
static void let_go(struct bl_engine *engine, struct group *group, double at)
{
    struct request *request = group->first;
    group->first = group->end = NULL;
    for (struct request *next; request; request = next) {
        next = request->next; /* woken, its owner gives it back */
        request->done = at;
        request->known = true;
        bl_wake(engine, request->owner);
    }
}

static void follow_root(struct bl_engine *engine, int32_t rank, const struct bl_shape *shape,
                        double now, struct group *group, struct request *request)
{
    const double busy = now + bl_cost_of(engine, rank)->overhead;
    if (rank == shape->root) {
        group->rooted = true;
        group->root_at = now;
        request->done = busy;
        request->known = true;
        let_go(engine, group, now + group->cost);
    } else if (group->rooted) {
        const double at = group->root_at + group->cost;
        request->done = at > busy ? at : busy;
        request->known = true;
    } else {
        let_wait(group, request);
    }
}

static void join(struct bl_engine *engine, int32_t rank, const struct bl_shape *shape, double now,
                 struct request *request)
{
    const struct bl_cost *const cost = bl_cost_of(engine, rank);
    const uint32_t turn = engine->states[rank].turns[shape->own_comm]++;
    const struct bl_key key = {(uint64_t)shape->comm, turn, 0};
    void **const value = bl_table_place(&engine->gathered, engine->memory, key);
    if (!*value) {
        engine->groups.size = sizeof(struct group);
        *value = bl_pool_take(engine->memory, &engine->groups);
        ((struct group *)*value)->size = shape->comm_size;
    }
    struct group *const group = *value;
    group->came++;
    group->last = now > group->last ? now : group->last;
    group->cost = cost->collective > group->cost ? cost->collective : group->cost;
    const bool complete = group->came == group->size;
    if (complete)
        bl_table_remove(&engine->gathered, key);
    if (cost->role == BL_FROM_ROOT && shape->root >= 0) {
        follow_root(engine, rank, shape, now, group, request);
    } else {
        if (cost->role == BL_TO_ROOT && shape->root >= 0 && rank != shape->root) {
            request->done = now + cost->overhead;
            request->known = true;
        } else {
            let_wait(group, request);
        }
        if (group->came >= group->size)
            let_go(engine, group, group->last + group->cost);
    }
    if (complete && !group->first)
        bl_pool_give(&engine->groups, group);
}

void bl_collective(struct bl_engine *engine, int32_t rank, const struct bl_shape *shape, double now)
{
    struct request *const request = bl_request(engine, rank);
    join(engine, rank, shape, now, request);
    if (shape->posts) {
        bl_open(engine, rank, request);
        bl_finish(engine, rank, now + engine->job->local_s);
        return;
    }
    bl_await(engine, rank, request);
    bl_block(engine, rank, now);
}
