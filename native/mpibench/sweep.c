/* See sweep.h. */
#include "sweep.h"

#include "bl_error.h"
#include "bl_memory.h"
#include "check.h"
#include "engine.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIZES_MAX = 64 };

struct sweep {
    struct bl_operation op;
    struct bl_json json;
    long points;
    struct bl_cut cuts[SIZES_MAX];
    int cut_count;
};

static size_t messages_in(enum bl_extent extent, int ranks)
{
    switch (extent) {
    case BL_EXTENT_ONE:
        return 1;
    case BL_EXTENT_TWO:
        return 2;
    case BL_EXTENT_RANKS:
        return (size_t)ranks;
    case BL_EXTENT_NONE:
        break;
    }
    return 0;
}

static double memory_needed(const struct bl_operation *op, size_t size_bytes)
{
    const struct bl_benchmark *benchmark = op->benchmark;
    return (double)size_bytes * (double)(messages_in(benchmark->send_extent, op->ranks) +
                                         messages_in(benchmark->receive_extent, op->ranks));
}

static size_t element_bytes(const struct bl_benchmark *benchmark)
{
    return benchmark->element == BL_DOUBLES ? sizeof(double) : 1;
}

/* Halfway between powers of two, the first size of whole doubles. */
#define BETWEEN_FROM 16

/* The listed sizes, 0 and the powers of two within the range, or the benchmark's own list. */
static int list_sizes(const struct bl_options *options, size_t *sizes)
{
    const struct bl_benchmark *benchmark = options->benchmark;
    int count = 0;
    if (benchmark->element == BL_NO_SIZE) {
        sizes[count++] = 0;
    } else if (options->listed > 0) {
        for (; count < options->listed; count++)
            sizes[count] = options->listed_bytes[count];
    } else if (benchmark->sizes_bytes && !options->sizes_given) {
        for (const size_t *size = benchmark->sizes_bytes; *size; size++)
            sizes[count++] = *size;
    } else {
        if (options->size_min_bytes == 0)
            sizes[count++] = 0;
        for (size_t size = 1; size <= options->size_max_bytes; size *= 2) {
            if (size >= options->size_min_bytes)
                sizes[count++] = size;
            const size_t middle = size + size / 2;
            if (options->between && size >= BETWEEN_FROM && middle >= options->size_min_bytes &&
                middle <= options->size_max_bytes)
                sizes[count++] = middle;
        }
    }
    return count;
}

static void cut(struct sweep *sweep, size_t size_bytes, const char *reason)
{
    struct bl_cut *entry = &sweep->cuts[sweep->cut_count++];
    entry->sized = sweep->op.benchmark->element != BL_NO_SIZE;
    entry->size_bytes = size_bytes;
    snprintf(entry->reason, sizeof entry->reason, "%s", reason);
}

/* Why a size cannot be measured at all, or NULL. */
static const char *impossible(const struct bl_operation *op, size_t size_bytes)
{
    static char reason[200];
    const struct bl_benchmark *benchmark = op->benchmark;
    if (benchmark->element == BL_NO_SIZE)
        return NULL;
    if (size_bytes < benchmark->size_min_bytes)
        snprintf(reason, sizeof reason, "%s starts at %zu B", benchmark->name,
                 benchmark->size_min_bytes);
    else if (size_bytes % element_bytes(benchmark) != 0)
        snprintf(reason, sizeof reason, "not a multiple of %zu B", element_bytes(benchmark));
    else if (memory_needed(op, size_bytes) > (double)op->options->memory_limit_bytes)
        snprintf(reason, sizeof reason, "needs %.0f B a rank, the limit (-M) is %zu B",
                 memory_needed(op, size_bytes), op->options->memory_limit_bytes);
    else
        return NULL;
    return reason;
}

const char *bl_point_measure(struct bl_operation *op, struct bl_json *json)
{
    const struct bl_effort effort = bl_effort_of(op);
    struct bl_measurement measurement;
    bl_verify(op);
    if (!bl_measure(op, &effort, &measurement))
        return bl_cut_reason(&effort, measurement.estimate_s);
    if (op->rank == 0)
        bl_report_measurement(json, op, &effort, &measurement);
    bl_measurement_free(&measurement);
    return NULL;
}

static void allocate(struct sweep *sweep, const size_t *sizes, int count)
{
    struct bl_operation *op = &sweep->op;
    size_t largest_bytes = 0;
    for (int i = 0; i < count; i++) {
        if (!impossible(op, sizes[i]) && sizes[i] > largest_bytes)
            largest_bytes = sizes[i];
    }
    const struct bl_benchmark *benchmark = op->benchmark;
    op->send = bl_allocate(largest_bytes * messages_in(benchmark->send_extent, op->ranks),
                           "the data to send");
    op->receive = bl_allocate(largest_bytes * messages_in(benchmark->receive_extent, op->ranks),
                              "the data to receive");
    op->requests = bl_allocate((size_t)(2 * op->options->window + 4) * sizeof *op->requests,
                               "the requests of a window");
    op->counts = bl_allocate((size_t)op->ranks * sizeof *op->counts, "the counts of the ranks");
}

static void release(struct sweep *sweep)
{
    free(sweep->op.send);
    free(sweep->op.receive);
    free(sweep->op.requests);
    free(sweep->op.counts);
    bl_json_free(&sweep->json);
}

/* Measures one size and writes its line; remembers it when it is cut. Returns why. */
static const char *measure_size(struct sweep *sweep, size_t size_bytes)
{
    struct bl_operation *op = &sweep->op;
    const struct bl_benchmark *benchmark = op->benchmark;
    op->size_bytes = size_bytes;
    op->count = (int)(size_bytes / element_bytes(benchmark));
    if (benchmark->prepare)
        benchmark->prepare(op);
    bl_report_point(&sweep->json, op);
    const char *reason = (benchmark->point ? benchmark->point : bl_point_measure)(op, &sweep->json);
    if (reason) {
        cut(sweep, size_bytes, reason);
    } else {
        sweep->points++;
        if (op->rank == 0)
            bl_json_write(&sweep->json, stdout);
    }
    return reason;
}

static void set_neighbours(struct bl_operation *op)
{
    op->left = (op->rank + op->ranks - 1) % op->ranks;
    op->right = (op->rank + 1) % op->ranks;
    const int half = op->ranks / 2;
    op->peer = op->rank < half ? op->rank + half : op->rank - half;
}

void bl_sweep(const struct bl_options *options, const struct bl_world *world, MPI_Comm team)
{
    struct sweep sweep = {
        .op = {.benchmark = options->benchmark, .options = options, .world = world, .comm = team}};
    struct bl_operation *op = &sweep.op;
    BL_MPI(MPI_Comm_rank(team, &op->rank));
    BL_MPI(MPI_Comm_size(team, &op->ranks));
    set_neighbours(op);
    size_t sizes[SIZES_MAX];
    const int count = list_sizes(options, sizes);
    allocate(&sweep, sizes, count);

    if (op->rank == 0)
        bl_report_header(&sweep.json, options, world, op->ranks);
    bool too_slow = false;
    for (int i = 0; i < count; i++) {
        const char *reason = impossible(op, sizes[i]);
        if (reason)
            cut(&sweep, sizes[i], reason);
        else if (too_slow)
            cut(&sweep, sizes[i], "larger than a size that was cut for time");
        else
            too_slow = measure_size(&sweep, sizes[i]) != NULL;
    }
    if (op->rank == 0)
        bl_report_end(&sweep.json, sweep.points, sweep.cuts, sweep.cut_count);
    release(&sweep);
}
