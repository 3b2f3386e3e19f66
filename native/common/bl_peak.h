/*
 * Attainable rate of double-precision arithmetic on one core, by instruction set.
 *
 * Exported: struct bl_peak_kernel, bl_peak_kernels, bl_peak_rate. Nothing here is collective; all
 * may be called by several threads at once.
 *
 * A nominal frequency times operations per cycle is no peak where clocks change with load and where
 * a guest's processor model says little about the hardware. Here independent chains of
 * multiplications and additions run in registers, with nothing to load: what no program exceeds.
 */
#ifndef BL_PEAK_H
#define BL_PEAK_H

#include <stdint.h>

struct bl_peak_kernel {
    const char *name; /* of the instruction set as Linux's flags call it, e.g. "avx2 fma"; "sve 512"
                         has its bits */
    int round_flops;  /* operations of a round */
    double (*run)(int64_t rounds, double factor, double addend);
};

/* Kernels that this processor (or the model of it that a guest sees) can run, widest last, none
 * beyond what BARELINE_INSTRUCTION_SET names; returns how many. */
int bl_peak_kernels(const struct bl_peak_kernel **kernels);

/* Best rate (flop/s) of a burst of about 1 ms, over `duration_s`. */
double bl_peak_rate(const struct bl_peak_kernel *kernel, double duration_s);

#endif
