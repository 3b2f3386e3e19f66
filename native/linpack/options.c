/* The command line; see linpack.h. */
#include "bl_error.h"
#include "bl_values.h"
#include "linpack.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    OPTION_PROGRAM = 256,
    OPTION_ORDER,
    OPTION_BLOCK,
    OPTION_THREADS,
    OPTION_REPEAT,
    OPTION_BUDGET,
};

static const struct option long_options[] = {
    {"program", required_argument, NULL, OPTION_PROGRAM},
    {"n", required_argument, NULL, OPTION_ORDER},
    {"nb", required_argument, NULL, OPTION_BLOCK},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"repeat", required_argument, NULL, OPTION_REPEAT},
    {"budget", required_argument, NULL, OPTION_BUDGET},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static const char help_text[] =
    "usage: linpack_mpi [--program auto|scalapack|xhpl] [--n N] [--nb N] [--threads N]\n"
    "                   [--repeat R] [--budget S]\n"
    "\n"
    "Solves a dense system of order N over all ranks and writes JSON lines on stdout; or becomes\n"
    "the xhpl on the path, which reads HPL.dat in the working directory.\n"
    "\n"
    "  --program P    scalapack, xhpl, or auto (default): xhpl if there is one\n"
    "  --n N          order (default 2000)\n"
    "  --nb N         edge of the blocks of the distribution (default 64)\n"
    "  --threads N    threads of a rank's BLAS (default 1)\n"
    "  --repeat R     timed solutions after an untimed one (default 3)\n"
    "  --budget S     seconds after which no further solution is begun (default 10)\n"
    "  -h             this text\n";

static void parse_option(struct bl_linpack_options *options, int option, const char *value)
{
    static const char *const solvers[] = {"auto", "scalapack", "xhpl", NULL};
    switch (option) {
    case OPTION_PROGRAM:
        options->solver = (enum bl_solver)bl_parse_choice("--program", value, solvers);
        break;
    case OPTION_ORDER:
        options->order = (int)bl_parse_count("--n", value, 1, 1000000);
        break;
    case OPTION_BLOCK:
        options->block = (int)bl_parse_count("--nb", value, 1, 4096);
        break;
    case OPTION_THREADS:
        options->threads = (int)bl_parse_count("--threads", value, 1, 4096);
        break;
    case OPTION_REPEAT:
        options->repeats = (int)bl_parse_count("--repeat", value, 1, 1000);
        break;
    case OPTION_BUDGET:
        options->budget_s = bl_parse_seconds("--budget", value);
        break;
    case 'h':
        fputs(help_text, stdout);
        exit(fflush(stdout) == 0 ? BL_STATUS_DONE : BL_STATUS_FAILED);
    }
}

struct bl_linpack_options bl_linpack_parse(int argc, char **argv)
{
    struct bl_linpack_options options = {
        .order = 2000, .block = 64, .threads = 1, .repeats = 3, .budget_s = 10};
    opterr = 0;
    int option;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (option == ':')
            bl_die(BL_STATUS_USAGE, "option '%s' needs a value, see `linpack_mpi -h`",
                   argv[optind - 1]);
        if (option == '?')
            bl_die(BL_STATUS_USAGE, "unknown option '%s', see `linpack_mpi -h`", argv[optind - 1]);
        parse_option(&options, option, optarg);
    }
    if (optind < argc)
        bl_die(BL_STATUS_USAGE, "stray word '%s', see `linpack_mpi -h`", argv[optind]);
    return options;
}
