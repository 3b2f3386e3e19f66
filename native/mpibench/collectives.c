/*
 * Collective functions over all ranks, and their non-blocking forms for overlap.
 *
 * Exported: bl_collectives. The functions of each entry are collective over op->comm.
 * Sizes are OSU's and, but for Reduce_scatter since 2019, IMB's: the whole vector of a reduction,
 * one rank's block otherwise.
 */
#include "bl_clock.h"
#include "check.h"
#include "families.h"
#include "overlap.h"
#include "pattern.h"

#include <time.h>

/* After a call of a rooted function, while the root rotates. */
static void move_root(struct bl_operation *op)
{
    if (op->rotates)
        op->root = op->root + 1 == op->ranks ? 0 : op->root + 1;
}

static void started(struct bl_operation *op)
{
    op->active = 1;
}

/* Blocks of one message: block `rank` of a buffer for all ranks. */
static unsigned char *block(unsigned char *buffer, const struct bl_operation *op, int rank)
{
    return buffer + (size_t)rank * op->size_bytes;
}

/* ---- reductions: doubles, summed ---- */

static void fill_terms(struct bl_operation *op)
{
    bl_terms_fill(op->send, op->count, op->rank);
    bl_terms_scrub(op->receive, op->count);
}

static bool check_sum(const struct bl_operation *op)
{
    return bl_terms_sum_matches(op->receive, op->count, 0, op->ranks);
}

static bool check_sum_at_root(const struct bl_operation *op)
{
    return op->rank != op->root || check_sum(op);
}

static void call_allreduce(struct bl_operation *op)
{
    BL_MPI(MPI_Allreduce(op->send, op->receive, op->count, MPI_DOUBLE, MPI_SUM, op->comm));
}

static void start_iallreduce(struct bl_operation *op)
{
    BL_MPI(MPI_Iallreduce(op->send, op->receive, op->count, MPI_DOUBLE, MPI_SUM, op->comm,
                          op->requests));
    started(op);
}

static void call_reduce(struct bl_operation *op)
{
    BL_MPI(MPI_Reduce(op->send, op->receive, op->count, MPI_DOUBLE, MPI_SUM, op->root, op->comm));
    move_root(op);
}

static void start_ireduce(struct bl_operation *op)
{
    BL_MPI(MPI_Ireduce(op->send, op->receive, op->count, MPI_DOUBLE, MPI_SUM, op->root, op->comm,
                       op->requests));
    started(op);
}

/* The vector in parts as equal as they can be, the first ones longer, as IMB did until 2018. */
static void prepare_parts(struct bl_operation *op)
{
    for (int rank = 0; rank < op->ranks; rank++)
        op->counts[rank] = op->count / op->ranks + (rank < op->count % op->ranks);
}

static bool check_part_of_sum(const struct bl_operation *op)
{
    int first = 0;
    for (int rank = 0; rank < op->rank; rank++)
        first += op->counts[rank];
    return bl_terms_sum_matches(op->receive, op->counts[op->rank], first, op->ranks);
}

static void call_reduce_scatter(struct bl_operation *op)
{
    BL_MPI(MPI_Reduce_scatter(op->send, op->receive, op->counts, MPI_DOUBLE, MPI_SUM, op->comm));
}

static void start_ireduce_scatter(struct bl_operation *op)
{
    BL_MPI(MPI_Ireduce_scatter(op->send, op->receive, op->counts, MPI_DOUBLE, MPI_SUM, op->comm,
                               op->requests));
    started(op);
}

/* ---- one to all ---- */

static void fill_root(struct bl_operation *op)
{
    if (op->rank == op->root)
        bl_pattern_fill(op->send, op->size_bytes, op->root, BL_TO_ALL);
    else
        bl_pattern_scrub(op->send, op->size_bytes, op->root, BL_TO_ALL);
}

static bool check_from_root(const struct bl_operation *op)
{
    return bl_pattern_matches(op->send, op->size_bytes, op->root, BL_TO_ALL);
}

static void call_bcast(struct bl_operation *op)
{
    BL_MPI(MPI_Bcast(op->send, op->count, MPI_CHAR, op->root, op->comm));
    move_root(op);
}

static void start_ibcast(struct bl_operation *op)
{
    BL_MPI(MPI_Ibcast(op->send, op->count, MPI_CHAR, op->root, op->comm, op->requests));
    started(op);
}

static void fill_blocks_of_root(struct bl_operation *op)
{
    for (int rank = 0; rank < op->ranks; rank++)
        bl_pattern_fill(block(op->send, op, rank), op->size_bytes, op->rank, rank);
    bl_pattern_scrub(op->receive, op->size_bytes, op->root, op->rank);
}

