/*
 * Collective functions over all ranks.
 *
 * Exported: bl_collectives. The functions of each entry are collective over op->comm.
 * Sizes are OSU's and IMB's: the whole vector of a reduction, one rank's block otherwise.
 */
#include "check.h"
#include "families.h"
#include "pattern.h"

static void fill_terms(struct bl_operation *op)
{
    bl_terms_fill(op->send, op->count, op->rank);
    bl_terms_scrub(op->receive, op->count);
}

static bool check_sum(const struct bl_operation *op)
{
    return bl_terms_sum_matches(op->receive, op->count, 0, op->ranks);
}

static void call_allreduce(struct bl_operation *op)
{
    BL_MPI(MPI_Allreduce(op->send, op->receive, op->count, MPI_DOUBLE, MPI_SUM, op->comm));
}

#define COLLECTIVE                                                                                 \
    .size_max_bytes = 4 << 20, .iterations = {.small = 1000, .large = 100},                        \
    .warmup = {.small = 100, .large = 10}, .team = BL_TEAM_ALL, .ranks_min = 2,                    \
    .synchronised = true, .time_share = 1

const struct bl_benchmark bl_collectives[] = {
    {
        .name = "allreduce",
        .osu = "osu_allreduce",
        .imb = "Allreduce",
        .title = "MPI_Allreduce, sum of doubles",
        .element = BL_DOUBLES,
        .size_min_bytes = sizeof(double),
        .send_extent = BL_EXTENT_ONE,
        .receive_extent = BL_EXTENT_ONE,
        .fill = fill_terms,
        .call = call_allreduce,
        .check = check_sum,
        COLLECTIVE,
    },
    {0},
};
