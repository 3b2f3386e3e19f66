/* See bl_peak.h. */
#include "bl_peak.h"

#include "bl_clock.h"
#include "bl_dispatch.h"
#include "bl_peak_chains.h"

#include <stddef.h>
#include <stdlib.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define BL_PEAK_X86
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#ifdef BL_HAVE_SVE
#include "bl_peak_sve.h"
#include <sys/auxv.h>
#ifndef HWCAP_SVE
#define HWCAP_SVE (1 << 22)
#endif
#endif
#endif

#ifdef BL_PEAK_X86

#define SPREAD _mm_set1_pd
#define MULTIPLY _mm_mul_pd
#define ADD _mm_add_pd
KERNEL(run_sse2, static, __m128d, SIX(MULTIPLIED) OTHER_SIX(ADDED))
#undef SPREAD
#undef MULTIPLY
#undef ADD

#define SPREAD _mm256_set1_pd
#define MULTIPLY _mm256_mul_pd
#define ADD _mm256_add_pd
#define FUSE _mm256_fmadd_pd
KERNEL(run_avx, __attribute__((target("avx"))) static, __m256d, SIX(MULTIPLIED) OTHER_SIX(ADDED))
KERNEL(run_fma, __attribute__((target("avx2,fma"))) static, __m256d, TWELVE(FUSED))
#undef SPREAD
#undef MULTIPLY
#undef ADD
#undef FUSE

#define SPREAD _mm512_set1_pd
#define FUSE _mm512_fmadd_pd
KERNEL(run_avx512, __attribute__((target("avx512f"))) static, __m512d, TWELVE(FUSED))

static const struct bl_peak_kernel kernels[] = {
    {"sse2", 2 * CHAINS *UNROLLED, run_sse2},
    {"avx", 4 * CHAINS *UNROLLED, run_avx},
    {"avx2 fma", 2 * 4 * CHAINS *UNROLLED, run_fma},
    {"avx512f", 2 * 8 * CHAINS *UNROLLED, run_avx512},
};

int bl_peak_kernels(const struct bl_peak_kernel **found)
{
    *found = kernels;
    const enum bl_set most = bl_instruction_set();
    if (getenv("BARELINE_INSTRUCTION_SET"))
        return most == BL_AVX512 ? 4 : most == BL_AVX2 ? 3 : 1;
    if (!__builtin_cpu_supports("avx"))
        return 1;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return 2;
    return __builtin_cpu_supports("avx512f") ? 4 : 3;
}

#else

#ifdef __aarch64__
#define SPREAD vdupq_n_f64
/* The product is added to the chain: an instruction that adds b to it would first copy b. */
#define FUSE(x, a, b) vfmaq_f64(x, a, b)
KERNEL(run_neon, static, float64x2_t, EVERY_CHAIN(FUSED))

#define NEON                                                                                       \
    {                                                                                              \
        "asimd", 2 * 2 * CHAINS *UNROLLED, run_neon                                                \
    }
#ifdef BL_HAVE_SVE
#define SVE(bits)                                                                                  \
    {                                                                                              \
        NEON,                                                                                      \
        {                                                                                          \
            "sve " #bits, 2 * (bits) / 64 * CHAINS *UNROLLED, bl_peak_sve                          \
        }                                                                                          \
    }
/* By the width of a vector, in units of 128 bits from 1: the operations of a round follow from it.
 */
static const struct bl_peak_kernel kernels[][2] = {
    SVE(128),  SVE(256),  SVE(384),  SVE(512),  SVE(640),  SVE(768),  SVE(896),  SVE(1024),
    SVE(1152), SVE(1280), SVE(1408), SVE(1536), SVE(1664), SVE(1792), SVE(1920), SVE(2048),
};

int bl_peak_kernels(const struct bl_peak_kernel **found)
{
    *found = kernels[0];
    if (getenv("BARELINE_INSTRUCTION_SET") || !(getauxval(AT_HWCAP) & HWCAP_SVE))
        return 1;
    *found = kernels[bl_sve_doubles() / 2 - 1];
    return 2;
}
#else
static const struct bl_peak_kernel kernels[] = {NEON};
#endif
#else
#define SPREAD(value) (value)
#define MULTIPLY(x, a) ((x) * (a))
#define ADD(x, b) ((x) + (b))
KERNEL(run_scalar, static, double, SIX(MULTIPLIED) OTHER_SIX(ADDED))
static const struct bl_peak_kernel kernels[] = {{"scalar", CHAINS *UNROLLED, run_scalar}};
#endif

#ifndef BL_HAVE_SVE
int bl_peak_kernels(const struct bl_peak_kernel **found)
{
    *found = kernels;
    return 1;
}
#endif

#endif

static double time_of(const struct bl_peak_kernel *kernel, int64_t rounds)
{
    /* Read from memory, so that no compiler knows them. */
    volatile double factor = 1 - 1e-9, addend = 1e-9;
    const double a = factor, b = addend;
    const int64_t begin_ns = bl_clock_ns();
    volatile double used = kernel->run(rounds, a, b);
    const int64_t end_ns = bl_clock_ns();
    (void)used;
    return BL_SECONDS_PER_NS * (double)(end_ns - begin_ns);
}

double bl_peak_rate(const struct bl_peak_kernel *kernel, double duration_s)
{
    const double burst_s = 1e-3;
    int64_t rounds = 1000;
    double time_s = time_of(kernel, rounds);
    while (time_s < burst_s / 2) {
        rounds *= 2;
        time_s = time_of(kernel, rounds);
    }
    double best_s = time_s;
    for (double spent_s = time_s; spent_s < duration_s; spent_s += time_s) {
        time_s = time_of(kernel, rounds);
        if (time_s < best_s)
            best_s = time_s;
    }
    return (double)rounds * kernel->round_flops / best_s;
}
