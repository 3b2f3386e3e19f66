/*
 * A stream over a file that the profiler writes (output.h). Streams are the C library's, whose
 * calls posix.c takes the place of; the journals, which posix.c needs, are written without one.
 *
 * Exported: the bl_output_stream_* functions; not collective.
 */
#ifndef BL_PMPI_OUTPUT_STREAM_H
#define BL_PMPI_OUTPUT_STREAM_H

#include "output.h"

#include <stdio.h>

/* A stream to write to; NULL without memory. */
FILE *bl_output_stream_open(struct bl_output *output);

/*
 * Writes the rest of the stream, places the file if all of it is `whole` and on the disk, or
 * removes it, and closes the stream; without one (NULL) it removes the file. False and errno where
 * it failed.
 */
bool bl_output_stream_end(struct bl_output *output, FILE *stream, bool whole);

#endif
