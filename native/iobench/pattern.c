/* Contents of files; see iobench.h. */
#include "iobench.h"

#include <string.h>

/* What a stamp holds beside the offset, so that a page of zeros is no stamp of the first page. */
static const uint64_t stamp_key = UINT64_C(0x9e3779b97f4a7c15);

/* xorshift64* of S. Vigna (2016), doi:10.1145/2845077: no device compresses it. */
void bl_pattern_fill(void *data, size_t size_bytes, uint64_t seed)
{
    uint64_t state = seed ^ stamp_key;
    unsigned char *bytes = data;
    for (size_t done = 0; done < size_bytes; done += sizeof state) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        const uint64_t word = state * UINT64_C(2685821657736338717);
        const size_t left = size_bytes - done;
        memcpy(bytes + done, &word, left < sizeof word ? left : sizeof word);
    }
}

static size_t unit_at(size_t at, size_t size_bytes)
{
    const size_t left = size_bytes - at;
    return left < BL_IO_UNIT_BYTES ? left : BL_IO_UNIT_BYTES;
}

/* At both ends of a page: a page that is half old is noticed, too. */
void bl_pattern_stamp(void *block, size_t size_bytes, uint64_t place)
{
    unsigned char *bytes = block;
    for (size_t at = 0; at < size_bytes; at += BL_IO_UNIT_BYTES) {
        const uint64_t stamp = (place + at) ^ stamp_key;
        memcpy(bytes + at, &stamp, sizeof stamp);
        memcpy(bytes + at + unit_at(at, size_bytes) - sizeof stamp, &stamp, sizeof stamp);
    }
}

bool bl_pattern_holds(const void *block, const void *contents, size_t size_bytes, uint64_t place)
{
    const unsigned char *found = block, *expected = contents;
    for (size_t at = 0; at < size_bytes; at += BL_IO_UNIT_BYTES) {
        const uint64_t stamp = (place + at) ^ stamp_key;
        const size_t tail = at + unit_at(at, size_bytes) - sizeof stamp;
        const size_t head = at + sizeof stamp;
        if (memcmp(found + at, &stamp, sizeof stamp) != 0 ||
            memcmp(found + tail, &stamp, sizeof stamp) != 0 ||
            (head < tail && memcmp(found + head, expected + head, tail - head) != 0))
            return false;
    }
    return true;
}
