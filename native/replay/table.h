/*
 * A hash table from a key of three numbers to a pointer.
 *
 * Exported: struct bl_key, struct bl_table, bl_table_place, bl_table_find, bl_table_remove.
 */
#ifndef BL_REPLAY_TABLE_H
#define BL_REPLAY_TABLE_H

#include "memory.h"

#include <stdint.h>

struct bl_key {
    uint64_t a, b, c;
};

struct bl_table {
    struct bl_entry **heads;
    size_t heads_count, count;
    struct bl_pool entries; /* its size is set when the first one is made */
};

/* Returns the place of a key's value; NULL if the table lacks the key. */
void **bl_table_find(const struct bl_table *table, struct bl_key key);

/* Returns the place of a key's value; the value of a new key is NULL. */
void **bl_table_place(struct bl_table *table, struct bl_memory *memory, struct bl_key key);

void bl_table_remove(struct bl_table *table, struct bl_key key);

#endif
