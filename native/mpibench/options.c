/* See options.h. */
#include "options.h"

#include "benchmark.h"
#include "bl_error.h"
#include "bl_values.h"
#include "table.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_LIST = 256,
    OPTION_SEED,
    OPTION_PERMUTATIONS,
    OPTION_TEST_CALLS,
    OPTION_BETWEEN,
    OPTION_SIZES
};

static const struct option long_options[] = {
    {"message-size", required_argument, NULL, 'm'},
    {"iterations", required_argument, NULL, 'i'},
    {"warmup", required_argument, NULL, 'x'},
    {"window-size", required_argument, NULL, 'W'},
    {"budget", required_argument, NULL, 't'},
    {"mem-limit", required_argument, NULL, 'M'},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"permutations", required_argument, NULL, OPTION_PERMUTATIONS},
    {"test-calls", required_argument, NULL, OPTION_TEST_CALLS},
    {"between", no_argument, NULL, OPTION_BETWEEN},
    {"sizes", required_argument, NULL, OPTION_SIZES},
    {"list", no_argument, NULL, OPTION_LIST},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static const char help_text[] =
    "usage: mpibench BENCHMARK [options]\n"
    "       mpibench --list\n"
    "\n"
    "Measures one MPI function and writes JSON lines on stdout.\n"
    "\n"
    "  -m MIN:MAX        message sizes, powers of two between MIN and MAX bytes (K, M, G); MAX\n"
    "                    alone or MIN: alone keep the other end's default; 0 where it makes sense\n"
    "  --sizes A,B,C     these message sizes alone, in ascending order\n"
    "  --between         also the sizes halfway between powers of two, from 24 bytes on\n"
    "  -i N              iterations of every size\n"
    "  -x N              warm-up iterations of every size\n"
    "  -W N              messages in flight of the bandwidth benchmarks (default 64)\n"
    "  -t SECONDS        budget of one size (default 1); what does not fit is named in the output\n"
    "  -M BYTES          largest buffers of one rank (default 512M)\n"
    "  --seed N          of the random ring orders (default 1)\n"
    "  --permutations N  random ring orders (default 10)\n"
    "  --test-calls N    MPI_Test calls during the computation of overlap benchmarks (default 0)\n"
    "  --list            the benchmarks, one JSON object a line\n"
    "  -h                this text\n";

static _Noreturn void print_and_leave(void (*print)(void))
{
    print();
    exit(fflush(stdout) == 0 ? BL_STATUS_DONE : BL_STATUS_FAILED);
}

static void print_help(void)
{
    fputs(help_text, stdout);
}

/* A,B,C */
static void list_sizes(struct bl_options *options, const char *text)
{
    options->sizes_given = true;
    options->listed = 0;
    for (const char *word = text; word; word = *word ? word + 1 : NULL) {
        const int length = (int)strcspn(word, ",");
        const size_t size_bytes = bl_parse_size("--sizes", word, length);
        const int last = options->listed - 1;
        if (options->listed == BL_LISTED_MAX)
            bl_die(BL_STATUS_USAGE, "--sizes: more than %d sizes, list fewer", BL_LISTED_MAX);
        if (last >= 0 && size_bytes <= options->listed_bytes[last])
            bl_die(BL_STATUS_USAGE,
                   "--sizes: %zu B comes after %zu B, list sizes in ascending order", size_bytes,
                   options->listed_bytes[last]);
        if (size_bytes > BL_SIZE_MAX_BYTES)
            bl_die(BL_STATUS_USAGE, "--sizes: %zu B is above the limit of %zu B, leave it out",
                   size_bytes, (size_t)BL_SIZE_MAX_BYTES);
        options->listed_bytes[options->listed++] = size_bytes;
        word += length;
    }
    options->size_min_bytes = options->listed_bytes[0];
    options->size_max_bytes = options->listed_bytes[options->listed - 1];
}

/* MIN:MAX, MIN:, :MAX or MAX. */
static void parse_sizes(struct bl_options *options, const char *text)
{
    const char *colon = strchr(text, ':');
    options->sizes_given = true;
    if (!colon) {
        options->size_max_bytes = bl_parse_size("-m", text, -1);
    } else {
        if (colon > text)
            options->size_min_bytes = bl_parse_size("-m", text, (int)(colon - text));
        if (colon[1])
            options->size_max_bytes = bl_parse_size("-m", colon + 1, -1);
        else if (colon == text)
            bl_die(BL_STATUS_USAGE, "-m: ':' names no size, write MIN:MAX such as 8:64K");
    }
    if (options->size_min_bytes > options->size_max_bytes)
        bl_die(BL_STATUS_USAGE, "-m: smallest size %zu B is above the largest %zu B, write MIN:MAX",
               options->size_min_bytes, options->size_max_bytes);
    if (options->size_max_bytes > BL_SIZE_MAX_BYTES)
        bl_die(BL_STATUS_USAGE, "-m: %zu B is above the limit of %zu B, choose a smaller MAX",
               options->size_max_bytes, (size_t)BL_SIZE_MAX_BYTES);
}

