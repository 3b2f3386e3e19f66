/* See memory.h. */
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct bl_block {
    struct bl_block *next;
    max_align_t content[];
};

void *bl_memory_get(struct bl_memory *memory, size_t count, size_t size)
{
    struct bl_block *block = NULL;
    if (count == 0 || size <= (SIZE_MAX - sizeof *block) / count)
        block = calloc(1, sizeof *block + count * size);
    if (!block)
        longjmp(memory->exhausted, 1);
    block->next = memory->blocks;
    memory->blocks = block;
    return block->content;
}

void *bl_memory_grow(struct bl_memory *memory, const void *items, int64_t *room, size_t size)
{
    const int64_t more = *room ? 2 * *room : 8;
    void *const grown = bl_memory_get(memory, (size_t)more, size);
    if (*room)
        memcpy(grown, items, (size_t)*room * size);
    *room = more;
    return grown;
}

void bl_memory_free(struct bl_memory *memory)
{
    while (memory->blocks) {
        struct bl_block *const block = memory->blocks;
        memory->blocks = block->next;
        free(block);
    }
}

void *bl_pool_take(struct bl_memory *memory, struct bl_pool *pool)
{
    enum { AT_ONCE = 1024 };
    void *thing = pool->given;
    if (thing) {
        memcpy(&pool->given, thing, sizeof pool->given);
        memset(thing, 0, pool->size);
        return thing;
    }
    if (pool->fresh == pool->end) {
        pool->fresh = bl_memory_get(memory, AT_ONCE, pool->size);
        pool->end = pool->fresh + AT_ONCE * pool->size;
    }
    thing = pool->fresh;
    pool->fresh += pool->size;
    return thing;
}

void bl_pool_give(struct bl_pool *pool, void *thing)
{
    memcpy(thing, &pool->given, sizeof pool->given);
    pool->given = thing;
}
