/* Requests: posted, open, waited for, done. */
#include "request.h"

#include "core.h"

#include <stdlib.h>
#include <string.h>

struct request *bl_request(struct bl_engine *engine, int32_t rank)
{
    struct request *const request = bl_from_pool(engine, &engine->requests, sizeof *request);
    request->owner = rank;
    return request;
}

/* Makes room for a post: what stands first and was completed needs none. */
static void make_room(struct bl_engine *engine, struct state *state, int64_t post)
{
    int64_t gone = 0;
    while (gone < state->open_room && !state->open[gone])
        gone++;
    const int64_t kept = state->open_room - gone;
    state->opened = kept ? state->opened + gone : post;
    const int64_t wanted = post - state->opened + 1;
    struct request **open = state->open;
    int64_t room = state->open_room;
    if (2 * wanted > room) {
        room = 2 * wanted + 8;
        open = bl_memory_get(engine->memory, (size_t)room, sizeof *open);
    }
    if (kept)
        memmove(open, state->open + gone, (size_t)kept * sizeof *open);
    memset(open + kept, 0, (size_t)(room - kept) * sizeof *open);
    state->open = open;
    state->open_room = room;
}

/* Counts a post, and keeps its request until a call completes it. */
void bl_open(struct bl_engine *engine, int32_t rank, struct request *request)
{
    struct state *const state = &engine->states[rank];
    const int64_t post = ++state->posts;
    if (!request)
        return;
    if (post - state->opened >= state->open_room)
        make_room(engine, state, post);
    state->open[post - state->opened] = request;
}

/* Takes the request of a post; NULL where it is not open. */
static struct request *close_post(struct state *state, int64_t post)
{
    const int64_t place = post - state->opened;
    if (place < 0 || place >= state->open_room)
        return NULL;
    struct request *const request = state->open[place];
    state->open[place] = NULL;
    return request;
}

void bl_await(struct bl_engine *engine, int32_t rank, struct request *request)
{
    struct requests *const waited = &engine->states[rank].waited;
    if (waited->count == waited->room)
        waited->items =
            bl_memory_grow(engine->memory, waited->items, &waited->room, sizeof *waited->items);
    waited->items[waited->count++] = request;
}

/* Stays until all requests that were awaited are done. */
void bl_block(struct bl_engine *engine, int32_t rank, double now)
{
    struct state *const state = &engine->states[rank];
    state->now = now;
    state->waits = true;
    bl_wake(engine, rank);
}

/* Puts requests in the order in which they are done; those of one moment stay as they were. */
static void sort(struct bl_engine *engine, struct requests *requests)
{
    enum { FEW = 16 };
    struct request **const items = requests->items;
    const int64_t count = requests->count;
    for (int64_t from = 0; from < count; from += FEW) {
        const int64_t to = from + FEW < count ? from + FEW : count;
        for (int64_t i = from + 1; i < to; i++) {
            struct request *const moved = items[i];
            int64_t place = i;
            for (; place > from && moved->done < items[place - 1]->done; place--)
                items[place] = items[place - 1];
            items[place] = moved;
        }
    }
    if (count <= FEW)
        return;
    struct request **source = items;
    struct request **target = malloc((size_t)count * sizeof *target), **const other = target;
    if (!target)
        longjmp(engine->memory->exhausted, 1);
    for (int64_t width = FEW; width < count; width *= 2) {
        for (int64_t from = 0; from < count; from += 2 * width) {
            const int64_t middle = from + width < count ? from + width : count;
            const int64_t end = from + 2 * width < count ? from + 2 * width : count;
            for (int64_t i = from, j = middle, k = from; k < end; k++) {
                const bool left = i < middle && (j == end || source[i]->done <= source[j]->done);
                target[k] = left ? source[i++] : source[j++];
            }
        }
        struct request **const next = source;
        source = target;
        target = next;
    }
    if (source != items) {
        for (int64_t i = 0; i < count; i++)
            items[i] = source[i];
    }
    free(other);
}

/*
 * Ends the call that a rank stands in, if all that it waits for is known.
 *
 * Messages are taken in the order of their arrival: one that lies there already costs the receiver
 * its own share, one that is waited for has that in its transfer.
 */
void bl_wake(struct bl_engine *engine, int32_t rank)
{
    struct state *const state = &engine->states[rank];
    struct requests *const waited = &state->waited;
    if (!state->waits)
        return;
    for (; waited->seen < waited->count; waited->seen++) {
        if (!waited->items[waited->seen]->known)
            return;
    }
    double end = state->now + (waited->count ? 0.0 : engine->job->local_s);
    if (waited->count > 1)
        sort(engine, waited);
    for (int64_t i = 0; i < waited->count; i++) {
        struct request *const request = waited->items[i];
        end = request->done > end ? request->done : end + request->overhead;
        if (request->link && request->link->arrival == &request->done)
            request->link->arrival = NULL;
        bl_pool_give(&engine->requests, request);
    }
    waited->seen = waited->count = 0;
    state->waits = false;
    bl_finish(engine, rank, end);
}

void bl_wait(struct bl_engine *engine, int32_t rank, double now)
{
    struct state *const state = &engine->states[rank];
    for (int64_t i = 0; i < state->done_count; i++) {
        struct request *const request = close_post(state, state->done[i]);
        if (request)
            bl_await(engine, rank, request);
    }
    state->done_count = 0;
    bl_block(engine, rank, now);
}
