/*
 * The MPI job: start, end, facts, teams.
 *
 * Exported: struct bl_world, bl_world_open, bl_world_close, bl_world_team, bl_world_prepare_exit,
 * bl_world_leave, bl_die_together. All but bl_world_prepare_exit and bl_world_leave are collective
 * over MPI_COMM_WORLD.
 */
#ifndef BL_WORLD_H
#define BL_WORLD_H

#include "benchmark.h"

struct bl_world {
    int rank;
    int ranks;
    int nodes;
    int *rank_nodes; /* node of every rank, numbered as they first appear; on rank 0 */
    double init_s;   /* what MPI_Init took on this rank */
    /* Time of the first exchange of a byte between the first and the last rank, which includes
     * their connection, and time of the next exchange; 0 on all other ranks. */
    double first_s;
    double next_s;
    char mpi_standard[16];
    char mpi_library[MPI_MAX_LIBRARY_VERSION_STRING];
};

/*
 * Prepares bl_die for a job of many ranks: only one rank reports a wrong command line, and a later
 * failure aborts the job.
 */
void bl_world_prepare_exit(void);

/* What bl_die then does; for programs that have something to put away before (see bl_set_exit). */
_Noreturn void bl_world_leave(int status, const char *line);

/* Starts MPI. */
void bl_world_open(int *argc, char ***argv, struct bl_world *world);

/*
 * Ends MPI. Ranks outside of the team call this at once and sleep until the team is done, because a
 * rank that waits inside MPI would use a core and disturb the measurement.
 */
void bl_world_close(struct bl_world *world, MPI_Comm team);

/* The communicator of the ranks that take part: MPI_COMM_WORLD if all ranks do. On a rank that does
 * not take part, MPI_COMM_NULL. */
MPI_Comm bl_world_team(const struct bl_world *world, enum bl_team team);

/* Ends the program in an orderly way with a message that all ranks agree on. */
_Noreturn void bl_die_together(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
