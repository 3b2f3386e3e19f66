/*
 * Messages between pairs of ranks: ping-pong, and windows of messages in flight.
 *
 * Exported: bl_point_to_point. The functions of each entry are collective over op->comm.
 *
 * A window's messages share one buffer to send from and one to receive into, as OSU's programs do
 * by default: many buffers would measure the caches.
 */
#include "check.h"
#include "families.h"
#include "overhead.h"
#include "overlap.h"
#include "pattern.h"

enum { TAG_DATA = 1, TAG_DONE = 2 };

/* The lower half of the ranks sends to the upper half. */
static bool sender(const struct bl_operation *op)
{
    return op->rank < op->peer;
}

static double bytes_both_ways(const struct bl_operation *op)
{
    return 2.0 * (double)op->size_bytes;
}

/* Messages that all senders have on the way in one call. */
static double messages_of_windows(const struct bl_operation *op)
{
    return (double)(op->ranks / 2) * op->options->window;
}

static double bytes_of_windows(const struct bl_operation *op)
{
    return messages_of_windows(op) * (double)op->size_bytes;
}

static double bytes_of_windows_both_ways(const struct bl_operation *op)
{
    return 2 * bytes_of_windows(op);
}

static void fill_pair(struct bl_operation *op)
{
    bl_pattern_fill(op->send, op->size_bytes, op->rank, op->peer);
    bl_pattern_scrub(op->receive, op->size_bytes, op->peer, op->rank);
}

static bool check_pair(const struct bl_operation *op)
{
    return bl_pattern_matches(op->receive, op->size_bytes, op->peer, op->rank);
}

static bool check_receivers(const struct bl_operation *op)
{
    return sender(op) || check_pair(op);
}

static void send_data(struct bl_operation *op)
{
    BL_MPI(MPI_Send(op->send, op->count, MPI_CHAR, op->peer, TAG_DATA, op->comm));
}

static void receive_data(struct bl_operation *op)
{
    BL_MPI(MPI_Recv(op->receive, op->count, MPI_CHAR, op->peer, TAG_DATA, op->comm,
                    MPI_STATUS_IGNORE));
}

static void call_pingpong(struct bl_operation *op)
{
    if (op->rank == 0) {
        send_data(op);
        receive_data(op);
    } else {
        receive_data(op);
        send_data(op);
    }
}

static void post_sends(struct bl_operation *op, MPI_Request *requests)
{
    for (int i = 0; i < op->options->window; i++)
        BL_MPI(
            MPI_Isend(op->send, op->count, MPI_CHAR, op->peer, TAG_DATA, op->comm, &requests[i]));
}

static void post_receives(struct bl_operation *op, MPI_Request *requests)
{
    for (int i = 0; i < op->options->window; i++)
        BL_MPI(MPI_Irecv(op->receive, op->count, MPI_CHAR, op->peer, TAG_DATA, op->comm,
                         &requests[i]));
}

/* The receiver answers a whole window with one short message. */
static void call_window(struct bl_operation *op)
{
    const int window = op->options->window;
    char done = 0;
    if (sender(op)) {
        post_sends(op, op->requests);
        BL_MPI(MPI_Waitall(window, op->requests, MPI_STATUSES_IGNORE));
        BL_MPI(MPI_Recv(&done, 1, MPI_CHAR, op->peer, TAG_DONE, op->comm, MPI_STATUS_IGNORE));
    } else {
        post_receives(op, op->requests);
        BL_MPI(MPI_Waitall(window, op->requests, MPI_STATUSES_IGNORE));
        BL_MPI(MPI_Send(&done, 1, MPI_CHAR, op->peer, TAG_DONE, op->comm));
    }
}

static void call_window_both_ways(struct bl_operation *op)
{
    const int window = op->options->window;
    post_receives(op, op->requests);
    post_sends(op, op->requests + window);
    BL_MPI(MPI_Waitall(2 * window, op->requests, MPI_STATUSES_IGNORE));
}

static void start_exchange(struct bl_operation *op)
{
    BL_MPI(MPI_Irecv(op->receive, op->count, MPI_CHAR, op->peer, TAG_DATA, op->comm,
                     &op->requests[0]));
    BL_MPI(
        MPI_Isend(op->send, op->count, MPI_CHAR, op->peer, TAG_DATA, op->comm, &op->requests[1]));
    op->active = 2;
}

#define PAIRED                                                                                     \
    .element = BL_BYTES, .size_max_bytes = 4 << 20, .ranks_min = 2, .send_extent = BL_EXTENT_ONE,  \
    .receive_extent = BL_EXTENT_ONE, .fill = fill_pair

#define WINDOWED                                                                                   \
    PAIRED, .size_min_bytes = 1, .iterations = {.small = 100, .large = 20},                        \
            .warmup = {.small = 10, .large = 2}, .rate_only = true, .time_share = 1,               \
            .timed = sender

const struct bl_benchmark bl_point_to_point[] = {
    {
        .name = "pingpong",
        .osu = "osu_latency",
        .imb = "PingPong",
        .title = "latency: half the round trip between the first and the last rank",
        .team = BL_TEAM_ENDS,
        .size_min_bytes = 0,
        .iterations = {.small = 10000, .large = 1000},
        .warmup = {.small = 100, .large = 10},
        .time_share = 0.5,
        .timed = sender,
        .bytes = bytes_both_ways,
        .call = call_pingpong,
        .check = check_pair,
        PAIRED,
    },
    {
        .name = "overhead",
        .title = "MPI_Send, and MPI_Recv of a message that lies there, between the first and the "
                 "last rank",
        .team = BL_TEAM_ENDS,
        .size_min_bytes = 1,
        .iterations = {.small = 200, .large = 100},
        .time_share = 1,
        .call = call_pingpong,
        .check = check_pair,
        .point = bl_point_overhead,
        PAIRED,
    },
    {
        .name = "bandwidth",
        .osu = "osu_bw",
        .imb = "Uniband",
        .title = "bandwidth of a window of messages from the first to the last rank",
        .team = BL_TEAM_ENDS,
        .bytes = bytes_of_windows,
        .call = call_window,
        .check = check_receivers,
        WINDOWED,
    },
    {
        .name = "bibandwidth",
        .osu = "osu_bibw",
        .imb = "Biband",
        .title = "bandwidth of windows both ways between the first and the last rank",
        .team = BL_TEAM_ENDS,
        .bytes = bytes_of_windows_both_ways,
        .call = call_window_both_ways,
        .check = check_pair,
        WINDOWED,
    },
    {
        .name = "multi_pair",
        .osu = "osu_mbw_mr",
        .imb = "Uniband",
        .title = "bandwidth and message rate of all pairs together, lower to upper half",
        .team = BL_TEAM_PAIRS,
        .bytes = bytes_of_windows,
        .messages = messages_of_windows,
        .call = call_window,
        .check = check_receivers,
        WINDOWED,
    },
    {
        .name = "overlap_p2p",
        .title = "computation hidden behind MPI_Isend and MPI_Irecv between all pairs",
        .team = BL_TEAM_PAIRS,
        .size_min_bytes = 1,
        .iterations = {.small = 1000, .large = 100},
        .warmup = {.small = 100, .large = 10},
        .synchronised = true,
        .time_share = 1,
        .start = start_exchange,
        .check = check_pair,
        .point = bl_point_overlap,
        PAIRED,
    },
    {0},
};
