/*
 * The common parts of the Fortran wrappers.
 *
 * The Fortran layers of MPI libraries call PMPI functions directly, so that C wrappers do not see
 * these calls: Open MPI's layer always does, MPICH's `use mpi_f08` if a call has no buffer
 * argument. `use mpi_f08` has entry points of its own, `mpi_x_f08_`, with the arguments of `mpi_x_`
 * but an ierror that may be absent (NULL). Both are wrapped and forwarded to their PMPI sisters,
 * found at run time because a C program has no Fortran library. What goes on to a C function is
 * counted once (see thread.h), and MPICH's `mpi_x_f08ts_`, which takes array descriptors, is
 * counted there.
 *
 * Arguments are forwarded as they came: sentinels (MPI_IN_PLACE, MPI_BOTTOM, MPI_STATUS_IGNORE) are
 * recognised by their address in MPI's Fortran layer.
 */
#ifndef BL_PMPI_FORTRAN_H
#define BL_PMPI_FORTRAN_H

#include "account.h"
#include "export.h"

#include <mpi.h>
#include <stdbool.h>

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "Fortran's default integers are C's");

#ifndef MPI_F_STATUS_SIZE
#define MPI_F_STATUS_SIZE ((int)(sizeof(MPI_Status) / sizeof(MPI_Fint)))
#endif

/* A function of MPI's Fortran layer; ends the program with a message if it is missing. */
typedef void (*bl_fortran_function)(void);
bl_fortran_function bl_fortran_real(const char *name);

/* Finds the real function once; a race finds the same twice. */
#define BL_REAL(Type, name)                                                                        \
    static Type real;                                                                              \
    if (__builtin_expect(!real, 0))                                                                \
        real = (Type)bl_fortran_real(name);

bool bl_fortran_in_place(const void *buffer);
bool bl_fortran_status_ignored(const MPI_Fint *status);
bool bl_fortran_statuses_ignored(const MPI_Fint *statuses);

static inline MPI_Status bl_fortran_status(const MPI_Fint *status)
{
    MPI_Status converted;
    PMPI_Status_f2c((MPI_Fint *)(uintptr_t)status, &converted);
    return converted;
}

/* ierror of an f08 call may be absent: success is then assumed, as the error handler ends others.
 */
static inline bool bl_fortran_succeeded(const MPI_Fint *ierror)
{
    return !ierror || *ierror == MPI_SUCCESS;
}

/* Inlined, so that the return address in it is the application's. */
#define BL_BODY static inline __attribute__((always_inline))

/*
 * Defines the entry points of a call. `body_##name` must be a static function that takes the real
 * function, then DECLARATIONS, then ierror.
 */
#ifdef OPEN_MPI
#define BL_REAL_F08(name) "pmpi_" #name "_f08_"
#else
#define BL_REAL_F08(name) "pmpir_" #name "_f08_"
#endif
#define BL_REAL_F77(name) "pmpi_" #name "_"
#define BL_FORTRAN_ENTRIES(name, declarations, arguments)                                          \
    BL_FORTRAN_ENTRY(name, mpi_##name##_, BL_REAL_F77(name), declarations, arguments)              \
    BL_FORTRAN_ENTRY(name, mpi_##name##_f08_, BL_REAL_F08(name), declarations, arguments)
#define BL_UNPACK(...) __VA_ARGS__
#define BL_FORTRAN_ENTRY(name, entry, real_name, declarations, arguments)                          \
    BL_EXPORT void entry(BL_UNPACK declarations, MPI_Fint *ierror);                                \
    BL_EXPORT void entry(BL_UNPACK declarations, MPI_Fint *ierror)                                 \
    {                                                                                              \
        BL_REAL(real_##name, real_name)                                                            \
        body_##name(real, BL_UNPACK arguments, ierror);                                            \
    }

#endif
