/*
 * iobench_mpi: measures files of many ranks at once: writing and reading (parallel), or making,
 * looking at, reading and removing many (metadata).
 *
 * Output on stdout, one JSON object a line: a header, one line a point, and an end line that counts
 * the points.
 */
#include "bl_error.h"
#include "bl_values.h"
#include "iobench_mpi.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_FOLDER = 256,
    OPTION_API,
    OPTION_FILES,
    OPTION_TRANSFER,
    OPTION_BLOCK,
    OPTION_SEGMENTS,
    OPTION_DURATION,
    OPTION_MODE,
    OPTION_READERS,
    OPTION_SYNC,
    OPTION_ITEMS,
    OPTION_SIZE,
};

static const struct option long_options[] = {
    {"folder", required_argument, NULL, OPTION_FOLDER},
    {"api", required_argument, NULL, OPTION_API},
    {"files", required_argument, NULL, OPTION_FILES},
    {"transfer", required_argument, NULL, OPTION_TRANSFER},
    {"block", required_argument, NULL, OPTION_BLOCK},
    {"segments", required_argument, NULL, OPTION_SEGMENTS},
    {"duration", required_argument, NULL, OPTION_DURATION},
    {"mode", required_argument, NULL, OPTION_MODE},
    {"readers", required_argument, NULL, OPTION_READERS},
    {"sync", required_argument, NULL, OPTION_SYNC},
    {"items", required_argument, NULL, OPTION_ITEMS},
    {"size", required_argument, NULL, OPTION_SIZE},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static const char help_text[] =
    "usage: iobench_mpi parallel --folder FOLDER [--api API] [--files FILES] [--transfer BYTES]\n"
    "                   [--block BYTES] [--segments N] [--duration SECONDS] [--mode MODE]\n"
    "       iobench_mpi metadata --folder FOLDER [--files FILES] [--items N] [--size BYTES]\n"
    "       both: [--readers READERS] [--sync METHOD]\n"
    "\n"
    "Measures the file system of a folder with all ranks and writes JSON lines on stdout.\n"
    "\n"
    "  --folder FOLDER     existing folder; what is made in it is removed\n"
    "  --api API           posix (default), mpiio or mpiio-collective\n"
    "  --files FILES       shared (default of parallel): a file of all ranks, of metadata a\n"
    "                      directory; or own (default of metadata): one for each rank\n"
    "  --transfer BYTES    of a write or read, a multiple of 8 (default 1M)\n"
    "  --block BYTES       in one piece of the file, of a rank (default 16M)\n"
    "  --segments N        blocks of each rank, at most (default 1)\n"
    "  --duration SECONDS  writing ends after so long; all ranks then write as much as the "
    "fastest\n"
    "  --mode MODE         buffered (default) or direct\n"
    "  --readers READERS   other (default): of another node, on one node the next rank; or same\n"
    "  --sync METHOD       fsync (default) or none\n"
    "  --items N           files of each rank (default 100)\n"
    "  --size BYTES        of each file of metadata (default 3901)\n"
    "  -h                  this text\n";

static const char *const benchmarks[] = {"parallel", "metadata", NULL};

static bool belongs_to_other(int option, bool metadata)
{
    switch (option) {
    case OPTION_API:
    case OPTION_TRANSFER:
    case OPTION_BLOCK:
    case OPTION_SEGMENTS:
    case OPTION_DURATION:
    case OPTION_MODE:
        return metadata;
    case OPTION_ITEMS:
    case OPTION_SIZE:
        return !metadata;
    default:
        return false;
    }
}

static void parse_option(struct bl_job_options *options, int option, const char *value)
{
    static const char *const apis[] = {"posix", "mpiio", "mpiio-collective", NULL};
    static const char *const files[] = {"shared", "own", NULL};
    static const char *const modes[] = {"buffered", "direct", NULL};
    static const char *const readers[] = {"other", "same", NULL};
    static const char *const methods[] = {"none", "fsync", NULL};
    switch (option) {
    case OPTION_FOLDER:
        options->folder = value;
        break;
    case OPTION_API:
        options->api = (enum bl_api)bl_parse_choice("--api", value, apis);
        break;
    case OPTION_FILES:
        options->files = (enum bl_files)bl_parse_choice("--files", value, files);
        break;
    case OPTION_TRANSFER:
        options->transfer_bytes = bl_parse_size("--transfer", value, -1);
        break;
    case OPTION_BLOCK:
        options->block_bytes = bl_parse_size("--block", value, -1);
        break;
    case OPTION_SEGMENTS:
        options->segments = (int)bl_parse_count("--segments", value, 1, 100000000);
        break;
    case OPTION_DURATION:
        options->duration_s = bl_parse_seconds("--duration", value);
        break;
    case OPTION_MODE:
        options->mode = (enum bl_io_mode)bl_parse_choice("--mode", value, modes);
        break;
    case OPTION_READERS:
        options->readers = (enum bl_readers)bl_parse_choice("--readers", value, readers);
        break;
    case OPTION_SYNC:
        options->sync = (enum bl_io_sync)bl_parse_choice("--sync", value, methods);
        break;
    case OPTION_ITEMS:
        options->items = (int)bl_parse_count("--items", value, 1, 10000000);
        break;
    case OPTION_SIZE:
        options->size_bytes = bl_parse_size("--size", value, -1);
        break;
    case 'h':
        fputs(help_text, stdout);
        exit(fflush(stdout) == 0 ? BL_STATUS_DONE : BL_STATUS_FAILED);
    }
}

static void check_options(const struct bl_job_options *options)
{
    const size_t transfer_bytes = options->transfer_bytes;
    if (!options->folder)
        bl_die(BL_STATUS_USAGE, "--folder: say which folder's file system is to be measured");
    if (transfer_bytes == 0 || transfer_bytes % 8 || transfer_bytes > (size_t)1 << 30)
        bl_die(BL_STATUS_USAGE, "--transfer: %zu B is no multiple of 8 B up to 1 GiB",
               transfer_bytes);
    if (options->block_bytes == 0 || options->block_bytes % transfer_bytes)
        bl_die(BL_STATUS_USAGE, "--block: no multiple of a transfer of %zu B", transfer_bytes);
    if (options->mode == BL_IO_DIRECT && options->api != BL_API_POSIX)
        bl_die(BL_STATUS_USAGE, "--mode: MPI-IO has no direct I/O, take --api posix");
    if (options->mode == BL_IO_DIRECT && transfer_bytes % BL_IO_UNIT_BYTES)
        bl_die(BL_STATUS_USAGE, "--transfer: direct I/O needs a multiple of %d B",
               BL_IO_UNIT_BYTES);
    if (options->api == BL_API_MPIIO_COLLECTIVE && options->files == BL_FILES_OWN)
        bl_die(BL_STATUS_USAGE, "--api: collective calls are for a shared file, take mpiio");
    if (options->size_bytes > (size_t)1 << 30)
        bl_die(BL_STATUS_USAGE, "--size: a file of metadata has at most 1 GiB");
}

static struct bl_job_options parse_options(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "-h") == 0)
        parse_option(NULL, 'h', NULL);
    if (argc < 2 || argv[1][0] == '-')
        bl_die(BL_STATUS_USAGE, "no benchmark named, write `iobench_mpi parallel` or `metadata`");
    const bool metadata = bl_parse_choice("what to measure", argv[1], benchmarks) == 1;
    struct bl_job_options options = {
        .benchmark = argv[1],
        .files = metadata ? BL_FILES_OWN : BL_FILES_SHARED,
        .sync = BL_IO_SYNC_FSYNC,
        .transfer_bytes = (size_t)1 << 20,
        .block_bytes = (uint64_t)16 << 20,
        .segments = 1,
        .items = 100,
        .size_bytes = 3901,
    };
    opterr = 0;
    argc--;
    argv++;
    int option, index;
    while ((option = getopt_long(argc, argv, ":h", long_options, &index)) != -1) {
        if (option == ':')
            bl_die(BL_STATUS_USAGE, "option '%s' needs a value, see `iobench_mpi -h`",
                   argv[optind - 1]);
        if (option == '?')
            bl_die(BL_STATUS_USAGE, "unknown option '%s', see `iobench_mpi -h`", argv[optind - 1]);
        if (belongs_to_other(option, metadata))
            bl_die(BL_STATUS_USAGE, "--%s: belongs to %s, leave it out", long_options[index].name,
                   benchmarks[!metadata]);
        parse_option(&options, option, optarg);
    }
    if (optind < argc)
        bl_die(BL_STATUS_USAGE, "stray word '%s', see `iobench_mpi -h`", argv[optind]);
    check_options(&options);
    return options;
}

/* A rank that has to leave alone ends the job, and the folder with it. */
static void leave(int status, const char *line)
{
    bl_place_remove();
    bl_world_leave(status, line);
}

int main(int argc, char **argv)
{
    bl_set_program("iobench_mpi");
    bl_set_exit(leave);
    const struct bl_job_options options = parse_options(argc, argv);
    struct bl_world world;
    bl_world_open(&argc, &argv, &world);
    bl_io_watch_signals();
    if (strcmp(options.benchmark, "parallel") == 0)
        bl_parallel(&options, &world);
    else
        bl_metadata(&options, &world);
    bl_world_close(&world, MPI_COMM_WORLD);
    return BL_STATUS_DONE;
}
