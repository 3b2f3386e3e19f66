/*
 * nodebench: measures memory or arithmetic of one node.
 *
 * Output on stdout, one JSON object a line: a header, one line a point as soon as it is measured,
 * and an end line that counts the points.
 */
#include "bl_error.h"
#include "bl_values.h"
#include "nodebench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_SIZE = 256,
    OPTION_ORDER,
    OPTION_THREADS,
    OPTION_REPEAT,
    OPTION_STORES,
    OPTION_SIZES,
    OPTION_PAGES,
    OPTION_BUDGET,
    OPTION_MODE,
};

/* Options as a set. */
#define TAKES(option) (1u << ((option)-OPTION_SIZE))

static const struct option long_options[] = {
    {"size", required_argument, NULL, OPTION_SIZE},
    {"n", required_argument, NULL, OPTION_ORDER},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"repeat", required_argument, NULL, OPTION_REPEAT},
    {"stores", required_argument, NULL, OPTION_STORES},
    {"sizes", required_argument, NULL, OPTION_SIZES},
    {"pages", required_argument, NULL, OPTION_PAGES},
    {"budget", required_argument, NULL, OPTION_BUDGET},
    {"mode", required_argument, NULL, OPTION_MODE},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static const char help_text[] =
    "usage: nodebench stream [--size BYTES] [--threads N] [--repeat R] [--stores KIND]\n"
    "       nodebench latency [--sizes MIN:MAX] [--pages KIND] [--budget S]\n"
    "       nodebench random_access [--size BYTES] [--mode MODE] [--budget S]\n"
    "       nodebench dgemm [--n N] [--threads N] [--repeat R]\n"
    "\n"
    "Measures one node and writes JSON lines on stdout.\n"
    "\n"
    "  --size BYTES     one array of stream, the table of random_access (default: 4 times the\n"
    "                   last-level cache)\n"
    "  --sizes MIN:MAX  working sets of latency: powers of two and what lies half-way between\n"
    "                   (default 16K:256M)\n"
    "  --pages KIND     small (4 KiB), huge (2 MiB) or both (default) under latency\n"
    "  --n N            order of dgemm's matrices (default 2000)\n"
    "  --threads N      threads (default: the runtime's, OMP_NUM_THREADS or OPENBLAS_NUM_THREADS)\n"
    "  --mode MODE      single (default): one core; star: every core at once, each for itself\n"
    "  --repeat R       timed repetitions after an untimed one (default 20)\n"
    "  --stores KIND    regular (default) or nontemporal stores of stream\n"
    "  --budget S       seconds of a point of latency (default 0.1), of random_access (default "
    "10)\n"
    "  -h               this text\n";

static const struct benchmark {
    const char *name;
    void (*run)(const struct bl_node_options *options);
    unsigned takes;                 /* options */
    struct bl_node_options options; /* their defaults */
} benchmarks[] = {
    {
        .name = "stream",
        .run = bl_stream,
        .takes = TAKES(OPTION_SIZE) | TAKES(OPTION_THREADS) | TAKES(OPTION_REPEAT) |
                 TAKES(OPTION_STORES),
        .options = {.repeats = 20},
    },
    {
        .name = "latency",
        .run = bl_latency,
        .takes = TAKES(OPTION_SIZES) | TAKES(OPTION_PAGES) | TAKES(OPTION_BUDGET),
        .options = {.min_bytes = 16 << 10, .max_bytes = 256 << 20, .budget_s = 0.1},
    },
    {
        .name = "random_access",
        .run = bl_random_access,
        .takes = TAKES(OPTION_SIZE) | TAKES(OPTION_MODE) | TAKES(OPTION_BUDGET),
        .options = {.budget_s = 10},
    },
    {
        .name = "dgemm",
#ifdef BL_HAVE_CBLAS
        .run = bl_dgemm,
#endif
        .takes = TAKES(OPTION_ORDER) | TAKES(OPTION_THREADS) | TAKES(OPTION_REPEAT),
        .options = {.order = 2000, .repeats = 20},
    },
};

enum { BENCHMARKS = sizeof benchmarks / sizeof *benchmarks };

