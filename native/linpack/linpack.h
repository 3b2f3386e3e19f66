/*
 * linpack_mpi: A x = b of order n, dense, in double precision, over all ranks.
 *
 * Exported: struct bl_linpack_options, bl_linpack_parse, bl_linpack_solve.
 */
#ifndef BL_LINPACK_H
#define BL_LINPACK_H

#include "world.h"

/* Which program solves: a user's xhpl if it is on the path, else ScaLAPACK; or one of them. */
enum bl_solver { BL_SOLVER_AUTO, BL_SOLVER_SCALAPACK, BL_SOLVER_XHPL };

struct bl_linpack_options {
    enum bl_solver solver;
    int order;
    int block;   /* edge of the blocks in which the matrix is dealt out */
    int threads; /* of a rank */
    int repeats;
    double budget_s;
};

/* options.c. Not collective; may be called before MPI runs. */
struct bl_linpack_options bl_linpack_parse(int argc, char **argv);

/* scalapack.c: measures and prints all lines. Collective. */
void bl_linpack_solve(const struct bl_linpack_options *options, const struct bl_world *world);

#endif
