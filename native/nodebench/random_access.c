/*
 * Random updates of a table of 2^k 64-bit words, as RandomAccess of the HPC Challenge defines them:
 *     a(0) = 1,  a(n+1) = a(n) x  modulo x^64 + x^2 + x + 1 over GF(2),
 *     table[a(n) mod 2^k] ^= a(n)    for n = 1 ... 4 2^k,  table[i] = i at first.
 * P. Luszczek et al. (2006), The HPC Challenge (HPCC) benchmark suite, doi:10.1145/1188455.1188677.
 *
 * Exported: bl_random_access. In mode star every core has a table of its own and all run at once;
 * the rate is the mean over the cores, as HPC Challenge gives it.
 *
 * The sequence is cut into STREAMS pieces that advance in turn, which the definition allows: one
 * update need not wait for the one before it. A slow machine ends when its budget does; the header
 * says how many updates were asked for, the point how many were made. Undoing them one by one, in
 * another order, must restore the table: 1 % of wrong words is allowed (updates of different
 * threads may collide where a table is shared; here none is, and 0 are expected).
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
    STREAMS = 128,
    UPDATES_A_WORD = 4,
    PARTS =
        1024, /* timed each, so that few are interrupted; the budget ends the run between them */
};

/* x^64 modulo the polynomial: x^2 + x + 1. */
static const uint64_t reduction = 7;

struct table {
    uint64_t *words;
    uint64_t word_count; /* a power of two */
    uint64_t steps;      /* of each stream, asked for */
    uint64_t done;       /* of each stream */
    uint64_t errors;
    double part_s[PARTS];
    int parts; /* done */
};

static inline uint64_t next(uint64_t a)
{
    return a << 1 ^ ((int64_t)a < 0 ? reduction : 0);
}

/* The product of two polynomials. */
static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product = 0;
    for (; b; b >>= 1, a = next(a))
        if (b & 1)
            product ^= a;
    return product;
}

/* a(n) = x^n. */
static uint64_t element(uint64_t n)
{
    uint64_t power = 1;
    for (uint64_t square = 2; n; n >>= 1, square = multiply(square, square))
        if (n & 1)
            power = multiply(power, square);
    return power;
}

__attribute__((noinline)) static void update(uint64_t *restrict words, uint64_t mask,
                                             uint64_t *restrict a, uint64_t steps)
{
    for (uint64_t step = 0; step < steps; step++)
        for (int stream = 0; stream < STREAMS; stream++) {
            a[stream] = next(a[stream]);
            words[a[stream] & mask] ^= a[stream];
        }
}

/* Updates the table until all is done or the budget ends. */
static void run(struct table *table, double budget_s)
{
    uint64_t a[STREAMS];
    for (int stream = 0; stream < STREAMS; stream++)
        a[stream] = element((uint64_t)stream * table->steps);
    const uint64_t part_steps = table->steps / PARTS;
    double spent_s = 0;
    for (table->parts = 0; table->parts < PARTS && spent_s < budget_s; table->parts++) {
        const int64_t begin_ns = bl_clock_ns();
        update(table->words, table->word_count - 1, a, part_steps);
        const int64_t end_ns = bl_clock_ns();
        table->part_s[table->parts] = BL_SECONDS_PER_NS * (double)(end_ns - begin_ns);
        spent_s += table->part_s[table->parts];
        table->done += part_steps;
    }
}

/* Undoes stream after stream and counts the words that are not what they were. */
static void verify(struct table *table)
{
    const uint64_t mask = table->word_count - 1;
    for (int stream = 0; stream < STREAMS; stream++) {
        uint64_t a = element((uint64_t)stream * table->steps);
        for (uint64_t step = 0; step < table->done; step++) {
            a = next(a);
            table->words[a & mask] ^= a;
        }
        /* A whole stream ends where the next begins: one sequence, none of it twice. */
        if (table->done == table->steps && a != element(((uint64_t)stream + 1) * table->steps))
            bl_die(BL_STATUS_WRONG, "random_access: the streams do not form one sequence");
    }
    for (uint64_t i = 0; i < table->word_count; i++)
        table->errors += table->words[i] != i;
}

