/*
 * Starts the build of a kernel that suits the processor.
 *
 * The Fortran compiler cannot compile one procedure for several instruction sets, so each kernel
 * is compiled whole for each of them: PREFIX/libexec/bareline/kernels/<set>/npb_cg. PREFIX/bin/npb_cg
 * is this program. It replaces itself with the widest build that the processor, and the virtual
 * machine's CPU model, allows; from then on nothing of it remains. BARELINE_INSTRUCTION_SET names
 * one to take instead.
 */
#define _GNU_SOURCE

#include "bl_error.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The features are those of the compiler's options in harness/InstructionSets.cmake. */
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

static bool has_generic(void)
{
    return true;
}

/* The widest first. */
static const struct instruction_set {
    const char *name;
    bool (*is_here)(void);
} sets[] = {
    {"avx512", has_avx512},
    {"avx2", has_avx2},
    {"generic", has_generic},
};

enum { SETS = sizeof sets / sizeof *sets };

static const char *chosen_set(void)
{
    const char *const wanted = getenv("BARELINE_INSTRUCTION_SET");
    for (int i = 0; i < SETS; i++) {
        const bool is_asked = !wanted || strcmp(wanted, sets[i].name) == 0;
        if (is_asked && sets[i].is_here())
            return sets[i].name;
        if (wanted && is_asked)
            bl_die(BL_STATUS_USAGE,
                   "BARELINE_INSTRUCTION_SET=%s: this processor does not have it, unset it",
                   wanted);
    }
    bl_die(BL_STATUS_USAGE, "BARELINE_INSTRUCTION_SET=%s: unknown, write avx512, avx2 or generic",
           wanted);
}

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
    snprintf(path, sizeof path, "%s/libexec/bareline/kernels/%s/%s", prefix, chosen_set(), BL_PROGRAM);
    execv(path, argv);
    bl_die(BL_STATUS_FAILED, "%s: %s, build and install bareline's programs again", path,
           strerror(errno));
}
