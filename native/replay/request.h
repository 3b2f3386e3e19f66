/*
 * The requests that a rank has posted and waits for.
 *
 * Exported: bl_request, bl_open, bl_await, bl_block, bl_wake, bl_wait.
 */
#ifndef BL_REPLAY_REQUEST_H
#define BL_REPLAY_REQUEST_H

#include "engine.h"

/* Makes a request of a rank. */
struct request *bl_request(struct bl_engine *engine, int32_t rank);

/* Counts a post, and keeps its request until a call completes it. */
void bl_open(struct bl_engine *engine, int32_t rank, struct request *request);

/* Adds a request to those that the present call waits for. */
void bl_await(struct bl_engine *engine, int32_t rank, struct request *request);

/* Stays in the call until all requests that were awaited are done. */
void bl_block(struct bl_engine *engine, int32_t rank, double now);

/* Ends the call of a rank, if all requests that it waits for are known. */
void bl_wake(struct bl_engine *engine, int32_t rank);

/* Waits for the posts that the present call completes. */
void bl_wait(struct bl_engine *engine, int32_t rank, double now);

#endif
