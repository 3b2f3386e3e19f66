/*
 * The state of a replay, shared by its parts.
 *
 * Exported: struct bl_engine and its parts; bl_from_pool, bl_shape_of, bl_cost_of, bl_spent_s.
 */
#ifndef BL_REPLAY_ENGINE_H
#define BL_REPLAY_ENGINE_H

#include "memory.h"
#include "replay.h"
#include "table.h"

#include <stdbool.h>

/* One way between two nodes, or between two ranks of a node. */
struct link {
    double until;    /* it is taken, in s */
    double *arrival; /* of its last message, while no rank has waited for it; NULL otherwise */
};

/* A send, receive or collective that a rank has posted; lives until its rank has waited for it. */
struct request {
    double done, overhead; /* in s; `done` counts once `known` */
    int32_t owner;
    bool known;
    struct request *next; /* of those that wait for a collective */
    struct link *link;    /* of the short message that it receives */
};

/* Requests in order. */
struct requests {
    struct request **items;
    int64_t count, room, seen; /* the first `seen` are known */
};

/* A long message that both sides know and that could not start, on the lists of both. */
struct message {
    const struct bl_cost *cost;
    double arrival, ready;
    struct link *link; /* once it is under way */
    int32_t source, target;
    int32_t between; /* nodes: 0 within one, 1 between two */
    bool eager;
    struct request *sender, *receiver;
    struct message *next[2], *previous[2]; /* on the source's list, on the target's */
};

/* What a rank is doing. */
struct state {
    double now, inside_until;
    double began; /* the call */
    int64_t at;
    bool waits;
    struct requests waited;
    struct message *first_held, *last_held;
    int64_t posts;
    struct request **open; /* by the number of the post, less `opened` */
    int64_t opened, open_room;
    int64_t *done; /* posts that the next call completes */
    int64_t done_count, done_room;
    uint32_t *turns; /* collectives so far, by its own communicators */
};

struct event {
    double at;
    int32_t rank;
    bool calls; /* else it begins to compute */
};

struct bl_engine {
    const struct bl_replay *job;
    struct state *states;
    struct event *queue; /* a heap, at most one event a rank */
    int32_t queued;
    struct link *links;
    double *cores; /* until when they are taken */
    struct bl_table asked, sent, gathered;
    struct bl_pool requests, messages, entries, groups;
    uint64_t entered; /* numbers what waits, so that the oldest is found */
    struct bl_memory *memory;
};

static inline void *bl_from_pool(struct bl_engine *engine, struct bl_pool *pool, size_t size)
{
    pool->size = size;
    return bl_pool_take(engine->memory, pool);
}

/* Returns what the next record of a rank asks for, and what it costs. */
static inline const struct bl_shape *bl_shape_of(const struct bl_engine *engine, int32_t rank)
{
    const struct bl_rank *const own = &engine->job->ranks[rank];
    return &own->shapes[own->numbers[engine->states[rank].at]];
}

static inline const struct bl_cost *bl_cost_of(const struct bl_engine *engine, int32_t rank)
{
    const struct bl_rank *const own = &engine->job->ranks[rank];
    return &own->costs[own->numbers[engine->states[rank].at]];
}

static inline double bl_spent_s(const struct bl_engine *engine, int32_t rank)
{
    const struct bl_rank *const own = &engine->job->ranks[rank];
    return *(const double *)(const void *)(own->spent_s + engine->states[rank].at * own->stride);
}

#endif
