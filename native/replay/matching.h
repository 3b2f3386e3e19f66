/*
 * Who a message is for: a receive may ask for any sender or any tag, and of several that fit the
 * oldest is taken. What waits lies under every name by which the trace ever asks, so that a search
 * takes as long with a million that wait as with one.
 *
 * Exported: struct name, struct names, bl_names_of, bl_add, bl_take.
 */
#ifndef BL_REPLAY_MATCHING_H
#define BL_REPLAY_MATCHING_H

#include "engine.h"

struct name {
    int32_t source;
    int64_t tag;
};

struct names {
    struct name items[4];
    int count;
};

/* The names under which the trace's receives may ask for a message. */
struct names bl_names_of(const struct bl_replay *job, int32_t source, int64_t tag);

/* Lets something wait under names. */
void bl_add(struct bl_engine *engine, struct bl_table *table, int32_t owner, int32_t comm,
            const struct names *names, void *item);

/* Takes the oldest that waits under one of these names; NULL where nothing does. */
void *bl_take(struct bl_engine *engine, struct bl_table *table, int32_t owner, int32_t comm,
              const struct names *names);

#endif
