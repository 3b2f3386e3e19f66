/*
 * Pseudorandom numbers that are a function of their index. Each process can thus compute any part
 * of a matrix again, without a copy.
 *
 * Exported: bl_random_at. Nothing here is collective.
 *
 * splitmix64's finaliser: G. L. Steele, D. Lea, C. H. Flood (2014), Fast Splittable Pseudorandom
 * Number Generators, doi:10.1145/2660193.2660195.
 */
#ifndef BL_RANDOM_H
#define BL_RANDOM_H

#include <stdint.h>

/* Uniform in [-1/2, 1/2). */
static inline double bl_random_at(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53 - 0.5;
}

#endif
