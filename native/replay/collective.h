/*
 * Collectives.
 *
 * Exported: bl_collective.
 */
#ifndef BL_REPLAY_COLLECTIVE_H
#define BL_REPLAY_COLLECTIVE_H

#include "engine.h"

void bl_collective(struct bl_engine *engine, int32_t rank, const struct bl_shape *shape,
                   double now);

#endif
