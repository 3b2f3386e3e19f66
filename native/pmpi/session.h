/*
 * From MPI_Init to MPI_Finalize.
 *
 * Exported: bl_session_prepare, bl_session_begin, bl_session_end, bl_session_abort. The second and
 * third are collective over MPI_COMM_WORLD: every process of a job must be preloaded, or none.
 */
#ifndef BL_PMPI_SESSION_H
#define BL_PMPI_SESSION_H

#include <stdint.h>

/* After PMPI_Init, which took from `began` to `ended` (ticks). */
void bl_session_begin(unsigned call, uint64_t began, uint64_t ended);

/* Before PMPI_Finalize. */
void bl_session_end(void);

/* Before PMPI_Abort. */
void bl_session_abort(int code);

/* Before PMPI_Init: the clock must be chosen. */
void bl_session_prepare(void);

#endif
