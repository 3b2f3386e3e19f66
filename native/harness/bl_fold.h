/*
 * Memory under a simulator of MPI: the large arrays of all ranks share one.
 *
 * A simulator runs all ranks in one process, so that a large problem needs the memory of a whole
 * cluster. With BARELINE_FOLD=BYTES in the environment, arrays of at least this size share memory:
 * the n-th array of each rank is the same memory. The results of the benchmark are then wrong, and
 * its output reports that nothing is verified. This is only valid for programs whose work does not
 * depend on the contents of their arrays; the caller must know these programs.
 *
 * The linker redirects malloc, realloc and free of the program itself to this module (--wrap), so
 * that the source of a benchmark is the same as for a real MPI library. In programs for a real MPI
 * library, the macro is 0.
 */
#ifndef BL_FOLD_H
#define BL_FOLD_H

#ifdef BL_SIMULATED

#define BL_MEMORY_FOLDED() bl_fold_is_on()

/* 1 where BARELINE_FOLD is set. */
int bl_fold_is_on(void);

#else

#define BL_MEMORY_FOLDED() 0

#endif

#endif
