/*
 * The table of one thread: a row per call, message size, communicator and peer's place.
 *
 * Exported: struct bl_key, struct bl_row, struct bl_table, bl_table_row, bl_size_low, bl_size_high.
 *
 * Rows are stored densely in chunks of the journal. An index (open addressing) in ordinary memory
 * contains their numbers. If a call uses more than BL_EXACT_SIZES different sizes, all its rows are
 * merged into power-of-two bins; until then, the sizes are exact. The number of rows is limited;
 * the last rows are reserved for rows without region, communicator or place.
 */
#ifndef BL_PMPI_TABLE_H
#define BL_PMPI_TABLE_H

#include "call.h"
#include "journal.h"

#include <stdbool.h>
#include <stdint.h>

#define BL_CHUNK_ROWS 512
#define BL_ROWS_MAX (BL_CHUNKS_MAX * BL_CHUNK_ROWS)
#define BL_ROWS_SPARE 2048
#define BL_EXACT_SIZES 64

/* Where the other side of a call is. */
enum bl_place { BL_NO_PEER, BL_SELF, BL_SAME_NODE, BL_OTHER_NODE, BL_ANYWHERE, BL_PLACE_COUNT };

/* A size is a number of bytes, or the bin [2^b, 2^(b+1)) as BL_BIN + b. */
#define BL_BIN (UINT64_C(1) << 63)

struct bl_key {
    uint64_t what; /* see bl_key_of; 0: the row is not in use */
    uint64_t size;
};

static inline uint64_t bl_what(unsigned call, unsigned region, unsigned place, unsigned class)
{
    return (uint64_t)call << 32 | (uint64_t)region << 24 | (uint64_t)place << 16 | class;
}
static inline unsigned bl_what_call(uint64_t what)
{
    return (unsigned)(what >> 32);
}
static inline unsigned bl_what_region(uint64_t what)
{
    return (unsigned)(what >> 24) & 0xff;
}
static inline unsigned bl_what_place(uint64_t what)
{
    return (unsigned)(what >> 16) & 0xff;
}
static inline unsigned bl_what_class(uint64_t what)
{
    return (unsigned)what & 0xffff;
}

/* The bin of a size; bins and 0 stay what they are. */
static inline uint64_t bl_bin_of(uint64_t size)
{
    return size == 0 || size & BL_BIN ? size : BL_BIN + (63 - (unsigned)__builtin_clzll(size));
}

/* Times in ticks. */
struct bl_row {
    struct bl_key key;
    uint64_t count;
    uint64_t bytes; /* sum of the sizes */
    uint64_t sent;
    uint64_t received;
    uint64_t time;
    double squares;
    uint64_t shortest;
    uint64_t longest;
    uint64_t waited; /* in the barriers that --split inserts */
    uint64_t waited_least;
    uint64_t finished; /* requests of this row that were completed */
    uint64_t window;   /* from the post's end to the start of the completing call */
    uint64_t flight;   /* from the post's end to the completing call's end */
    uint64_t queued;   /* ns that the main thread was ready during these without a core */
    uint64_t receives; /* receives that these calls completed */
    uint64_t awaited;  /* bytes of all requests that these calls completed */
};

struct bl_table {
    struct bl_sheet *sheet;
    struct bl_row *chunk[BL_CHUNKS_MAX];
    uint32_t *index; /* row number + 1 */
    uint32_t mask;
    uint64_t *sizes[BL_CALL_COUNT]; /* the exact ones so far */
    uint8_t size_count[BL_CALL_COUNT];
    bool binned[BL_CALL_COUNT];
    struct bl_row *recent[BL_CALL_COUNT]; /* the row that the call used last */
};

bool bl_table_init(struct bl_table *table, struct bl_sheet *sheet);

/* Finds a row in the index or makes it; NULL if there is no space. */
struct bl_row *bl_table_find(struct bl_table *table, uint64_t what, uint64_t size);

static inline struct bl_row *bl_table_row(struct bl_table *table, uint64_t what, uint64_t size)
{
    struct bl_row *row = table->recent[bl_what_call(what)];
    if (__builtin_expect(row && row->key.what == what && row->key.size == size, 1))
        return row;
    return bl_table_find(table, what, size);
}

static inline struct bl_row *bl_table_at(const struct bl_table *table, uint32_t number)
{
    return &table->chunk[number / BL_CHUNK_ROWS][number % BL_CHUNK_ROWS];
}

#endif
