/*
 * The receive that a message belongs to. A receive may accept any sender or any tag; of several
 * matching messages, it gets the oldest. A waiting item (message or receive) is stored under every
 * name (sender and tag) that receives of the trace use, so that the time of a search does not
 * depend on the number of waiting items.
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

/* Stores a waiting item under names. */
void bl_add(struct bl_engine *engine, struct bl_table *table, int32_t owner, int32_t comm,
            const struct names *names, void *item);

/* Removes and returns the oldest item under one of these names; NULL if there is none. */
void *bl_take(struct bl_engine *engine, struct bl_table *table, int32_t owner, int32_t comm,
              const struct names *names);

#endif
