/*
 * What starting up takes: MPI_Init, and the first message between two ranks. Every launch of
 * mpibench times both; these benchmarks tell them.
 *
 * Exported: bl_startup. Its functions are collective over op->comm.
 */
#include "bl_summary.h"
#include "check.h"
#include "families.h"
#include "world.h"

static double over_ranks(const struct bl_operation *op, double value, MPI_Op how)
{
    double result;
    BL_MPI(MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, how, op->comm));
    return result;
}

static const char *point_init(struct bl_operation *op, struct bl_json *json)
{
    const double init_s = op->world->init_s;
    const double mean_s = over_ranks(op, init_s, MPI_SUM) / op->ranks;
    const double min_s = over_ranks(op, init_s, MPI_MIN);
    double max_s = over_ranks(op, init_s, MPI_MAX);
    if (op->rank != 0)
        return NULL;
    const struct bl_summary summary = bl_summarise(&max_s, 1);
    bl_json_integer(json, "iterations", 1);
    bl_json_integer(json, "iterations_asked", 1);
    bl_json_bool(json, "verified", true); /* the sums above went over all ranks */
    bl_json_summary(json, "time", &summary);
    bl_json_number(json, "rank_mean", mean_s);
    bl_json_number(json, "rank_mean_min", min_s);
    bl_json_number(json, "rank_mean_max", max_s);
    return NULL;
}

/* Of two that exchange at once the one that came last did not wait for the other to come. */
static const char *point_first(struct bl_operation *op, struct bl_json *json)
{
    double first_s = over_ranks(op, op->world->first_s, MPI_MIN);
    const double next_s = over_ranks(op, op->world->next_s, MPI_MIN);
    if (op->rank != 0)
        return NULL;
    const struct bl_summary summary = bl_summarise(&first_s, 1);
    bl_json_integer(json, "iterations", 1);
    bl_json_integer(json, "iterations_asked", 1);
    bl_json_bool(json, "verified", true); /* it came, or nothing would have gone on */
    bl_json_summary(json, "time", &summary);
    bl_json_number(json, "next", next_s);
    return NULL;
}

const struct bl_benchmark bl_startup[] = {
    {
        .name = "init",
        .osu = "osu_init",
        .title = "MPI_Init, once a launch",
        .element = BL_NO_SIZE,
        .team = BL_TEAM_ALL,
        .ranks_min = 1,
        .point = point_init,
    },
    {
        .name = "first_message",
        .title = "the first message between the first and the last rank, once a launch",
        .element = BL_NO_SIZE,
        .team = BL_TEAM_ENDS,
        .ranks_min = 2,
        .point = point_first,
    },
    {0},
};
