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

/* Blocks are multiples of this size, the largest alignment that direct I/O needs. */
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

/* interrupt.c: set by SIGINT and SIGTERM; loops end the program when they see it. */
extern volatile sig_atomic_t bl_io_interrupted;
void bl_io_watch_signals(void);

/*
 * place.c: a private folder below the measured folder. `bl_place_make` first checks that enough
 * space is free. `bl_place_open` also removes the folder when the program ends by itself.
 * `bl_place_join` uses a folder that another process has made.
 */
const char *bl_place_make(const char *folder, uint64_t bytes, uint64_t files);
const char *bl_place_open(const char *folder, uint64_t bytes, uint64_t files);
const char *bl_place_join(const char *path);
void bl_place_remove(void);

enum { BL_PLACE_BYTES = 3072 }; /* of its path */

/* The next step after an error (an errno). */
const char *bl_place_advice(int error);

/* Ends the program with the action, its object, the reason of `error` (an errno), the next step. */
_Noreturn void bl_place_die(int error, const char *doing, const char *what);

/*
 * cache.c: the number of bytes of a file in the page cache, and their removal. If the number cannot
 * be determined, the file counts as cached.
 */
uint64_t bl_cached_bytes(int file, uint64_t size_bytes);
uint64_t bl_cache_drop(int file, uint64_t size_bytes); /* returns what is still cached */
bool bl_lies_in_memory(int file);                      /* on a file system without a device */

/* Whether a folder is served by other machines, or through a program that may cache by itself. */
bool bl_is_remote(const char *folder);

/*
 * pattern.c: data that contains its position. `bl_pattern_fill` makes random contents from a seed.
 * `bl_pattern_stamp` marks each 4 KiB of a block, and a rest of whole 8 bytes, with its offset in
 * the file and, if there are several writers, with its writer. `bl_pattern_holds` checks a block
 * with its marks.
 */
void bl_pattern_fill(void *data, size_t size_bytes, uint64_t seed);
void bl_pattern_stamp(void *block, size_t size_bytes, uint64_t place);
bool bl_pattern_holds(const void *block, const void *contents, size_t size_bytes, uint64_t place);

/* report.c: the lines of the output. The header is open within its options: add them, close the
 * object and write the line. */
void bl_io_report_begin(struct bl_json *json, const char *benchmark);
void bl_io_report_series(struct bl_json *json, const char *key, double *values, size_t count);
void bl_io_report_end(struct bl_json *json, int points);

/* One benchmark each: prints all of its lines. */
void bl_sequential(const struct bl_io_options *options);
void bl_create(const struct bl_io_options *options);

#endif
