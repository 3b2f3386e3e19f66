/*
 * Calls that complete or start requests, for the wrappers of both languages.
 *
 * Exported: bl_completion_* ; the handles must be noted before the call, because it may null them.
 */
#ifndef BL_PMPI_COMPLETION_H
#define BL_PMPI_COMPLETION_H

#include "account.h"

/* Notes n C handles before the call. Returns false without memory; the requests that the call
 * completes are then not counted. */
static inline bool bl_completion_note(struct bl_op *op, int n, const MPI_Request handles[])
{
    if (!bl_scratch_reserve(&op->thread->scratch, n))
        return false;
    for (int i = 0; i < n; i++)
        op->thread->scratch.handles[i] = handles[i];
    return true;
}

/* Counts requests that `op` (MPI_Start: base BL_START_SEND, ...) has started. */
void bl_started(struct bl_op *op, unsigned base, int n, const MPI_Request handles[]);

#endif
