/* The ranks, the folder in which they work and how they give up; see iobench_mpi.h. */
#include "bl_error.h"
#include "bl_memory.h"
#include "check.h"
#include "iobench_mpi.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool bl_job_fail(struct bl_job *job, int status, const char *format, ...)
{
    if (job->status)
        return false;
    job->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(job->failure, sizeof job->failure, format, arguments);
    va_end(arguments);
    return false;
}

bool bl_job_fail_errno(struct bl_job *job, int error, const char *doing, const char *what)
{
    return bl_job_fail(job, BL_STATUS_FAILED, "cannot %s '%s': %s, %s", doing, what,
                       strerror(error), bl_place_advice(error));
}

/* Where every node has a folder of its own, its first rank made it. */
static bool owns_place(const struct bl_job *job)
{
    return job->one_folder ? job->rank == 0 : job->node_rank == 0;
}

static void remove_place(const struct bl_job *job)
{
    BL_MPI(MPI_Barrier(MPI_COMM_WORLD)); /* nobody has a file open any more */
    if (owns_place(job))
        bl_place_remove();
}

void bl_job_settle(struct bl_job *job)
{
    int mine = job->status ? job->rank : job->ranks, first;
    BL_MPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (first == job->ranks)
        return;
    BL_MPI(MPI_Bcast(&job->status, 1, MPI_INT, first, MPI_COMM_WORLD));
    BL_MPI(MPI_Bcast(job->failure, sizeof job->failure, MPI_CHAR, first, MPI_COMM_WORLD));
    remove_place(job);
    bl_die_together(job->status, "%s", job->failure);
}

/* Another node may see later what the first one has just made. */
static bool sees(const char *path)
{
    enum { TRIES = 20 };
    for (int i = 0; i < TRIES; i++) {
        struct stat found;
        if (stat(path, &found) == 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    return false;
}

static void make_place(struct bl_job *job, uint64_t bytes, uint64_t files)
{
    const char *folder = job->options->folder;
    char path[BL_PLACE_BYTES] = "";
    if (job->rank == 0)
        snprintf(path, sizeof path, "%s", bl_place_make(folder, bytes, files));
    BL_MPI(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD));
    int seen = sees(path), all_see;
    BL_MPI(MPI_Allreduce(&seen, &all_see, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    job->one_folder = all_see;
    if (!all_see) {
        if (job->node_rank == 0 && !seen)
            snprintf(path, sizeof path, "%s", bl_place_make(folder, bytes, files));
        BL_MPI(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, job->node_comm));
    }
    job->place = bl_place_join(path);
}

/* Whose data each rank reads: ranks in the order of their nodes, moved on by a node's ranks. */
static void choose_source(struct bl_job *job, const int *nodes)
{
    int *order = bl_allocate((size_t)job->ranks * sizeof *order, "the ranks");
    int count = 0, most = 0, at = 0;
    for (int node = 0; node < job->nodes; node++) {
        const int before = count;
        for (int rank = 0; rank < job->ranks; rank++) {
            if (nodes[rank] == node)
                order[count++] = rank;
        }
        most = count - before > most ? count - before : most;
    }
    while (order[at] != job->rank)
        at++;
    const int step = job->options->readers == BL_READERS_SAME ? 0 : job->nodes > 1 ? most : 1;
    job->source = order[(at + step) % job->ranks];
    const int own = nodes[job->source] == nodes[job->rank];
    BL_MPI(MPI_Allreduce(&own, &job->own_readers, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    free(order);
}

static uint64_t node_memory_bytes(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A file of all needs a folder of all, and so does reading what others wrote. */
static void check_folder(struct bl_job *job)
{
    const struct bl_job_options *options = job->options;
    if (!job->one_folder &&
        (options->files == BL_FILES_SHARED || options->readers == BL_READERS_OTHER))
        bl_job_fail(job, BL_STATUS_FAILED,
                    "'%s' is a folder of its own on each node, take one that all nodes share, or "
                    "--files own --readers same",
                    options->folder);
    bl_job_settle(job);
}

void bl_job_open(struct bl_job *job, const struct bl_job_options *options,
                 const struct bl_world *world, uint64_t bytes, uint64_t files)
{
    *job = (struct bl_job){
        .options = options, .world = world, .rank = world->rank, .ranks = world->ranks};
    int *nodes = bl_allocate((size_t)job->ranks * sizeof *nodes, "the nodes of the ranks");
    int count = world->nodes;
    if (job->rank == 0)
        memcpy(nodes, world->rank_nodes, (size_t)job->ranks * sizeof *nodes);
    BL_MPI(MPI_Bcast(nodes, job->ranks, MPI_INT, 0, MPI_COMM_WORLD));
    BL_MPI(MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD));
    job->nodes = count;
    BL_MPI(MPI_Comm_split(MPI_COMM_WORLD, nodes[job->rank], job->rank, &job->node_comm));
    BL_MPI(MPI_Comm_rank(job->node_comm, &job->node_rank));
    choose_source(job, nodes);
    free(nodes);
    const uint64_t mine = job->node_rank == 0 ? node_memory_bytes() : 0;
    BL_MPI(MPI_Allreduce(&mine, &job->memory_bytes, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD));
    make_place(job, bytes, files);
    job->remote = bl_is_remote(job->place);
    check_folder(job);
}

void bl_job_close(struct bl_job *job)
{
    remove_place(job);
    BL_MPI(MPI_Comm_free(&job->node_comm));
}

void bl_job_report_begin(const struct bl_job *job, struct bl_json *json)
{
    static const char *const files[] = {"shared", "own"};
    static const char *const readers[] = {"other", "same"};
    static const char *const methods[] = {"none", "fsync"};
    bl_io_report_begin(json, job->options->benchmark);
    bl_json_string(json, "files", files[job->options->files]);
    bl_json_string(json, "readers", readers[job->options->readers]);
    bl_json_string(json, "sync", methods[job->options->sync]);
}

void bl_job_report_header(const struct bl_job *job, struct bl_json *json)
{
    bl_json_close_object(json);
    bl_json_integer(json, "ranks", job->ranks);
    bl_json_integer(json, "nodes", job->nodes);
    bl_json_string(json, "mpi_library", job->world->mpi_library);
    bl_json_bool(json, "one_folder", job->one_folder);
    bl_json_bool(json, "remote", job->remote);
    bl_json_integer(json, "memory_bytes", (int64_t)job->memory_bytes);
    bl_json_integer(json, "own_readers", job->own_readers);
    if (job->rank == 0)
        bl_json_write(json, stdout);
}
