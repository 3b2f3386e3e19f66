/*
 * The time for which the main thread was ready to run but had no core, during computation and
 * during MPI calls.
 *
 * Exported: struct bl_queue, bl_queue_open, bl_queue_ask, bl_queue_ticks, bl_queue_after.
 *
 * The kernel keeps the sum of this time (second number of schedstat). A read takes about a
 * microsecond, so that the sum is only read after a stretch of more than half a millisecond. A
 * thread that loses its core to another thread loses it for about a scheduler's slice, which is
 * longer. The clock of the thread's processor time would show the same, but cost half a microsecond
 * at both ends of every call.
 */
#ifndef BL_PMPI_QUEUE_H
#define BL_PMPI_QUEUE_H

#include <stdint.h>

struct bl_queue {
    int file;      /* 0: not asked */
    uint64_t seen; /* ns */
};

/* Ticks of a stretch after which the sum is read; the largest number if it cannot be read. */
extern uint64_t bl_queue_after;
extern double bl_queue_ticks_per_ns;

/* For the calling thread; `ns_per_tick` need not be exact. */
void bl_queue_open(struct bl_queue *queue, double ns_per_tick);

/* Ns without a core since the last read; 0 for threads other than the main thread. */
uint64_t bl_queue_ask(struct bl_queue *queue);

static inline uint64_t bl_queue_ticks(uint64_t ns)
{
    return __builtin_expect(ns == 0, 1) ? 0 : (uint64_t)((double)ns * bl_queue_ticks_per_ns);
}

#endif
