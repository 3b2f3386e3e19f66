/*
 * Memory of one replay: all of it goes at once, and who gets none leaves the replay.
 *
 * Exported: struct bl_memory, struct bl_pool, bl_memory_get, bl_memory_grow, bl_memory_free,
 * bl_pool_take, bl_pool_give.
 */
#ifndef BL_REPLAY_MEMORY_H
#define BL_REPLAY_MEMORY_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

struct bl_memory {
    struct bl_block *blocks;
    jmp_buf exhausted; /* set by who begins */
};

/* Things of one size, given back one by one and taken again. */
struct bl_pool {
    size_t size;
    void *given;
    char *fresh, *end;
};

/* Returns zeroed memory. */
void *bl_memory_get(struct bl_memory *memory, size_t count, size_t size);

/* Returns a copy with twice the room; the old items stay until all goes. */
void *bl_memory_grow(struct bl_memory *memory, const void *items, int64_t *room, size_t size);

void bl_memory_free(struct bl_memory *memory);

/* Returns one zeroed thing. */
void *bl_pool_take(struct bl_memory *memory, struct bl_pool *pool);

void bl_pool_give(struct bl_pool *pool, void *thing);

#endif
