/*
 * IS: what a process does with its own keys, the loops that take the time. In C for its stores that
 * go past the cache.
 *
 * Exported: the is_* functions, which is_kernel.f90 declares to Fortran. Nothing here is collective.
 * All are timed. Keys are not negative; offsets count from 0.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

void is_count_buckets(const int32_t *keys, int64_t count, int shift, int buckets, int32_t *totals);
void is_order_by_bucket(const int32_t *keys, int64_t count, int shift, int buckets,
                        const int32_t *offsets, int32_t *ordered);
void is_count_keys(const int32_t *keys, int64_t count, int32_t first, int32_t *totals);

enum {
    BUCKETS_MAX = 1024,
    LINE_BYTES = 64,
    LINE = LINE_BYTES / sizeof(int32_t), /* keys of a cache line */
    /* Two keys in a row of one bucket would make the second wait for the first one's counter. */
    TABLES = 4,
    /* Beyond 16 MiB the ordered keys leave the cache before they are read again. */
    STREAM_COUNT_MIN = 1 << 22,
};

/* totals[b] = number of keys with key >> shift == b */
void is_count_buckets(const int32_t *keys, int64_t count, int shift, int buckets, int32_t *totals)
{
    static int32_t tables[TABLES][BUCKETS_MAX];
    memset(tables, 0, sizeof tables);
    int64_t i = 0;
    for (; i + TABLES <= count; i += TABLES) {
        for (int t = 0; t < TABLES; t++)
            tables[t][keys[i + t] >> shift]++;
    }
    for (; i < count; i++)
        tables[0][keys[i] >> shift]++;
    for (int b = 0; b < buckets; b++) {
        totals[b] = 0;
        for (int t = 0; t < TABLES; t++)
            totals[b] += tables[t][b];
    }
}

/* Writes a whole line without reading it first, past the cache if `stream`. */
static inline void write_line(int32_t *to, const int32_t *from, int stream)
{
#ifdef __SSE2__
    if (stream) {
        for (size_t i = 0; i < LINE; i += sizeof(__m128i) / sizeof *from)
            _mm_stream_si128((__m128i *)(to + i), _mm_load_si128((const __m128i *)(from + i)));
        return;
    }
#endif
    (void)stream;
    memcpy(to, from, LINE_BYTES);
}

/*
 * Copies the keys to `ordered`, those of bucket b from offsets[b] on. `ordered` starts at a cache
 * line.
 *
 * The keys of a bucket gather in a line of their own, in its place modulo the line, and go out
 * when it is full: there are too many buckets to keep the lines at all their ends in the cache.
 * A bucket's first and last line may be shared with its neighbours and go out key by key.
 */
static inline void order_by_bucket(const int32_t *keys, int64_t count, int shift, int buckets,
                                   const int32_t *offsets, int32_t *ordered, int stream)
{
    static _Alignas(LINE_BYTES) int32_t lines[BUCKETS_MAX][LINE];
    static int32_t ends[BUCKETS_MAX];
    memcpy(ends, offsets, (size_t)buckets * sizeof *ends);
    for (int64_t i = 0; i < count; i++) {
        const int32_t key = keys[i];
        const int b = key >> shift;
        const int32_t end = ends[b]++;
        const int32_t slot = end % LINE;
        lines[b][slot] = key;
        if (slot < LINE - 1)
            continue;
        const int32_t begin = end - slot;
        if (begin >= offsets[b]) {
            write_line(ordered + begin, lines[b], stream);
        } else {
            for (int32_t at = offsets[b]; at <= end; at++)
                ordered[at] = lines[b][at % LINE];
        }
    }
    for (int b = 0; b < buckets; b++) {
        const int32_t line = ends[b] - ends[b] % LINE;
        for (int32_t at = line > offsets[b] ? line : offsets[b]; at < ends[b]; at++)
            ordered[at] = lines[b][at % LINE];
    }
#ifdef __SSE2__
    if (stream)
        _mm_sfence();
#endif
}

void is_order_by_bucket(const int32_t *keys, int64_t count, int shift, int buckets,
                        const int32_t *offsets, int32_t *ordered)
{
    if (count >= STREAM_COUNT_MIN)
        order_by_bucket(keys, count, shift, buckets, offsets, ordered, 1);
    else
        order_by_bucket(keys, count, shift, buckets, offsets, ordered, 0);
}

/* Adds to totals[key - first] for each key. Keys in bucket order stay in few lines of it. */
void is_count_keys(const int32_t *keys, int64_t count, int32_t first, int32_t *totals)
{
    for (int64_t i = 0; i < count; i++)
        totals[keys[i] - first]++;
}
