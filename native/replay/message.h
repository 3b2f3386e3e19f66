/*
 * Sends and receives, and the messages that could not start.
 *
 * Exported: bl_messages, bl_progress.
 */
#ifndef BL_REPLAY_MESSAGE_H
#define BL_REPLAY_MESSAGE_H

#include "engine.h"

/* Runs a call that sends, receives or both. */
void bl_messages(struct bl_engine *engine, int32_t rank, const struct bl_shape *shape, double now);

/* Starts the long messages that waited until this rank is in a call that may wait. */
void bl_progress(struct bl_engine *engine, int32_t rank, double now);

#endif
