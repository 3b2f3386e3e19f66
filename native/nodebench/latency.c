/*
 * Latency of the memory hierarchy: loads of which each gives the address of the next.
 *
 * Exported: bl_latency. One thread.
 *
 * The lines of a working set form one cycle in random order (S. Sattolo (1986), An algorithm to
 * generate a random cyclic permutation, doi:10.1016/0020-0190(86)90073-6), so that no prefetcher
 * foresees the next one and every line is visited before any is visited again. A load's time then
 * is that of the level that holds the set, and that of finding its page: with 4 KiB pages a large
 * set exceeds what the processor remembers of the page tables, and each miss walks them; under
 * virtualization that walk has two dimensions. The same loads over 2 MiB pages hardly walk at all.
 */
#include "bl_clock.h"
#include "bl_error.h"
#include "bl_memory.h"
#include "bl_summary.h"
#include "nodebench.h"
#include "pages.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LINE_BYTES = 64,
    UNROLL = 16,
    TRIAL_LOADS = 64 * UNROLL, /* from which the batches' length follows */
    MOST_BATCHES = 4096,
    FEWEST_BATCHES = 6,
    MOST_SIZES = 128,
};

/* Time of a batch between two clock reads: these cost 0.1 % of it, and few batches are interrupted
 * by another process, so that their median is that of a load. */
static const double batch_s = 30e-6;

/* The first member is what a load loads. */
struct line {
    struct line *next;
    char rest[LINE_BYTES - sizeof(struct line *)];
};

/* xorshift64* of S. Vigna (2016), doi:10.1145/2845077; the product's upper half scales it. */
static size_t random_below(uint64_t *state, size_t bound)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    const uint64_t upper = *state * UINT64_C(2685821657736338717) >> 32;
    return (size_t)(upper * bound >> 32);
}

static void make_cycle(struct line *lines, size_t count)
{
    uint64_t state = UINT64_C(88172645463325252) + count;
    for (size_t i = 0; i < count; i++)
        lines[i].next = &lines[i];
    for (size_t i = count - 1; i > 0; i--) {
        const size_t j = random_below(&state, i);
        struct line *kept = lines[i].next;
        lines[i].next = lines[j].next;
        lines[j].next = kept;
    }
}

/* Goes round once: all lines are visited and the last leads back to the first. Warms the caches. */
static void verify_cycle(const struct line *lines, size_t count)
{
    const struct line *at = lines;
    for (size_t i = 1; i < count; i++) {
        at = at->next;
        if (at == lines)
            bl_die(BL_STATUS_WRONG,
                   "latency: the cycle of %zu lines closes after %zu, do not trust this node's "
                   "memory",
                   count, i);
    }
    if (at->next != lines)
        bl_die(BL_STATUS_WRONG,
               "latency: the cycle of %zu lines does not close, do not trust this node's memory",
               count);
}

struct batches {
    int count;
    int loads; /* of each */
};

/* `loads` is a multiple of UNROLL. */
__attribute__((noinline)) static const struct line *follow(const struct line *at, int loads)
{
    for (int i = 0; i < loads; i += UNROLL) {
#define FOUR at = at->next->next->next->next;
        FOUR FOUR FOUR FOUR
#undef FOUR
    }
    return at;
}

/* Times one batch, in s for a load. */
static double time_batch(const struct line **at, int loads)
{
    const int64_t begin_ns = bl_clock_ns();
    *at = follow(*at, loads);
    const int64_t end_ns = bl_clock_ns();
    return BL_SECONDS_PER_NS * (double)(end_ns - begin_ns) / loads;
}

/* Times batches until the budget ends. */
static struct batches time_batches(const struct line *at, double budget_s, double *load_s)
{
    double quickest_s = time_batch(&at, TRIAL_LOADS);
    for (int i = 0; i < 4; i++) {
        const double again_s = time_batch(&at, TRIAL_LOADS);
        quickest_s = again_s < quickest_s ? again_s : quickest_s;
    }
    struct batches batches = {.loads = UNROLL * (int)(1 + batch_s / UNROLL / quickest_s)};
    double spent_s = 0;
    while (batches.count < MOST_BATCHES && (spent_s < budget_s || batches.count < FEWEST_BATCHES)) {
        load_s[batches.count] = time_batch(&at, batches.loads);
        spent_s += load_s[batches.count++] * batches.loads;
    }
    const struct line *volatile kept = at; /* or the loads could be left out */
    (void)kept;
    return batches;
}

