/* See bl_dispatch.h. */
#include "bl_dispatch.h"

#include "bl_error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *const bl_set_names[BL_SETS] = {
    [BL_GENERIC] = "generic",
    [BL_AVX2] = "avx2",
    [BL_AVX512] = "avx512",
};

static enum bl_set widest(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
    return avx2 && avx512 ? BL_AVX512 : avx2 ? BL_AVX2 : BL_GENERIC;
#else
    return BL_GENERIC;
#endif
}

enum bl_set bl_instruction_set(void)
{
    const char *const wanted = getenv("BARELINE_INSTRUCTION_SET");
    const enum bl_set here = widest();
    if (!wanted)
        return here;
    for (enum bl_set set = BL_GENERIC; set < BL_SETS; set++) {
        if (strcmp(wanted, bl_set_names[set]))
            continue;
        if (set > here)
            bl_die(BL_STATUS_USAGE,
                   "BARELINE_INSTRUCTION_SET=%s: this processor does not have it, unset it",
                   wanted);
        return set;
    }
    bl_die(BL_STATUS_USAGE, "BARELINE_INSTRUCTION_SET=%s: unknown, write avx512, avx2 or generic",
           wanted);
}
