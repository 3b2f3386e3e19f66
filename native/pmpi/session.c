/* See session.h. */
#include "session.h"

#include "account.h"
#include "facts.h"
#include "journal.h"
#include "merge.h"
#include "say.h"
#include "write.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Cells per row of the communication matrix; larger jobs share cells among neighbouring ranks. */
#define CELLS_MAX 1024

/* What rank 0 decides for all, read from its environment. */
struct plan {
    int active;
    int split;
    int64_t began_unix_ns;
    char path[PATH_MAX];
};

static struct {
    MPI_Comm comm;
    struct plan plan;
    int rank;
    int ranks;
    int nodes;
    int thread_level;
    int *nodes_of;
    uint32_t cells;
    struct bl_facts facts;
    char journal[PATH_MAX + 16];
    char clock_source[32];
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    uint64_t init_ticks;
    struct bl_moment prepared;
} session;

void bl_session_prepare(void)
{
    bl_clock_choose(session.clock_source, sizeof session.clock_source);
    session.prepared = bl_moment_now();
}

/* `%p` in the path becomes the process id, so that the runs of a script do not meet. */
static bool read_path(char *path, size_t size)
{
    const char *given = getenv("BARELINE_PROFILE");
    if (!given || !*given)
        return false;
    size_t length = 0;
    if (*given != '/') {
        if (!getcwd(path, size - 1)) {
            bl_say("the working folder has no path (%s), this run is not profiled",
                   strerror(errno));
            return false;
        }
        length = strlen(path);
        path[length++] = '/';
    }
    for (; *given && length + 32 < size; given++) {
        if (given[0] == '%' && given[1] == 'p') {
            length += (size_t)snprintf(path + length, 24, "%d", (int)getpid());
            given++;
        } else {
            path[length++] = *given;
        }
    }
    path[length] = '\0';
    MPI_Comm parent;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        snprintf(path + length, size - length, ".spawned-%d", (int)getpid());
    return true;
}

static int64_t unix_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static bool make_journal(void)
{
    struct bl_journal_head *head = calloc(1, sizeof *head);
    if (!head)
        return false;
    memcpy(head->magic, BL_JOURNAL_MAGIC, sizeof head->magic);
    head->version = BL_JOURNAL_VERSION;
    head->ranks = (uint32_t)session.ranks;
    head->ranks_per_cell = bl_ranks_per_cell;
    head->cells = session.cells;
    head->split = (uint32_t)session.plan.split;
    head->calls = BL_CALL_COUNT;
    head->row_size = sizeof(struct bl_row);
    head->began_unix_ns = session.plan.began_unix_ns;
    snprintf(head->library, sizeof head->library, "%.255s", session.library);
    for (int call = 0; call < BL_CALL_COUNT; call++)
        head->names_length += (uint32_t)snprintf(
            head->names + head->names_length, sizeof head->names - head->names_length, "%s %s\n",
            bl_call_names[call], bl_kind_names[bl_call_kinds[call]]);
    const bool made = bl_journal_create(session.journal, head);
    free(head);
    return made;
}

static void read_library(void)
{
    int length;
    PMPI_Get_library_version(session.library, &length);
    /* MPICH's goes on for many lines. */
    session.library[strcspn(session.library, "\n\r")] = '\0';
    for (char *c = session.library; *c; c++)
        if (*c == '\t')
            *c = ' ';
}

static void make_plan(void)
{
    if (session.rank != 0)
        return;
    struct plan *plan = &session.plan;
    const char *split = getenv("BARELINE_PROFILE_SPLIT");
    plan->began_unix_ns = unix_ns();
    plan->split = split && *split && strcmp(split, "0") != 0;
    plan->active = read_path(plan->path, sizeof plan->path);
    snprintf(session.journal, sizeof session.journal, "%s.journal", plan->path);
    plan->active = plan->active && make_journal();
    /* What an earlier run left there must not pass for this one's if it crashes. */
    if (plan->active)
        unlink(plan->path);
}

