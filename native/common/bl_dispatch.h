/*
 * BL_DISPATCH marks a function that is compiled for several instruction sets; the program picks
 * the widest that the processor has when it starts. The loops it marks must be in a plain function
 * of their own: the bodies that OpenMP makes out of parallel regions are not cloned.
 */
#ifndef BL_DISPATCH_H
#define BL_DISPATCH_H

#ifdef BL_HAVE_TARGET_CLONES
#define BL_DISPATCH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define BL_DISPATCH
#endif

#endif
