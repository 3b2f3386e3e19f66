/*
 * The streams of all ranks become one file.
 *
 * Exported: bl_trace_pack; collective. Ranks send their slices to rank 0, because a mapped file may
 * have other contents on other nodes. The file contains the bytes as Base64, so that it is text.
 */
#ifndef BL_PMPI_PACKING_H
#define BL_PMPI_PACKING_H

#include "trace.h"

#include <mpi.h>
#include <stddef.h>

/* Writes a temporary file and renames it; then removes the trace's journal. Keeps the journal after
 * an error. */
void bl_trace_pack(const char *path, const void *slice, size_t size, MPI_Comm comm);

#endif
