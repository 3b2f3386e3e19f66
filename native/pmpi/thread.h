/*
 * The path of every profiled call: begin, start, stop, record.
 *
 * Exported: struct bl_thread, struct bl_op, bl_begin, bl_start, bl_stop, bl_record and the state
 * that the session sets.
 *
 * A thread counts while its `open` is set. `open` is cleared while an MPI call runs, so that calls
 * inside of this call are not counted (MPICH's Fortran layer calls the C functions, ROMIO calls MPI
 * and POSIX).
 */
#ifndef BL_PMPI_THREAD_H
#define BL_PMPI_THREAD_H

#include "clock.h"
#include "group.h"
#include "queue.h"
#include "request.h"
#include "site.h"
#include "table.h"
#include "trace.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#define BL_REGION_DEPTH 32

struct bl_scratch {
    MPI_Request *handles;
    MPI_Status *statuses;
    int *fortran_statuses;
    int *indices;
    int capacity;
};

struct bl_thread {
    bool open;
    bool paused;
    bool traced; /* the main thread of a traced rank */
    uint8_t region;
    uint32_t posts; /* requests that were posted so far */
    uint64_t last;  /* when the latest call ended */
    uint64_t paused_at;
    uint32_t until_look;    /* calls until both clocks are noted again */
    struct bl_row *compute; /* of the current region */
    struct bl_queue queue;
    struct bl_group_cache groups;
    struct bl_table table;
    struct bl_cell *cells;
    struct bl_sites *sites;
    struct bl_scratch scratch;
    uint8_t outer_regions[BL_REGION_DEPTH];
    int depth;   /* of regions */
    bool leased; /* a living thread uses it */
    struct bl_thread *next;
};

extern _Thread_local struct bl_thread *bl_self;
extern bool bl_active;
extern bool bl_split;
extern uint32_t bl_ranks_per_cell;
extern struct bl_slice *bl_slice;
extern struct bl_thread *bl_threads;

/* One call while it runs. */
struct bl_op {
    struct bl_thread *thread;
    const struct bl_group *group;
    uint16_t call;
    uint8_t place;
    bool wakes;     /* its status tells how much arrived */
    bool posts;     /* it posted a request */
    bool completes; /* it completed one */
    int world_peer; /* whom the matrix counts it for, or -1 */
    struct bl_ends ends;
    const void *caller;
    uint64_t size;
    uint64_t sent;
    uint64_t received;
    uint64_t receives;      /* requests of receives that it completed */
    uint64_t awaited;       /* bytes of the requests that it completed */
    uint64_t queued_before; /* ns without a core while computing before it */
    uint64_t queued;        /* and during it */
    uint64_t began;
    uint64_t start;
    uint64_t stop;
};

/* Gives the calling thread its counters; false if there is no memory or counting is off. */
bool bl_attach(bool main_thread, uint32_t cells);

/* Cold part of bl_begin: a thread's first call, or one that must not be counted. */
bool bl_begin_cold(void);

void bl_look_at_clocks(struct bl_thread *thread);

/* The row of the time between calls, after the region changed. */
void bl_choose_compute(struct bl_thread *thread);

/*
 * False: the call is not counted and must only be forwarded. Inlined into the function that the
 * application calls, so that the return address is an address of the application.
 */
static inline __attribute__((always_inline)) bool bl_begin(struct bl_op *op, unsigned call)
{
    if (__builtin_expect(!bl_self || !bl_self->open, 0) && !bl_begin_cold())
        return false;
    struct bl_thread *thread = bl_self;
    thread->open = false;
    op->thread = thread;
    op->group = NULL;
    op->call = (uint16_t)call;
    op->place = BL_NO_PEER;
    op->wakes = false;
    op->posts = op->completes = false;
    op->world_peer = -1;
    op->ends = bl_no_ends;
    op->caller = __builtin_return_address(0);
    op->size = op->sent = op->received = op->receives = op->awaited = 0;
    op->queued_before = op->queued = 0;
    op->began = 0;
    return true;
}

