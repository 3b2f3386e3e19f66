/* See merge.h. */
#include "merge.h"

#include <stdlib.h>
#include <string.h>

/* Sizes of one call that stay exact in the whole job. */
#define EXACT_SIZES_IN_JOB 256

/* Order and identity of rows: call, region, communicator, place, size. */
static int compare_keys(const struct bl_merged *a, const struct bl_merged *b)
{
    const uint64_t left[] = {a->what, (uint64_t)a->class.size, (uint64_t)a->class.nodes,
                             (uint64_t)a->class.inter, a->size};
    const uint64_t right[] = {b->what, (uint64_t)b->class.size, (uint64_t)b->class.nodes,
                              (uint64_t)b->class.inter, b->size};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static int compare_rows(const void *a, const void *b)
{
    return compare_keys(a, b);
}

static int compare_pairs(const void *a, const void *b)
{
    const struct bl_pair *left = a;
    const struct bl_pair *right = b;
    if (left->from != right->from)
        return left->from < right->from ? -1 : 1;
    return left->to < right->to ? -1 : left->to > right->to;
}

/* `same_rank`: rows of threads of one rank or of folded sizes, whose times belong to one rank. */
static void add(struct bl_merged *to, const struct bl_merged *from, bool same_rank)
{
    to->count += from->count;
    to->bytes += from->bytes;
    to->sent += from->sent;
    to->received += from->received;
    to->time += from->time;
    to->squares += from->squares;
    if (from->shortest < to->shortest)
        to->shortest = from->shortest;
    if (from->longest > to->longest)
        to->longest = from->longest;
    to->waited += from->waited;
    if (to->waited_least < 0 || (from->waited_least >= 0 && from->waited_least < to->waited_least))
        to->waited_least = from->waited_least;
    to->finished += from->finished;
    to->window += from->window;
    to->flight += from->flight;
    to->queued += from->queued;
    to->receives += from->receives;
    to->awaited += from->awaited;
    if (same_rank) {
        to->rank_least = to->rank_most = to->time;
        return;
    }
    to->ranks += from->ranks;
    if (from->rank_least < to->rank_least)
        to->rank_least = from->rank_least;
    if (from->rank_most > to->rank_most)
        to->rank_most = from->rank_most;
}

/* Sorts and unites equal rows. */
static void unite(struct bl_total *total, bool same_rank)
{
    qsort(total->rows, total->row_count, sizeof *total->rows, compare_rows);
    size_t last = 0;
    for (size_t i = 1; i < total->row_count; i++) {
        if (compare_keys(&total->rows[last], &total->rows[i]) == 0)
            add(&total->rows[last], &total->rows[i], same_rank);
        else
            total->rows[++last] = total->rows[i];
    }
    if (total->row_count)
        total->row_count = last + 1;
    qsort(total->pairs, total->pair_count, sizeof *total->pairs, compare_pairs);
    last = 0;
    for (size_t i = 1; i < total->pair_count; i++) {
        if (compare_pairs(&total->pairs[last], &total->pairs[i]) == 0) {
            total->pairs[last].count += total->pairs[i].count;
            total->pairs[last].bytes += total->pairs[i].bytes;
        } else {
            total->pairs[++last] = total->pairs[i];
        }
    }
    if (total->pair_count)
        total->pair_count = last + 1;
}

static struct bl_merged converted(const struct bl_row *row, double ns)
{
    const double time = (double)row->time * ns;
    return (struct bl_merged){
        .what = row->key.what & ~UINT64_C(0xffff),
        .size = row->key.size,
        .class = bl_slice->class[bl_what_class(row->key.what)],
        .ranks = 1,
        .count = row->count,
        .bytes = row->bytes,
        .sent = row->sent,
        .received = row->received,
        .time = time,
        .squares = row->squares * ns * ns,
        .shortest = row->count ? (double)row->shortest * ns : 0,
        .longest = (double)row->longest * ns,
        .waited = (double)row->waited * ns,
        .waited_least = row->waited ? (double)row->waited_least * ns : -1,
        .finished = row->finished,
        .window = (double)row->window * ns,
        .flight = (double)row->flight * ns,
        .queued = row->queued,
        .receives = row->receives,
        .awaited = row->awaited,
        .rank_least = time,
        .rank_most = time,
    };
}

struct bl_total bl_total_of_process(double ns_per_tick, uint32_t cells, int rank)
{
    struct bl_total total = {0};
    size_t rows = 1;
    size_t pairs = 1;
    for (const struct bl_thread *thread = bl_threads; thread; thread = thread->next) {
        rows += thread->table.sheet->rows;
        pairs += cells;
    }
    total.rows = malloc(rows * sizeof *total.rows);
    total.pairs = malloc(pairs * sizeof *total.pairs);
    if (!total.rows || !total.pairs)
        return total;
    for (const struct bl_thread *thread = bl_threads; thread; thread = thread->next) {
        for (uint32_t i = 0; i < thread->table.sheet->rows; i++) {
            const struct bl_row *row = bl_table_at(&thread->table, i);
            if (row->key.what && (row->count || row->finished))
                total.rows[total.row_count++] = converted(row, ns_per_tick);
        }
        for (uint32_t to = 0; thread->cells && to < cells; to++)
            if (thread->cells[to].count)
                total.pairs[total.pair_count++] =
                    (struct bl_pair){.from = (uint32_t)rank / bl_ranks_per_cell,
                                     .to = to,
                                     .count = thread->cells[to].count,
                                     .bytes = thread->cells[to].bytes};
    }
    unite(&total, true);
    return total;
}

/* Puts all sizes of a call into bins where some rank did, or where the job has too many. */
static void fold_sizes(struct bl_total *total)
{
    bool changed = false;
    for (size_t first = 0, next; first < total->row_count; first = next) {
        const unsigned call = bl_what_call(total->rows[first].what);
        size_t sizes = 0;
        bool binned = false;
        for (next = first; next < total->row_count && bl_what_call(total->rows[next].what) == call;
             next++) {
            sizes++;
            binned = binned || total->rows[next].size & BL_BIN;
        }
        if (!binned && sizes > EXACT_SIZES_IN_JOB) {
            uint64_t different = 0;
            uint64_t *seen = malloc(sizes * sizeof *seen);
            for (size_t i = first; seen && i < next && different <= EXACT_SIZES_IN_JOB; i++) {
                uint64_t known = 0;
                while (known < different && seen[known] != total->rows[i].size)
                    known++;
                if (known == different)
                    seen[different++] = total->rows[i].size;
            }
            free(seen);
            binned = different > EXACT_SIZES_IN_JOB;
        }
        for (size_t i = first; binned && i < next; i++) {
            const uint64_t bin = bl_bin_of(total->rows[i].size);
            changed = changed || bin != total->rows[i].size;
            total->rows[i].size = bin;
        }
    }
    if (changed)
        unite(total, false);
}

void bl_total_agree_on_bins(struct bl_total *total, MPI_Comm comm)
{
    uint8_t binned[BL_CALL_COUNT] = {0};
    for (size_t i = 0; i < total->row_count; i++)
        if (total->rows[i].size & BL_BIN)
            binned[bl_what_call(total->rows[i].what)] = 1;
    PMPI_Allreduce(MPI_IN_PLACE, binned, BL_CALL_COUNT, MPI_UINT8_T, MPI_MAX, comm);
    for (size_t i = 0; i < total->row_count; i++)
        if (binned[bl_what_call(total->rows[i].what)])
            total->rows[i].size = bl_bin_of(total->rows[i].size);
    unite(total, true);
}

/* Adds what another rank sent. */
static void receive(struct bl_total *total, int from, MPI_Comm comm)
{
    int64_t counts[2] = {0, 0};
    PMPI_Recv(counts, 2, MPI_INT64_T, from, 0, comm, MPI_STATUS_IGNORE);
    struct bl_merged *rows =
        realloc(total->rows, (total->row_count + (size_t)counts[0] + 1) * sizeof *rows);
    struct bl_pair *pairs =
        realloc(total->pairs, (total->pair_count + (size_t)counts[1] + 1) * sizeof *pairs);
    total->rows = rows ? rows : total->rows;
    total->pairs = pairs ? pairs : total->pairs;
    /* Without memory the sender is told to keep its rows. */
    int64_t go = rows && pairs;
    PMPI_Send(&go, 1, MPI_INT64_T, from, 0, comm);
    if (!go)
        return;
    PMPI_Recv(rows + total->row_count, (int)((size_t)counts[0] * sizeof *rows), MPI_BYTE, from, 0,
              comm, MPI_STATUS_IGNORE);
    PMPI_Recv(pairs + total->pair_count, (int)((size_t)counts[1] * sizeof *pairs), MPI_BYTE, from,
              0, comm, MPI_STATUS_IGNORE);
    total->row_count += (size_t)counts[0];
    total->pair_count += (size_t)counts[1];
    unite(total, false);
    fold_sizes(total);
}

static void send(const struct bl_total *total, int to, MPI_Comm comm)
{
    int64_t counts[2] = {(int64_t)total->row_count, (int64_t)total->pair_count};
    int64_t go = 0;
    PMPI_Send(counts, 2, MPI_INT64_T, to, 0, comm);
    PMPI_Recv(&go, 1, MPI_INT64_T, to, 0, comm, MPI_STATUS_IGNORE);
    if (!go)
        return;
    PMPI_Send(total->rows, (int)(total->row_count * sizeof *total->rows), MPI_BYTE, to, 0, comm);
    PMPI_Send(total->pairs, (int)(total->pair_count * sizeof *total->pairs), MPI_BYTE, to, 0, comm);
}

void bl_total_reduce(struct bl_total *total, MPI_Comm comm)
{
    int rank;
    int ranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    for (int step = 1; step < ranks; step *= 2) {
        if (rank % (2 * step) != 0) {
            send(total, rank - step, comm);
            total->row_count = total->pair_count = 0;
            return;
        }
        if (rank + step < ranks)
            receive(total, rank + step, comm);
    }
}

void bl_total_free(struct bl_total *total)
{
    free(total->rows);
    free(total->pairs);
    *total = (struct bl_total){0};
}