static int compare_ids(const void *a, const void *b)
{
    const uint64_t *left = a;
    const uint64_t *right = b;
    return left[0] < right[0] ? -1 : left[0] > right[0] ? 1 : left[1] < right[1] ? -1 : 1;
}

/* Numbers the nodes in the order of their first rank. Collective. */
static bool find_nodes(char *host)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length;
    PMPI_Get_processor_name(name, &length);
    snprintf(host, BL_HOST_SIZE, "%.*s", BL_HOST_SIZE - 1, name);
    uint64_t id = UINT64_C(14695981039346656037);
    for (const char *c = name; *c; c++)
        id = (id ^ (unsigned char)*c) * UINT64_C(1099511628211);
    const size_t ranks = (size_t)session.ranks;
    session.nodes_of = malloc(ranks * sizeof *session.nodes_of);
    uint64_t *ids = malloc(ranks * sizeof *ids);
    uint64_t(*order)[2] = malloc(ranks * sizeof *order);
    int all = session.nodes_of && ids && order;
    PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, session.comm);
    if (all) {
        PMPI_Allgather(&id, 1, MPI_UINT64_T, ids, 1, MPI_UINT64_T, session.comm);
        for (size_t i = 0; i < ranks; i++) {
            order[i][0] = ids[i];
            order[i][1] = i;
        }
        qsort(order, ranks, sizeof *order, compare_ids);
        /* The first rank of a node stands for it, then first ranks are numbered in order. */
        for (size_t i = 0, first = 0; i < ranks; i++) {
            if (order[i][0] != order[first][0])
                first = i;
            session.nodes_of[order[i][1]] = (int)order[first][1];
        }
        for (size_t i = 0; i < ranks; i++)
            session.nodes_of[i] = session.nodes_of[i] == (int)i
                                      ? session.nodes++
                                      : session.nodes_of[session.nodes_of[i]];
    }
    free(ids);
    free(order);
    return all;
}

/* A child of fork has the parent's counters mapped and must not touch them. */
static void stop_in_child(void)
{
    bl_active = false;
    bl_self = NULL;
}

/* The command line of this process, without its folder. */
static void read_command(char *command, size_t size)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t length = file ? fread(command, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    while (length > 0 && command[length - 1] == '\0')
        length--;
    for (size_t i = 0; i < length; i++)
        if (command[i] == '\0')
            command[i] = ' ';
    command[length] = '\0';
    const char *slash = memchr(command, ' ', length);
    size_t program = slash ? (size_t)(slash - command) : length;
    while (program > 0 && command[program - 1] != '/')
        program--;
    memmove(command, command + program, length - program + 1);
}

static bool prepare_counters(const char *host)
{
    bl_slice = bl_journal_open(session.journal, (uint32_t)session.rank);
    if (!bl_slice)
        return false;
    bl_slice->rank = (uint32_t)session.rank;
    bl_slice->node = (uint32_t)session.nodes_of[session.rank];
    bl_slice->pid = (int32_t)getpid();
    bl_slice->counter = bl_clock_is_counter;
    snprintf(bl_slice->host, sizeof bl_slice->host, "%s", host);
    snprintf(bl_slice->clock_source, sizeof bl_slice->clock_source, "%s", session.clock_source);
    read_command(bl_slice->command, sizeof bl_slice->command);
    bl_slice->prepared = session.prepared;
    bl_groups_init(bl_slice, session.rank, session.ranks, session.nodes_of);
    bl_requests_init(session.thread_level == MPI_THREAD_MULTIPLE);
    bl_slice->began = bl_slice->seen = bl_moment_now();
    bl_slice->state = BL_STATE_RUNNING;
    return bl_attach(true, session.cells);
}

