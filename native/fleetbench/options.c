/* The command line; see fleetbench.h. */
#include "bl_error.h"
#include "bl_values.h"
#include "fleetbench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    OPTION_PAIRS = 256,
    OPTION_TOGETHER,
    OPTION_DURATION,
    OPTION_ARRAY,
    OPTION_SIZE,
    OPTION_REPEATS,
    OPTION_NAMES,
};

static const struct option long_options[] = {
    {"pairs", required_argument, NULL, OPTION_PAIRS},
    {"together", no_argument, NULL, OPTION_TOGETHER},
    {"duration", required_argument, NULL, OPTION_DURATION},
    {"array-bytes", required_argument, NULL, OPTION_ARRAY},
    {"size", required_argument, NULL, OPTION_SIZE},
    {"repeats", required_argument, NULL, OPTION_REPEATS},
    {"names", required_argument, NULL, OPTION_NAMES},
    {"iterations", required_argument, NULL, 'i'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static const char help_text[] =
    "usage: fleetbench processor|memory|pairs [options]\n"
    "\n"
    "Measures every node of a job with one rank on each, or pairs of them, and writes JSON lines\n"
    "on stdout.\n"
    "\n"
    "  --duration S      how long a node computes or streams (default 0.5)\n"
    "  --array-bytes B   each of memory's three arrays of a node (default 134217728)\n"
    "  --pairs P         all, sampled (at distances of powers of two), or auto (default): all of\n"
    "                    up to 32 nodes, else sampled\n"
    "  --together        long messages of a round's pairs at once, not one pair after another\n"
    "  --iterations N    short messages there and back, of a pair (default 100)\n"
    "  --size B          bytes of a long message (default 1048576)\n"
    "  --repeats R       long messages both ways at once, of a pair (default 8)\n"
    "  --names LIST      what the nodes are called, repeated in the header\n"
    "  -h                this text\n";

static const char *const kinds[] = {"processor", "memory", "pairs", NULL};

const char *bl_fleet_name(enum bl_fleet_what what)
{
    return kinds[what];
}

static void parse_option(struct bl_fleet_options *options, int option, const char *value)
{
    static const char *const choices[] = {"auto", "all", "sampled", NULL};
    switch (option) {
    case OPTION_PAIRS:
        options->choice = (enum bl_fleet_choice)bl_parse_choice("--pairs", value, choices);
        break;
    case OPTION_TOGETHER:
        options->together = true;
        break;
    case OPTION_DURATION:
        options->duration_s = bl_parse_seconds("--duration", value);
        break;
    case OPTION_ARRAY:
        options->array_bytes =
            (size_t)bl_parse_count("--array-bytes", value, 1 << 16, INT64_C(1) << 40);
        break;
    case OPTION_SIZE:
        options->size_bytes = (size_t)bl_parse_count("--size", value, 1, 1 << 30);
        break;
    case OPTION_REPEATS:
        options->repeats = (int)bl_parse_count("--repeats", value, 1, 100000);
        break;
    case OPTION_NAMES:
        options->names = value;
        break;
    case 'i':
        options->iterations = (int)bl_parse_count("--iterations", value, 1, 1000000);
        break;
    case 'h':
        fputs(help_text, stdout);
        exit(fflush(stdout) == 0 ? BL_STATUS_DONE : BL_STATUS_FAILED);
    }
}

struct bl_fleet_options bl_fleet_parse(int argc, char **argv)
{
    struct bl_fleet_options options = {
        .names = "",
        .duration_s = 0.5,
        .array_bytes = 128 << 20,
        .size_bytes = 1 << 20,
        .iterations = 100,
        .repeats = 8,
    };
    opterr = 0;
    int option;
    while ((option = getopt_long(argc, argv, ":hi:", long_options, NULL)) != -1) {
        if (option == ':')
            bl_die(BL_STATUS_USAGE, "option '%s' needs a value, see `fleetbench -h`",
                   argv[optind - 1]);
        if (option == '?')
            bl_die(BL_STATUS_USAGE, "unknown option '%s', see `fleetbench -h`", argv[optind - 1]);
        parse_option(&options, option, optarg);
    }
    if (optind != argc - 1)
        bl_die(BL_STATUS_USAGE, "say one of processor, memory, pairs; see `fleetbench -h`");
    options.what = (enum bl_fleet_what)bl_parse_choice("what to measure", argv[optind], kinds);
    return options;
}
