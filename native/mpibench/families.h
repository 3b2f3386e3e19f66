/*
 * The families of benchmarks: each is an array in the file of its name that ends with an entry
 * without a name.
 */
#ifndef BL_FAMILIES_H
#define BL_FAMILIES_H

#include "benchmark.h"

extern const struct bl_benchmark bl_point_to_point[];
extern const struct bl_benchmark bl_neighbours[];
extern const struct bl_benchmark bl_collectives[];
extern const struct bl_benchmark bl_rings[];
extern const struct bl_benchmark bl_startup[];
extern const struct bl_benchmark bl_beside[];

#endif
