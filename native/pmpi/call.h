/*
 * The functions that are counted: every wrapped function has a number, a name and a kind.
 *
 * Exported: enum bl_call, enum bl_kind, bl_call_names, bl_call_kinds, bl_kind_names.
 */
#ifndef BL_PMPI_CALL_H
#define BL_PMPI_CALL_H

#include <mpi.h>
#include <stdint.h>

/* X(constant, name in the profile) */
#define BL_KINDS(X)                                                                                \
    X(NONE, "none")                                                                                \
    X(COMPUTE, "compute")                                                                          \
    X(SEND, "send")                                                                                \
    X(RECEIVE, "receive")                                                                          \
    X(SWAP, "send-receive")                                                                        \
    X(SETUP, "setup")                                                                              \
    X(WAIT, "wait")                                                                                \
    X(COLLECTIVE, "collective")                                                                    \
    X(COMMUNICATOR, "communicator")                                                                \
    X(WINDOW, "window")                                                                            \
    X(ONE_SIDED, "one-sided")                                                                      \
    X(SYNCHRONISE, "one-sided-sync")                                                               \
    X(FILE, "mpi-io")                                                                              \
    X(POSIX, "posix-io")                                                                           \
    X(OTHER, "other")

enum bl_kind {
#define X(kind, name) BL_KIND_##kind,
    BL_KINDS(X)
#undef X
        BL_KIND_COUNT
};

/* Rows of the profile that are not functions: X(constant, name in the profile, kind). */
#define BL_PSEUDO_CALLS(X)                                                                         \
    X(COMPUTE, "compute", COMPUTE)                                                                 \
    X(START_SEND, "MPI_Start", SEND)                                                               \
    X(START_RECEIVE, "MPI_Start", RECEIVE)                                                         \
    X(START_COLLECTIVE, "MPI_Start", COLLECTIVE)                                                   \
    X(STARTALL_SEND, "MPI_Startall", SEND)                                                         \
    X(STARTALL_RECEIVE, "MPI_Startall", RECEIVE)                                                   \
    X(STARTALL_COLLECTIVE, "MPI_Startall", COLLECTIVE)                                             \
    X(POSIX_OPEN, "open", POSIX)                                                                   \
    X(POSIX_CLOSE, "close", POSIX)                                                                 \
    X(POSIX_READ, "read", POSIX)                                                                   \
    X(POSIX_WRITE, "write", POSIX)                                                                 \
    X(POSIX_SYNC, "fsync", POSIX)

enum bl_call {
    BL_CALL_NONE,
#define X(call, name, kind) BL_##call,
    BL_PSEUDO_CALLS(X)
#undef X
#define CALL(Name, name, kind, parameters, before, after) BL_##Name,
#define CALL_LARGE CALL
#define CALL_BY_HAND(Name, kind) BL_##Name,
#include "calls.def"
#undef CALL
#undef CALL_LARGE
#undef CALL_BY_HAND
        BL_CALL_COUNT
};

extern const char *const bl_call_names[BL_CALL_COUNT];
extern const uint8_t bl_call_kinds[BL_CALL_COUNT];
extern const char *const bl_kind_names[BL_KIND_COUNT];

#endif
