/* Clock and order of the reference loops without MPI; no code of the programs that they check. */
#ifndef REFERENCE_TIMING_H
#define REFERENCE_TIMING_H

#include <time.h>

static inline double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

#endif