void bl_session_begin(unsigned call, uint64_t began, uint64_t ended)
{
    char host[BL_HOST_SIZE];
    if (bl_slice)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &session.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &session.ranks);
    PMPI_Query_thread(&session.thread_level);
    /* Of its own, so that the application's wildcard receives never see the profiler's messages. */
    if (PMPI_Comm_dup(MPI_COMM_WORLD, &session.comm) != MPI_SUCCESS)
        return;
    PMPI_Comm_set_errhandler(session.comm, MPI_ERRORS_RETURN);
    bl_ranks_per_cell = ((uint32_t)session.ranks + CELLS_MAX - 1) / CELLS_MAX;
    session.cells = ((uint32_t)session.ranks + bl_ranks_per_cell - 1) / bl_ranks_per_cell;
    read_library();
    make_plan();
    PMPI_Bcast(&session.plan, sizeof session.plan, MPI_BYTE, 0, session.comm);
    snprintf(session.journal, sizeof session.journal, "%s.journal", session.plan.path);
    if (!session.plan.active || !find_nodes(host)) {
        PMPI_Comm_free(&session.comm);
        return;
    }
    session.facts = bl_facts_read();
    session.init_ticks = ended - began;
    int ready = prepare_counters(host);
    PMPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, session.comm);
    if (!ready) {
        bl_say("no memory for the profile, this run is not profiled");
        bl_self = NULL;
        PMPI_Comm_free(&session.comm);
        return;
    }
    bl_split = session.plan.split;
    pthread_atfork(NULL, NULL, stop_in_child);
    struct bl_row *row = bl_table_row(&bl_self->table, bl_what(call, 0, 0, 0), 0);
    if (row)
        bl_add(row, 1, ended - began);
    bl_active = true;
    bl_slice->began = bl_slice->seen = bl_moment_now();
    bl_self->last = bl_slice->began.ticks;
}

/* Adds a thread's rows to the record of its rank; shares of the wall time are the main thread's. */
static void add_thread(struct bl_rank_record *record, const struct bl_thread *thread, double ns,
                       double *mpi, double *waited)
{
    const struct bl_sheet *sheet = thread->table.sheet;
    record->threads++;
    record->dropped += (int64_t)sheet->dropped;
    record->untracked += (int64_t)sheet->untracked;
    for (uint32_t i = 0; i < sheet->rows; i++) {
        const struct bl_row *row = bl_table_at(&thread->table, i);
        const unsigned kind = bl_call_kinds[bl_what_call(row->key.what)];
        const unsigned call = bl_what_call(row->key.what);
        const double time = (double)row->time * ns;
        if (kind == BL_KIND_COMPUTE) {
            record->compute_ns += sheet->main ? (int64_t)time : 0;
            continue;
        }
        record->calls += (int64_t)row->count;
        if (!sheet->main || call == BL_Init || call == BL_Init_thread)
            continue;
        if (kind == BL_KIND_POSIX)
            record->posix_ns += (int64_t)time;
        else
            *mpi += time;
        *waited += (double)row->waited * ns;
    }
    if (sheet->main)
        record->paused_ns = (int64_t)((double)sheet->paused * ns);
}

static struct bl_rank_record record_of_rank(double ns, struct bl_moment ended)
{
    const struct bl_facts facts = bl_facts_read();
    struct bl_rank_record record = {
        .rank = session.rank,
        .node = session.nodes_of[session.rank],
        .pid = (int32_t)getpid(),
        .wall_ns = ended.ns - bl_slice->began.ns,
        .init_ns = (int64_t)((double)session.init_ticks * ns),
        .facts = bl_facts_since(&session.facts, &facts),
    };
    double mpi = 0;
    double waited = 0;
    for (const struct bl_thread *thread = bl_threads; thread; thread = thread->next)
        add_thread(&record, thread, ns, &mpi, &waited);
    record.mpi_ns = (int64_t)(mpi + waited);
    record.waited_ns = (int64_t)waited;
    snprintf(record.host, sizeof record.host, "%s", bl_slice->host);
    snprintf(record.clock, sizeof record.clock, "%s", bl_clock_name());
    snprintf(record.clock_source, sizeof record.clock_source, "%s", session.clock_source);
    return record;
}

