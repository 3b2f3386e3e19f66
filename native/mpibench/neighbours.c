/*
 * All ranks in a ring by their numbers, each with its two neighbours, as IMB's parallel transfers.
 *
 * Exported: bl_neighbours. The functions of each entry are collective over op->comm.
 */
#include "check.h"
#include "families.h"
#include "pattern.h"

enum { TAG_TO_RIGHT = 1, TAG_TO_LEFT = 2 };

/* In and out of one rank, as IMB counts. */
static double bytes_one_neighbour(const struct bl_operation *op)
{
    return 2.0 * (double)op->size_bytes;
}

static double bytes_two_neighbours(const struct bl_operation *op)
{
    return 4.0 * (double)op->size_bytes;
}

static void fill_to_right(struct bl_operation *op)
{
    bl_pattern_fill(op->send, op->size_bytes, op->rank, op->right);
    bl_pattern_scrub(op->receive, op->size_bytes, op->left, op->rank);
}

static bool check_from_left(const struct bl_operation *op)
{
    return bl_pattern_matches(op->receive, op->size_bytes, op->left, op->rank);
}

static void call_sendrecv(struct bl_operation *op)
{
    BL_MPI(MPI_Sendrecv(op->send, op->count, MPI_CHAR, op->right, TAG_TO_RIGHT, op->receive,
                        op->count, MPI_CHAR, op->left, TAG_TO_RIGHT, op->comm, MPI_STATUS_IGNORE));
}

/* A message for each neighbour, from a place of its own and to one, as the faces of a subdomain. */
static unsigned char *second(unsigned char *buffer, const struct bl_operation *op)
{
    return buffer + op->size_bytes;
}

/* Who receives from whom is marked with the receiver's side: with two ranks both are the same. */
static void fill_to_both(struct bl_operation *op)
{
    bl_pattern_fill(op->send, op->size_bytes, op->rank, TAG_TO_RIGHT);
    bl_pattern_fill(second(op->send, op), op->size_bytes, op->rank, TAG_TO_LEFT);
    bl_pattern_scrub(op->receive, op->size_bytes, op->left, TAG_TO_RIGHT);
    bl_pattern_scrub(second(op->receive, op), op->size_bytes, op->right, TAG_TO_LEFT);
}

static bool check_from_both(const struct bl_operation *op)
{
    return bl_pattern_matches(op->receive, op->size_bytes, op->left, TAG_TO_RIGHT) &&
           bl_pattern_matches(second(op->receive, op), op->size_bytes, op->right, TAG_TO_LEFT);
}

/* To the right first and from the left first, as IMB: between two ranks messages are received in
 * the order in which they were sent, and none waits among the unexpected ones for the other. */
static void call_exchange(struct bl_operation *op)
{
    BL_MPI(MPI_Isend(op->send, op->count, MPI_CHAR, op->right, TAG_TO_RIGHT, op->comm,
                     &op->requests[0]));
    BL_MPI(MPI_Isend(second(op->send, op), op->count, MPI_CHAR, op->left, TAG_TO_LEFT, op->comm,
                     &op->requests[1]));
    BL_MPI(MPI_Recv(op->receive, op->count, MPI_CHAR, op->left, TAG_TO_RIGHT, op->comm,
                    MPI_STATUS_IGNORE));
    BL_MPI(MPI_Recv(second(op->receive, op), op->count, MPI_CHAR, op->right, TAG_TO_LEFT, op->comm,
                    MPI_STATUS_IGNORE));
    BL_MPI(MPI_Waitall(2, op->requests, MPI_STATUSES_IGNORE));
}

#define NEIGHBOURS                                                                                 \
    .element = BL_BYTES, .size_min_bytes = 0, .size_max_bytes = 4 << 20,                           \
    .iterations = {.small = 1000, .large = 100}, .warmup = {.small = 100, .large = 10},            \
    .team = BL_TEAM_ALL, .ranks_min = 2, .synchronised = true, .time_share = 1

const struct bl_benchmark bl_neighbours[] = {
    {
        .name = "sendrecv",
        .imb = "Sendrecv",
        .title = "MPI_Sendrecv around a ring: to the right, from the left",
        .send_extent = BL_EXTENT_ONE,
        .receive_extent = BL_EXTENT_ONE,
        .bytes = bytes_one_neighbour,
        .fill = fill_to_right,
        .call = call_sendrecv,
        .check = check_from_left,
        NEIGHBOURS,
    },
    {
        .name = "exchange",
        .imb = "Exchange",
        .title = "boundary exchange with both neighbours in a ring",
        .send_extent = BL_EXTENT_TWO,
        .receive_extent = BL_EXTENT_TWO,
        .bytes = bytes_two_neighbours,
        .fill = fill_to_both,
        .call = call_exchange,
        .check = check_from_both,
        NEIGHBOURS,
    },
    {0},
};
