/*
 * fleetbench: processor, memory or links of all nodes of a fleet in one job.
 *
 * Output on stdout, one JSON object a line: a header with the name of every rank's host, a line a
 * point, and an end line that counts the points.
 */
#include "bl_clock.h"
#include "bl_error.h"
#include "bl_memory.h"
#include "check.h"
#include "fleetbench.h"

#include <stdlib.h>

enum { PROTOCOL_VERSION = 1 };

static void write_header(const struct bl_fleet_options *options, const struct bl_world *world)
{
    char mine[MPI_MAX_PROCESSOR_NAME] = "";
    int length;
    BL_MPI(MPI_Get_processor_name(mine, &length));
    char(*names)[MPI_MAX_PROCESSOR_NAME] = NULL;
    if (world->rank == 0)
        names = bl_allocate((size_t)world->ranks * sizeof *names, "the names of the hosts");
    BL_MPI(MPI_Gather(mine, (int)sizeof mine, MPI_CHAR, names, (int)sizeof mine, MPI_CHAR, 0,
                      MPI_COMM_WORLD));
    if (world->rank != 0)
        return;
    struct bl_json json = {0};
    bl_json_begin(&json);
    bl_json_integer(&json, "bareline", PROTOCOL_VERSION);
    bl_json_string(&json, "program", "fleetbench");
    bl_json_string(&json, "benchmark", bl_fleet_name(options->what));
    bl_json_integer(&json, "ranks", world->ranks);
    bl_json_string(&json, "mpi_library", world->mpi_library);
    bl_json_string(&json, "timer", bl_clock_name());
    bl_json_string(&json, "names", options->names);
    bl_json_open_array(&json, "hosts");
    for (int i = 0; i < world->ranks; i++)
        bl_json_string(&json, NULL, names[i]);
    bl_json_close_array(&json);
    bl_json_write(&json, stdout);
    bl_json_free(&json);
    free(names);
}

static void write_end(long points)
{
    struct bl_json json = {0};
    bl_json_begin(&json);
    bl_json_bool(&json, "end", true);
    bl_json_integer(&json, "points", points);
    bl_json_write(&json, stdout);
    bl_json_free(&json);
}

int main(int argc, char **argv)
{
    bl_set_program("fleetbench");
    bl_world_prepare_exit();
    const struct bl_fleet_options options = bl_fleet_parse(argc, argv);
    struct bl_world world;
    bl_world_open(&argc, &argv, &world);
    write_header(&options, &world);
    const long points = options.what == BL_FLEET_PAIRS ? bl_fleet_pairs(&options, &world)
                                                       : bl_fleet_nodes(&options, &world);
    if (world.rank == 0)
        write_end(points);
    bl_world_close(&world, MPI_COMM_WORLD);
    return BL_STATUS_DONE;
}
