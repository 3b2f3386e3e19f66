/* See world.h. */
#include "world.h"

#include "bl_clock.h"
#include "bl_error.h"
#include "bl_memory.h"
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank_in_world(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static _Noreturn void leave_orderly(int status, const char *line)
{
    if (rank_in_world() == 0)
        fputs(line, stderr);
    MPI_Finalize();
    exit(status);
}

/* Before MPI runs, only a command line can be wrong, and all ranks find the same: one speaks. */
void bl_world_leave(int status, const char *line)
{
    int running, ended;
    MPI_Initialized(&running);
    MPI_Finalized(&ended);
    if (!running) {
        MPI_Init(NULL, NULL);
        leave_orderly(status, line);
    }
    fputs(line, stderr);
    if (!ended) {
        /* Hydra drops what it has not forwarded when a rank aborts. */
        const struct timespec forwarding = {.tv_nsec = 500000000};
        nanosleep(&forwarding, NULL);
        MPI_Abort(MPI_COMM_WORLD, status);
    }
    exit(status);
}

void bl_world_prepare_exit(void)
{
    bl_set_exit(bl_world_leave);
}

void bl_die_together(int status, const char *format, ...)
{
    char what[1024], line[1100];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(line, sizeof line, "%s: %s\n", bl_program(), what);
    leave_orderly(status, line);
}

void bl_mpi_failed(int code, const char *call, const char *file, int line)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length;
    MPI_Error_string(code, text, &length);
    bl_die(BL_STATUS_FAILED, "%s, in %.80s at %s:%d, look at the MPI library's own messages", text,
           call, file, line);
}

/* First line of the library's version text: MPICH's goes on with how it was configured. */
static void get_library_version(char *text)
{
    int length;
    BL_MPI(MPI_Get_library_version(text, &length));
    text[strcspn(text, "\n")] = '\0';
    for (char *c = text; *c; c++) {
        if (*c == '\t')
            *c = ' ';
    }
}

/* Numbers the nodes by processor name. */
static void find_nodes(struct bl_world *world)
{
    char mine[MPI_MAX_PROCESSOR_NAME] = "";
    int length;
    BL_MPI(MPI_Get_processor_name(mine, &length));
    char(*names)[MPI_MAX_PROCESSOR_NAME] = NULL;
    if (world->rank == 0) {
        names = bl_allocate((size_t)world->ranks * sizeof *names, "the names of the nodes");
        world->rank_nodes =
            bl_allocate((size_t)world->ranks * sizeof *world->rank_nodes, "the nodes of the ranks");
    }
    BL_MPI(MPI_Gather(mine, (int)sizeof mine, MPI_CHAR, names, (int)sizeof mine, MPI_CHAR, 0,
                      MPI_COMM_WORLD));
    for (int i = 0; world->rank == 0 && i < world->ranks; i++) {
        int earlier = 0;
        while (strcmp(names[earlier], names[i]) != 0)
            earlier++;
        world->rank_nodes[i] = earlier < i ? world->rank_nodes[earlier] : world->nodes++;
    }
    free(names);
}

/* Both send at once and wait for the other: of the two times the shorter one is free of how much
 * earlier its rank left MPI_Init. */
static double exchange_a_byte(int peer)
{
    enum { TAG = 1 };
    char sent = 0, received = 0;
    const int64_t begin_ns = bl_clock_ns();
    BL_MPI(MPI_Sendrecv(&sent, 1, MPI_CHAR, peer, TAG, &received, 1, MPI_CHAR, peer, TAG,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return BL_SECONDS_PER_NS * (double)(bl_clock_ns() - begin_ns);
}

/* Before anything else is sent: libraries connect two ranks when they first talk. */
static void time_first_message(struct bl_world *world)
{
    const int last = world->ranks - 1;
    if (last == 0 || (world->rank != 0 && world->rank != last))
        return;
    const int peer = last - world->rank;
    world->first_s = exchange_a_byte(peer);
    world->next_s = exchange_a_byte(peer);
}

void bl_world_open(int *argc, char ***argv, struct bl_world *world)
{
    *world = (struct bl_world){0};
#ifdef BL_TIMER_MPI_WTIME
    MPI_Init(argc, argv); /* MPI_Wtime does not run before it */
#else
    const int64_t begin_ns = bl_clock_ns();
    const int code = MPI_Init(argc, argv);
    world->init_s = BL_SECONDS_PER_NS * (double)(bl_clock_ns() - begin_ns);
    BL_MPI(code);
#endif
    BL_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    BL_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &world->rank));
    BL_MPI(MPI_Comm_size(MPI_COMM_WORLD, &world->ranks));
    int version, subversion;
    BL_MPI(MPI_Get_version(&version, &subversion));
    snprintf(world->mpi_standard, sizeof world->mpi_standard, "%d.%d", version, subversion);
    get_library_version(world->mpi_library);
    time_first_message(world);
    find_nodes(world);
}

/* Ranks that had nothing to do sleep until the others are done, and leave them the cores. */
static void wait_for_all(MPI_Comm team)
{
#ifdef BL_TIMER_MPI_WTIME
    (void)team; /* a simulated rank that waits takes no core, but every look costs the simulator */
#else
    MPI_Request done;
    BL_MPI(MPI_Ibarrier(MPI_COMM_WORLD, &done));
    int is_done = 0;
    while (!is_done) {
        BL_MPI(MPI_Test(&done, &is_done, MPI_STATUS_IGNORE));
        const struct timespec pause = {.tv_nsec = 1000000};
        if (!is_done && team == MPI_COMM_NULL)
            nanosleep(&pause, NULL);
    }
#endif
}

void bl_world_close(struct bl_world *world, MPI_Comm team)
{
    wait_for_all(team);
    if (team != MPI_COMM_NULL && team != MPI_COMM_WORLD)
        BL_MPI(MPI_Comm_free(&team));
    free(world->rank_nodes);
    BL_MPI(MPI_Finalize());
}

static bool takes_part(const struct bl_world *world, enum bl_team team)
{
    switch (team) {
    case BL_TEAM_ENDS:
        return world->rank == 0 || world->rank == world->ranks - 1;
    case BL_TEAM_PAIRS:
        return world->rank < world->ranks - world->ranks % 2;
    case BL_TEAM_ALL:
        break;
    }
    return true;
}

static bool everybody_takes_part(const struct bl_world *world, enum bl_team team)
{
    return team == BL_TEAM_ALL || (team == BL_TEAM_ENDS && world->ranks <= 2) ||
           (team == BL_TEAM_PAIRS && world->ranks % 2 == 0);
}

MPI_Comm bl_world_team(const struct bl_world *world, enum bl_team team)
{
    /* Open MPI 4.1 needs some 7 ns more for a short message in any other communicator. */
    if (everybody_takes_part(world, team))
        return MPI_COMM_WORLD;
    MPI_Comm comm;
    const int color = takes_part(world, team) ? 0 : MPI_UNDEFINED;
    BL_MPI(MPI_Comm_split(MPI_COMM_WORLD, color, world->rank, &comm));
    return comm;
}
