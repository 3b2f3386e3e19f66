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

#ifdef OPEN_MPI

/* Open MPI compares addresses with those of common blocks that it defines in four spellings. */
static bool is_common(const void *argument, const char *name)
{
    char spelling[64];
    size_t length = strlen(name);
    memcpy(spelling, name, length + 1);
    strcpy(spelling + length, "_");
    const void *address = dlsym(RTLD_DEFAULT, spelling);
    return address && address == argument;
}

bool bl_fortran_in_place(const void *buffer)
{
    static const void *in_place;
    if (__builtin_expect(!in_place, 0))
        in_place = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
    return buffer == in_place;
}

bool bl_fortran_status_ignored(const MPI_Fint *status)
{
    return status == MPI_F_STATUS_IGNORE || is_common(status, "mpi_fortran_status_ignore");
}

bool bl_fortran_statuses_ignored(const MPI_Fint *statuses)
{
    return statuses == MPI_F_STATUSES_IGNORE || is_common(statuses, "mpi_fortran_statuses_ignore");
}

#else

bool bl_fortran_in_place(const void *buffer)
{
    /* MPICH learns the address of its common block in MPI_Init. */
    static void **in_place;
    if (__builtin_expect(!in_place, 0))
        in_place = dlsym(RTLD_DEFAULT, "MPIR_F_MPI_IN_PLACE");
    return in_place ? buffer == *in_place : buffer == MPI_IN_PLACE;
}

bool bl_fortran_status_ignored(const MPI_Fint *status)
{
    return status == MPI_F_STATUS_IGNORE;
}

bool bl_fortran_statuses_ignored(const MPI_Fint *statuses)
{
    return statuses == MPI_F_STATUSES_IGNORE;
}

#endif
