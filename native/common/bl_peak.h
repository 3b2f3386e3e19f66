/*
 * Attainable rate of double-precision arithmetic on one core, by instruction set.
 *
 * Exported: struct bl_peak_kernel, bl_peak_kernels, bl_peak_rate. Nothing here is collective; all
 * may be called by several threads at once.
 *
 * The nominal frequency times the operations per cycle is not a useful peak if clocks change with
 * the load, or if a guest's processor model differs from the hardware. Here, independent chains of
 * multiplications and additions run in registers, without loads. No program exceeds this rate.
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

/* Kernels that this processor (in a guest, its processor model) can run, the widest last, without
 * sets wider than BARELINE_INSTRUCTION_SET. Returns the number of kernels. */
int bl_peak_kernels(const struct bl_peak_kernel **kernels);

/* Best rate (flop/s) of a burst of about 1 ms, over `duration_s`. */
double bl_peak_rate(const struct bl_peak_kernel *kernel, double duration_s);

#endif
