/*
 * All ranks in a ring, each sending to and receiving from both neighbours at once: HPC Challenge's
 * ring latency and bandwidth, in natural order and over random orders.
 *
 * Exported: bl_rings. The functions of each entry are collective over op->comm.
 *
 * HPC Challenge's definitions (P. Luszczek et al. (2006), The HPC Challenge Benchmark Suite,
 * doi:10.1145/1188455.1188677): each rank sends two messages, so the time of a message is half of
 * an iteration; two MPI_Sendrecv and four non-blocking calls are tried, the faster counts; the
 * slowest rank counts; over the random orders the geometric mean is taken; the bandwidth of a rank
 * is the size over the time of a message. The plain loop (`loop_mean_max`) is its counterpart.
 * Here the series pools the timed iterations of all orders, and its means are geometric as well.
 */
#include "bl_clock.h"
#include "bl_memory.h"
#include "check.h"
#include "engine.h"
#include "families.h"
#include "pattern.h"
#include "report.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_TO_RIGHT = 1, TAG_TO_LEFT = 2 };
enum { TO_RIGHT, TO_LEFT }; /* halves of the buffer to send; the other one receives alike */
enum method { SENDRECV, NONBLOCKING, METHODS };

static double bytes_sent(const struct bl_operation *op)
{
    return 2.0 * (double)op->size_bytes;
}

static unsigned char *half(unsigned char *buffer, const struct bl_operation *op, int way)
{
    return buffer + (size_t)way * op->size_bytes;
}

/* With two ranks both neighbours are the same: the way is part of the receiver's name. */
static int named(int rank, int way)
{
    return 2 * rank + way;
}

static void fill_ring(struct bl_operation *op)
{
    const size_t n = op->size_bytes;
    bl_pattern_fill(half(op->send, op, TO_RIGHT), n, op->rank, named(op->right, TO_RIGHT));
    bl_pattern_fill(half(op->send, op, TO_LEFT), n, op->rank, named(op->left, TO_LEFT));
    bl_pattern_scrub(half(op->receive, op, TO_RIGHT), n, op->left, named(op->rank, TO_RIGHT));
    bl_pattern_scrub(half(op->receive, op, TO_LEFT), n, op->right, named(op->rank, TO_LEFT));
}

static bool check_ring(const struct bl_operation *op)
{
    const size_t n = op->size_bytes;
    return bl_pattern_matches(half(op->receive, op, TO_RIGHT), n, op->left,
                              named(op->rank, TO_RIGHT)) &&
           bl_pattern_matches(half(op->receive, op, TO_LEFT), n, op->right,
                              named(op->rank, TO_LEFT));
}

static void call_sendrecv_twice(struct bl_operation *op)
{
    BL_MPI(MPI_Sendrecv(half(op->send, op, TO_RIGHT), op->count, MPI_CHAR, op->right, TAG_TO_RIGHT,
                        half(op->receive, op, TO_RIGHT), op->count, MPI_CHAR, op->left,
                        TAG_TO_RIGHT, op->comm, MPI_STATUS_IGNORE));
    BL_MPI(MPI_Sendrecv(half(op->send, op, TO_LEFT), op->count, MPI_CHAR, op->left, TAG_TO_LEFT,
                        half(op->receive, op, TO_LEFT), op->count, MPI_CHAR, op->right, TAG_TO_LEFT,
                        op->comm, MPI_STATUS_IGNORE));
}

