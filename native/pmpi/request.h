/*
 * Requests on their way from the post to the completing call.
 *
 * Exported: struct bl_request, bl_requests_init, bl_request_add, bl_request_take,
 * bl_request_persistent, bl_requests_forget.
 *
 * MPI libraries give the same handle to many operations that were complete at once, so a handle has
 * a queue of requests: the oldest is taken first.
 */
#ifndef BL_PMPI_REQUEST_H
#define BL_PMPI_REQUEST_H

#include "ends.h"
#include "group.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum bl_starts { BL_STARTS_SEND, BL_STARTS_RECEIVE, BL_STARTS_COLLECTIVE };

struct bl_request {
    uint64_t what; /* key of the row that was posted */
    uint64_t size;
    uint64_t posted; /* ticks */
    uint64_t sent;
    uint64_t received; /* by the arguments; a receive's true size comes with its status */
    struct bl_ends ends;
    const struct bl_group *group; /* of a receive from any rank; held until it is taken */
    uint32_t post;                /* number of requests that its thread had posted, with this one */
    int32_t peer;                 /* rank of MPI_COMM_WORLD or -1 */
    uint8_t starts;               /* of a persistent request: enum bl_starts */
    bool receives;                /* the status tells what arrived */
    bool persistent;
    bool active;
};

/* `locked`: several threads may call MPI at once. */
void bl_requests_init(bool locked);

/* False when it cannot be followed (memory). */
bool bl_request_add(MPI_Request handle, const struct bl_request *request);

/*
 * Returns the request of a completed handle and removes it; a persistent request only becomes
 * inactive. False if the handle is unknown.
 */
bool bl_request_take(MPI_Request handle, struct bl_request *request);

/*
 * A persistent request that starts at `now` as post number `post`: made active under the row `what`
 * that `row_of` makes of it, and copied to `request`. False if it is not known.
 */
bool bl_request_start(MPI_Request handle, uint64_t now, uint32_t post,
                      uint64_t (*row_of)(const struct bl_request *request, unsigned base),
                      unsigned base, struct bl_request *request);

/* The handle is freed by the program. */
void bl_request_drop(MPI_Request handle);

/* Removes all posted requests, because counting is interrupted, and returns their number. */
uint64_t bl_requests_forget(void);

#endif
