/*
 * The clock of every measurement.
 *
 * Exported: bl_clock_ns, bl_clock_name, bl_clock_resolution_s.
 * Nothing here is collective.
 *
 * CLOCK_MONOTONIC is read through the vDSO (about 25 ns if the kernel's clock source is the TSC)
 * and is not set by administrators. In a simulator of MPI, only MPI_Wtime returns the simulated
 * time. Programs for the simulator are compiled with BL_TIMER_MPI_WTIME.
 */
#ifndef BL_CLOCK_H
#define BL_CLOCK_H

#include <stdint.h>

#ifdef BL_TIMER_MPI_WTIME
#include <mpi.h>
static inline int64_t bl_clock_ns(void)
{
    return (int64_t)(MPI_Wtime() * 1e9);
}
#else
#include <time.h>
static inline int64_t bl_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}
#endif

#define BL_SECONDS_PER_NS 1e-9

static inline const char *bl_clock_name(void)
{
#ifdef BL_TIMER_MPI_WTIME
    return "MPI_Wtime";
#else
    return "clock_gettime(CLOCK_MONOTONIC)";
#endif
}

/*
 * Smallest difference between two reads in a row, in s. It includes the cost of a read, which is
 * far above the clock's nominal resolution of 1 ns.
 */
static inline double bl_clock_resolution_s(void)
{
#ifdef BL_TIMER_MPI_WTIME
    /* Simulated time does not pass between two reads, so that there is no such difference. */
    return BL_SECONDS_PER_NS;
#else
    int64_t smallest_ns = INT64_MAX;
    for (int i = 0; i < 1000; i++) {
        const int64_t begin_ns = bl_clock_ns();
        int64_t end_ns = bl_clock_ns();
        for (int spin = 0; end_ns == begin_ns && spin < 1000; spin++)
            end_ns = bl_clock_ns();
        if (end_ns > begin_ns && end_ns - begin_ns < smallest_ns)
            smallest_ns = end_ns - begin_ns;
    }
    return smallest_ns == INT64_MAX ? BL_SECONDS_PER_NS : BL_SECONDS_PER_NS * (double)smallest_ns;
#endif
}

#endif