static void call_nonblocking(struct bl_operation *op)
{
    MPI_Request *requests = op->requests;
    BL_MPI(MPI_Irecv(half(op->receive, op, TO_RIGHT), op->count, MPI_CHAR, op->left, TAG_TO_RIGHT,
                     op->comm, &requests[0]));
    BL_MPI(MPI_Irecv(half(op->receive, op, TO_LEFT), op->count, MPI_CHAR, op->right, TAG_TO_LEFT,
                     op->comm, &requests[1]));
    BL_MPI(MPI_Isend(half(op->send, op, TO_RIGHT), op->count, MPI_CHAR, op->right, TAG_TO_RIGHT,
                     op->comm, &requests[2]));
    BL_MPI(MPI_Isend(half(op->send, op, TO_LEFT), op->count, MPI_CHAR, op->left, TAG_TO_LEFT,
                     op->comm, &requests[3]));
    BL_MPI(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
}

/* splitmix64 of G. Steele et al. (2014), doi:10.1145/2714064.2660195. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Every rank shuffles alike (Fisher and Yates), then looks for its own place. */
static void set_random_neighbours(struct bl_operation *op, uint64_t *state)
{
    const int ranks = op->ranks;
    int *order = op->counts;
    for (int i = 0; i < ranks; i++)
        order[i] = i;
    for (int i = ranks - 1; i > 0; i--) {
        const int j = (int)(next_random(state) % (uint64_t)(i + 1));
        const int moved = order[i];
        order[i] = order[j];
        order[j] = moved;
    }
    for (int i = 0; i < ranks; i++) {
        if (order[i] == op->rank) {
            op->left = order[(i + ranks - 1) % ranks];
            op->right = order[(i + 1) % ranks];
        }
    }
}

/* Measures one order with the faster method. False when it is too slow; `into` then says how slow.
 */
static bool measure_order(struct bl_operation *op, const struct bl_effort *effort,
                          struct bl_measurement *into, int chosen[METHODS])
{
    static void (*const calls[METHODS])(struct bl_operation *) = {call_sendrecv_twice,
                                                                  call_nonblocking};
    const struct bl_benchmark *ring = op->benchmark;
    struct bl_measurement tried[METHODS] = {{0}};
    bool measured = true;
    for (int method = 0; method < METHODS && measured; method++) {
        struct bl_benchmark variant = *ring;
        variant.call = calls[method];
        op->benchmark = &variant;
        bl_verify(op);
        measured = bl_measure(op, effort, &tried[method]);
        into->estimate_s = tried[method].estimate_s;
        op->benchmark = ring;
    }
    if (measured) {
        const enum method faster =
            tried[SENDRECV].loop_mean_max_s < tried[NONBLOCKING].loop_mean_max_s ? SENDRECV
                                                                                 : NONBLOCKING;
        chosen[faster]++;
        *into = tried[faster];
        tried[faster].time_s = NULL;
    }
    for (int method = 0; method < METHODS; method++)
        bl_measurement_free(&tried[method]);
    return measured;
}

/* Adds an order to the pool; the means are sums of logarithms until `finish_pool`. */
static void pool_order(struct bl_measurement *pool, struct bl_measurement *order)
{
    memcpy(pool->time_s + pool->iterations, order->time_s,
           (size_t)order->iterations * sizeof *order->time_s);
    pool->iterations += order->iterations;
    pool->loop_iterations += order->loop_iterations;
    pool->loop_mean_s += log(order->loop_mean_s);
    pool->loop_mean_max_s += log(order->loop_mean_max_s);
    pool->rank_mean_s += log(order->rank_mean_s);
    pool->rank_mean_min_s += log(order->rank_mean_min_s);
    pool->rank_mean_max_s += log(order->rank_mean_max_s);
    bl_measurement_free(order);
}

static void finish_pool(struct bl_measurement *pool, int orders)
{
    double *const sums[] = {&pool->loop_mean_s, &pool->loop_mean_max_s, &pool->rank_mean_s,
                            &pool->rank_mean_min_s, &pool->rank_mean_max_s};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        *sums[i] = exp(*sums[i] / orders);
}

static bool over_budget(struct bl_operation *op, int64_t begin_ns)
{
    int over = BL_SECONDS_PER_NS * (double)(bl_clock_ns() - begin_ns) > op->options->budget_s;
    BL_MPI(MPI_Bcast(&over, 1, MPI_INT, 0, op->comm));
    return over;
}

static const char *measure_orders(struct bl_operation *op, struct bl_json *json, bool random,
                                  int asked)
{
    struct bl_effort effort = bl_effort_of(op);
    effort.budget_s /= asked * METHODS;
    effort.cut_above_s /= METHODS;
    struct bl_measurement pool = {
        .time_s = bl_allocate((size_t)asked * (size_t)effort.iterations * sizeof(double),
                              "the times of all ring orders")};
    uint64_t state = op->options->seed;
    int chosen[METHODS] = {0};
    int orders = 0;
    const char *reason = NULL;
    const int64_t begin_ns = bl_clock_ns();
    while (orders < asked && !reason && (orders == 0 || !over_budget(op, begin_ns))) {
        struct bl_measurement order = {0};
        if (random)
            set_random_neighbours(op, &state);
        if (measure_order(op, &effort, &order, chosen)) {
            pool_order(&pool, &order);
            orders++;
        } else {
            reason = bl_cut_reason(&effort, order.estimate_s);
        }
    }
    if (!reason)
        finish_pool(&pool, orders);
    if (!reason && op->rank == 0) {
        effort.iterations *= asked;
        bl_report_measurement(json, op, &effort, &pool);
        bl_json_integer(json, "orders", orders);
        bl_json_integer(json, "orders_asked", asked);
        bl_json_integer(json, "orders_sendrecv", chosen[SENDRECV]);
        bl_json_integer(json, "orders_nonblocking", chosen[NONBLOCKING]);
    }
    bl_measurement_free(&pool);
    return reason;
}

static const char *point_natural(struct bl_operation *op, struct bl_json *json)
{
    return measure_orders(op, json, false, 1);
}

static const char *point_random(struct bl_operation *op, struct bl_json *json)
{
    return measure_orders(op, json, true, op->options->permutations);
}

/* HPC Challenge's sizes: latency, bandwidth. */
static const size_t hpcc_sizes_bytes[] = {8, 2000000, 0};

#define RING                                                                                       \
    .element = BL_BYTES, .size_min_bytes = 1, .size_max_bytes = 4 << 20,                           \
    .sizes_bytes = hpcc_sizes_bytes, .iterations = {.small = 1000, .large = 100},                  \
    .warmup = {.small = 100, .large = 10}, .team = BL_TEAM_ALL, .ranks_min = 2,                    \
    .send_extent = BL_EXTENT_TWO, .receive_extent = BL_EXTENT_TWO, .synchronised = true,           \
    .time_share = 0.5, .bytes = bytes_sent, .fill = fill_ring, .check = check_ring

const struct bl_benchmark bl_rings[] = {
    {
        .name = "ring_natural",
        .title = "HPC Challenge's naturally ordered ring: time of a message, bandwidth of a rank",
        .point = point_natural,
        RING,
    },
    {
        .name = "ring_random",
        .title = "HPC Challenge's randomly ordered ring: time of a message, bandwidth of a rank",
        .point = point_random,
        RING,
    },
    {0},
};
