/*
 * Two ranks, the first and the last of the job: ping-pong.
 *
 * Exported: bl_point_to_point. The functions of each entry are collective over op->comm.
 */
#include "check.h"
#include "families.h"
#include "pattern.h"

enum { TAG_DATA = 1 };

static bool first_rank(const struct bl_operation *op)
{
    return op->rank == 0;
}

static void fill_pair(struct bl_operation *op)
{
    const int other = 1 - op->rank;
    bl_pattern_fill(op->send, op->size_bytes, op->rank, other);
    bl_pattern_scrub(op->receive, op->size_bytes, other, op->rank);
}

static bool check_pair(const struct bl_operation *op)
{
    return bl_pattern_matches(op->receive, op->size_bytes, 1 - op->rank, op->rank);
}

static void call_pingpong(struct bl_operation *op)
{
    if (op->rank == 0) {
        BL_MPI(MPI_Send(op->send, op->count, MPI_CHAR, 1, TAG_DATA, op->comm));
        BL_MPI(
            MPI_Recv(op->receive, op->count, MPI_CHAR, 1, TAG_DATA, op->comm, MPI_STATUS_IGNORE));
    } else {
        BL_MPI(
            MPI_Recv(op->receive, op->count, MPI_CHAR, 0, TAG_DATA, op->comm, MPI_STATUS_IGNORE));
        BL_MPI(MPI_Send(op->send, op->count, MPI_CHAR, 0, TAG_DATA, op->comm));
    }
}

const struct bl_benchmark bl_point_to_point[] = {
    {
        .name = "pingpong",
        .osu = "osu_latency",
        .imb = "PingPong",
        .title = "latency: half the round trip between the first and the last rank",
        .element = BL_BYTES,
        .size_min_bytes = 0,
        .size_max_bytes = 4 << 20,
        .iterations = {.small = 10000, .large = 1000},
        .warmup = {.small = 100, .large = 10},
        .team = BL_TEAM_ENDS,
        .ranks_min = 2,
        .send_extent = BL_EXTENT_ONE,
        .receive_extent = BL_EXTENT_ONE,
        .time_share = 0.5,
        .timed = first_rank,
        .fill = fill_pair,
        .call = call_pingpong,
        .check = check_pair,
    },
    {0},
};
