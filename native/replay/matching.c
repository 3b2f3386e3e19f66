/* See matching.h. */
#include "matching.h"

/* What waits under a name: a message or a request for one. It may wait under several names. */
struct waiting {
    void *item; /* NULL once it was taken */
    uint64_t number;
    int32_t names; /* under which it still lies */
};

struct place {
    struct waiting *waiting;
    struct place *next;
};

struct line {
    struct place *first, *last;
};

static struct bl_key key_of(int32_t owner, int32_t comm, struct name name)
{
    return (struct bl_key){(uint64_t)(uint32_t)owner << 32 | (uint32_t)comm,
                           (uint64_t)(int64_t)name.source, (uint64_t)name.tag};
}

struct names bl_names_of(const struct bl_replay *job, int32_t source, int64_t tag)
{
    struct names names = {{{source, tag}}, 1};
    if (job->any_tag)
        names.items[names.count++] = (struct name){source, BL_ANY_TAG};
    if (job->anybody)
        names.items[names.count++] = (struct name){BL_ANYBODY, tag};
    if (job->anything)
        names.items[names.count++] = (struct name){BL_ANYBODY, BL_ANY_TAG};
    return names;
}

/* Lines, places and what waits are of like size: one pool serves all three. */
union entry {
    struct waiting waiting;
    struct place place;
    struct line line;
};

static void *entry(struct bl_engine *engine)
{
    return bl_from_pool(engine, &engine->entries, sizeof(union entry));
}

void bl_add(struct bl_engine *engine, struct bl_table *table, int32_t owner, int32_t comm,
            const struct names *names, void *item)
{
    struct waiting *const waiting = entry(engine);
    *waiting = (struct waiting){item, engine->entered++, names->count};
    for (int i = 0; i < names->count; i++) {
        void **const value =
            bl_table_place(table, engine->memory, key_of(owner, comm, names->items[i]));
        if (!*value)
            *value = entry(engine);
        struct line *const line = *value;
        struct place *const place = entry(engine);
        *place = (struct place){waiting, NULL};
        if (line->last)
            line->last->next = place;
        else
            line->first = place;
        line->last = place;
    }
}

/* Takes the first place of a line away, and what waits there if it lies nowhere else. */
static void drop_first(struct bl_engine *engine, struct line *line)
{
    struct place *const place = line->first;
    line->first = place->next;
    if (!line->first)
        line->last = NULL;
    if (--place->waiting->names == 0)
        bl_pool_give(&engine->entries, place->waiting);
    bl_pool_give(&engine->entries, place);
}

/* Gives the first that waits under a name, NULL where none does; the line goes with its last. */
static struct waiting *first_of(struct bl_engine *engine, struct bl_table *table, struct bl_key key)
{
    void **const value = bl_table_find(table, key);
    if (!value)
        return NULL;
    struct line *const line = *value;
    while (line->first && !line->first->waiting->item)
        drop_first(engine, line);
    if (line->first)
        return line->first->waiting;
    bl_pool_give(&engine->entries, line);
    bl_table_remove(table, key);
    return NULL;
}

void *bl_take(struct bl_engine *engine, struct bl_table *table, int32_t owner, int32_t comm,
              const struct names *names)
{
    struct waiting *oldest = NULL;
    struct bl_key key = {0, 0, 0};
    for (int i = 0; i < names->count; i++) {
        const struct bl_key own = key_of(owner, comm, names->items[i]);
        struct waiting *const found = first_of(engine, table, own);
        if (found && (!oldest || found->number < oldest->number)) {
            oldest = found;
            key = own;
        }
    }
    if (!oldest)
        return NULL;
    void *const item = oldest->item;
    oldest->item = NULL;
    first_of(engine, table, key); /* takes its place away */
    return item;
}
