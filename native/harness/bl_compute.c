/* See bl_compute.h. Compiled for SimGrid's SMPI only.
 *
 * A line of the file: "STAGE FROM COUNT TO COUNT CALLS SECONDS" with STAGE 0 before the timed part,
 * 1 in it and 2 after it, functions by their number in bl_messages.c (-1: none, -2: the clock),
 * SECONDS per stretch. Lines of the same kind, of several ranks, are alternatives: whoever prepares
 * a file for `inject` has merged them.
 */
#include "bl_compute.h"

#include "bl_error.h"

#include <mpi.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The time of the machine that simulates, not the simulated time that the wrapper puts here. */
#undef clock_gettime

enum { KINDS_MAX = 4096, BUSY_MAX = 2048 };

/* What a stretch may begin or end with besides the functions of bl_messages.c. */
enum { NONE = -1, CLOCK = -2 };

/* A shorter stretch passes together with the next one: each is a change of context to the
 * simulator, and there are some for every message. */
static const double shortest_s = 1e-6;

enum stage { BEFORE, TIMED_PART, AFTER };

struct call {
    int function;
    int count;
};

static struct kind {
    int stage;
    struct call from, to;
    long calls;
    double seconds; /* recording: the sum; injecting: of one stretch */
} kinds[KINDS_MAX];

/* What a sender does after a message has left, by its size: the last one that begins below it. */
static struct {
    long from;
    double seconds, slope;
} busy[BUSY_MAX];

static int known;
static int known_busy;
static enum { UNKNOWN, OFF, RECORD, INJECT } mode;
static const char *path;
static enum stage stage;
static struct call last = {NONE, 0};
static struct timespec begun;
static double clock_cost_s; /* of one read, which a stretch contains */
static double waiting_s;    /* injecting: computation that has not passed yet */

static double seconds_since_begun(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)(now.tv_sec - begun.tv_sec) + 1e-9 * (double)(now.tv_nsec - begun.tv_nsec);
}

static void measure_clock(void)
{
    enum { READS = 100 };
    clock_cost_s = 1;
    for (int i = 0; i < READS; i++) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
        const double cost_s = seconds_since_begun();
        if (cost_s < clock_cost_s)
            clock_cost_s = cost_s;
    }
}

static void read_kinds(void)
{
    FILE *const file = fopen(path, "r");
    if (!file)
        bl_die(BL_STATUS_FAILED, "%s: %s, record it first", path, strerror(errno));
    struct kind *kind = kinds;
    while (known < KINDS_MAX && fscanf(file, "%d %d %d %d %d %ld %lf", &kind->stage,
                                       &kind->from.function, &kind->from.count, &kind->to.function,
                                       &kind->to.count, &kind->calls, &kind->seconds) == 7) {
        known++;
        kind++;
    }
    fclose(file);
}

static void read_busy(void)
{
    const char *const given = getenv("BARELINE_BUSY_AFTER_SEND");
    const char *text = given;
    int used;
    while (text && known_busy < BUSY_MAX &&
           sscanf(text, "%ld:%lf:%lf%n", &busy[known_busy].from, &busy[known_busy].seconds,
                  &busy[known_busy].slope, &used) == 3) {
        known_busy++;
        text = text[used] == ';' ? text + used + 1 : text[used] ? text + used : NULL;
    }
    if (text)
        bl_die(BL_STATUS_USAGE, "BARELINE_BUSY_AFTER_SEND=%s: write FROM:SECONDS:SLOPE;...", given);
}

static void choose_mode(void)
{
    const char *const text = getenv("BARELINE_COMPUTE");
    mode = OFF;
    if (!text)
        return;
    const char *const colon = strchr(text, ':');
    if (!colon)
        bl_die(BL_STATUS_USAGE, "BARELINE_COMPUTE=%s: write record:FILE or inject:FILE", text);
    path = colon + 1;
    mode = strncmp(text, "record:", 7) == 0 ? RECORD : INJECT;
    if (mode == INJECT) {
        read_kinds();
        read_busy();
    } else
        measure_clock();
}

