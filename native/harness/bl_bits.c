/*
 * Sums modulo 2**64, which Fortran's integers do not have.
 *
 * Exported: bl_sum_of_bits, bl_wrapped_sum, which bl_agreement.f90 declares to Fortran and
 * describes. Nothing here is collective.
 */
#include <stdint.h>
#include <string.h>

int64_t bl_sum_of_bits(const double *numbers, int64_t count);
int64_t bl_wrapped_sum(int64_t a, int64_t b);

int64_t bl_sum_of_bits(const double *numbers, int64_t count)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        sum += bits;
    }
    return (int64_t)sum;
}

int64_t bl_wrapped_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
