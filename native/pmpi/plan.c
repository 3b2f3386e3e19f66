/* See plan.h. */
#include "plan.h"

#include "kernel.h"
#include "output.h"
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

#define LAUNCHES_MAX 9999
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

/*
 * Several launches of one script, perhaps at the same time: the first takes the path, the next ones
 * add .2, .3 and so on. Who makes a journal has its number, as long as no launch that has ended
 * left a profile under it.
 */
static void number_launch(struct bl_plan *plan)
{
    char profile[PATH_MAX];
    char journal[PATH_MAX + 16];
    for (int number = 1; number <= LAUNCHES_MAX; number++) {
        char suffix[16] = "";
        if (number > 1)
            snprintf(suffix, sizeof suffix, ".%d", number);
        snprintf(profile, sizeof profile, "%.*s%s", PATH_MAX - 32, plan->path, suffix);
        snprintf(journal, sizeof journal, "%s.journal", profile);
        const int file = bl_kernel_open(journal, O_WRONLY | O_CREAT | O_EXCL, 0644);
        if (file < 0 && errno == EEXIST)
            continue;
        if (file < 0)
            return; /* make_journal gives the reason */
        bl_kernel_close(file);
        if (faccessat(AT_FDCWD, profile, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
            unlink(journal);
            continue;
        }
        memcpy(plan->path, profile, sizeof plan->path);
        strncat(plan->trace, suffix, sizeof plan->trace - strlen(plan->trace) - 1);
        return;
    }
    bl_say("more than %d launches, this one is not profiled", LAUNCHES_MAX);
    plan->active = 0;
}

static bool may_be_written(const char *path)
{
    const char *refusal = bl_output_refusal(path);
    if (refusal)
        bl_say("%s: %s; this run is not profiled", path, refusal);
    return !refusal;
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
    if (plan.active && getenv("BARELINE_PROFILE_SERIES"))
        number_launch(&plan);
    plan.active = plan.active && may_be_written(plan.path);
    return plan;
}
