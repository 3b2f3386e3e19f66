/* See programs.h. */
#include "programs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_among(const char *commands, size_t size, int rank)
{
    for (int other = 0; other < rank; other++)
        if (strcmp(commands + (size_t)other * size, commands + (size_t)rank * size) == 0)
            return true;
    return false;
}

static void join(const char *commands, size_t size, int ranks, char *programs)
{
    size_t length = 0;
    for (int rank = 0; rank < ranks && length + size + 4 < BL_PROGRAMS_SIZE; rank++)
        if (!is_among(commands, size, rank))
            length += (size_t)snprintf(programs + length, BL_PROGRAMS_SIZE - length, "%s%s",
                                       length ? " : " : "", commands + (size_t)rank * size);
}

void bl_programs_find(MPI_Comm comm, const char *command, size_t size, char *programs)
{
    int rank;
    int ranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    /* The same program everywhere is the rule, and costs one small reduction. */
    char *first = calloc(1, size);
    char *commands = rank == 0 ? calloc((size_t)ranks, size) : NULL;
    int ready = first && (rank != 0 || commands);
    PMPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, comm);
    if (ready) {
        if (rank == 0)
            memcpy(first, command, size);
        PMPI_Bcast(first, (int)size, MPI_CHAR, 0, comm);
        int differs = strcmp(first, command) != 0;
        PMPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPI_INT, MPI_MAX, comm);
        if (differs) {
            PMPI_Gather(command, (int)size, MPI_CHAR, commands, (int)size, MPI_CHAR, 0, comm);
            if (rank == 0)
                join(commands, size, ranks, programs);
        }
    }
    free(first);
    free(commands);
}