/* Directly before the call: the application stops computing. */
static inline void bl_start(struct bl_op *op)
{
    op->start = bl_now();
    if (!op->began) {
        if (__builtin_expect(op->start - op->thread->last > bl_queue_after, 0)) {
            op->queued_before = bl_queue_ask(&op->thread->queue);
            op->start = bl_now();
        }
        op->began = op->start;
    }
}

/* Directly after the call. */
static inline void bl_stop(struct bl_op *op)
{
    op->stop = bl_now();
    if (__builtin_expect(op->stop - op->start > bl_queue_after, 0))
        op->queued = bl_queue_ask(&op->thread->queue);
}

static inline void bl_add(struct bl_row *row, uint64_t count, uint64_t ticks)
{
    row->count += count;
    row->time += ticks;
    row->squares += (double)ticks * (double)ticks;
    if (ticks < row->shortest)
        row->shortest = ticks;
    if (ticks > row->longest)
        row->longest = ticks;
}

static inline uint64_t bl_what_of(const struct bl_op *op)
{
    return bl_what(op->call, op->thread->region, op->place, op->group ? op->group->class : 0);
}

static inline void bl_add_compute(struct bl_thread *thread, uint64_t until)
{
    if (thread->compute)
        bl_add(thread->compute, 1, until - thread->last);
}

/* Ends the call for the thread: what follows is computing again. */
static inline void bl_close(struct bl_op *op)
{
    struct bl_thread *thread = op->thread;
    bl_add_compute(thread, op->began);
    if (__builtin_expect(op->queued_before != 0, 0) && thread->compute)
        thread->compute->queued += op->queued_before;
    thread->last = op->stop;
    if (__builtin_expect(--thread->until_look == 0, 0))
        bl_look_at_clocks(thread);
    thread->open = true;
}

static inline void bl_count_cell(const struct bl_op *op)
{
    if (op->world_peer >= 0 && op->thread->cells) {
        struct bl_cell *cell = &op->thread->cells[(uint32_t)op->world_peer / bl_ranks_per_cell];
        cell->count++;
        cell->bytes += op->size;
    }
}

/* Ticks of computing before the call, without the time in which the thread had no core. */
static inline uint64_t bl_compute_before(const struct bl_op *op)
{
    const uint64_t spent = op->began - op->thread->last;
    const uint64_t queued = bl_queue_ticks(op->queued_before);
    return queued < spent ? spent - queued : 0;
}

static inline void bl_count_site(const struct bl_op *op, uint64_t ticks)
{
    if (op->caller && op->thread->sites)
        bl_site_count(op->thread->sites, op->caller, op->call, ticks, op->size);
}

static inline void bl_trace_op(const struct bl_op *op)
{
    const struct bl_trace_call call = {
        .ends = op->ends,
        .call = op->call,
        .posts = op->posts,
        .polls = bl_call_kinds[op->call] == BL_KIND_WAIT && !op->completes,
        .size = op->size,
        .sent = op->sent,
        .received = op->received,
        .compute = bl_compute_before(op),
        .spent = op->stop - op->start,
    };
    bl_trace_call(&call);
}

/* Counts the call in the row `what`. */
static inline void bl_record_as(struct bl_op *op, uint64_t what)
{
    struct bl_row *row = bl_table_row(&op->thread->table, what, op->size);
    if (row) {
        bl_add(row, 1, op->stop - op->start);
        row->bytes += op->size;
        row->sent += op->sent;
        row->received += op->received;
        row->receives += op->receives;
        row->awaited += op->awaited;
        row->queued += op->queued;
        const uint64_t waited = op->start - op->began;
        if (waited) {
            row->waited += waited;
            if (waited < row->waited_least)
                row->waited_least = waited;
        }
    }
    bl_count_cell(op);
    bl_count_site(op, op->stop - op->began);
    if (op->thread->traced)
        bl_trace_op(op);
    bl_close(op);
}

static inline void bl_record(struct bl_op *op)
{
    bl_record_as(op, bl_what_of(op));
}

/* Room for n requests and statuses; false without memory. */
bool bl_scratch_reserve(struct bl_scratch *scratch, int n);

#endif
