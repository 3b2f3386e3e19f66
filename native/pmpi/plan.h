/*
 * The settings of the profiler, which rank 0 reads from its environment for all ranks.
 *
 * Exported: bl_plan_make.
 */
#ifndef BL_PMPI_PLAN_H
#define BL_PMPI_PLAN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct bl_plan {
    int active; /* there is a profile to write */
    int split;
    int64_t began_unix_ns;
    uint64_t trace_limit; /* bytes of all streams; 0: no trace */
    char path[PATH_MAX];
    char trace[PATH_MAX];
};

struct bl_plan bl_plan_make(void);

#endif
