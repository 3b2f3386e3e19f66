/* See replay.h. The rank that is earliest runs its next call. */
#include "engine.h"

#include "collective.h"
#include "core.h"
#include "message.h"
#include "request.h"

#include <math.h>

static void call(struct bl_engine *engine, int32_t rank)
{
    const struct bl_shape *const shape = bl_shape_of(engine, rank);
    const double now = engine->states[rank].now;
    if (!shape->posts)
        bl_progress(engine, rank, now);
    switch ((enum bl_kind)shape->kind) {
    case BL_MESSAGES:
        bl_messages(engine, rank, shape, now);
        break;
    case BL_WAIT:
        bl_wait(engine, rank, now);
        break;
    case BL_COLLECTIVE:
        bl_collective(engine, rank, shape, now);
        break;
    case BL_LOCAL:
        bl_finish(engine, rank, now + engine->job->local_s);
        break;
    case BL_FILES:
        bl_finish(engine, rank, now + engine->job->files * bl_spent_s(engine, rank));
        break;
    case BL_COMPUTE:
        bl_finish(engine, rank, now);
        break;
    case BL_OTHER:
    case BL_DONE:
        bl_finish(engine, rank, now + bl_spent_s(engine, rank));
        break;
    }
}

static void prepare(struct bl_engine *engine)
{
    const struct bl_replay *const job = engine->job;
    struct bl_memory *const memory = engine->memory;
    const size_t count = (size_t)job->count, hosts = (size_t)job->hosts;
    engine->states = bl_memory_get(memory, count, sizeof *engine->states);
    engine->queue = bl_memory_get(memory, count, sizeof *engine->queue);
    engine->links =
        bl_memory_get(memory, hosts * hosts + count * (size_t)job->places, sizeof *engine->links);
    engine->cores = bl_memory_get(memory, (size_t)job->cores, sizeof(double));
    for (int32_t rank = 0; rank < job->count; rank++) {
        struct state *const state = &engine->states[rank];
        const size_t comms = (size_t)job->ranks[rank].own_comms;
        state->inside_until = -INFINITY;
        state->turns = bl_memory_get(memory, comms, sizeof *state->turns);
        job->ranks[rank].computed_s = 0.0;
    }
}

static int run(struct bl_engine *engine)
{
    const struct bl_replay *const job = engine->job;
    prepare(engine);
    for (int32_t rank = 0; rank < job->count; rank++)
        bl_advance(engine, rank, 0.0);
    while (engine->queued > 0) {
        const struct event event = bl_queue_pop(engine);
        if (event.calls)
            call(engine, event.rank);
        else
            bl_compute(engine, event.rank, event.at);
    }
    int status = BL_RAN;
    for (int32_t rank = 0; rank < job->count; rank++) {
        if (engine->states[rank].at < job->ranks[rank].records)
            status = BL_STOPPED;
        job->ranks[rank].end_s = engine->states[rank].now;
    }
    return status;
}

int bl_replay_run(struct bl_replay *job)
{
    struct bl_memory memory = {.blocks = NULL};
    struct bl_engine engine = {.job = job, .memory = &memory};
    if (setjmp(memory.exhausted)) {
        bl_memory_free(&memory);
        return BL_NO_MEMORY;
    }
    const int status = run(&engine);
    bl_memory_free(&memory);
    return status;
}
