/*
 * linpack_mpi: Linpack over ranks, by ScaLAPACK or by a user's own HPL.
 *
 * Whether a node has an xhpl is known only there: the ranks, started under MPI, become it. They do
 * so before MPI_Init, as if the launcher had started xhpl itself.
 */
#include "bl_error.h"
#include "linpack.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns where there is no xhpl and none is insisted upon. */
static void become_xhpl(enum bl_solver solver)
{
    char *const argv[] = {"xhpl", NULL};
    execvp(argv[0], argv);
    if (solver == BL_SOLVER_XHPL || errno != ENOENT)
        bl_die(BL_STATUS_FAILED, "xhpl cannot be started: %s; put it on the path of every node",
               strerror(errno));
}

int main(int argc, char **argv)
{
    bl_set_program("linpack_mpi");
    bl_world_prepare_exit();
    const struct bl_linpack_options options = bl_linpack_parse(argc, argv);
    if (options.solver != BL_SOLVER_SCALAPACK)
        become_xhpl(options.solver);
#ifdef BL_HAVE_SCALAPACK
    struct bl_world world;
    bl_world_open(&argc, &argv, &world);
    bl_linpack_solve(&options, &world);
    bl_world_close(&world, bl_world_team(&world, BL_TEAM_ALL));
    return BL_STATUS_DONE;
#else
    bl_die(BL_STATUS_LEFT_OUT,
           "built without ScaLAPACK, and no xhpl is on the path; install libscalapack-openmpi-dev "
           "or libscalapack-mpich-dev, by the MPI library, and build again");
#endif
}
