/*
 * The command line, with OSU's option letters.
 *
 * Exported: struct bl_options, bl_options_parse, bl_options_report.
 * bl_options_parse runs before MPI_Init; all ranks see the same command line and reach the same
 * result. It does not return for -h and --list, nor for a wrong command line.
 */
#ifndef BL_OPTIONS_H
#define BL_OPTIONS_H

#include "bl_json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bl_benchmark;

/* How many iterations a size gets, unless the budget says less. */
struct bl_counts {
    long small; /* up to BL_LARGE_BYTES */
    long large;
};

/* Above this OSU, too, turns to fewer iterations. */
enum { BL_LARGE_BYTES = 8192 };

/* Most sizes that --sizes lists. */
enum { BL_LISTED_MAX = 32 };

struct bl_options {
    const struct bl_benchmark *benchmark;
    bool sizes_given; /* -m or --sizes; otherwise the benchmark's own sizes */
    size_t size_min_bytes;
    size_t size_max_bytes;
    size_t listed_bytes[BL_LISTED_MAX]; /* --sizes: these alone, ascending */
    int listed;
    bool between; /* also sizes halfway between powers of two */
    struct bl_counts iterations;
    struct bl_counts warmup;
    int window;                /* messages in flight of the bandwidth benchmarks */
    double budget_s;           /* for one size */
    size_t memory_limit_bytes; /* for the buffers of one rank */
    uint64_t seed;             /* of the random ring orders */
    int permutations;          /* random ring orders */
    int test_calls;            /* MPI_Test calls during the computation of the overlap benchmarks */
};

struct bl_options bl_options_parse(int argc, char **argv);

/* Adds the member "options" to the header line. */
void bl_options_report(const struct bl_options *options, struct bl_json *json);

#endif
