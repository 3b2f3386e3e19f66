/*
 * IS: the loops that take the time, what a process does with its own keys.
 *
 * Exported: is_count_buckets, is_order_directly, is_order_by_lines, is_count_values, which
 * is_local.f90 declares to Fortran and describes. In C for the sake of two things that Fortran
 * lacks: keys are asked for ahead of their use, since the processor's own prediction ends at each
 * page, and lines are stored past the caches.
 */
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The same are in is_local.f90. */
enum { TABLES = 4, TOGETHER = 64 };
/* Keys of a cache line, and how many keys ahead one is asked for: past the end, too, where it does
 * no harm. A function for it would be left out: gcc takes it for one that does nothing. */
enum { PIECE = 16, AHEAD = 512 };

void is_count_buckets(const int32_t *keys, int64_t count, int shift, int32_t (*counts)[TABLES]);
void is_order_directly(const int32_t *keys, int64_t count, int shift, int32_t *next,
                       int32_t *ordered);
void is_order_by_lines(const int32_t *keys, int64_t count, int shift, int buckets,
                       const int32_t *begin, int32_t *next, int32_t (*waiting)[TOGETHER],
                       int32_t *ordered);
void is_count_values(const int32_t *keys, int64_t count, int32_t first_value, int32_t *totals);

void is_count_buckets(const int32_t *keys, int64_t count, int shift, int32_t (*counts)[TABLES])
{
    const int64_t whole = count / PIECE * PIECE;
    for (int64_t first = 0; first < whole; first += PIECE) {
        __builtin_prefetch(keys + first + AHEAD);
        for (int i = 0; i < PIECE; i++)
            counts[(uint32_t)keys[first + i] >> shift][i % TABLES]++;
    }
    for (int64_t i = whole; i < count; i++)
        counts[(uint32_t)keys[i] >> shift][0]++;
}

void is_order_directly(const int32_t *keys, int64_t count, int shift, int32_t *next,
                       int32_t *ordered)
{
    for (int64_t i = 0; i < count; i++)
        ordered[next[(uint32_t)keys[i] >> shift]++] = keys[i];
}

/* Copies whole lines to memory, without reading what is there and without a place in the caches. */
static void store_lines(int32_t *to, const int32_t *from)
{
#ifdef __SSE2__
    /* Four of these fill a line, which then leaves whole: wider ones are not faster. */
    for (int i = 0; i < TOGETHER; i += 4)
        _mm_stream_si128((__m128i *)(to + i), _mm_load_si128((const __m128i *)(from + i)));
#else
    memcpy(to, from, TOGETHER * sizeof *to);
#endif
}

/* Stores what waits for the places before `end`; the bucket's first is `begin`. */
static void store_waiting(const int32_t *waiting, int32_t begin, int32_t end, int32_t *ordered)
{
    int32_t first = (end - 1) / TOGETHER * TOGETHER;
    if (first >= begin && end - first == TOGETHER) {
        store_lines(ordered + first, waiting);
        return;
    }
    const int32_t skipped = first < begin ? begin - first : 0;
    for (int32_t i = skipped; i < end - first; i++)
        ordered[first + i] = waiting[i];
}

static inline void take(int32_t key, int shift, const int32_t *begin, int32_t *next,
                        int32_t (*waiting)[TOGETHER], int32_t *ordered)
{
    const uint32_t bucket = (uint32_t)key >> shift;
    const uint32_t place = (uint32_t)next[bucket];
    waiting[bucket][place % TOGETHER] = key;
    next[bucket] = (int32_t)place + 1;
    if (__builtin_expect(place % TOGETHER == TOGETHER - 1, 0))
        store_waiting(waiting[bucket], begin[bucket], (int32_t)place + 1, ordered);
}

void is_order_by_lines(const int32_t *keys, int64_t count, int shift, int buckets,
                       const int32_t *begin, int32_t *next, int32_t (*waiting)[TOGETHER],
                       int32_t *ordered)
{
    const int64_t whole = count / PIECE * PIECE;
    for (int64_t first = 0; first < whole; first += PIECE) {
        __builtin_prefetch(keys + first + AHEAD);
        for (int i = 0; i < PIECE; i += 4) {
            /* All loaded first: for all that a compiler knows, a store may change the next key. */
            const int32_t *const at = keys + first + i;
            const int32_t a = at[0], b = at[1], c = at[2], d = at[3];
            take(a, shift, begin, next, waiting, ordered);
            take(b, shift, begin, next, waiting, ordered);
            take(c, shift, begin, next, waiting, ordered);
            take(d, shift, begin, next, waiting, ordered);
        }
    }
    for (int64_t i = whole; i < count; i++)
        take(keys[i], shift, begin, next, waiting, ordered);
    for (int bucket = 0; bucket < buckets; bucket++)
        if (next[bucket] > begin[bucket])
            store_waiting(waiting[bucket], begin[bucket], next[bucket], ordered);
#ifdef __SSE2__
    _mm_sfence(); /* other processes see the lines from here on */
#endif
}

void is_count_values(const int32_t *keys, int64_t count, int32_t first_value, int32_t *totals)
{
    const int64_t whole = count / PIECE * PIECE;
    for (int64_t first = 0; first < whole; first += PIECE) {
        __builtin_prefetch(keys + first + AHEAD);
        for (int i = 0; i < PIECE; i++)
            totals[(uint32_t)(keys[first + i] - first_value)]++;
    }
    for (int64_t i = whole; i < count; i++)
        totals[(uint32_t)(keys[i] - first_value)]++;
}