static void make_table(struct table *table, uint64_t word_count)
{
    table->words = bl_allocate(word_count * sizeof(uint64_t), "the table (--size)");
    table->word_count = word_count;
    table->steps = UPDATES_A_WORD * word_count / STREAMS;
    for (uint64_t i = 0; i < word_count; i++)
        table->words[i] = i;
}

static void add_options(struct bl_json *json, const void *data)
{
    const struct table *table = data;
    bl_json_integer(json, "size_bytes", (int64_t)(table->word_count * sizeof(uint64_t)));
    bl_json_integer(json, "updates", (int64_t)(table->steps * STREAMS));
    bl_json_integer(json, "streams", STREAMS);
    bl_json_integer(json, "last_level_cache_bytes", (int64_t)bl_last_level_cache_bytes());
}

/* Largest power of two whose table fits into --size; by default past the last-level cache. */
static uint64_t choose_words(const struct bl_node_options *options, int tables)
{
    const size_t size_bytes =
        options->size_bytes ? options->size_bytes : bl_past_cache_bytes(tables);
    const uint64_t fewest = STREAMS * PARTS / UPDATES_A_WORD;
    uint64_t words = fewest;
    while (words * 2 * sizeof(uint64_t) <= size_bytes)
        words *= 2;
    if (fewest * sizeof(uint64_t) > size_bytes)
        bl_die(BL_STATUS_USAGE, "--size: a table of %zu B is too small, use 256K or more",
               size_bytes);
    return words;
}

static void write_point(struct bl_json *json, const struct table *tables, int threads)
{
    /* Parts run at once on all threads; the one with the fewest says how many all have. */
    int parts = tables[0].parts;
    uint64_t errors = 0;
    double loop_rate = 0;
    for (int thread = 0; thread < threads; thread++) {
        double total_s = 0;
        for (int part = 0; part < tables[thread].parts; part++)
            total_s += tables[thread].part_s[part];
        loop_rate += (double)(tables[thread].done * STREAMS) / total_s / threads;
        parts = tables[thread].parts < parts ? tables[thread].parts : parts;
        errors = tables[thread].errors > errors ? tables[thread].errors : errors;
    }
    const double part_updates = (double)(tables[0].steps / PARTS * STREAMS);
    double rate[PARTS];
    for (int part = 0; part < parts; part++) {
        rate[part] = 0;
        for (int thread = 0; thread < threads; thread++)
            rate[part] += part_updates / tables[thread].part_s[part] / threads;
    }
    const struct bl_summary summary = bl_summarise(rate, (size_t)parts);
    bl_json_begin(json);
    bl_json_open_object(json, "point");
    bl_json_integer(json, "size_bytes", (int64_t)(tables[0].word_count * sizeof(uint64_t)));
    bl_json_close_object(json);
    bl_json_integer(json, "iterations", parts);
    bl_json_bool(json, "verified", true);
    bl_json_integer(json, "updates", (int64_t)(tables[0].done * STREAMS));
    bl_json_integer(json, "errors", (int64_t)errors);
    bl_json_summary(json, "rate", &summary);
    bl_json_number(json, "loop_rate", loop_rate);
    bl_json_write(json, stdout);
}

void bl_random_access(const struct bl_node_options *options)
{
    const int threads = bl_threads_set(options->mode == BL_MODE_SINGLE ? 1 : 0);
    const uint64_t word_count = choose_words(options, threads);
    struct table *tables = calloc((size_t)threads, sizeof *tables);
    if (!tables)
        bl_die(BL_STATUS_FAILED, "cannot allocate %d tables, use fewer threads", threads);
#pragma omp parallel
    {
        struct table *table = &tables[bl_this_thread()];
        make_table(table, word_count);
#pragma omp barrier
        run(table, options->budget_s);
#pragma omp barrier
        verify(table);
    }
    for (int thread = 0; thread < threads; thread++)
        if (tables[thread].errors > word_count / 100)
            bl_die(BL_STATUS_WRONG,
                   "random_access: %llu of %llu words are wrong, do not trust this node's memory",
                   (unsigned long long)tables[thread].errors, (unsigned long long)word_count);
    struct bl_json json = {0};
    bl_node_report_header(&json, options, threads, add_options, &tables[0], NULL);
    write_point(&json, tables, threads);
    bl_node_report_end(&json, 1, NULL, 0);
    bl_json_free(&json);
    for (int thread = 0; thread < threads; thread++)
        free(tables[thread].words);
    free(tables);
}
