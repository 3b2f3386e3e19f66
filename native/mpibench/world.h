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
    /* What the first exchange of a byte between the first and the last rank took, which also makes
     * their connection, and what the next one took; here, 0 on the other ranks. */
    double first_s;
    double next_s;
    char mpi_standard[16];
    char mpi_library[MPI_MAX_LIBRARY_VERSION_STRING];
};

/*
 * Makes bl_die fit for a job of many ranks: a wrong command line is told by one of them, a failure
 * later on aborts the job.
 */
void bl_world_prepare_exit(void);

/* What bl_die then does; for programs that have something to put away before (see bl_set_exit). */
_Noreturn void bl_world_leave(int status, const char *line);

/* Starts MPI. */
void bl_world_open(int *argc, char ***argv, struct bl_world *world);

/*
 * Ends MPI. Ranks outside of the team come here at once and sleep until the others are done: a rank
 * that waited inside MPI would load a core, and with it the measurement.
 */
void bl_world_close(struct bl_world *world, MPI_Comm team);

/* The communicator of the ranks that take part, MPI_COMM_WORLD if all do, or MPI_COMM_NULL on the
 * others. */
MPI_Comm bl_world_team(const struct bl_world *world, enum bl_team team);

/* Ends the program in an orderly way with a message that all ranks agree on. */
_Noreturn void bl_die_together(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
