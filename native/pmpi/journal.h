/*
 * The journal: the memory of all counters, mapped from one sparse file in the folder of the
 * profile. The counters thus survive any end of the process (MPI_Abort, a signal, even SIGKILL),
 * without a signal handler that could disturb the handlers of the application. When the profile is
 * finished, the journal is removed; `bareline` turns a remaining journal into an unfinished
 * profile.
 *
 * Exported: struct bl_slice, struct bl_sheet and the bl_journal_* functions; not collective. All
 * numbers in the file are in the machine's byte order; src/bareline/profile/journal.py reads it and
 * BL_JOURNAL_VERSION must change with any struct here or struct bl_row.
 *
 * Every rank has a slice of fixed size; only its used part needs space on the disk. If the file
 * cannot be mapped or extended (no shared file system, no space), anonymous memory is used instead:
 * the profile is then complete, but it is lost if the program crashes.
 */
#ifndef BL_PMPI_JOURNAL_H
#define BL_PMPI_JOURNAL_H

#include "clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BL_JOURNAL_MAGIC "BLJRNL\n"
#define BL_JOURNAL_VERSION 2
/* Pieces begin at multiples of the largest page size in use. */
#define BL_JOURNAL_PIECE 65536
#define BL_SLICE_SIZE ((size_t)8 << 20)
#define BL_SHEETS_MAX 64
#define BL_CHUNKS_MAX 32
#define BL_CLASSES_MAX 512
#define BL_HOST_SIZE 64

/* First part of the file, which describes the rows of all slices. */
struct bl_journal_head {
    char magic[8];
    uint32_t version;
    uint32_t ranks;
    uint32_t ranks_per_cell; /* of the communication matrix */
    uint32_t cells;
    uint32_t split;
    uint32_t calls;
    uint32_t names_length; /* lines "name kind", in the order of enum bl_call */
    uint32_t row_size;
    int64_t began_unix_ns;
    char library[256];
    char names[32768];
};

enum bl_state {
    BL_STATE_UNUSED,
    BL_STATE_RUNNING,
    BL_STATE_FINISHED,
    BL_STATE_ABORTED,
    BL_STATE_ENDING, /* in MPI_Finalize, before the others */
};

/* Kinds of communicator that rows point to. */
struct bl_class {
    int32_t size;
    int32_t nodes;
    int32_t inter;
};

/* First piece of a slice. */
struct bl_slice {
    uint32_t state;
    int32_t abort_code;
    uint32_t rank;
    uint32_t node;
    int32_t pid;
    uint32_t counter;          /* ticks are the processor's counter, not ns */
    struct bl_moment prepared; /* before PMPI_Init: with `seen`, the length of a tick */
    struct bl_moment began;
    struct bl_moment seen; /* renewed now and then */
    uint32_t sheets;
    uint32_t classes;
    uint64_t sheet_at[BL_SHEETS_MAX]; /* offsets in the slice, 0: not in the file */
    struct bl_class class[BL_CLASSES_MAX];
    char host[BL_HOST_SIZE];
    char clock_source[32];
    char command[512];
};

/* One cell of the communication matrix: to one peer, or to a block of peers in large jobs. */
struct bl_cell {
    uint64_t count;
    uint64_t bytes;
};

/* The counters of one thread. */
struct bl_sheet {
    uint32_t main; /* the thread that called MPI_Init */
    uint32_t rows;
    uint64_t chunk_at[BL_CHUNKS_MAX];
    uint64_t cells_at;
    uint64_t dropped;   /* calls for which no row was left */
    uint64_t untracked; /* requests that were posted or finished unseen */
    uint64_t paused;    /* ticks */
};

/* Makes a journal with this head; returns NULL or, if it fails, the reason. */
const char *bl_journal_write(const char *path, const void *head, size_t size);

/* Creates the file; called by one process, before all other processes open the file. Prints the
 * reason of a failure. */
bool bl_journal_create(const char *path, const struct bl_journal_head *head);

/* State of another rank, read from the file; BL_STATE_UNUSED if the file has no such rank. */
enum bl_state bl_journal_state(uint32_t rank);

/* Maps this rank's slice, anonymous if need be. NULL only without memory. */
struct bl_slice *bl_journal_open(const char *path, uint32_t rank);

/* Memory of the slice, zeroed. `offset` gets its place in the slice, 0 if it is not in the file. */
void *bl_journal_take(size_t size, uint64_t *offset);

void bl_journal_remove(const char *path);

#endif