static void parse_option(struct bl_options *options, int letter, const char *value)
{
    switch (letter) {
    case 'm':
        parse_sizes(options, value);
        break;
    case 'i':
        options->iterations.small = options->iterations.large =
            (long)bl_parse_count("-i", value, BL_ITERATIONS_MIN, BL_ITERATIONS_MAX);
        break;
    case 'x':
        options->warmup.small = options->warmup.large =
            (long)bl_parse_count("-x", value, 0, BL_ITERATIONS_MAX);
        break;
    case 'W':
        options->window = (int)bl_parse_count("-W", value, 1, 65536);
        break;
    case 't':
        options->budget_s = bl_parse_seconds("-t", value);
        break;
    case 'M':
        options->memory_limit_bytes = bl_parse_size("-M", value, -1);
        break;
    case OPTION_SEED:
        options->seed = (uint64_t)bl_parse_count("--seed", value, 0, INT64_MAX);
        break;
    case OPTION_PERMUTATIONS:
        options->permutations = (int)bl_parse_count("--permutations", value, 1, 1000);
        break;
    case OPTION_TEST_CALLS:
        options->test_calls = (int)bl_parse_count("--test-calls", value, 0, 1000000);
        break;
    case OPTION_SIZES:
        list_sizes(options, value);
        break;
    case OPTION_BETWEEN:
        options->between = true;
        break;
    case OPTION_LIST:
        print_and_leave(bl_table_list);
    case 'h':
        print_and_leave(print_help);
    }
}

static const struct bl_benchmark *choose_benchmark(int argc, char **argv)
{
    if (argc < 2)
        bl_die(BL_STATUS_USAGE, "no benchmark named, see `mpibench --list`");
    const struct bl_benchmark *benchmark = bl_table_find(argv[1]);
    if (!benchmark)
        bl_die(BL_STATUS_USAGE, "unknown benchmark '%s', see `mpibench --list`", argv[1]);
    return benchmark;
}

struct bl_options bl_options_parse(int argc, char **argv)
{
    struct bl_options options = {
        .window = 64,
        .budget_s = 1,
        .memory_limit_bytes = (size_t)512 << 20,
        .seed = 1,
        .permutations = 10,
    };
    const bool named = argc >= 2 && argv[1][0] != '-';
    if (named) {
        options.benchmark = choose_benchmark(argc, argv);
        options.size_min_bytes = options.benchmark->size_min_bytes;
        options.size_max_bytes = options.benchmark->size_max_bytes;
        options.iterations = options.benchmark->iterations;
        options.warmup = options.benchmark->warmup;
    } else {
        options.size_max_bytes = BL_SIZE_MAX_BYTES;
    }

    opterr = 0;
    /* The name takes the place of the program's: a simulator of MPI has an optind of its own for
     * each rank, and setting this one would not reach it. */
    if (named) {
        argc--;
        argv++;
    }
    int letter;
    while ((letter = getopt_long(argc, argv, ":m:i:x:W:t:M:h", long_options, NULL)) != -1) {
        if (letter == ':')
            bl_die(BL_STATUS_USAGE, "option '%s' needs a value, see `mpibench -h`",
                   argv[optind - 1]);
        if (letter == '?')
            bl_die(BL_STATUS_USAGE, "unknown option '%s', see `mpibench -h`", argv[optind - 1]);
        parse_option(&options, letter, optarg);
    }
    if (!named)
        bl_die(BL_STATUS_USAGE, "no benchmark named, write `mpibench BENCHMARK [options]`");
    if (optind < argc)
        bl_die(BL_STATUS_USAGE, "stray word '%s', see `mpibench -h`", argv[optind]);
    if (options.sizes_given && options.benchmark->element == BL_NO_SIZE)
        bl_die(BL_STATUS_USAGE, "benchmark '%s' has no message size, leave -m and --sizes out",
               options.benchmark->name);
    return options;
}

void bl_options_report(const struct bl_options *options, struct bl_json *json)
{
    bl_json_open_object(json, "options");
    if (options->benchmark->element != BL_NO_SIZE) {
        bl_json_integer(json, "size_min_bytes", (int64_t)options->size_min_bytes);
        bl_json_integer(json, "size_max_bytes", (int64_t)options->size_max_bytes);
        bl_json_bool(json, "between", options->between);
    }
    bl_json_integer(json, "iterations_small", options->iterations.small);
    bl_json_integer(json, "iterations_large", options->iterations.large);
    bl_json_integer(json, "warmup_small", options->warmup.small);
    bl_json_integer(json, "warmup_large", options->warmup.large);
    bl_json_integer(json, "window", options->window);
    bl_json_number(json, "budget_s", options->budget_s);
    bl_json_integer(json, "memory_limit_bytes", (int64_t)options->memory_limit_bytes);
    bl_json_integer(json, "seed", (int64_t)options->seed);
    bl_json_integer(json, "permutations", options->permutations);
    bl_json_integer(json, "test_calls", options->test_calls);
    bl_json_close_object(json);
}
