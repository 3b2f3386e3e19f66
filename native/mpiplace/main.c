/*
 * mpiplace: tells of a job where its ranks are, and makes them talk, so that a library that was
 * asked to tell what it talks through does so. Nothing is measured.
 *
 * Output on stdout, one JSON object a line: a header with the library that the program was compiled
 * for and the one that it runs with, a line for each rank, and an end line that counts them.
 */
#include "bl_build.h"
#include "bl_error.h"
#include "bl_json.h"
#include "bl_memory.h"
#include "check.h"
#include "processors.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#if defined(I_MPI_VERSION)
static const char built_with[] = "Intel MPI " I_MPI_VERSION;
#elif defined(MPICH_VERSION)
static const char built_with[] = "MPICH " MPICH_VERSION;
#elif defined(OMPI_MAJOR_VERSION)
static const char built_with[] = "Open MPI " TEXT(OMPI_MAJOR_VERSION) "." TEXT(
    OMPI_MINOR_VERSION) "." TEXT(OMPI_RELEASE_VERSION);
#else
static const char built_with[] = "";
#endif

/* The largest message goes by the way of long ones, where that is another. */
enum { LONG_BYTES = 1 << 20 };

static void talk(const struct bl_world *world, int shift)
{
    enum { TAG = 2 };
    const int to = (world->rank + shift) % world->ranks;
    const int from = (world->rank + world->ranks - shift) % world->ranks;
    char *buffer = bl_allocate(2 * LONG_BYTES, "a long message");
    for (int i = 0; i < 2; i++) {
        const int size_bytes = i ? LONG_BYTES : 1;
        BL_MPI(MPI_Sendrecv(buffer, size_bytes, MPI_CHAR, to, TAG, buffer + LONG_BYTES, size_bytes,
                            MPI_CHAR, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    free(buffer);
}

static void report_header(struct bl_json *json, const struct bl_world *world)
{
    bl_json_begin(json);
    bl_json_integer(json, "bareline", 1);
    bl_json_string(json, "program", "mpiplace");
    bl_json_string(json, "benchmark", "place");
    bl_json_integer(json, "ranks", world->ranks);
    bl_json_integer(json, "nodes", world->nodes);
    bl_json_string(json, "built_with", built_with);
    bl_json_string(json, "mpi_library", world->mpi_library);
    bl_build_report(json);
    bl_json_write(json, stdout);
}

static void report_rank(struct bl_json *json, int rank, int node, const struct bl_processors *its)
{
    bl_json_begin(json);
    bl_json_open_object(json, "point");
    bl_json_integer(json, "rank", rank);
    bl_json_close_object(json);
    bl_json_integer(json, "node", node);
    bl_json_string(json, "cpus", its->cpus);
    bl_json_string(json, "packages", its->packages);
    bl_json_string(json, "numa", its->numa);
    bl_json_integer(json, "cores", its->cores);
    bl_json_integer(json, "machine_packages", its->machine_packages);
    bl_json_integer(json, "machine_numa", its->machine_numa);
    bl_json_write(json, stdout);
}

static void report_end(struct bl_json *json, int ranks)
{
    bl_json_begin(json);
    bl_json_bool(json, "end", true);
    bl_json_integer(json, "points", ranks);
    bl_json_write(json, stdout);
}

int main(int argc, char **argv)
{
    bl_set_program("mpiplace");
    bl_world_prepare_exit();
    struct bl_world world;
    bl_world_open(&argc, &argv, &world);
    for (int shift = 1; shift < world.ranks; shift *= 2)
        talk(&world, shift);

    struct bl_processors own, *every = NULL;
    bl_processors_read(&own);
    if (world.rank == 0)
        every = bl_allocate((size_t)world.ranks * sizeof *every, "the processors of the ranks");
    const int size_bytes = (int)sizeof own;
    BL_MPI(MPI_Gather(&own, size_bytes, MPI_CHAR, every, size_bytes, MPI_CHAR, 0, MPI_COMM_WORLD));
    struct bl_json json = {0};
    if (world.rank == 0) {
        report_header(&json, &world);
        for (int rank = 0; rank < world.ranks; rank++)
            report_rank(&json, rank, world.rank_nodes[rank], &every[rank]);
        report_end(&json, world.ranks);
    }
    bl_json_free(&json);
    free(every);
    bl_world_close(&world, MPI_COMM_WORLD);
    return BL_STATUS_DONE;
}