/* Ends the main thread's last stretch of computing; other threads' was closed by their last call.
 */
static void close_thread(uint64_t now)
{
    if (!bl_self)
        return;
    if (bl_self->paused)
        bl_self->table.sheet->paused += now - bl_self->paused_at;
    else
        bl_add_compute(bl_self, now);
    bl_self->open = false;
}

void bl_session_end(void)
{
    if (!bl_active)
        return;
    bl_active = false;
    const struct bl_moment ended = bl_moment_now();
    close_thread(ended.ticks);
    const double ns = bl_clock_ns_per_tick(session.prepared, ended);
    const struct bl_rank_record record = record_of_rank(ns, ended);
    struct bl_total total = bl_total_of_process(ns, session.cells, session.rank);
    bl_total_agree_on_bins(&total, session.comm);
    bl_total_reduce(&total, session.comm);
    struct bl_rank_record *records =
        session.rank == 0 ? malloc((size_t)session.ranks * sizeof *records) : NULL;
    int written = session.rank != 0 || records;
    PMPI_Bcast(&written, 1, MPI_INT, 0, session.comm);
    if (written) {
        PMPI_Gather(&record, sizeof record, MPI_BYTE, records, sizeof record, MPI_BYTE, 0,
                    session.comm);
        const struct bl_profile profile = {
            .path = session.plan.path,
            .regions = getenv("BARELINE_PROFILE_REGIONS"),
            .library = session.library,
            .command = bl_slice->command,
            .began_unix_ns = session.plan.began_unix_ns,
            .split = session.plan.split,
            .thread_level = session.thread_level - MPI_THREAD_SINGLE,
            .ranks = session.ranks,
            .nodes = session.nodes,
            .ranks_per_cell = bl_ranks_per_cell,
            .records = records,
            .total = &total,
        };
        if (session.rank == 0 && bl_profile_write(&profile))
            bl_journal_remove(session.journal);
    }
    bl_slice->state = BL_STATE_FINISHED;
    free(records);
    bl_total_free(&total);
    PMPI_Comm_free(&session.comm);
}

void bl_session_abort(int code)
{
    if (!bl_active)
        return;
    bl_slice->abort_code = code;
    bl_slice->state = BL_STATE_ABORTED;
    bl_slice->seen = bl_moment_now();
    bl_active = false;
    if (bl_self)
        bl_self->open = false;
}

static void pause_counting(struct bl_thread *thread, uint64_t now)
{
    bl_add_compute(thread, now);
    thread->table.sheet->untracked += bl_requests_forget();
    thread->paused = true;
    thread->paused_at = now;
    thread->open = false;
}

static void resume_counting(struct bl_thread *thread, uint64_t now)
{
    thread->table.sheet->paused += now - thread->paused_at;
    thread->paused = false;
    thread->last = now;
    thread->open = true;
}

/* Closes the region's stretch of computing and goes on in another one. */
static void enter_region(struct bl_thread *thread, uint64_t now, unsigned region)
{
    bl_add_compute(thread, now);
    thread->last = now;
    thread->region = (uint8_t)region;
    bl_choose_compute(thread);
}

void bl_session_pcontrol(int level)
{
    if (!bl_active || (!bl_self && !bl_attach(false, 0)))
        return;
    struct bl_thread *thread = bl_self;
    const uint64_t now = bl_now();
    if (level == 0 && !thread->paused) {
        pause_counting(thread, now);
    } else if (level == 1 && thread->paused) {
        resume_counting(thread, now);
    } else if (level > 2 && level < 256) {
        if (thread->depth < BL_REGION_DEPTH)
            thread->outer_regions[thread->depth] = thread->region;
        thread->depth++;
        enter_region(thread, now, (unsigned)level);
    } else if (level < -2 && thread->depth > 0) {
        thread->depth--;
        enter_region(thread, now,
                     thread->depth < BL_REGION_DEPTH ? thread->outer_regions[thread->depth] : 0);
    }
}