static bool check_own_block(const struct bl_operation *op)
{
    return bl_pattern_matches(op->receive, op->size_bytes, op->root, op->rank);
}

static void call_scatter(struct bl_operation *op)
{
    BL_MPI(MPI_Scatter(op->send, op->count, MPI_CHAR, op->receive, op->count, MPI_CHAR, op->root,
                       op->comm));
    move_root(op);
}

static void start_iscatter(struct bl_operation *op)
{
    BL_MPI(MPI_Iscatter(op->send, op->count, MPI_CHAR, op->receive, op->count, MPI_CHAR, op->root,
                        op->comm, op->requests));
    started(op);
}

/* ---- all to one, all to all ---- */

static void fill_own(struct bl_operation *op)
{
    bl_pattern_fill(op->send, op->size_bytes, op->rank, BL_TO_ALL);
    for (int rank = 0; rank < op->ranks; rank++)
        bl_pattern_scrub(block(op->receive, op, rank), op->size_bytes, rank, BL_TO_ALL);
}

static bool check_blocks(const struct bl_operation *op)
{
    for (int rank = 0; rank < op->ranks; rank++) {
        if (!bl_pattern_matches(block(op->receive, op, rank), op->size_bytes, rank, BL_TO_ALL))
            return false;
    }
    return true;
}

static bool check_blocks_at_root(const struct bl_operation *op)
{
    return op->rank != op->root || check_blocks(op);
}

static void call_gather(struct bl_operation *op)
{
    BL_MPI(MPI_Gather(op->send, op->count, MPI_CHAR, op->receive, op->count, MPI_CHAR, op->root,
                      op->comm));
    move_root(op);
}

static void start_igather(struct bl_operation *op)
{
    BL_MPI(MPI_Igather(op->send, op->count, MPI_CHAR, op->receive, op->count, MPI_CHAR, op->root,
                       op->comm, op->requests));
    started(op);
}

static void call_allgather(struct bl_operation *op)
{
    BL_MPI(
        MPI_Allgather(op->send, op->count, MPI_CHAR, op->receive, op->count, MPI_CHAR, op->comm));
}

static void start_iallgather(struct bl_operation *op)
{
    BL_MPI(MPI_Iallgather(op->send, op->count, MPI_CHAR, op->receive, op->count, MPI_CHAR, op->comm,
                          op->requests));
    started(op);
}

static void fill_blocks(struct bl_operation *op)
{
    for (int rank = 0; rank < op->ranks; rank++) {
        bl_pattern_fill(block(op->send, op, rank), op->size_bytes, op->rank, rank);
        bl_pattern_scrub(block(op->receive, op, rank), op->size_bytes, rank, op->rank);
    }
}

static bool check_blocks_for_me(const struct bl_operation *op)
{
    for (int rank = 0; rank < op->ranks; rank++) {
        if (!bl_pattern_matches(block(op->receive, op, rank), op->size_bytes, rank, op->rank))
            return false;
    }
    return true;
}

static void call_alltoall(struct bl_operation *op)
{
    BL_MPI(MPI_Alltoall(op->send, op->count, MPI_CHAR, op->receive, op->count, MPI_CHAR, op->comm));
}

static void start_ialltoall(struct bl_operation *op)
{
    BL_MPI(MPI_Ialltoall(op->send, op->count, MPI_CHAR, op->receive, op->count, MPI_CHAR, op->comm,
                         op->requests));
    started(op);
}

/* ---- barrier ---- */

static void call_barrier(struct bl_operation *op)
{
    BL_MPI(MPI_Barrier(op->comm));
}

static void start_ibarrier(struct bl_operation *op)
{
    BL_MPI(MPI_Ibarrier(op->comm, op->requests));
    started(op);
}

/*
 * Nobody may leave before the last one came. The late rank sleeps between an allreduce and its
 * barrier. Whoever came into that allreduce did so before the late rank left it, so from there to
 * the end of the barrier everybody must count at least the sleep, by local clocks alone.
 */
static bool waits_for(const struct bl_operation *op, int late)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    int here = 1, all;
    const int64_t begin_ns = bl_clock_ns();
    BL_MPI(MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_SUM, op->comm));
    if (op->rank == late)
        nanosleep(&pause, NULL);
    struct bl_operation again = *op;
    op->benchmark->call(&again);
    return bl_clock_ns() - begin_ns >= pause.tv_nsec;
}

