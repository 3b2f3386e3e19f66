/*
 * One thread for the BLAS: each process has a core.
 *
 * Exported: bl_single_thread, which planewave_lapack.f90 declares to Fortran.
 */

/* Only OpenBLAS has it; other libraries follow OpenMP's environment variables. */
#pragma weak openblas_set_num_threads
extern void openblas_set_num_threads(int threads);

void bl_single_thread(void);

void bl_single_thread(void)
{
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
}
