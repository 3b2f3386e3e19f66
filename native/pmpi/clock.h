/*
 * The clock of the profiler.
 *
 * Exported: bl_now, bl_clock_choose, bl_clock_ns_per_tick, bl_clock_name, bl_monotonic_ns.
 *
 * The clock is read before and after every profiled call, and these reads are most of the
 * profiler's cost. If the kernel itself uses the processor's counter (clock source `tsc`, or
 * `arch_sys_counter` on ARM), it has checked that the counter has the same rate on all processors.
 * In this case, the counter is read directly, at about half the cost of CLOCK_MONOTONIC. Everywhere
 * else (a guest on kvm-clock or hyperv, a machine with unsynchronised counters) ticks are
 * nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef BL_PMPI_CLOCK_H
#define BL_PMPI_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#define BL_COUNTER_SOURCE "tsc"
#define BL_READ_COUNTER() __rdtsc()
#elif defined(__aarch64__)
#define BL_COUNTER_SOURCE "arch_sys_counter"
static inline uint64_t bl_read_counter(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#define BL_READ_COUNTER() bl_read_counter()
#endif

static inline int64_t bl_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

extern bool bl_clock_is_counter;

static inline uint64_t bl_now(void)
{
#ifdef BL_COUNTER_SOURCE
    if (__builtin_expect(bl_clock_is_counter, 1))
        return BL_READ_COUNTER();
#endif
    return (uint64_t)bl_monotonic_ns();
}

/* One moment on both clocks; two of them give the length of a tick. */
struct bl_moment {
    uint64_t ticks;
    int64_t ns;
};

struct bl_moment bl_moment_now(void);

/* Chooses the counter or CLOCK_MONOTONIC. `source` gets the kernel's clock source. */
void bl_clock_choose(char *source, int source_size);

const char *bl_clock_name(void);

/* Length of a tick between two moments, in ns. */
double bl_clock_ns_per_tick(struct bl_moment from, struct bl_moment to);

#endif
