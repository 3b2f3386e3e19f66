/* Sends and receives: short messages at once, long ones when both sides stand in calls. */
#include "message.h"

#include "core.h"
#include "matching.h"
#include "request.h"

#include <math.h>

static void hold(struct bl_engine *engine, struct message *message, int side, int32_t rank)
{
    struct state *const state = &engine->states[rank];
    message->previous[side] = state->last_held;
    message->next[side] = NULL;
    if (state->last_held)
        state->last_held->next[state->last_held->source == rank ? 0 : 1] = message;
    else
        state->first_held = message;
    state->last_held = message;
}

static void release(struct bl_engine *engine, struct message *message, int side, int32_t rank)
{
    struct state *const state = &engine->states[rank];
    struct message *const before = message->previous[side], *const after = message->next[side];
    if (before)
        before->next[before->source == rank ? 0 : 1] = after;
    else
        state->first_held = after;
    if (after)
        after->previous[after->source == rank ? 0 : 1] = before;
    else
        state->last_held = before;
}

static struct link *link_of(const struct bl_engine *engine, int32_t source, int32_t target)
{
    const struct bl_replay *const job = engine->job;
    const struct bl_rank *const from = &job->ranks[source], *const to = &job->ranks[target];
    if (from->host != to->host)
        return &engine->links[(int64_t)from->host * job->hosts + to->host];
    return &engine->links[(int64_t)job->hosts * job->hosts + (int64_t)source * job->places +
                          to->place];
}

/* Returns what a message that begins takes longer for those that come the other way meanwhile. */
static double crossing(const struct message *message, const struct link *back, double begin)
{
    const double both = message->cost->crossing[message->between];
    const double occupies = message->cost->occupies[message->between];
    const double together = fmin(back->until - begin, occupies);
    if (!(together > 0.0))
        return 0.0;
    return together / occupies * (both - message->cost->transfer[message->between]);
}

/* What is under way arrives later; what a rank has waited for already does not. */
static void delay(struct link *link, double longer)
{
    link->until += longer;
    if (link->arrival)
        *link->arrival += longer;
}

static void transfer(struct bl_engine *engine, struct message *message, double now)
{
    struct link *const link = link_of(engine, message->source, message->target);
    struct link *const back = link_of(engine, message->target, message->source);
    const double begin = link->until > now ? link->until : now;
    const double longer = crossing(message, back, begin);
    if (longer > 0.0)
        delay(back, longer);
    link->until = begin + message->cost->occupies[message->between] + longer;
    message->arrival = begin + message->cost->transfer[message->between] + longer;
    link->arrival = message->eager ? &message->arrival : NULL;
    message->link = link;
}

static void arrive(struct request *request, double at)
{
    request->done = at;
    request->overhead = 0.0;
    request->known = true;
}

/* Starts a long message that both sides know, if both stand in calls that wait. */
static void try(struct bl_engine *engine, struct message *message, double now)
{
    const int32_t source = message->source, target = message->target;
    const bool fetched = engine->job->fetches[message->between];
    if (!(engine->states[target].inside_until > now))
        return;
    if (!(engine->states[source].inside_until > now || fetched))
        return;
    transfer(engine, message, message->ready > now ? message->ready : now);
    arrive(message->sender, message->arrival);
    arrive(message->receiver, message->arrival);
    release(engine, message, 0, source);
    bl_wake(engine, source);
    if (target != source) {
        release(engine, message, 1, target);
        bl_wake(engine, target);
    }
    bl_pool_give(&engine->messages, message);
}

static void match(struct bl_engine *engine, struct message *message, struct request *request,
                  double now)
{
    request->overhead = message->cost->receive[message->between];
    if (message->eager) {
        request->done = message->arrival;
        request->known = true;
        request->link = message->link;
        if (message->link->arrival == &message->arrival)
            message->link->arrival = &request->done;
        bl_pool_give(&engine->messages, message);
        bl_wake(engine, request->owner);
        return;
    }
    message->receiver = request;
    hold(engine, message, 0, message->source);
    if (message->target != message->source)
        hold(engine, message, 1, message->target);
    try(engine, message, now);
}

static struct request *receive(struct bl_engine *engine, int32_t rank, const struct bl_shape *shape,
                               double now)
{
    struct request *const request = bl_request(engine, rank);
    const struct names name = {{{shape->from, shape->receive_tag}}, 1};
    struct message *const message = bl_take(engine, &engine->sent, rank, shape->comm, &name);
    if (message)
        match(engine, message, request, now);
    else
        bl_add(engine, &engine->asked, rank, shape->comm, &name, request);
    return request;
}

/* Sends; `busy` becomes when the sender's own share of it is over. */
static struct request *send(struct bl_engine *engine, int32_t rank, const struct bl_shape *shape,
                            double now, double *busy)
{
    const struct bl_replay *const job = engine->job;
    struct message *const message = bl_from_pool(engine, &engine->messages, sizeof *message);
    struct request *const request = bl_request(engine, rank);
    message->cost = bl_cost_of(engine, rank);
    message->source = rank;
    message->target = shape->to;
    message->between = job->ranks[rank].host != job->ranks[shape->to].host;
    message->eager = message->cost->eager[message->between] && !shape->rendezvous;
    message->ready = now;
    message->sender = request;
    *busy = now + job->local_s;
    if (message->eager) {
        *busy = now + message->cost->send[message->between];
        transfer(engine, message, now);
        request->done = *busy;
        request->known = true;
    }
    const struct names names = bl_names_of(job, rank, shape->send_tag);
    struct request *const asked = bl_take(engine, &engine->asked, shape->to, shape->comm, &names);
    if (asked)
        match(engine, message, asked, now);
    else
        bl_add(engine, &engine->sent, shape->to, shape->comm, &names, message);
    return request;
}

void bl_messages(struct bl_engine *engine, int32_t rank, const struct bl_shape *shape, double now)
{
    struct request *received = NULL, *sent = NULL;
    double busy = now;
    if (shape->from != BL_NOBODY)
        received = receive(engine, rank, shape, now);
    if (shape->to != BL_NOBODY && shape->to != BL_ANYBODY)
        sent = send(engine, rank, shape, now, &busy);
    if (shape->posts) {
        bl_open(engine, rank, sent ? sent : received);
        bl_finish(engine, rank, fmax(busy, now + engine->job->local_s));
        return;
    }
    if (received)
        bl_await(engine, rank, received);
    if (sent)
        bl_await(engine, rank, sent);
    bl_block(engine, rank, busy);
}

/* A rank stands in a call that may wait: what waited for that can start. */
void bl_progress(struct bl_engine *engine, int32_t rank, double now)
{
    struct state *const state = &engine->states[rank];
    state->inside_until = INFINITY;
    for (struct message *message = state->first_held, *next; message; message = next) {
        next = message->next[message->source == rank ? 0 : 1];
        try(engine, message, now);
    }
}
