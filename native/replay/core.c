/* Ranks in the order of their time, computing on cores that they may have to share. */
#include "core.h"

static bool before(struct event one, struct event other)
{
    return one.at < other.at || (one.at == other.at && one.rank < other.rank);
}

void bl_queue_push(struct bl_engine *engine, struct event event)
{
    struct event *const heap = engine->queue;
    int32_t place = engine->queued++;
    while (place > 0 && before(event, heap[(place - 1) / 2])) {
        heap[place] = heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap[place] = event;
}

struct event bl_queue_pop(struct bl_engine *engine)
{
    struct event *const heap = engine->queue;
    const struct event first = heap[0], last = heap[--engine->queued];
    int32_t place = 0;
    for (int32_t child; (child = 2 * place + 1) < engine->queued; place = child) {
        if (child + 1 < engine->queued && before(heap[child + 1], heap[child]))
            child++;
        if (!before(heap[child], last))
            break;
        heap[place] = heap[child];
    }
    heap[place] = last;
    return first;
}

/* Remembers a post that the next call completes. */
static void note_done(struct bl_engine *engine, struct state *state, int64_t post)
{
    if (state->done_count == state->done_room)
        state->done =
            bl_memory_grow(engine->memory, state->done, &state->done_room, sizeof *state->done);
    state->done[state->done_count++] = post;
}

/* Computes up to the next call, and stands in line for it. */
void bl_advance(struct bl_engine *engine, int32_t rank, double now)
{
    struct state *const state = &engine->states[rank];
    const struct bl_rank *const own = &engine->job->ranks[rank];
    for (; state->at < own->records; state->at++) {
        const struct bl_shape *const shape = bl_shape_of(engine, rank);
        if (shape->kind != BL_DONE)
            break;
        note_done(engine, state, state->posts - shape->ago);
    }
    if (state->at == own->records)
        state->now = now;
    else if (own->core < 0)
        bl_compute(engine, rank, now);
    else /* Whoever comes first to a shared core must be known before it is given away. */
        bl_queue_push(engine, (struct event){now, rank, false});
}

void bl_compute(struct bl_engine *engine, int32_t rank, double now)
{
    struct state *const state = &engine->states[rank];
    struct bl_rank *const own = &engine->job->ranks[rank];
    const double traced = *(const double *)(const void *)(own->compute_s + state->at * own->stride);
    const struct bl_replay *const job = engine->job;
    const double first = traced < job->beside_s ? traced : job->beside_s;
    const double wanted = (traced + job->beside * first) * job->compute;
    own->computed_s += wanted;
    if (own->core >= 0 && wanted > 0) {
        double *const core = &engine->cores[own->core];
        now = *core > now ? *core : now;
        *core = now + wanted;
    }
    state->now = state->began = now + wanted;
    bl_queue_push(engine, (struct event){state->now, rank, true});
}

/* The call of a rank is over. */
void bl_finish(struct bl_engine *engine, int32_t rank, double now)
{
    struct state *const state = &engine->states[rank];
    const struct bl_rank *const own = &engine->job->ranks[rank];
    own->taken_s[own->numbers[state->at]] += now - state->began;
    if (now < state->inside_until)
        state->inside_until = now;
    state->at++;
    bl_advance(engine, rank, now);
}