static bool check_waiting(const struct bl_operation *op)
{
    const bool for_first = waits_for(op, 0);
    const bool for_last = waits_for(op, op->ranks - 1);
    return for_first && for_last;
}

/* ---- the table: what a function's two forms share, then both ---- */

#define COLLECTIVE                                                                                 \
    .iterations = {.small = 1000, .large = 100}, .warmup = {.small = 100, .large = 10},            \
    .team = BL_TEAM_ALL, .ranks_min = 2, .synchronised = true, .time_share = 1

#define REDUCTION                                                                                  \
    COLLECTIVE, .element = BL_DOUBLES, .size_min_bytes = sizeof(double),                           \
                .size_max_bytes = 4 << 20, .send_extent = BL_EXTENT_ONE,                           \
                .receive_extent = BL_EXTENT_ONE, .fill = fill_terms

#define MOVEMENT(sent, received)                                                                   \
    COLLECTIVE, .element = BL_BYTES, .size_min_bytes = 1, .size_max_bytes = 4 << 20,               \
                .send_extent = BL_EXTENT_##sent, .receive_extent = BL_EXTENT_##received

#define ALLREDUCE REDUCTION, .check = check_sum
#define REDUCE REDUCTION, .rooted = true, .check = check_sum_at_root
#define REDUCE_SCATTER REDUCTION, .prepare = prepare_parts, .check = check_part_of_sum
#define BCAST MOVEMENT(ONE, NONE), .rooted = true, .fill = fill_root, .check = check_from_root
#define SCATTER                                                                                    \
    MOVEMENT(RANKS, ONE), .rooted = true, .fill = fill_blocks_of_root, .check = check_own_block
#define GATHER MOVEMENT(ONE, RANKS), .rooted = true, .fill = fill_own, .check = check_blocks_at_root
#define ALLGATHER MOVEMENT(ONE, RANKS), .fill = fill_own, .check = check_blocks
#define ALLTOALL MOVEMENT(RANKS, RANKS), .fill = fill_blocks, .check = check_blocks_for_me
#define BARRIER COLLECTIVE, .element = BL_NO_SIZE, .check = check_waiting

#define BLOCKING(function, OSU, IMB, text)                                                         \
    .name = #function, .osu = OSU, .imb = IMB, .title = text, .call = call_##function
#define OVERLAP(function, text)                                                                    \
    .name = "overlap_" #function, .osu = "osu_" #function,                                         \
    .title = "computation hidden behind " text, .start = start_##function,                         \
    .point = bl_point_overlap

const struct bl_benchmark bl_collectives[] = {
    {BLOCKING(allreduce, "osu_allreduce", "Allreduce", "MPI_Allreduce, sum of doubles"), ALLREDUCE},
    {BLOCKING(reduce, "osu_reduce", "Reduce", "MPI_Reduce, sum of doubles"), REDUCE},
    {BLOCKING(reduce_scatter, "osu_reduce_scatter", "Reduce_scatter",
              "MPI_Reduce_scatter, sum of doubles; size of the whole vector"),
     REDUCE_SCATTER},
    {BLOCKING(bcast, "osu_bcast", "Bcast", "MPI_Bcast"), BCAST},
    {BLOCKING(scatter, "osu_scatter", "Scatter", "MPI_Scatter; size of one rank's block"), SCATTER},
    {BLOCKING(gather, "osu_gather", "Gather", "MPI_Gather; size of one rank's block"), GATHER},
    {BLOCKING(allgather, "osu_allgather", "Allgather", "MPI_Allgather; size of one rank's block"),
     ALLGATHER},
    {BLOCKING(alltoall, "osu_alltoall", "Alltoall", "MPI_Alltoall; size of one block"), ALLTOALL},
    {BLOCKING(barrier, "osu_barrier", "Barrier", "MPI_Barrier"), BARRIER},
    {OVERLAP(iallreduce, "MPI_Iallreduce"), ALLREDUCE},
    {OVERLAP(ireduce, "MPI_Ireduce"), REDUCE},
    {OVERLAP(ireduce_scatter, "MPI_Ireduce_scatter"), REDUCE_SCATTER},
    {OVERLAP(ibcast, "MPI_Ibcast"), BCAST},
    {OVERLAP(iscatter, "MPI_Iscatter"), SCATTER},
    {OVERLAP(igather, "MPI_Igather"), GATHER},
    {OVERLAP(iallgather, "MPI_Iallgather"), ALLGATHER},
    {OVERLAP(ialltoall, "MPI_Ialltoall"), ALLTOALL},
    {OVERLAP(ibarrier, "MPI_Ibarrier"), BARRIER},
    {0},
};