static struct kind *find_kind(struct call to)
{
    for (int i = 0; i < known; i++) {
        struct kind *const kind = &kinds[i];
        if (kind->stage == (int)stage && kind->from.function == last.function &&
            kind->from.count == last.count && kind->to.function == to.function &&
            kind->to.count == to.count)
            return kind;
    }
    if (mode == INJECT)
        bl_die(BL_STATUS_FAILED,
               "%s has no time for what is computed from call %d (%d) to %d (%d) of stage %d, "
               "record it again",
               path, last.function, last.count, to.function, to.count, (int)stage);
    if (known == KINDS_MAX)
        bl_die(BL_STATUS_FAILED, "more than %d kinds of computation between calls", KINDS_MAX);
    kinds[known] = (struct kind){.stage = (int)stage, .from = last, .to = to};
    return &kinds[known++];
}

void bl_compute_begins(void)
{
    if (mode == RECORD)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
}

void bl_compute_ends(int function, int count)
{
    if (mode == UNKNOWN)
        choose_mode();
    if (mode == OFF)
        return;
    const struct call to = {function, count};
    if (mode == INJECT) {
        waiting_s += find_kind(to)->seconds;
        if (waiting_s >= shortest_s || function == CLOCK) {
            if (waiting_s > 0)
                smpi_execute(waiting_s);
            waiting_s = 0;
        }
    } else if (last.function != NONE) {
        const double spent_s = seconds_since_begun() - clock_cost_s;
        struct kind *const kind = find_kind(to);
        kind->calls++;
        kind->seconds += spent_s > 0 ? spent_s : 0;
    } else {
        find_kind(to)->calls++; /* before the first call nothing is known of the clock */
    }
    last = to;
}

/* Whether a rank lies on this one's node; ranks fill the nodes one after the other. */
static bool is_on_this_node(int rank, MPI_Comm comm)
{
    static int per_node;
    if (per_node == 0) {
        const char *const text = getenv("BARELINE_RANKS_PER_NODE");
        per_node = text ? atoi(text) : 1;
        if (per_node < 1)
            bl_die(BL_STATUS_USAGE, "BARELINE_RANKS_PER_NODE=%s: write a number from 1 on", text);
    }
    if (rank == MPI_PROC_NULL)
        return true;
    MPI_Group group, world;
    int mine, there;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, 1, &rank, world, &there);
    MPI_Comm_rank(MPI_COMM_WORLD, &mine);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return mine / per_node == there / per_node;
}

void bl_compute_sent(int count, MPI_Datatype type, int to, MPI_Comm comm)
{
    if (mode != INJECT || known_busy == 0 || is_on_this_node(to, comm))
        return;
    int bytes;
    MPI_Type_size(type, &bytes);
    const double size = (double)count * bytes;
    double busy_s = 0;
    for (int i = 0; i < known_busy && (double)busy[i].from <= size; i++)
        busy_s = busy[i].seconds + busy[i].slope * size;
    if (busy_s > 0)
        smpi_execute(busy_s);
}

void bl_compute_reset(void)
{
    stage = TIMED_PART;
    last = (struct call){NONE, 0};
    bl_compute_begins();
}

void bl_compute_clock(void)
{
    const bool is_end = stage == TIMED_PART && last.function != NONE;
    bl_compute_ends(CLOCK, 0);
    if (is_end)
        stage = AFTER;
    bl_compute_begins();
}

void bl_compute_report(void)
{
    if (mode != RECORD)
        return;
    /* Ranks append to one file; nothing is written through a link or into a pipe. */
    const int descriptor =
        open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    FILE *const file = descriptor < 0 ? NULL : fdopen(descriptor, "a");
    if (!file)
        bl_die(BL_STATUS_FAILED, "%s: %s", path, strerror(errno));
    for (int i = 0; i < known; i++) {
        const struct kind *const kind = &kinds[i];
        fprintf(file, "%d %d %d %d %d %ld %.9g\n", kind->stage, kind->from.function,
                kind->from.count, kind->to.function, kind->to.count, kind->calls,
                kind->calls ? kind->seconds / (double)kind->calls : 0.0);
    }
    fclose(file);
}
