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
    OPTION_MEMORY_SHARE,
    OPTION_EDGE,
    OPTION_PLAN,
    OPTION_QUANTUM,
    OPTION_DURATION,
};

/* Options and modes as sets. */
#define TAKES(option) (1u << ((option)-OPTION_SIZE))
#define LACKS(mode) (1u << (mode))

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
    {"memory-share", required_argument, NULL, OPTION_MEMORY_SHARE},
    {"n3", required_argument, NULL, OPTION_EDGE},
    {"plan", required_argument, NULL, OPTION_PLAN},
    {"quantum", required_argument, NULL, OPTION_QUANTUM},
    {"duration", required_argument, NULL, OPTION_DURATION},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static const char help_text[] =
    "usage: nodebench stream [--size BYTES] [--threads N] [--repeat R] [--stores KIND]\n"
    "       nodebench latency [--sizes MIN:MAX] [--pages KIND] [--budget S]\n"
    "       nodebench random_access [--size BYTES] [--mode MODE] [--budget S]\n"
    "       nodebench dgemm [--n N] [--mode MODE] [--threads N] [--repeat R] [--budget S]\n"
    "       nodebench linpack [--n N | --memory-share X] [--mode MODE] [--threads N]\n"
    "                         [--repeat R] [--budget S]\n"
    "       nodebench fft [--n N] [--n3 N] [--plan EFFORT] [--mode MODE] [--threads N]\n"
    "                     [--repeat R] [--budget S]\n"
    "       nodebench noise [--quantum S] [--duration S] [--mode MODE] [--threads N]\n"
    "       nodebench peak [--mode MODE] [--threads N] [--repeat R]\n"
    "\n"
    "Measures one node and writes JSON lines on stdout.\n"
    "\n"
    "  --size BYTES     one array of stream, the table of random_access (default: 4 times the\n"
    "                   last-level cache)\n"
    "  --sizes MIN:MAX  working sets of latency: powers of two and what lies half-way between\n"
    "                   (default 16K:256M)\n"
    "  --pages KIND     small (4 KiB), huge (2 MiB) or both (default) under latency\n"
    "  --n N            order of dgemm's and linpack's matrices (default 2000), points of fft's\n"
    "                   line (default 262144)\n"
    "  --n3 N           points of an edge of fft's cube (default 64)\n"
    "  --memory-share X order of linpack's matrix: the largest that fits into this share of the\n"
    "                   available memory, e.g. 0.5\n"
    "  --mode MODE      single: one core; star: every core at once, each for itself; all: all\n"
    "                   threads together (default: single; linpack: all; noise: star)\n"
    "  --threads N      threads (default of modes star and all: every core; of stream: the\n"
    "                   runtime's, OMP_NUM_THREADS)\n"
    "  --plan EFFORT    fft: measure (default) or estimate the fastest plan\n"
    "  --quantum S      shortest time of noise's work (default 1e-4)\n"
    "  --duration S     length of noise (default 1.6384)\n"
    "  --repeat R       timed repetitions after an untimed one (default 20)\n"
    "  --stores KIND    regular or nontemporal stores of stream; best (default) runs both\n"
    "                   and counts the better\n"
    "  --budget S       seconds of a point, after which no repetition is begun (default 0.1 of\n"
    "                   latency, 5 of fft, 10 of others)\n"
    "  -h               this text\n";

