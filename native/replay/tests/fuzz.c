/*
 * A target of libFuzzer for what reads a stranger's trace, and steps through it:
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -I native/replay native/replay/tests/fuzz.c \
 *       native/replay/[!C]*.c -lm -o fuzz && ./fuzz -max_total_time=60
 *
 * The first byte chooses. Streams are decoded as bareline does: counted, then read into as much
 * room as was counted. Replays get what predict/replay/engine.py promises: numbers of ranks, shapes
 * and communicators that exist; all else is arbitrary.
 */
#include "replay.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 5, SHAPES = 6, MOST_RECORDS = 200 };

static void decode(const uint8_t *data, size_t size, int64_t values)
{
    struct bl_stream stream = {.bytes = data,
                               .length = (int64_t)size,
                               .most_records = 1 << 16,
                               .most_shapes = 1 << 12,
                               .values = values};
    if (bl_replay_decode(&stream) != BL_READ)
        return;
    const size_t records = (size_t)stream.records, shapes = (size_t)stream.shape_count;
    stream.most_records = stream.records;
    stream.most_shapes = stream.shape_count;
    stream.records = stream.shape_count = 0;
    stream.numbers = malloc(records * sizeof *stream.numbers + 1);
    stream.codes = malloc(2 * records * sizeof *stream.codes + 1);
    stream.shapes = malloc((size_t)values * shapes * sizeof *stream.shapes + 1);
    if (bl_replay_decode(&stream) != BL_READ || stream.records != (int64_t)records)
        abort();
    for (size_t i = 0; i < records; i++)
        if (stream.numbers[i] < 0 || (size_t)stream.numbers[i] >= shapes)
            abort();
    free(stream.numbers);
    free(stream.codes);
    free(stream.shapes);
}

struct bytes {
    const uint8_t *at, *end;
};

static int32_t number(struct bytes *from, int32_t least, int32_t most)
{
    const int32_t byte = from->at < from->end ? *from->at++ : 0;
    return least + byte % (most - least + 1);
}

static struct bl_shape shape_of(struct bytes *from, int32_t ranks)
{
    struct bl_shape shape = {.kind = number(from, BL_MESSAGES, BL_DONE)};
    shape.posts = number(from, 0, 1);
    shape.send_tag = number(from, 0, 2);
    shape.receive_tag = number(from, BL_ANY_TAG, 2);
    shape.ago = number(from, 0, 3);
    shape.to = number(from, BL_NOBODY, ranks - 1);
    shape.to = shape.to == BL_ANYBODY ? BL_NOBODY : shape.to;
    shape.from = number(from, BL_NOBODY, ranks - 1);
    shape.root = number(from, 0, ranks - 1);
    shape.comm = shape.own_comm = number(from, 0, 1);
    shape.comm_size = number(from, 1, ranks);
    shape.rendezvous = number(from, 0, 1);
    return shape;
}

static void replay(struct bytes from)
{
    struct bl_rank ranks[MOST_RANKS];
    struct bl_shape shapes[MOST_RANKS][SHAPES];
    struct bl_cost costs[MOST_RANKS][SHAPES];
    int32_t numbers[MOST_RANKS][MOST_RECORDS];
    double taken_s[SHAPES] = {0};
    double times[2] = {1e-6, 2e-6};
    const int32_t count = number(&from, 1, MOST_RANKS);
    struct bl_replay job = {.ranks = ranks,
                            .compute = 1,
                            .files = 1,
                            .beside = 0.1,
                            .beside_s = 1e-6,
                            .local_s = 1e-7,
                            .count = count,
                            .hosts = 1,
                            .places = count,
                            .any_tag = 1,
                            .anybody = 1,
                            .anything = 1};
    job.fetches[0] = number(&from, 0, 1);
    memset(ranks, 0, sizeof ranks);
    memset(costs, 0, sizeof costs);
    for (int32_t rank = 0; rank < count; rank++) {
        for (int i = 0; i < SHAPES; i++) {
            shapes[rank][i] = shape_of(&from, count);
            struct bl_cost *cost = &costs[rank][i];
            cost->transfer[0] = cost->collective = 1e-6 * number(&from, 0, 9);
            cost->send[0] = cost->receive[0] = cost->occupies[0] = 1e-7;
            cost->eager[0] = number(&from, 0, 1);
            cost->role = number(&from, BL_ALL, BL_TO_ROOT);
        }
        const int32_t records = number(&from, 0, MOST_RECORDS);
        for (int32_t i = 0; i < records; i++)
            numbers[rank][i] = number(&from, 0, SHAPES - 1);
        ranks[rank] = (struct bl_rank){.numbers = numbers[rank],
                                       .compute_s = (const char *)&times[0],
                                       .spent_s = (const char *)&times[1],
                                       .shapes = shapes[rank],
                                       .costs = costs[rank],
                                       .taken_s = taken_s,
                                       .records = records,
                                       .stride = 0,
                                       .own_comms = 2,
                                       .place = rank,
                                       .core = -1};
    }
    bl_replay_run(&job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    if (data[0] % 2)
        decode(data + 1, size - 1, BL_MOST_VALUES - data[0] / 128);
    else
        replay((struct bytes){data + 1, data + size});
    return 0;
}
