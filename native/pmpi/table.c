/* See table.h. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_INDEX 1024

static uint32_t hash_of(uint64_t what, uint64_t size)
{
    uint64_t mixed = what * UINT64_C(0x9e3779b97f4a7c15) ^ size * UINT64_C(0xc2b2ae3d27d4eb4f);
    mixed ^= mixed >> 29;
    mixed *= UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(mixed >> 32);
}

bool bl_table_init(struct bl_table *table, struct bl_sheet *sheet)
{
    memset(table, 0, sizeof *table);
    table->sheet = sheet;
    table->index = calloc(FIRST_INDEX, sizeof *table->index);
    table->mask = FIRST_INDEX - 1;
    return table->index != NULL;
}

/* The slot of the key, or the free one where it belongs. */
static uint32_t slot_of(const struct bl_table *table, uint64_t what, uint64_t size)
{
    uint32_t slot = hash_of(what, size) & table->mask;
    while (table->index[slot]) {
        const struct bl_row *row = bl_table_at(table, table->index[slot] - 1);
        if (row->key.what == what && row->key.size == size)
            break;
        slot = (slot + 1) & table->mask;
    }
    return slot;
}

/* Puts all rows in use into an index of `slots` places; folded rows leave it. */
static bool index_again(struct bl_table *table, uint32_t slots)
{
    uint32_t *index = calloc(slots, sizeof *index);
    if (!index)
        return false;
    free(table->index);
    table->index = index;
    table->mask = slots - 1;
    for (uint32_t number = 0; number < table->sheet->rows; number++) {
        const struct bl_key key = bl_table_at(table, number)->key;
        if (key.what)
            table->index[slot_of(table, key.what, key.size)] = number + 1;
    }
    return true;
}

static struct bl_row *new_row(struct bl_table *table, uint64_t what, uint64_t size)
{
    struct bl_sheet *sheet = table->sheet;
    if (sheet->rows == BL_ROWS_MAX)
        return NULL;
    if (2 * sheet->rows >= table->mask && !index_again(table, 2 * (table->mask + 1)))
        return NULL;
    const uint32_t chunk = sheet->rows / BL_CHUNK_ROWS;
    if (!table->chunk[chunk]) {
        table->chunk[chunk] =
            bl_journal_take(BL_CHUNK_ROWS * sizeof(struct bl_row), &sheet->chunk_at[chunk]);
        if (!table->chunk[chunk])
            return NULL;
    }
    table->index[slot_of(table, what, size)] = sheet->rows + 1;
    struct bl_row *row = bl_table_at(table, sheet->rows);
    row->key = (struct bl_key){.what = what, .size = size};
    row->shortest = UINT64_MAX;
    row->waited_least = UINT64_MAX;
    sheet->rows++;
    return row;
}

static void add_row(struct bl_row *to, const struct bl_row *from)
{
    to->count += from->count;
    to->bytes += from->bytes;
    to->sent += from->sent;
    to->received += from->received;
    to->time += from->time;
    to->squares += from->squares;
    if (from->shortest < to->shortest)
        to->shortest = from->shortest;
    if (from->longest > to->longest)
        to->longest = from->longest;
    to->waited += from->waited;
    if (from->waited_least < to->waited_least)
        to->waited_least = from->waited_least;
    to->finished += from->finished;
    to->window += from->window;
    to->flight += from->flight;
    to->queued += from->queued;
    to->receives += from->receives;
    to->awaited += from->awaited;
}

/* Moves all exact rows of a call into bins. */
static void fold(struct bl_table *table, unsigned call)
{
    table->binned[call] = true;
    free(table->sizes[call]);
    table->sizes[call] = NULL;
    const uint32_t rows = table->sheet->rows;
    for (uint32_t number = 0; number < rows; number++) {
        struct bl_row *row = bl_table_at(table, number);
        if (bl_what_call(row->key.what) != call || row->key.size == bl_bin_of(row->key.size))
            continue;
        const struct bl_key key = {.what = row->key.what, .size = bl_bin_of(row->key.size)};
        const uint32_t slot = slot_of(table, key.what, key.size);
        struct bl_row *bin = table->index[slot] ? bl_table_at(table, table->index[slot] - 1)
                                                : new_row(table, key.what, key.size);
        if (!bin)
            continue;
        add_row(bin, row);
        *row = (struct bl_row){0};
    }
    table->recent[call] = NULL;
    index_again(table, table->mask + 1);
}

/* Whether the call may keep this size exactly. */
static bool is_exact(struct bl_table *table, unsigned call, uint64_t size)
{
    if (table->binned[call])
        return false;
    if (!table->sizes[call])
        table->sizes[call] = malloc(BL_EXACT_SIZES * sizeof *table->sizes[call]);
    uint64_t *sizes = table->sizes[call];
    if (!sizes)
        return false;
    for (int i = 0; i < table->size_count[call]; i++)
        if (sizes[i] == size)
            return true;
    if (table->size_count[call] == BL_EXACT_SIZES) {
        fold(table, call);
        return false;
    }
    sizes[table->size_count[call]++] = size;
    return true;
}

struct bl_row *bl_table_find(struct bl_table *table, uint64_t what, uint64_t size)
{
    const unsigned call = bl_what_call(what);
    if (table->binned[call])
        size = bl_bin_of(size);
    uint32_t slot = slot_of(table, what, size);
    if (table->index[slot])
        return table->recent[call] = bl_table_at(table, table->index[slot] - 1);
    if (!is_exact(table, call, size)) {
        size = bl_bin_of(size);
        slot = slot_of(table, what, size);
        if (table->index[slot])
            return table->recent[call] = bl_table_at(table, table->index[slot] - 1);
    }
    if (table->sheet->rows >= BL_ROWS_MAX - BL_ROWS_SPARE) {
        what = bl_what(call, 0, 0, 0);
        size = bl_bin_of(size);
        slot = slot_of(table, what, size);
        if (table->index[slot])
            return bl_table_at(table, table->index[slot] - 1);
    }
    struct bl_row *row = new_row(table, what, size);
    if (!row)
        table->sheet->dropped++;
    else
        table->recent[call] = row;
    return row;
}
