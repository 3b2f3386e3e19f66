/* See bl_peak.h. */
#include "bl_peak.h"

#include "bl_clock.h"
#include "bl_dispatch.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define BL_PEAK_X86
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/*
 * Twelve chains hide the latency of two fused units (Haswell: 5 cycles), and six of each kind that
 * of separate multipliers and adders; with their constants they fit into 16 registers. Each starts
 * from another value: equal chains would be computed once.
 */
#define SIX(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)
#define OTHER_SIX(DO) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define TWELVE(DO) SIX(DO) OTHER_SIX(DO)
enum { CHAINS = 12, UNROLLED = 4 };

#define START(i) vector_t x##i = SPREAD(1.0 + i);
#define FUSED(i) x##i = FUSE(x##i, a, b);
#define MULTIPLIED(i) x##i = MULTIPLY(x##i, a);
#define ADDED(i) x##i = ADD(x##i, b);
#define COLLECT(i) memcpy(lanes, &x##i, sizeof x##i), sum += lanes[0];

#define FOUR_TIMES(...) __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__

/* Multiplications by a factor just below 1 and additions of little: nothing over- or underflows. */
#define KERNEL(name, target, type, round)                                                          \
    target static double name(int64_t rounds, double factor, double addend)                        \
    {                                                                                              \
        typedef type vector_t;                                                                     \
        const vector_t a = SPREAD(factor), b = SPREAD(addend);                                     \
        TWELVE(START)                                                                              \
        for (int64_t i = 0; i < rounds; i++) {                                                     \
            FOUR_TIMES(round)                                                                      \
        }                                                                                          \
        double lanes[sizeof(vector_t) / sizeof(double)], sum = 0;                                  \
        TWELVE(COLLECT)                                                                            \
        return sum;                                                                                \
    }

#ifdef BL_PEAK_X86

#define SPREAD _mm_set1_pd
#define MULTIPLY _mm_mul_pd
#define ADD _mm_add_pd
KERNEL(run_sse2, , __m128d, SIX(MULTIPLIED) OTHER_SIX(ADDED))
#undef SPREAD
#undef MULTIPLY
#undef ADD

#define SPREAD _mm256_set1_pd
#define MULTIPLY _mm256_mul_pd
#define ADD _mm256_add_pd
#define FUSE _mm256_fmadd_pd
KERNEL(run_avx, __attribute__((target("avx"))), __m256d, SIX(MULTIPLIED) OTHER_SIX(ADDED))
KERNEL(run_fma, __attribute__((target("avx2,fma"))), __m256d, TWELVE(FUSED))
#undef SPREAD
#undef MULTIPLY
#undef ADD
#undef FUSE

#define SPREAD _mm512_set1_pd
#define FUSE _mm512_fmadd_pd
KERNEL(run_avx512, __attribute__((target("avx512f"))), __m512d, TWELVE(FUSED))

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
#define FUSE(x, a, b) vfmaq_f64(b, x, a)
KERNEL(run_neon, , float64x2_t, TWELVE(FUSED))
static const struct bl_peak_kernel kernels[] = {{"asimd", 2 * 2 * CHAINS *UNROLLED, run_neon}};
#else
#define SPREAD(value) (value)
#define MULTIPLY(x, a) ((x) * (a))
#define ADD(x, b) ((x) + (b))
KERNEL(run_scalar, , double, SIX(MULTIPLIED) OTHER_SIX(ADDED))
static const struct bl_peak_kernel kernels[] = {{"scalar", CHAINS *UNROLLED, run_scalar}};
#endif

int bl_peak_kernels(const struct bl_peak_kernel **found)
{
    *found = kernels;
    return 1;
}

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
