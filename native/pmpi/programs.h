/*
 * The programs of a launch: `mpirun -n 1 ./ocean : -n 2 ./atmosphere` has two.
 *
 * Exported: BL_PROGRAMS_SIZE, bl_programs_find.
 */
#ifndef BL_PMPI_PROGRAMS_H
#define BL_PMPI_PROGRAMS_H

#include <mpi.h>
#include <stddef.h>

#define BL_PROGRAMS_SIZE 4096

/*
 * Collective over the communicator. Rank 0 gets the different command lines in the order of their
 * first ranks, with " : " between them; `programs` (BL_PROGRAMS_SIZE) stays empty where all ranks
 * run the same, on the other ranks and without memory.
 */
void bl_programs_find(MPI_Comm comm, const char *command, size_t size, char *programs);

#endif
