/*
 * Starts the build of a kernel that suits the processor.
 *
 * The Fortran compiler cannot compile one procedure for several instruction sets, so each kernel
 * is compiled whole for each of them: PREFIX/libexec/bareline/kernels/<set>/npb_cg.
 * PREFIX/bin/npb_cg is this program. It replaces itself with the build for the set that
 * bl_dispatch.h tells; from then on nothing of it remains.
 */
#define _GNU_SOURCE

#include "bl_dispatch.h"
#include "bl_error.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder above the one in which this program lies. */
static void find_prefix(char prefix[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", prefix, PATH_MAX - 1);
    if (length < 0)
        bl_die(BL_STATUS_FAILED, "/proc/self/exe: %s, mount /proc", strerror(errno));
    prefix[length] = '\0';
    for (int level = 0; level < 2; level++) {
        char *const slash = strrchr(prefix, '/');
        if (slash)
            *slash = '\0';
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    bl_set_program(BL_PROGRAM);
    char prefix[PATH_MAX], path[PATH_MAX + 64];
    find_prefix(prefix);
    snprintf(path, sizeof path, "%s/libexec/bareline/kernels/%s/%s", prefix,
             bl_set_names[bl_instruction_set()], BL_PROGRAM);
    execv(path, argv);
    bl_die(BL_STATUS_FAILED, "%s: %s, build and install bareline's programs again", path,
           strerror(errno));
}
