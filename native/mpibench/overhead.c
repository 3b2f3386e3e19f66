/* See overhead.h. */
#include "overhead.h"

#include "bl_clock.h"
#include "bl_memory.h"
#include "bl_summary.h"
#include "check.h"
#include "engine.h"

#include <math.h>
#include <stdlib.h>

enum { TAG_READY = 3, TAG_MESSAGE, TAG_TIMES, TRIALS = 5 };

/* How many times its way a message gets to arrive, and what is added for the shortest. */
static const double pauses = 3;
static const double least_pause_s = 20e-6;

static double seconds_since(int64_t begin_ns)
{
    return BL_SECONDS_PER_NS * (double)(bl_clock_ns() - begin_ns);
}

/* Outside of MPI: what arrives meanwhile is left to the system. */
static void pause_for(double wanted_s)
{
    const int64_t begin_ns = bl_clock_ns();
    while (seconds_since(begin_ns) < wanted_s) {
    }
}

/* Half the fastest of some round trips, known to both. */
static double way_of(struct bl_operation *op)
{
    double fastest_s = INFINITY;
    for (int i = 0; i < TRIALS; i++) {
        const int64_t begin_ns = bl_clock_ns();
        op->benchmark->call(op);
        fastest_s = fmin(fastest_s, seconds_since(begin_ns));
    }
    BL_MPI(MPI_Bcast(&fastest_s, 1, MPI_DOUBLE, 0, op->comm));
    return fastest_s / 2;
}

/* The receiver says that it is ready, and looks when the message has long been there. */
static double exchange(struct bl_operation *op, int peer, double pause_s)
{
    char ready = 0;
    if (op->rank == 0) {
        BL_MPI(MPI_Recv(&ready, 1, MPI_CHAR, peer, TAG_READY, op->comm, MPI_STATUS_IGNORE));
        pause_for(pause_s);
        const int64_t begin_ns = bl_clock_ns();
        BL_MPI(MPI_Send(op->send, op->count, MPI_CHAR, peer, TAG_MESSAGE, op->comm));
        return seconds_since(begin_ns);
    }
    BL_MPI(MPI_Send(&ready, 1, MPI_CHAR, peer, TAG_READY, op->comm));
    pause_for(3 * pause_s);
    const int64_t begin_ns = bl_clock_ns();
    BL_MPI(
        MPI_Recv(op->receive, op->count, MPI_CHAR, peer, TAG_MESSAGE, op->comm, MPI_STATUS_IGNORE));
    return seconds_since(begin_ns);
}

static void report(struct bl_json *json, const struct bl_effort *effort, long iterations,
                   double *send_s, double *receive_s)
{
    const struct bl_summary send = bl_summarise(send_s, (size_t)iterations);
    const struct bl_summary receive = bl_summarise(receive_s, (size_t)iterations);
    bl_json_integer(json, "iterations", iterations);
    bl_json_integer(json, "iterations_asked", effort->iterations);
    bl_json_bool(json, "verified", true);
    bl_json_summary(json, "send", &send);
    bl_json_summary(json, "receive", &receive);
}

const char *bl_point_overhead(struct bl_operation *op, struct bl_json *json)
{
    const struct bl_effort effort = bl_effort_of(op);
    const int peer = op->ranks - 1 - op->rank;
    bl_verify(op);
    const double way_s = way_of(op);
    const double pause_s = pauses * way_s + least_pause_s;
    const double each_s = 4 * pause_s + way_s;
    const long iterations = (long)fmin((double)effort.iterations, effort.budget_s / each_s);
    if (iterations < BL_ITERATIONS_MIN)
        return bl_cut_reason(&effort, each_s);
    double *mine_s = bl_allocate((size_t)iterations * sizeof *mine_s, "the times of a rank");
    double *theirs_s = bl_allocate((size_t)iterations * sizeof *theirs_s, "those of the other");
    exchange(op, peer, pause_s);
    for (long i = 0; i < iterations; i++)
        mine_s[i] = exchange(op, peer, pause_s);
    if (op->rank == 0) {
        BL_MPI(MPI_Recv(theirs_s, (int)iterations, MPI_DOUBLE, peer, TAG_TIMES, op->comm,
                        MPI_STATUS_IGNORE));
        report(json, &effort, iterations, mine_s, theirs_s);
    } else {
        BL_MPI(MPI_Send(mine_s, (int)iterations, MPI_DOUBLE, peer, TAG_TIMES, op->comm));
    }
    free(mine_s);
    free(theirs_s);
    return NULL;
}