static const struct benchmark {
    const char *name;
    void (*run)(const struct bl_node_options *options);
    const char *needs;              /* what a build without it lacks */
    unsigned takes;                 /* options */
    unsigned lacks;                 /* modes */
    struct bl_node_options options; /* their defaults */
} benchmarks[] = {
    {
        .name = "stream",
        .run = bl_stream,
        .takes = TAKES(OPTION_SIZE) | TAKES(OPTION_THREADS) | TAKES(OPTION_REPEAT) |
                 TAKES(OPTION_STORES),
        .options = {.repeats = 20, .stores = BL_STORES_BEST},
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
        .lacks = LACKS(BL_MODE_ALL),
        .options = {.budget_s = 10},
    },
    {
        .name = "dgemm",
#ifdef BL_HAVE_CBLAS
        .run = bl_dgemm,
#endif
        .needs = "a BLAS, install libopenblas-dev",
        .takes = TAKES(OPTION_ORDER) | TAKES(OPTION_THREADS) | TAKES(OPTION_REPEAT) |
                 TAKES(OPTION_MODE) | TAKES(OPTION_BUDGET),
        .options = {.order = 2000, .repeats = 20, .budget_s = 10},
    },
    {
        .name = "linpack",
#ifdef BL_HAVE_LAPACK
        .run = bl_linpack,
#endif
        .needs = "a LAPACK, install libopenblas-dev",
        .takes = TAKES(OPTION_ORDER) | TAKES(OPTION_THREADS) | TAKES(OPTION_REPEAT) |
                 TAKES(OPTION_MODE) | TAKES(OPTION_BUDGET) | TAKES(OPTION_MEMORY_SHARE),
        .lacks = LACKS(BL_MODE_STAR),
        .options = {.order = 2000, .repeats = 10, .budget_s = 10, .mode = BL_MODE_ALL},
    },
    {
        .name = "fft",
#ifdef BL_HAVE_FFTW
        .run = bl_fft,
#endif
        .needs = "FFTW, install libfftw3-dev",
        .takes = TAKES(OPTION_ORDER) | TAKES(OPTION_EDGE) | TAKES(OPTION_THREADS) |
                 TAKES(OPTION_REPEAT) | TAKES(OPTION_MODE) | TAKES(OPTION_BUDGET) |
                 TAKES(OPTION_PLAN),
        .lacks = LACKS(BL_MODE_STAR),
        .options = {.order = 1 << 18, .edge = 64, .repeats = 20, .budget_s = 5},
    },
    {
        .name = "noise",
        .run = bl_noise,
        .takes = TAKES(OPTION_THREADS) | TAKES(OPTION_MODE) | TAKES(OPTION_QUANTUM) |
                 TAKES(OPTION_DURATION),
        .lacks = LACKS(BL_MODE_ALL),
        .options = {.quantum_s = 1e-4, .duration_s = 1.6384, .mode = BL_MODE_STAR},
    },
    {
        .name = "peak",
        .run = bl_peak,
        .takes = TAKES(OPTION_THREADS) | TAKES(OPTION_MODE) | TAKES(OPTION_REPEAT),
        .lacks = LACKS(BL_MODE_ALL),
        .options = {.repeats = 10},
    },
};

enum { BENCHMARKS = sizeof benchmarks / sizeof *benchmarks };

static const struct benchmark *choose(const char *name)
{
    for (int i = 0; i < BENCHMARKS; i++) {
        if (strcmp(benchmarks[i].name, name) != 0)
            continue;
        if (!benchmarks[i].run)
            bl_die(BL_STATUS_LEFT_OUT, "%s: built without %s and build again", name,
                   benchmarks[i].needs);
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
    static const char *const pages[] = {"both", "small", "huge", NULL};
    static const char *const efforts[] = {"measure", "estimate", NULL};
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
    case OPTION_MEMORY_SHARE:
        options->memory_share = bl_parse_share("--memory-share", value);
        break;
    case OPTION_PLAN:
        options->effort = (enum bl_effort)bl_parse_choice("--plan", value, efforts);
        break;
    case OPTION_QUANTUM:
        options->quantum_s = bl_parse_seconds("--quantum", value);
        break;
    case OPTION_DURATION:
        options->duration_s = bl_parse_seconds("--duration", value);
        break;
    case OPTION_EDGE:
        options->edge = (int)bl_parse_count("--n3", value, 2, 1000);
        break;
    case OPTION_ORDER:
        options->order = (int)bl_parse_count("--n", value, 1, 1 << 30);
        break;
    case OPTION_THREADS:
        options->threads = (int)bl_parse_count("--threads", value, 1, 4096);
        break;
    case OPTION_REPEAT:
        options->repeats = (int)bl_parse_count("--repeat", value, 1, 1000000);
        break;
    case OPTION_STORES:
        options->stores = (enum bl_stores)bl_parse_choice("--stores", value, bl_stores_names);
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
    /* The name takes the place of the program's: a simulator of MPI has an optind of its own for
     * each rank, and setting this one would not reach it. */
    if (named) {
        argc--;
        argv++;
    }
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
    if (benchmark->lacks & LACKS(options.mode))
        bl_die(BL_STATUS_USAGE, "--mode: %s has no %s, see `nodebench -h`", benchmark->name,
               bl_mode_names[options.mode]);
    benchmark->run(&options);
    return BL_STATUS_DONE;
}