static void write_point(struct bl_json *json, const struct bl_region *region, size_t size_bytes,
                        size_t page_bytes, double *load_s, const struct batches *batches)
{
    double sum_s = 0;
    for (int i = 0; i < batches->count; i++)
        sum_s += load_s[i];
    const struct bl_summary summary = bl_summarise(load_s, (size_t)batches->count);
    bl_json_begin(json);
    bl_json_open_object(json, "point");
    bl_json_integer(json, "working_set_bytes", (int64_t)size_bytes);
    bl_json_integer(json, "page_bytes", (int64_t)page_bytes);
    bl_json_close_object(json);
    bl_json_integer(json, "iterations", batches->count);
    bl_json_integer(json, "loads", batches->loads);
    bl_json_bool(json, "verified", true);
    bl_json_string(json, "pages", region->source);
    bl_json_summary(json, "time", &summary);
    bl_json_number(json, "loop_mean", sum_s / batches->count);
    bl_json_write(json, stdout);
}

/* Measures one point, or says why not. */
static bool measure(size_t size_bytes, size_t page_bytes, double budget_s, double *load_s,
                    struct bl_json *json, struct bl_cut *cut)
{
    const size_t available_bytes = bl_available_bytes();
    *cut = (struct bl_cut){.working_set_bytes = size_bytes, .page_bytes = page_bytes};
    if (available_bytes > 0 && size_bytes > available_bytes / 2) {
        snprintf(cut->reason, sizeof cut->reason, "more than half of the %zu B of free memory",
                 available_bytes);
        return false;
    }
    struct bl_region region =
        bl_region_map(size_bytes, page_bytes, cut->reason, sizeof cut->reason);
    if (!region.memory)
        return false;
    struct line *lines = (struct line *)region.memory;
    const size_t count = size_bytes / LINE_BYTES;
    make_cycle(lines, count);
    verify_cycle(lines, count);
    const struct batches batches = time_batches(lines, budget_s, load_s);
    write_point(json, &region, size_bytes, page_bytes, load_s, &batches);
    bl_region_unmap(&region);
    return true;
}

static void add_options(struct bl_json *json, const void *data)
{
    const struct bl_node_options *options = data;
    bl_json_integer(json, "min_bytes", (int64_t)options->min_bytes);
    bl_json_integer(json, "max_bytes", (int64_t)options->max_bytes);
    bl_json_number(json, "budget_s", options->budget_s);
    bl_json_integer(json, "last_level_cache_bytes", (int64_t)bl_last_level_cache_bytes());
}

/* Powers of two and one and a half times those, within the options' range. */
static int list_sizes(const struct bl_node_options *options, size_t *sizes)
{
    int count = 0;
    for (size_t power = 2 * LINE_BYTES; power <= options->max_bytes; power *= 2) {
        const size_t steps[] = {power, power + power / 2};
        for (int i = 0; i < 2; i++)
            if (steps[i] >= options->min_bytes && steps[i] <= options->max_bytes)
                sizes[count++] = steps[i];
        if (power > SIZE_MAX / 4)
            break;
    }
    if (count == 0)
        bl_die(BL_STATUS_USAGE, "--sizes: no working set of at least %d B, use e.g. 16K:256M",
               2 * LINE_BYTES);
    return count;
}

void bl_latency(const struct bl_node_options *options)
{
    static const size_t page_sizes[] = {BL_SMALL_PAGE_BYTES, BL_HUGE_PAGE_BYTES};
    size_t sizes[MOST_SIZES];
    const int size_count = list_sizes(options, sizes);
    const int first = options->pages == BL_PAGES_HUGE ? 1 : 0;
    const int last = options->pages == BL_PAGES_SMALL ? 0 : 1;
    double *load_s = bl_allocate(MOST_BATCHES * sizeof *load_s, "the times of the loads");
    struct bl_cut cuts[2 * MOST_SIZES];
    int points = 0, cut_count = 0;

    struct bl_json json = {0};
    bl_node_report_header(&json, options, 1, add_options, options, NULL);
    for (int i = 0; i < size_count; i++)
        for (int page = first; page <= last; page++) {
            if (measure(sizes[i], page_sizes[page], options->budget_s, load_s, &json,
                        &cuts[cut_count]))
                points++;
            else
                cut_count++;
        }
    bl_node_report_end(&json, points, cuts, cut_count);
    bl_json_free(&json);
    free(load_s);
}
