/* See table.h. */
#include "table.h"

#include <stdbool.h>

struct bl_entry {
    struct bl_entry *next;
    struct bl_key key;
    void *value;
};

/* Steps of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
 */
static uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static size_t slot(const struct bl_table *table, struct bl_key key)
{
    return mixed(key.a + mixed(key.b + mixed(key.c + 1))) & (table->heads_count - 1);
}

static bool equal(struct bl_key one, struct bl_key other)
{
    return one.a == other.a && one.b == other.b && one.c == other.c;
}

static void widen(struct bl_table *table, struct bl_memory *memory)
{
    struct bl_entry **const old = table->heads;
    const size_t count = table->heads_count;
    table->heads_count = count ? 4 * count : 64;
    table->heads = bl_memory_get(memory, table->heads_count, sizeof *table->heads);
    for (size_t i = 0; i < count; i++) {
        for (struct bl_entry *entry = old[i], *next; entry; entry = next) {
            next = entry->next;
            struct bl_entry **const head = &table->heads[slot(table, entry->key)];
            entry->next = *head;
            *head = entry;
        }
    }
}

void **bl_table_find(const struct bl_table *table, struct bl_key key)
{
    if (!table->count)
        return NULL;
    for (struct bl_entry *entry = table->heads[slot(table, key)]; entry; entry = entry->next) {
        if (equal(entry->key, key))
            return &entry->value;
    }
    return NULL;
}

void **bl_table_place(struct bl_table *table, struct bl_memory *memory, struct bl_key key)
{
    void **const found = bl_table_find(table, key);
    if (found)
        return found;
    if (table->count >= table->heads_count)
        widen(table, memory);
    table->entries.size = sizeof(struct bl_entry);
    struct bl_entry *const entry = bl_pool_take(memory, &table->entries);
    struct bl_entry **const head = &table->heads[slot(table, key)];
    entry->key = key;
    entry->next = *head;
    *head = entry;
    table->count++;
    return &entry->value;
}

void bl_table_remove(struct bl_table *table, struct bl_key key)
{
    if (!table->count)
        return;
    for (struct bl_entry **at = &table->heads[slot(table, key)]; *at; at = &(*at)->next) {
        struct bl_entry *const entry = *at;
        if (equal(entry->key, key)) {
            *at = entry->next;
            bl_pool_give(&table->entries, entry);
            table->count--;
            return;
        }
    }
}
