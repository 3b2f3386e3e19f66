/*
 * nodebench: measures memory bandwidth (stream) or the matrix product (dgemm) of one node.
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

enum { OPTION_SIZE = 256, OPTION_ORDER, OPTION_THREADS, OPTION_REPEAT, OPTION_STORES };

static const struct option long_options[] = {
    {"size", required_argument, NULL, OPTION_SIZE},
    {"n", required_argument, NULL, OPTION_ORDER},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"repeat", required_argument, NULL, OPTION_REPEAT},
    {"stores", required_argument, NULL, OPTION_STORES},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static const char help_text[] =
    "usage: nodebench stream [--size BYTES] [--threads N] [--repeat R] [--stores KIND]\n"
    "       nodebench dgemm [--n N] [--threads N] [--repeat R]\n"
    "\n"
    "Measures one node and writes JSON lines on stdout.\n"
    "\n"
    "  --size BYTES   one array of stream (default: 4 times the last-level cache)\n"
    "  --n N          order of dgemm's matrices (default 2000)\n"
    "  --threads N    threads (default: the runtime's, OMP_NUM_THREADS or OPENBLAS_NUM_THREADS)\n"
    "  --repeat R     timed repetitions after an untimed one (default 20)\n"
    "  --stores KIND  regular (default) or nontemporal stores of stream\n"
    "  -h             this text\n";

static const struct benchmark {
    const char *name;
    void (*run)(const struct bl_node_options *options);
} benchmarks[] = {
    {"stream", bl_stream},
#ifdef BL_HAVE_CBLAS
    {"dgemm", bl_dgemm},
#else
    {"dgemm", NULL},
#endif
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
    bl_die(BL_STATUS_USAGE, "unknown benchmark '%s', write stream or dgemm", name);
}

static void only_for(const char *benchmark, const struct bl_node_options *options,
                     const char *option)
{
    if (strcmp(options->benchmark, benchmark) != 0)
        bl_die(BL_STATUS_USAGE, "%s: belongs to %s, leave it out", option, benchmark);
}

static void parse_option(struct bl_node_options *options, int option, const char *value)
{
    static const char *const stores[] = {"regular", "nontemporal", NULL};
    switch (option) {
    case OPTION_SIZE:
        only_for("stream", options, "--size");
        options->size_bytes = bl_parse_size("--size", value, -1);
        break;
    case OPTION_ORDER:
        only_for("dgemm", options, "--n");
        options->order = (int)bl_parse_count("--n", value, 1, 40000);
        break;
    case OPTION_THREADS:
        options->threads = (int)bl_parse_count("--threads", value, 1, 4096);
        break;
    case OPTION_REPEAT:
        options->repeats = (int)bl_parse_count("--repeat", value, 1, 1000000);
        break;
    case OPTION_STORES:
        only_for("stream", options, "--stores");
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
    struct bl_node_options options = {
        .benchmark = named ? benchmark->name : "", .order = 2000, .repeats = 20};
    opterr = 0;
    optind = named ? 2 : 1;
    int option;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (option == ':')
            bl_die(BL_STATUS_USAGE, "option '%s' needs a value, see `nodebench -h`",
                   argv[optind - 1]);
        if (option == '?')
            bl_die(BL_STATUS_USAGE, "unknown option '%s', see `nodebench -h`", argv[optind - 1]);
        parse_option(&options, option, optarg);
    }
    if (!named)
        bl_die(BL_STATUS_USAGE,
               "no benchmark named, write `nodebench stream` or `nodebench dgemm`");
    if (optind < argc)
        bl_die(BL_STATUS_USAGE, "stray word '%s', see `nodebench -h`", argv[optind]);
    benchmark->run(&options);
    return BL_STATUS_DONE;
}
