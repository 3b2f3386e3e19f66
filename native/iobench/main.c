/*
 * iobench: measures reading and writing of a file (sequential) or making files (create).
 *
 * Output on stdout, one JSON object a line: a header, one line a point as soon as it is measured,
 * and an end line that counts the points.
 */
#include "bl_error.h"
#include "bl_values.h"
#include "iobench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_FOLDER = 256,
    OPTION_SIZE,
    OPTION_BLOCKS,
    OPTION_MODE,
    OPTION_BUDGET,
    OPTION_FILES,
    OPTION_THREADS,
    OPTION_DIRECTORIES,
    OPTION_SYNC,
};

static const struct option long_options[] = {
    {"folder", required_argument, NULL, OPTION_FOLDER},
    {"size", required_argument, NULL, OPTION_SIZE},
    {"blocks", required_argument, NULL, OPTION_BLOCKS},
    {"mode", required_argument, NULL, OPTION_MODE},
    {"budget", required_argument, NULL, OPTION_BUDGET},
    {"files", required_argument, NULL, OPTION_FILES},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"directories", required_argument, NULL, OPTION_DIRECTORIES},
    {"sync", required_argument, NULL, OPTION_SYNC},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static const char help_text[] =
    "usage: iobench sequential --folder FOLDER [--size BYTES] [--blocks LIST] [--mode MODE]\n"
    "                          [--budget SECONDS]\n"
    "       iobench create --folder FOLDER [--files N] [--size BYTES] [--threads T]\n"
    "                      [--directories S] [--sync METHOD]\n"
    "\n"
    "Measures the file system of a folder and writes JSON lines on stdout.\n"
    "\n"
    "  --folder FOLDER   existing folder; what is made in it is removed\n"
    "  --size BYTES      the file (default 64M), or each file of create (default 4K)\n"
    "  --blocks LIST     sizes of a read or write, e.g. 64K,1M (default 16K,64K,256K,1M,4M,16M)\n"
    "  --mode MODE       buffered (default), direct or synced\n"
    "  --budget SECONDS  longest time for writing, and for reading, one file (default 30)\n"
    "  --files N         files to make (default 500)\n"
    "  --threads T       threads that make them (default 1)\n"
    "  --directories S   directories that they are spread over (default 1)\n"
    "  --sync METHOD     none, fsync (default, of each file) or directory (of each directory)\n"
    "  -h                this text\n";

static const char *const no_options[] = {NULL};

static const struct benchmark {
    const char *name;
    void (*run)(const struct bl_io_options *options);
    const char *const *options; /* that are its own */
    uint64_t size_bytes;
} benchmarks[] = {
    {"sequential", bl_sequential, (const char *const[]){"--blocks", "--mode", "--budget", NULL},
     UINT64_C(64) << 20},
    {"create", bl_create,
     (const char *const[]){"--files", "--threads", "--directories", "--sync", NULL}, 4096},
};

enum { BENCHMARKS = sizeof benchmarks / sizeof *benchmarks };

static const struct benchmark *choose(const char *name)
{
    for (int i = 0; i < BENCHMARKS; i++) {
        if (strcmp(benchmarks[i].name, name) == 0)
            return &benchmarks[i];
    }
    bl_die(BL_STATUS_USAGE, "unknown benchmark '%s', write sequential or create", name);
}

/* Refuses an option of another benchmark. */
static void check_option(const struct benchmark *benchmark, const char *name)
{
    char option[32];
    snprintf(option, sizeof option, "--%s", name);
    for (int i = 0; i < BENCHMARKS; i++) {
        const char *const *own = benchmark == &benchmarks[i] ? no_options : benchmarks[i].options;
        for (; *own; own++) {
            if (strcmp(*own, option) == 0)
                bl_die(BL_STATUS_USAGE, "%s: belongs to %s, leave it out", option,
                       benchmarks[i].name);
        }
    }
}

