/* See bl_peak_sve.h. */
#include "bl_peak_sve.h"

#include <arm_sve.h>

/* The compiler does not know how many doubles a vector has: the sum over all collects them. */
#define LANES
#define COLLECT(i) sum += svaddv_f64(svptrue_b64(), x##i);
#include "bl_peak_chains.h"

#define SPREAD svdup_n_f64
#define FUSE(x, a, b) svmla_f64_x(svptrue_b64(), x, a, b)
KERNEL(bl_peak_sve, , svfloat64_t, EVERY_CHAIN(FUSED))

int bl_sve_doubles(void)
{
    return (int)svcntd();
}
