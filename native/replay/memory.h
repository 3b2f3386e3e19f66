/*
 * Memory of a replay. All of it is freed at once; if memory is exhausted, the replay ends.
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
    jmp_buf exhausted; /* set by the caller */
};

/* Objects of one size, which can be returned one by one and used again. */
struct bl_pool {
    size_t size;
    void *given;
    char *fresh, *end;
};

/* Returns zeroed memory. */
void *bl_memory_get(struct bl_memory *memory, size_t count, size_t size);

/* Returns a copy with twice the room; the old items are only freed with all memory. */
void *bl_memory_grow(struct bl_memory *memory, const void *items, int64_t *room, size_t size);

void bl_memory_free(struct bl_memory *memory);

/* Returns one zeroed object. */
void *bl_pool_take(struct bl_memory *memory, struct bl_pool *pool);

void bl_pool_give(struct bl_pool *pool, void *thing);

#endif
