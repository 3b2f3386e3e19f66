/*
 * Memory under a simulator of MPI: the large arrays of all ranks share one.
 *
 * A simulator runs all ranks in one process, so that a large problem needs the memory of a whole
 * cluster. BARELINE_FOLD=BYTES in the environment lets arrays of at least so many bytes of all
 * ranks lie in the same memory, the n-th of one rank with the n-th of every other. What the
 * benchmark computes is then wrong, and its output says that nothing is verified. Only programs
 * that compute the same whatever their fields hold may run so: whoever starts them knows which.
 *
 * The linker sends malloc, realloc and free of the program itself here (--wrap), so that nothing
 * in a benchmark's source differs from what a real MPI library runs. In programs for a real one
 * the macro is 0.
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
