/*
 * The streams of all ranks become one file.
 *
 * Exported: bl_trace_pack; collective. Slices travel to rank 0, because a mapped file need not look
 * the same from every node. The file is the same bytes as Base64, so that it travels as text.
 */
#ifndef BL_PMPI_PACKING_H
#define BL_PMPI_PACKING_H

#include "trace.h"

#include <mpi.h>
#include <stddef.h>

/* Writes beside the path and renames; removes the trace's journal if all went well. */
void bl_trace_pack(const char *path, const void *slice, size_t size, MPI_Comm comm);

#endif
