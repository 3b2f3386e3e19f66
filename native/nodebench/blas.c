/* See blas.h. */
#include "blas.h"

#include "bl_error.h"
#include "nodebench.h"

/* Only OpenBLAS has these; other libraries follow OpenMP's or their own environment variables. */
#pragma weak openblas_set_num_threads
#pragma weak openblas_get_num_threads
extern void openblas_set_num_threads(int threads);
extern int openblas_get_num_threads(void);

int bl_blas_threads_set(int wanted)
{
    if (!openblas_set_num_threads)
        return bl_threads_set(wanted);
    if (wanted > 0)
        openblas_set_num_threads(wanted);
    const int running = openblas_get_num_threads();
    if (wanted > 0 && running != wanted)
        bl_die(BL_STATUS_FAILED,
               "%d threads asked for, OpenBLAS gives %d, its build allows no more", wanted,
               running);
    return running;
}
