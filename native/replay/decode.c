/* The records of a stream: see native/pmpi/trace.h. */
#include "replay.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of 7 bits a byte, the lowest first; false where there is none, or one of over 64 bits. */
static bool read_number(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    uint64_t found = 0;
    for (int shift = 0; shift <= 63; shift += 7) {
        if (*at == end)
            return false;
        const uint64_t byte = *(*at)++;
        if (shift == 63 && (byte & 0x7f) > 1)
            return false;
        found |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = found;
            return true;
        }
    }
    return false;
}

static uint64_t as_signed(uint64_t value)
{
    return (value >> 1) ^ (0 - (value & 1));
}

static bool read_shape(const uint8_t **at, const uint8_t *end, int64_t count, uint64_t *values)
{
    for (int64_t i = 0; i < count; i++) {
        if (!read_number(at, end, &values[i]))
            return false;
        if (i >= 2 && i < 7)
            values[i] = as_signed(values[i]);
    }
    return true;
}

/* Which shapes are of no call, and have no times; grows as they come. */
struct calls {
    bool *none;
    size_t room;
};

static bool grow(struct calls *calls, size_t wanted)
{
    if (wanted <= calls->room)
        return true;
    const size_t room = wanted < 64 ? 64 : 2 * wanted;
    bool *more = realloc(calls->none, room * sizeof(bool));
    if (!more)
        return false;
    calls->none = more;
    calls->room = room;
    return true;
}

static int decode(struct bl_stream *stream, struct calls *calls)
{
    const uint8_t *at = stream->bytes, *const end = at + stream->length;
    while (at < end) {
        uint64_t found;
        if (!read_number(&at, end, &found))
            return BL_DAMAGED;
        if (found == 0) {
            uint64_t values[BL_MOST_VALUES];
            if (!read_shape(&at, end, stream->values, values))
                return BL_DAMAGED;
            const size_t number = (size_t)stream->shape_count++;
            if (stream->shape_count > stream->most_shapes || !grow(calls, number + 1))
                return BL_TOO_MANY;
            calls->none[number] = values[0] == 0;
            if (stream->shapes)
                memcpy(stream->shapes + number * (size_t)stream->values, values,
                       (size_t)stream->values * sizeof *values);
            found = number;
        } else if (--found >= (uint64_t)stream->shape_count) {
            return BL_DAMAGED;
        }
        const int64_t record = stream->records++;
        if (stream->records > stream->most_records)
            return BL_TOO_MANY;
        const bool timed = !calls->none[found];
        if (timed && end - at < 4)
            return BL_DAMAGED;
        if (stream->numbers) {
            stream->numbers[record] = (int32_t)found;
            stream->codes[2 * record] = timed ? (uint16_t)(at[0] | at[1] << 8) : 0;
            stream->codes[2 * record + 1] = timed ? (uint16_t)(at[2] | at[3] << 8) : 0;
        }
        at += timed ? 4 : 0;
    }
    return BL_READ;
}

int bl_replay_decode(struct bl_stream *stream)
{
    struct calls calls = {NULL, 0};
    stream->records = stream->shape_count = 0;
    if (stream->values < 2 || stream->values > BL_MOST_VALUES)
        return BL_DAMAGED;
    const int status = decode(stream, &calls);
    free(calls.none);
    return status;
}
