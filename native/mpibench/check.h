/*
 * BL_MPI(call): every MPI call goes through it. A failing call ends the job with MPI's own error
 * text, the file and the line. It needs MPI_ERRORS_RETURN, which bl_world_open sets.
 *
 * The test costs one predicted branch, which is all that it adds to a measured call.
 */
#ifndef BL_CHECK_H
#define BL_CHECK_H

#include <mpi.h>

#define BL_MPI(call)                                                                               \
    do {                                                                                           \
        const int bl_code_ = (call);                                                               \
        if (__builtin_expect(bl_code_ != MPI_SUCCESS, 0))                                          \
            bl_mpi_failed(bl_code_, #call, __FILE__, __LINE__);                                    \
    } while (0)

/* Prints the error and aborts the job. */
_Noreturn void bl_mpi_failed(int code, const char *call, const char *file, int line);

#endif
