/*
 * A phase of all ranks; see iobench_mpi.h.
 *
 * No clocks of two nodes are compared: each rank measures, on its own, from where it leaves the
 * first barrier to where it leaves the last one. The longest of these times holds that from the
 * first rank's start to the last one's end, and the exit from one barrier more: a rate is never
 * told too high.
 */
#include "bl_clock.h"
#include "bl_memory.h"
#include "check.h"
#include "iobench_mpi.h"

#include <stdio.h>
#include <stdlib.h>

void bl_pass_begin(struct bl_pass *pass)
{
    *pass = (struct bl_pass){0};
    BL_MPI(MPI_Barrier(MPI_COMM_WORLD));
    pass->begin_ns = pass->call_ns = bl_clock_ns();
}

double bl_pass_lap(struct bl_pass *pass)
{
    const int64_t now_ns = bl_clock_ns();
    const double time_s = BL_SECONDS_PER_NS * (double)(now_ns - pass->call_ns);
    pass->call_ns = now_ns;
    return time_s;
}

void bl_pass_call(struct bl_pass *pass, uint64_t bytes)
{
    const double time_s = bl_pass_lap(pass);
    pass->call_max_s = time_s > pass->call_max_s ? time_s : pass->call_max_s;
    pass->calls++;
    pass->bytes += bytes;
}

void bl_pass_end(struct bl_pass *pass)
{
    pass->own_s = BL_SECONDS_PER_NS * (double)(bl_clock_ns() - pass->begin_ns);
    BL_MPI(MPI_Barrier(MPI_COMM_WORLD));
    pass->whole_s = BL_SECONDS_PER_NS * (double)(bl_clock_ns() - pass->begin_ns);
    double slowest[] = {pass->whole_s, pass->open_s, pass->sync_s, pass->close_s, pass->call_max_s};
    BL_MPI(MPI_Allreduce(MPI_IN_PLACE, slowest, 5, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    pass->whole_s = slowest[0];
    pass->open_s = slowest[1];
    pass->sync_s = slowest[2];
    pass->close_s = slowest[3];
    pass->call_max_s = slowest[4];
    uint64_t sums[] = {pass->calls, pass->bytes};
    BL_MPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD));
    pass->calls = sums[0];
    pass->bytes = sums[1];
}

void bl_pass_report(const struct bl_job *job, const struct bl_pass *pass, struct bl_json *json,
                    const char *name)
{
    double *own_s = NULL;
    if (job->rank == 0)
        own_s = bl_allocate((size_t)job->ranks * sizeof *own_s, "the times of the ranks");
    BL_MPI(MPI_Gather(&pass->own_s, 1, MPI_DOUBLE, own_s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    if (job->rank != 0)
        return;
    char key[64];
    snprintf(key, sizeof key, "%s_rank_time", name);
    bl_io_report_series(json, key, own_s, (size_t)job->ranks);
    snprintf(key, sizeof key, "%s_time_s", name);
    bl_json_number(json, key, pass->whole_s);
    snprintf(key, sizeof key, "%s_call_max_s", name);
    bl_json_number(json, key, pass->call_max_s);
    free(own_s);
}
