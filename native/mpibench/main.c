/*
 * mpibench: measures one MPI function over a range of message sizes.
 *
 * Output on stdout, one JSON object a line: a header, one line a point as soon as it is measured,
 * and an end line that counts the points and names every size that was left out.
 */
#include "benchmark.h"
#include "bl_error.h"
#include "options.h"
#include "sweep.h"
#include "world.h"

int main(int argc, char **argv)
{
    bl_set_program("mpibench");
    bl_world_prepare_exit();
    const struct bl_options options = bl_options_parse(argc, argv);
    const struct bl_benchmark *benchmark = options.benchmark;

    struct bl_world world;
    bl_world_open(&argc, &argv, &world);
    if (world.ranks < benchmark->ranks_min)
        bl_die_together(BL_STATUS_USAGE, "%s runs on %d ranks or more, not %d; start more",
                        benchmark->name, benchmark->ranks_min, world.ranks);
    MPI_Comm team = bl_world_team(&world, benchmark->team);
    if (team != MPI_COMM_NULL)
        bl_sweep(&options, &world, team);
    bl_world_close(&world, team);
    return BL_STATUS_DONE;
}
