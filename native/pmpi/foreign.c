/*
 * The profiler is built for one MPI library; with a program of another one, handles of the wrong
 * kind would be exchanged. Such a program is started again without the profiler, before its main
 * begins.
 */
#include "say.h"

#include <link.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Libraries whose handles are of another kind than those of the MPI that this was built with. */
static const char *const foreign_names[] = {
#ifdef OPEN_MPI
    "libmpich.so",
    "libmpi.so.12",
#else
    "libmpi.so.40",
    "libmpi.so.20",
#endif
};

struct search {
    const char *foreign;
    char own[4096];
};

static int look_at(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct search *search = argument;
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash ? slash + 1 : info->dlpi_name;
    for (size_t i = 0; i < sizeof foreign_names / sizeof *foreign_names; i++)
        if (strncmp(name, foreign_names[i], strlen(foreign_names[i])) == 0)
            search->foreign = foreign_names[i];
    if (strncmp(name, "libbareline_pmpi", strlen("libbareline_pmpi")) == 0)
        snprintf(search->own, sizeof search->own, "%s", info->dlpi_name);
    return 0;
}

/* Takes one library out of LD_PRELOAD; false if it is not there. */
static bool unload(const char *library)
{
    const char *preload = getenv("LD_PRELOAD");
    const char *at = preload ? strstr(preload, library) : NULL;
    if (!at)
        return false;
    char *rest = malloc(strlen(preload) + 1);
    if (!rest)
        return false;
    const char *after = at + strlen(library);
    after += strspn(after, ": ");
    sprintf(rest, "%.*s%s", (int)(at - preload), preload, after);
    const bool done = *rest ? setenv("LD_PRELOAD", rest, 1) == 0 : unsetenv("LD_PRELOAD") == 0;
    free(rest);
    return done;
}

__attribute__((constructor)) static void leave_foreign_programs(int argc, char **argv)
{
    struct search search = {0};
    (void)argc;
    dl_iterate_phdr(look_at, &search);
    if (!search.foreign || !search.own[0] || !unload(search.own))
        return;
    bl_say("this program uses another MPI library (%s) than the profiler, it is not profiled",
           search.foreign);
    execv("/proc/self/exe", argv);
}
