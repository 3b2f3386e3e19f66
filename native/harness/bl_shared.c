/*
 * What is the same on every rank of a simulation, made once. Compiled for SimGrid's SMPI only.
 *
 * Exported: bl_shared_give, bl_shared_find, which bl_shared.f90 declares to Fortran. Nothing here
 * is collective.
 *
 * All ranks run in one process, in turn, but SMPI gives each its own copy of the program's
 * variables. What they do share is the heap and the environment: the address of what one rank made
 * stands in a variable of the environment, with the process that it holds in.
 */
#include "bl_error.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

/* The process that all ranks run in. SMPI's compiler wrapper puts the rank's number in its place,
 * so that no rank would find what another one has given. */
#undef getpid
pid_t getpid(void);

void bl_shared_give(const char *name, void *thing);
void *bl_shared_find(const char *name);

/* Lets the other ranks find it from now on; it must stay where it is until the process ends. */
void bl_shared_give(const char *name, void *thing)
{
    char text[64];
    snprintf(text, sizeof text, "%ld %ju", (long)getpid(), (uintmax_t)(uintptr_t)thing);
    if (setenv(name, text, 1) != 0)
        bl_die(BL_STATUS_FAILED, "%s: no memory for the environment", name);
}

/* What a rank of this process has given by that name, or NULL. */
void *bl_shared_find(const char *name)
{
    const char *const text = getenv(name);
    long process;
    uintmax_t address;
    if (!text || sscanf(text, "%ld %ju", &process, &address) != 2 || process != (long)getpid())
        return NULL;
    return (void *)(uintptr_t)address;
}
