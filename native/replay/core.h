/*
 * Ranks in the order of their time, and their time on a core.
 *
 * Exported: bl_queue_push, bl_queue_pop, bl_advance, bl_compute, bl_finish.
 */
#ifndef BL_REPLAY_CORE_H
#define BL_REPLAY_CORE_H

#include "engine.h"

void bl_queue_push(struct bl_engine *engine, struct event event);

/* Takes the earliest event; there is at least one. */
struct event bl_queue_pop(struct bl_engine *engine);

/* Begins to compute towards the next call of a rank. */
void bl_advance(struct bl_engine *engine, int32_t rank, double now);

/* Computes up to the next call, on a core that other ranks may use too. */
void bl_compute(struct bl_engine *engine, int32_t rank, double now);

/* Ends the call of a rank. */
void bl_finish(struct bl_engine *engine, int32_t rank, double now);

#endif
