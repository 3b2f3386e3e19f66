/*
 * How long the main thread was ready to run without a core, while it computed and while it called.
 *
 * Exported: struct bl_queue, bl_queue_open, bl_queue_ask, bl_queue_ticks, bl_queue_after.
 *
 * The kernel keeps the sum (second figure of schedstat); to read it takes about a microsecond, so
 * it is asked only after a stretch of more than half a millisecond. A thread that lost its core to
 * another one lost it for about a scheduler's slice, which is longer. The clock of the thread's
 * processor time would tell the same for half a microsecond at both ends of every call.
 */
#ifndef BL_PMPI_QUEUE_H
#define BL_PMPI_QUEUE_H

#include <stdint.h>

struct bl_queue {
    int file;      /* 0: not asked */
    uint64_t seen; /* ns */
};

/* Ticks of a stretch after which the kernel is asked; the largest number where it cannot be. */
extern uint64_t bl_queue_after;
extern double bl_queue_ticks_per_ns;

/* For the calling thread; `ns_per_tick` need not be exact. */
void bl_queue_open(struct bl_queue *queue, double ns_per_tick);

/* Ns without a core since it was asked last; 0 for other threads than the main one. */
uint64_t bl_queue_ask(struct bl_queue *queue);

static inline uint64_t bl_queue_ticks(uint64_t ns)
{
    return __builtin_expect(ns == 0, 1) ? 0 : (uint64_t)((double)ns * bl_queue_ticks_per_ns);
}

#endif
