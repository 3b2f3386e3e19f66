/* See pattern.h. */
#include "pattern.h"

#include <stdint.h>

static uint32_t key_of(size_t size_bytes, int from, int to)
{
    return (uint32_t)size_bytes * 7u + (uint32_t)from * 59u + (uint32_t)(to + 1) * 131u + 17u;
}

/* Shifts by any distance below 64 KiB, and exchanged ranks, change the bytes. */
static unsigned char expected(uint32_t key, size_t i)
{
    return (unsigned char)(i + 3 * (i >> 8) + 5 * (i >> 16) + key);
}

void bl_pattern_fill(unsigned char *buffer, size_t size_bytes, int from, int to)
{
    const uint32_t key = key_of(size_bytes, from, to);
    for (size_t i = 0; i < size_bytes; i++)
        buffer[i] = expected(key, i);
}

void bl_pattern_scrub(unsigned char *buffer, size_t size_bytes, int from, int to)
{
    const uint32_t key = key_of(size_bytes, from, to);
    for (size_t i = 0; i < size_bytes; i++)
        buffer[i] = (unsigned char)~expected(key, i);
}

bool bl_pattern_matches(const unsigned char *buffer, size_t size_bytes, int from, int to)
{
    const uint32_t key = key_of(size_bytes, from, to);
    for (size_t i = 0; i < size_bytes; i++) {
        if (buffer[i] != expected(key, i))
            return false;
    }
    return true;
}

/* Rank r contributes base(i) + r to element i. */
static double base_of(int i)
{
    return (double)(i % 1021 + 1);
}

void bl_terms_fill(void *buffer, int count, int rank)
{
    double *terms = buffer;
    for (int i = 0; i < count; i++)
        terms[i] = base_of(i) + rank;
}

void bl_terms_scrub(void *buffer, int count)
{
    double *sums = buffer;
    for (int i = 0; i < count; i++)
        sums[i] = -1;
}

bool bl_terms_sum_matches(const void *buffer, int count, int first, int ranks)
{
    const double *sums = buffer;
    const double of_ranks = 0.5 * ranks * (ranks - 1.0);
    for (int i = 0; i < count; i++) {
        if (sums[i] != ranks * base_of(first + i) + of_ranks)
            return false;
    }
    return true;
}
