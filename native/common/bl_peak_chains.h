/*
 * The kernel of bl_peak.h as a macro, for files that have the vectors of an instruction set.
 *
 * KERNEL(name, attribute, type, round) defines a function of struct bl_peak_kernel. It uses SPREAD
 * and, as `round` needs them, FUSE, MULTIPLY and ADD; a file whose vectors have no size that the
 * compiler knows defines LANES and COLLECT first.
 */
#ifndef BL_PEAK_CHAINS_H
#define BL_PEAK_CHAINS_H

#include <stdint.h>
#include <string.h>

/*
 * The number of independent chains must hide the latency of all fused units; separate multipliers
 * and adders need half as many chains of each kind. Chains and constants fit into the registers.
 * Haswell needs ten (2 units, 5 cycles) and has 16 registers. On Arm, A64FX needs 18 (2 units, 9
 * cycles) and Neoverse V1 and V2 need 16 (4 units, 4 cycles); there are 32 registers. Each chain
 * starts from another value: equal chains would be computed once.
 */
#define SIX(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)
#define OTHER_SIX(DO) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define TWELVE(DO) SIX(DO) OTHER_SIX(DO)
#ifdef __aarch64__
#define OTHER_TWELVE(DO)                                                                           \
    DO(12) DO(13) DO(14) DO(15) DO(16) DO(17) DO(18) DO(19) DO(20) DO(21) DO(22) DO(23)
#define EVERY_CHAIN(DO) TWELVE(DO) OTHER_TWELVE(DO)
enum { CHAINS = 24, UNROLLED = 4 };
#else
#define EVERY_CHAIN(DO) TWELVE(DO)
enum { CHAINS = 12, UNROLLED = 4 };
#endif

#define START(i) vector_t x##i = SPREAD(1.0 + i);
#define FUSED(i) x##i = FUSE(x##i, a, b);
#define MULTIPLIED(i) x##i = MULTIPLY(x##i, a);
#define ADDED(i) x##i = ADD(x##i, b);
#ifndef COLLECT
#define LANES double lanes[sizeof(vector_t) / sizeof(double)];
#define COLLECT(i) memcpy(lanes, &x##i, sizeof x##i), sum += lanes[0];
#endif

#define FOUR_TIMES(...) __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__

/* Multiplications by a factor just below 1 and additions of little: nothing over- or underflows. */
#define KERNEL(name, attribute, type, round)                                                       \
    attribute double name(int64_t rounds, double factor, double addend)                            \
    {                                                                                              \
        typedef type vector_t;                                                                     \
        const vector_t a = SPREAD(factor), b = SPREAD(addend);                                     \
        EVERY_CHAIN(START)                                                                         \
        for (int64_t i = 0; i < rounds; i++) {                                                     \
            FOUR_TIMES(round)                                                                      \
        }                                                                                          \
        LANES                                                                                      \
        double sum = 0;                                                                            \
        EVERY_CHAIN(COLLECT)                                                                       \
        return sum;                                                                                \
    }

#endif
