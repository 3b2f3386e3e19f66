/*
 * The peak kernel for Arm's scalable vectors, in a file of its own because it is compiled for SVE.
 *
 * Exported: bl_peak_sve, bl_sve_doubles; both need a processor with SVE. Linked only where
 * BL_HAVE_SVE is defined: the compiler knows SVE.
 */
#ifndef BL_PEAK_SVE_H
#define BL_PEAK_SVE_H

#include <stdint.h>

/* As run of struct bl_peak_kernel. */
double bl_peak_sve(int64_t rounds, double factor, double addend);

/* Doubles in a vector of this thread: 2 to 32. */
int bl_sve_doubles(void);

#endif
