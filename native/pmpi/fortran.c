/* See fortran.h. */
#include "fortran.h"

#include "say.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

bl_fortran_function bl_fortran_real(const char *name)
{
    bl_fortran_function function;
    void *address = dlsym(RTLD_DEFAULT, name);
    if (!address) {
        /* The program's own call would have ended the same way, in the dynamic linker. */
        bl_say("%s: not in the program's MPI library, was bareline built for another one?", name);
        abort();
    }
    memcpy(&function, &address, sizeof function);
    return function;
}

bool bl_fortran_in_place(const void *buffer)
{
    static const void *in_place;
    if (__builtin_expect(!in_place, 0)) {
#ifdef OPEN_MPI
        in_place = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
#else
        /* MPICH learns the address of its common block in MPI_Init. */
        void **address = dlsym(RTLD_DEFAULT, "MPIR_F_MPI_IN_PLACE");
        in_place = address ? *address : MPI_IN_PLACE;
#endif
    }
    return buffer == in_place;
}

/* `use mpi_f08` may have sentinels of its own, that C knows as pointers of this name. */
static bool is_sentinel(const void *argument, const char *name, const void ***known)
{
    static const void *none;
    if (__builtin_expect(!*known, 0)) {
        void *address = dlsym(RTLD_DEFAULT, name);
        *known = address ? address : &none;
    }
    return **known && argument == **known;
}

bool bl_fortran_status_ignored(const MPI_Fint *status)
{
    static const void **known;
    return status == MPI_F_STATUS_IGNORE || is_sentinel(status, "MPI_F08_STATUS_IGNORE", &known);
}

bool bl_fortran_statuses_ignored(const MPI_Fint *statuses)
{
    static const void **known;
    return statuses == MPI_F_STATUSES_IGNORE ||
           is_sentinel(statuses, "MPI_F08_STATUSES_IGNORE", &known);
}
