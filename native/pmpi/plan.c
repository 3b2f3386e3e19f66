/* See plan.h. */
#include "plan.h"

#include "say.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* `%p` in the path becomes the process id, so that the runs of a script do not meet. */
static bool read_path(const char *variable, char *path, size_t size)
{
    const char *given = getenv(variable);
    if (!given || !*given)
        return false;
    size_t length = 0;
    if (*given != '/') {
        if (!getcwd(path, size - 1)) {
            bl_say("the working folder has no path (%s), this run is not profiled",
                   strerror(errno));
            return false;
        }
        length = strlen(path);
        path[length++] = '/';
    }
    for (; *given && length + 32 < size; given++) {
        if (given[0] == '%' && given[1] == 'p') {
            length += (size_t)snprintf(path + length, 24, "%d", (int)getpid());
            given++;
        } else {
            path[length++] = *given;
        }
    }
    path[length] = '\0';
    MPI_Comm parent;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        snprintf(path + length, size - length, ".spawned-%d", (int)getpid());
    return true;
}

#define TRACE_LIMIT (UINT64_C(64) << 20)

static void read_trace(struct bl_plan *plan)
{
    if (!read_path("BARELINE_TRACE", plan->trace, sizeof plan->trace))
        return;
    const char *limit = getenv("BARELINE_TRACE_LIMIT");
    plan->trace_limit = limit && *limit ? strtoull(limit, NULL, 10) : TRACE_LIMIT;
}

static int64_t unix_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

struct bl_plan bl_plan_make(void)
{
    const char *split = getenv("BARELINE_PROFILE_SPLIT");
    struct bl_plan plan = {
        .split = split && *split && strcmp(split, "0") != 0,
        .began_unix_ns = unix_ns(),
    };
    plan.active = read_path("BARELINE_PROFILE", plan.path, sizeof plan.path);
    if (plan.active)
        read_trace(&plan);
    return plan;
}
