/*
 * The trace: the calls of each rank's main thread one after the other, for a replay.
 *
 * Exported: bl_trace_create, bl_trace_open, bl_trace_call, bl_trace_done, bl_trace_lose,
 * bl_trace_close; none is collective. src/bareline/profile/trace.py reads what is written.
 *
 * Many calls have the same arguments. Different arguments (a shape) are written once, in a
 * dictionary; a call is then only the number of its shape and two times, about five bytes.
 * Successive polls that find nothing are one record. The stream is mapped from a sparse file in the
 * folder of the trace, as the counters of the journal are, so that it survives any end of the
 * process. MPI_Finalize packs the streams into one file. A full stream ends with the number of
 * calls that it lacks.
 *
 * A record is a number, then two times (see time_code) in two bytes each, little-endian: the
 * computing before the call, without the time in which the rank had no core, and the call itself.
 * The number is that of a shape plus one; 0 says that a new shape follows first, as varints: call,
 * whether it posted a request, to, from, root, both tags (zigzag), communicator, its size, size,
 * sent, received, and from version 2 on the size of an element. The shape of call 0 is a completed
 * request, `to` posts ago, before the call that completed it, and has no times; with root 1 it says
 * from whom and with which tag a message came. The shape of "compute" is the end of the stream.
 */
#ifndef BL_PMPI_TRACE_H
#define BL_PMPI_TRACE_H

#include "clock.h"
#include "ends.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first piece of the file, and where in it stands how far slices lie apart (0: packed). */
#define BL_TRACE_HEAD_SIZE 33320
#define BL_TRACE_SLICE_SIZE_AT 16

struct bl_trace_call {
    struct bl_ends ends;
    uint32_t call;
    bool posts;
    bool polls; /* may be one of many in a row */
    uint64_t size;
    uint64_t sent;
    uint64_t received;
    uint64_t compute; /* ticks */
    uint64_t spent;   /* ticks */
};

struct bl_trace_job {
    int rank;
    int ranks;
    uint64_t limit; /* bytes of all streams together */
    int64_t began_unix_ns;
    const char *command;
};

/* Called by one process, before all other processes open the file. Prints the reason of a
 * failure. */
bool bl_trace_create(const char *path, const struct bl_trace_job *job);

/* Maps this rank's stream; false: without memory. */
bool bl_trace_open(const char *path, const struct bl_trace_job *job, struct bl_moment prepared,
                   struct bl_moment began);

void bl_trace_call(const struct bl_trace_call *call);

/*
 * Records that a request, posted `ago` posts ago, is complete. For a receive from any rank or with
 * any tag, `arrived` has the source and tag of the message, with source BL_NOBODY if the receive
 * was cancelled. For all other requests, `arrived` is NULL.
 */
void bl_trace_done(uint32_t ago, const struct bl_ends *arrived);

/* Something was not looked at: the stream ends here. */
void bl_trace_lose(void);

/* Ends the stream after `compute` ticks; gives its slice, NULL if nothing was traced. */
const void *bl_trace_close(uint64_t compute, struct bl_moment ended, size_t *size);

#endif
