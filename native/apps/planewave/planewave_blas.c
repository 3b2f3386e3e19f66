/*
 * What Fortran cannot ask of the BLAS: one thread, since each process has a core, and its kernels.
 *
 * Exported: bl_single_thread and bl_blas_names, which planewave_lapack.f90 declares to Fortran.
 */
#include "bl_openblas.h"

#include <string.h>

/* Only OpenBLAS has it; other libraries follow OpenMP's environment variables. */
#pragma weak openblas_set_num_threads
extern void openblas_set_num_threads(int threads);

void bl_single_thread(void);
void bl_blas_names(char *library, char *kernels, int capacity);

void bl_single_thread(void)
{
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
}

/* Fortran pads with blanks and knows no terminator. */
static void put(char *text, int capacity, const char *said)
{
    const size_t room = (size_t)capacity, length = strlen(said);
    memset(text, ' ', room);
    memcpy(text, said, length < room ? length : room);
}

void bl_blas_names(char *library, char *kernels, int capacity)
{
    put(library, capacity, bl_openblas_config());
    put(kernels, capacity, bl_openblas_kernels());
}
