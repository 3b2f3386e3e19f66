/* See thread.h. */
#include "thread.h"

#include <pthread.h>
#include <stdlib.h>

/* Both clocks are noted every so many calls, for journals of programs that crash. */
#define CALLS_PER_LOOK 1024

_Thread_local struct bl_thread *bl_self;
bool bl_active;
bool bl_split;
uint32_t bl_ranks_per_cell = 1;
struct bl_slice *bl_slice;
struct bl_thread *bl_threads;

static pthread_mutex_t attaching = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_exit;
static uint32_t cell_count;

/* A thread that ends leaves its counters to the next one that starts: memory stays bounded. */
static void leave(void *thread)
{
    pthread_mutex_lock(&attaching);
    ((struct bl_thread *)thread)->leased = false;
    bl_self = NULL;
    pthread_mutex_unlock(&attaching);
}

static void make_key(void)
{
    pthread_key_create(&at_exit, leave);
}

static struct bl_thread *new_thread(bool main_thread)
{
    if (bl_slice->sheets == BL_SHEETS_MAX)
        return NULL;
    struct bl_thread *thread = calloc(1, sizeof *thread);
    uint64_t at;
    struct bl_sheet *sheet = bl_journal_take(sizeof *sheet, &at);
    if (!thread || !sheet || !bl_table_init(&thread->table, sheet)) {
        free(thread);
        return NULL;
    }
    sheet->main = main_thread;
    /* Without memory, calls are counted without their sites. */
    thread->sites = calloc(1, sizeof *thread->sites);
    thread->cells = bl_journal_take(cell_count * sizeof *thread->cells, &sheet->cells_at);
    thread->next = bl_threads;
    bl_threads = thread;
    bl_slice->sheet_at[bl_slice->sheets++] = at;
    return thread;
}

bool bl_attach(bool main_thread, uint32_t cells)
{
    struct bl_thread *thread = NULL;
    pthread_once(&once, make_key);
    pthread_mutex_lock(&attaching);
    if (main_thread)
        cell_count = cells;
    for (thread = bl_threads; thread && thread->leased; thread = thread->next)
        ;
    if (!thread)
        thread = new_thread(main_thread);
    if (thread) {
        thread->leased = true;
        thread->region = 0;
        thread->depth = 0;
        thread->paused = false;
        thread->until_look = CALLS_PER_LOOK;
        bl_choose_compute(thread);
        thread->last = bl_now();
        thread->open = true;
        pthread_setspecific(at_exit, thread);
    }
    bl_self = thread;
    pthread_mutex_unlock(&attaching);
    return thread != NULL;
}

bool bl_begin_cold(void)
{
    return bl_active && !bl_self && bl_attach(false, 0);
}

void bl_look_at_clocks(struct bl_thread *thread)
{
    thread->until_look = CALLS_PER_LOOK;
    bl_slice->seen = bl_moment_now();
}

void bl_choose_compute(struct bl_thread *thread)
{
    thread->compute = bl_table_row(&thread->table, bl_what(BL_COMPUTE, thread->region, 0, 0), 0);
}

bool bl_scratch_reserve(struct bl_scratch *scratch, int n)
{
    if (n <= scratch->capacity)
        return true;
    const size_t count = (size_t)n + 64;
    struct bl_scratch fresh = {
        .handles = malloc(count * sizeof *fresh.handles),
        .statuses = malloc(count * sizeof *fresh.statuses),
        .fortran_statuses = malloc(count * sizeof(MPI_Status) + sizeof(MPI_Status)),
        .indices = malloc(count * sizeof *fresh.indices),
        .capacity = (int)count,
    };
    if (!fresh.handles || !fresh.statuses || !fresh.fortran_statuses || !fresh.indices) {
        free(fresh.handles);
        free(fresh.statuses);
        free(fresh.fortran_statuses);
        free(fresh.indices);
        return false;
    }
    free(scratch->handles);
    free(scratch->statuses);
    free(scratch->fortran_statuses);
    free(scratch->indices);
    *scratch = fresh;
    return true;
}
