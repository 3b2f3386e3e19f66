/*
 * Files that the profiler writes, possibly in folders that other users may write to. Each file has
 * an unpredictable name at first, and is renamed when it is complete. If a link, pipe, socket,
 * device or folder has the final name, the file is not written. src/bareline/vocabulary/files.py
 * does the same, and removes the files that a killed process has left.
 *
 * Exported: struct bl_output and the bl_output_* functions; not collective.
 */
#ifndef BL_PMPI_OUTPUT_H
#define BL_PMPI_OUTPUT_H

#include <limits.h>
#include <stdbool.h>

/* A file that is being written. */
struct bl_output {
    int descriptor;
    int folder;
    char part[NAME_MAX + 1];
    char name[NAME_MAX + 1];
};

/* The reason for which a file of this name cannot be written; NULL if it can be written. */
const char *bl_output_refusal(const char *path);

/* Makes the file that will be `path`; returns NULL or, if it fails, the reason. */
const char *bl_output_begin(struct bl_output *output, const char *path);

/*
 * Renames the file if it is `whole` and the disk took it, or removes it; false and errno in the
 * second case. With `durable` it waits for the disk. The descriptor stays open.
 */
bool bl_output_place(struct bl_output *output, bool whole, bool durable);

/* Places the file, and closes its descriptor. */
bool bl_output_end(struct bl_output *output, bool whole, bool durable);

/* Opens a regular file that this job has written, through no link; -1 otherwise. */
int bl_output_reopen(const char *path, int flags);

#endif
