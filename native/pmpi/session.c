/* See session.h. */
#include "session.h"

#include "account.h"
#include "arrive.h"
#include "facts.h"
#include "journal.h"
#include "merge.h"
#include "nodes.h"
#include "packing.h"
#include "plan.h"
#include "programs.h"
#include "say.h"
#include "write.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Cells per row of the communication matrix; larger jobs share cells among neighbouring ranks. */
#define CELLS_MAX 1024

static struct {
    MPI_Comm comm;
    struct bl_plan plan;
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
    int64_t processor_ns; /* of the main thread when counting began */
} session;

/* Processor time of the calling thread. */
static int64_t processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void bl_session_prepare(void)
{
    bl_clock_choose(session.clock_source, sizeof session.clock_source);
    session.prepared = bl_moment_now();
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
    struct bl_plan *plan = &session.plan;
    *plan = bl_plan_make();
    snprintf(session.journal, sizeof session.journal, "%s.journal", plan->path);
    plan->active = plan->active && make_journal();
    /* What an earlier run left there must not pass for this one's if it crashes. */
    if (plan->active)
        unlink(plan->path);
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

static struct bl_trace_job trace_job(void)
{
    return (struct bl_trace_job){
        .rank = session.rank,
        .ranks = session.ranks,
        .limit = session.plan.trace_limit,
        .began_unix_ns = session.plan.began_unix_ns,
        .command = bl_slice->command,
    };
}

/* Collective: all ranks are traced, or none. */
static void begin_trace(void)
{
    if (session.plan.trace_limit == 0)
        return;
    const struct bl_trace_job job = trace_job();
    int made = session.rank != 0 || bl_trace_create(session.plan.trace, &job);
    PMPI_Bcast(&made, 1, MPI_INT, 0, session.comm);
    int ready = made && bl_trace_open(session.plan.trace, &job, session.prepared, bl_moment_now());
    PMPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, session.comm);
    bl_self->traced = ready;
    if (made && !ready && session.rank == 0)
        bl_say("no memory for the trace, this run is not traced");
    /* A replay begins where all ranks stand together. */
    PMPI_Barrier(session.comm);
}

void bl_session_begin(unsigned call, uint64_t began, uint64_t ended)
{
    char host[BL_HOST_SIZE];
    if (bl_slice)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &session.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &session.ranks);
    PMPI_Query_thread(&session.thread_level);
    if (!bl_arrive_begin(session.rank, session.ranks))
        return;
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
    session.nodes_of = session.plan.active
                           ? bl_nodes_find(session.comm, session.ranks, host, &session.nodes)
                           : NULL;
    if (!session.nodes_of) {
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
    begin_trace();
    bl_queue_open(&bl_self->queue, bl_clock_ns_per_tick(session.prepared, bl_moment_now()));
    session.processor_ns = processor_ns();
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
        .processor_ns = processor_ns() - session.processor_ns,
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

/* The streams go to rank 0, the sites too. */
static struct bl_site_total end_trace_and_sites(struct bl_moment ended, uint64_t compute, double ns)
{
    struct bl_site_total sites = {0};
    for (const struct bl_thread *thread = bl_threads; thread; thread = thread->next)
        if (thread->sites)
            bl_sites_add(&sites, thread->sites, ns);
    bl_sites_reduce(&sites, session.comm);
    size_t size = 0;
    int traced = bl_self && bl_self->traced;
    PMPI_Allreduce(MPI_IN_PLACE, &traced, 1, MPI_INT, MPI_MIN, session.comm);
    const void *slice = traced ? bl_trace_close(compute, ended, &size) : NULL;
    if (traced)
        bl_trace_pack(session.plan.trace, slice, size, session.comm);
    return sites;
}

/* Ranks that have not reached MPI_Finalize, by the journal. */
static void name_missing(char *text, size_t size)
{
    int missing = 0;
    size_t length = 0;
    text[0] = '\0';
    for (int rank = 0; rank < session.ranks; rank++) {
        const enum bl_state state = bl_journal_state((uint32_t)rank);
        if (state == BL_STATE_ENDING || state == BL_STATE_FINISHED)
            continue;
        if (length + 32 < size)
            length += (size_t)snprintf(text + length, size - length, "%s%d",
                                       missing ? ", " : "rank ", rank);
        else if (length + 4 < size)
            length += (size_t)snprintf(text + length, size - length, " ...");
        missing++;
    }
}

void bl_session_end(void)
{
    if (!bl_active)
        return;
    bl_active = false;
    const struct bl_moment ended = bl_moment_now();
    const uint64_t last = bl_self ? bl_self->last : ended.ticks;
    close_thread(ended.ticks);
    const double ns = bl_clock_ns_per_tick(session.prepared, ended);
    const struct bl_rank_record record = record_of_rank(ns, ended);
    bl_slice->seen = ended;
    bl_slice->state = BL_STATE_ENDING;
    if (!bl_arrive_end(session.comm, session.rank, name_missing))
        return;
    struct bl_total total = bl_total_of_process(ns, session.cells, session.rank);
    bl_total_agree_on_bins(&total, session.comm);
    bl_total_reduce(&total, session.comm);
    struct bl_site_total sites = end_trace_and_sites(ended, ended.ticks - last, ns);
    char programs[BL_PROGRAMS_SIZE] = "";
    bl_programs_find(session.comm, bl_slice->command, sizeof bl_slice->command, programs);
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
            .command = programs[0] ? programs : bl_slice->command,
            .began_unix_ns = session.plan.began_unix_ns,
            .split = session.plan.split,
            .thread_level = session.thread_level - MPI_THREAD_SINGLE,
            .ranks = session.ranks,
            .nodes = session.nodes,
            .ranks_per_cell = bl_ranks_per_cell,
            .records = records,
            .total = &total,
            .sites = &sites,
        };
        if (session.rank == 0 && bl_profile_write(&profile))
            bl_journal_remove(session.journal);
    }
    bl_slice->state = BL_STATE_FINISHED;
    free(records);
    free(sites.rows);
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
