/*
 * iobench: files of one node, without MPI.
 *
 * Exported: struct bl_io_options and the functions of place.c, cache.c, pattern.c, report.c,
 * sequential.c and create.c.
 */
#ifndef BL_IOBENCH_H
#define BL_IOBENCH_H

#include "bl_json.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks are multiples of this: what direct I/O wants from buffers and offsets, at most. */
enum { BL_IO_UNIT_BYTES = 4096 };

enum { BL_IO_MAX_BLOCKS = 32 };

/* How a file is opened; in every mode the clock stops when the data is on the device. */
enum bl_io_mode {
    BL_IO_BUFFERED, /* through the page cache, one fsync at the end */
    BL_IO_DIRECT,   /* O_DIRECT, one fsync at the end */
    BL_IO_SYNCED,   /* O_SYNC: each write returns when its data is on the device */
};

/* What makes created files permanent. */
enum bl_io_sync {
    BL_IO_SYNC_NONE,
    BL_IO_SYNC_FSYNC,     /* fsync of each file before it is closed */
    BL_IO_SYNC_DIRECTORY, /* fsync of each directory after its last file */
};

struct bl_io_options {
    const char *benchmark;
    const char *folder;
    uint64_t size_bytes; /* of the file, or of each file */
    size_t blocks_bytes[BL_IO_MAX_BLOCKS];
    int blocks;
    enum bl_io_mode mode;
    double budget_s;
    int files;
    int threads;
    int directories;
    enum bl_io_sync sync;
};

/* main.c: set by SIGINT and SIGTERM; loops end the program when they see it. */
extern volatile sig_atomic_t bl_io_interrupted;

/*
 * place.c: a private folder below the one that is measured, removed whenever the program ends by
 * itself. `bl_place_open` checks first that so much is free.
 */
const char *bl_place_open(const char *folder, uint64_t bytes, uint64_t files);
void bl_place_remove(void);

/* Ends the program: what was done, on what, the reason of `error` (an errno) and the next step. */
_Noreturn void bl_place_die(int error, const char *doing, const char *what);

/*
 * cache.c: how much of a file is in the page cache, and getting it out. What cannot be found out
 * counts as cached.
 */
uint64_t bl_cached_bytes(int file, uint64_t size_bytes);
uint64_t bl_cache_drop(int file, uint64_t size_bytes); /* returns what is still cached */
bool bl_lies_in_memory(int file);                      /* on a file system without a device */

/*
 * pattern.c: data that tells its place. `bl_pattern_fill` makes random contents, the same for the
 * same seed; `bl_pattern_stamp` marks each 4 KiB of a block with its offset in the file;
 * `bl_pattern_holds` compares a block, the stamps included.
 */
void bl_pattern_fill(void *data, size_t size_bytes, uint64_t seed);
void bl_pattern_stamp(void *block, size_t size_bytes, uint64_t offset);
bool bl_pattern_holds(const void *block, const void *contents, size_t size_bytes, uint64_t offset);

/* report.c: the lines of the output. */
void bl_io_report_header(struct bl_json *json, const struct bl_io_options *options,
                         void (*add_options)(struct bl_json *, const struct bl_io_options *));
void bl_io_report_series(struct bl_json *json, const char *key, double *values, size_t count);
void bl_io_report_end(struct bl_json *json, int points);

/* One benchmark each: prints all of its lines. */
void bl_sequential(const struct bl_io_options *options);
void bl_create(const struct bl_io_options *options);

#endif