static void parse_blocks(struct bl_io_options *options, const char *list)
{
    options->blocks = 0;
    for (const char *text = list;; text++) {
        const int length = (int)strcspn(text, ",");
        const size_t block_bytes = bl_parse_size("--blocks", text, length);
        if (options->blocks == BL_IO_MAX_BLOCKS)
            bl_die(BL_STATUS_USAGE, "--blocks: more than %d sizes, take fewer", BL_IO_MAX_BLOCKS);
        if (block_bytes == 0 || block_bytes % BL_IO_UNIT_BYTES || block_bytes > (size_t)1 << 30)
            bl_die(BL_STATUS_USAGE, "--blocks: %zu B is no multiple of %d B up to 1 GiB",
                   block_bytes, BL_IO_UNIT_BYTES);
        for (int i = 0; i < options->blocks; i++) {
            if (options->blocks_bytes[i] == block_bytes)
                bl_die(BL_STATUS_USAGE, "--blocks: %zu B appears twice, leave one out",
                       block_bytes);
        }
        options->blocks_bytes[options->blocks++] = block_bytes;
        text += length;
        if (!*text)
            return;
    }
}

static void parse_option(struct bl_io_options *options, int option, const char *value)
{
    static const char *const modes[] = {"buffered", "direct", "synced", NULL};
    static const char *const methods[] = {"none", "fsync", "directory", NULL};
    switch (option) {
    case OPTION_FOLDER:
        options->folder = value;
        break;
    case OPTION_SIZE:
        options->size_bytes = bl_parse_size("--size", value, -1);
        break;
    case OPTION_BLOCKS:
        parse_blocks(options, value);
        break;
    case OPTION_MODE:
        options->mode = (enum bl_io_mode)bl_parse_choice("--mode", value, modes);
        break;
    case OPTION_BUDGET:
        options->budget_s = bl_parse_seconds("--budget", value);
        break;
    case OPTION_FILES:
        options->files = (int)bl_parse_count("--files", value, 1, 10000000);
        break;
    case OPTION_THREADS:
        options->threads = (int)bl_parse_count("--threads", value, 1, 1024);
        break;
    case OPTION_DIRECTORIES:
        options->directories = (int)bl_parse_count("--directories", value, 1, 512);
        break;
    case OPTION_SYNC:
        options->sync = (enum bl_io_sync)bl_parse_choice("--sync", value, methods);
        break;
    case 'h':
        fputs(help_text, stdout);
        exit(fflush(stdout) == 0 ? BL_STATUS_DONE : BL_STATUS_FAILED);
    }
}

static void parse_options(struct bl_io_options *options, const struct benchmark *benchmark,
                          int argc, char **argv)
{
    opterr = 0;
    /* The name takes the place of the program's: a simulator of MPI has an optind of its own for
     * each rank, and setting this one would not reach it. */
    if (benchmark) {
        argc--;
        argv++;
    }
    int option, index;
    while ((option = getopt_long(argc, argv, ":h", long_options, &index)) != -1) {
        if (option == ':')
            bl_die(BL_STATUS_USAGE, "option '%s' needs a value, see `iobench -h`",
                   argv[optind - 1]);
        if (option == '?')
            bl_die(BL_STATUS_USAGE, "unknown option '%s', see `iobench -h`", argv[optind - 1]);
        if (benchmark && option != 'h')
            check_option(benchmark, long_options[index].name);
        parse_option(options, option, optarg);
    }
    if (!benchmark)
        bl_die(BL_STATUS_USAGE,
               "no benchmark named, write `iobench sequential` or `iobench create`");
    if (optind < argc)
        bl_die(BL_STATUS_USAGE, "stray word '%s', see `iobench -h`", argv[optind]);
    if (!options->folder)
        bl_die(BL_STATUS_USAGE, "--folder: say which folder's file system is to be measured");
}

int main(int argc, char **argv)
{
    bl_set_program("iobench");
    const bool named = argc >= 2 && argv[1][0] != '-';
    const struct benchmark *benchmark = named ? choose(argv[1]) : NULL;
    struct bl_io_options options = {
        .benchmark = named ? benchmark->name : "",
        .size_bytes = named ? benchmark->size_bytes : 0,
        .budget_s = 30,
        .files = 500,
        .threads = 1,
        .directories = 1,
        .sync = BL_IO_SYNC_FSYNC,
    };
    parse_blocks(&options, "16K,64K,256K,1M,4M,16M");
    parse_options(&options, benchmark, argc, argv);
    bl_io_watch_signals();
    benchmark->run(&options);
    bl_place_remove();
    return BL_STATUS_DONE;
}