static const struct benchmark *choose(const char *name)
{
    for (int i = 0; i < BENCHMARKS; i++) {
        if (strcmp(benchmarks[i].name, name) != 0)
            continue;
        if (!benchmarks[i].run)
            bl_die(BL_STATUS_USAGE,
                   "%s: built without a BLAS, install libopenblas-dev and build "
                   "again",
                   name);
        return &benchmarks[i];
    }
    bl_die(BL_STATUS_USAGE, "unknown benchmark '%s', see `nodebench -h`", name);
}

/* "16K:256M", both ends included. */
static void parse_sizes(struct bl_node_options *options, const char *value)
{
    const char *colon = strchr(value, ':');
    if (!colon)
        bl_die(BL_STATUS_USAGE, "--sizes: '%s' is no range, write e.g. 16K:256M", value);
    options->min_bytes = bl_parse_size("--sizes", value, (int)(colon - value));
    options->max_bytes = bl_parse_size("--sizes", colon + 1, -1);
    if (options->min_bytes > options->max_bytes)
        bl_die(BL_STATUS_USAGE, "--sizes: %s holds no size, write the smaller one first", value);
}

static void parse_option(struct bl_node_options *options, int option, const char *value)
{
    static const char *const stores[] = {"regular", "nontemporal", NULL};
    static const char *const pages[] = {"both", "small", "huge", NULL};
    switch (option) {
    case OPTION_SIZE:
        options->size_bytes = bl_parse_size("--size", value, -1);
        break;
    case OPTION_SIZES:
        parse_sizes(options, value);
        break;
    case OPTION_PAGES:
        options->pages = (enum bl_pages)bl_parse_choice("--pages", value, pages);
        break;
    case OPTION_BUDGET:
        options->budget_s = bl_parse_seconds("--budget", value);
        break;
    case OPTION_MODE:
        options->mode = (enum bl_mode)bl_parse_choice("--mode", value, bl_mode_names);
        break;
    case OPTION_ORDER:
        options->order = (int)bl_parse_count("--n", value, 1, 40000);
        break;
    case OPTION_THREADS:
        options->threads = (int)bl_parse_count("--threads", value, 1, 4096);
        break;
    case OPTION_REPEAT:
        options->repeats = (int)bl_parse_count("--repeat", value, 1, 1000000);
        break;
    case OPTION_STORES:
        options->stores = (enum bl_stores)bl_parse_choice("--stores", value, stores);
        break;
    case 'h':
        fputs(help_text, stdout);
        exit(fflush(stdout) == 0 ? BL_STATUS_DONE : BL_STATUS_FAILED);
    }
}

int main(int argc, char **argv)
{
    bl_set_program("nodebench");
    const bool named = argc >= 2 && argv[1][0] != '-';
    const struct benchmark *benchmark = named ? choose(argv[1]) : NULL;
    struct bl_node_options options = {0};
    if (named) {
        options = benchmark->options;
        options.benchmark = benchmark->name;
    }
    opterr = 0;
    optind = named ? 2 : 1;
    int option, which = 0;
    while ((option = getopt_long(argc, argv, ":h", long_options, &which)) != -1) {
        if (option == ':')
            bl_die(BL_STATUS_USAGE, "option '%s' needs a value, see `nodebench -h`",
                   argv[optind - 1]);
        if (option == '?')
            bl_die(BL_STATUS_USAGE, "unknown option '%s', see `nodebench -h`", argv[optind - 1]);
        if (named && option >= OPTION_SIZE && !(benchmark->takes & TAKES(option)))
            bl_die(BL_STATUS_USAGE, "--%s: %s does not take it, leave it out",
                   long_options[which].name, benchmark->name);
        parse_option(&options, option, optarg);
    }
    if (!named)
        bl_die(BL_STATUS_USAGE,
               "no benchmark named, write e.g. `nodebench stream`, see `nodebench -h`");
    if (optind < argc)
        bl_die(BL_STATUS_USAGE, "stray word '%s', see `nodebench -h`", argv[optind]);
    benchmark->run(&options);
    return BL_STATUS_DONE;
}
