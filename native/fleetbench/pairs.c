/*
 * Links: rounds of disjoint pairs.
 *
 * Short messages of a round's pairs go at once: they fill no link, and a fleet of 1,024 is through
 * in milliseconds. Long ones go one pair after another, since pairs that share a switch or an
 * uplink would take from each other and look like bad links; --together wants just that. Both ends
 * send at once, so that a link that is slow one way shows. Whoever has nothing to do sleeps.
 */
#include "bl_clock.h"
#include "bl_error.h"
#include "bl_memory.h"
#include "bl_summary.h"
#include "check.h"
#include "fleetbench.h"
#include "schedule.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG_SHORT = 1, TAG_LONG, TAG_TURN };
enum { SHORT_BYTES = 8, WARMUP = 5, LARGEST_TOURNAMENT = 32 };

struct link {
    int a, b;
    double latency_s;
    double bandwidth;
};

struct fleet {
    const struct bl_fleet_options *options;
    int rank;
    char *sent, *received;
    double *times_s;
};

static void nap(void)
{
    const struct timespec pause = {.tv_nsec = 50000};
    nanosleep(&pause, NULL);
}

/* A barrier that loads no core. */
static void gather_quietly(void)
{
    MPI_Request request;
    BL_MPI(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    for (int done = 0; !done; done || (nap(), 0))
        BL_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
}

/* Waits for its turn, which whoever had the one before gives. */
static void wait_turn(int giver)
{
    int there = 0;
    while (!there) {
        BL_MPI(MPI_Iprobe(giver, TAG_TURN, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE));
        if (!there)
            nap();
    }
    BL_MPI(MPI_Recv(NULL, 0, MPI_CHAR, giver, TAG_TURN, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void give_turn(int taker)
{
    BL_MPI(MPI_Send(NULL, 0, MPI_CHAR, taker, TAG_TURN, MPI_COMM_WORLD));
}

/* Half the median round trip of a short message, in s. */
static double latency_of(struct fleet *fleet, struct bl_pair pair)
{
    const bool leads = fleet->rank == pair.a;
    const int peer = leads ? pair.b : pair.a, iterations = fleet->options->iterations;
    for (int i = -WARMUP; i < iterations; i++) {
        const int64_t begin_ns = bl_clock_ns();
        if (leads)
            BL_MPI(MPI_Send(fleet->sent, SHORT_BYTES, MPI_CHAR, peer, TAG_SHORT, MPI_COMM_WORLD));
        BL_MPI(MPI_Recv(fleet->received, SHORT_BYTES, MPI_CHAR, peer, TAG_SHORT, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        if (!leads)
            BL_MPI(MPI_Send(fleet->sent, SHORT_BYTES, MPI_CHAR, peer, TAG_SHORT, MPI_COMM_WORLD));
        if (i >= 0)
            fleet->times_s[i] = BL_SECONDS_PER_NS * (double)(bl_clock_ns() - begin_ns);
    }
    return bl_summarise(fleet->times_s, (size_t)iterations).median / 2;
}

static void check_received(const struct fleet *fleet, int peer)
{
    const size_t size = fleet->options->size_bytes;
    for (size_t i = 0; i < size; i++) {
        if (fleet->received[i] != (char)(peer % 100 + 1))
            bl_die(BL_STATUS_WRONG,
                   "byte %zu between the ranks %d and %d is wrong, look at the link", i,
                   fleet->rank, peer);
    }
}

/* Bytes per second each way, of the median exchange. */
static double bandwidth_of(struct fleet *fleet, struct bl_pair pair)
{
    const int peer = fleet->rank == pair.a ? pair.b : pair.a;
    const int size = (int)fleet->options->size_bytes, repeats = fleet->options->repeats;
    memset(fleet->received, 0, fleet->options->size_bytes);
    for (int i = -1; i < repeats; i++) {
        const int64_t begin_ns = bl_clock_ns();
        BL_MPI(MPI_Sendrecv(fleet->sent, size, MPI_CHAR, peer, TAG_LONG, fleet->received, size,
                            MPI_CHAR, peer, TAG_LONG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (i >= 0)
            fleet->times_s[i] = BL_SECONDS_PER_NS * (double)(bl_clock_ns() - begin_ns);
    }
    check_received(fleet, peer);
    return size / bl_summarise(fleet->times_s, (size_t)repeats).median;
}

/* The long messages of one round: at once, or the turn goes from pair to pair. */
static double bandwidth_in_round(struct fleet *fleet, const struct bl_pair *pairs, int count,
                                 int mine)
{
    if (fleet->options->together)
        return bandwidth_of(fleet, pairs[mine]);
    const bool leads = fleet->rank == pairs[mine].a;
    if (!leads) {
        wait_turn(pairs[mine].a);
        return bandwidth_of(fleet, pairs[mine]);
    }
    if (mine > 0)
        wait_turn(pairs[mine - 1].a);
    give_turn(pairs[mine].b);
    const double bandwidth = bandwidth_of(fleet, pairs[mine]);
    if (mine + 1 < count)
        give_turn(pairs[mine + 1].a);
    return bandwidth;
}

/* Returns how many links this rank keeps: of a pair its lower rank does. */
static int play(struct fleet *fleet, const struct bl_schedule *schedule, struct link *links)
{
    int kept = 0;
    for (int round = 0; round < schedule->rounds; round++) {
        const struct bl_pair *pairs = schedule->pairs + schedule->begins[round];
        const int count = schedule->begins[round + 1] - schedule->begins[round];
        int mine = 0;
        while (mine < count && pairs[mine].a != fleet->rank && pairs[mine].b != fleet->rank)
            mine++;
        gather_quietly();
        struct link link = {0};
        if (mine < count) {
            link = (struct link){.a = pairs[mine].a, .b = pairs[mine].b};
            link.latency_s = latency_of(fleet, pairs[mine]);
        }
        gather_quietly();
        if (mine < count)
            link.bandwidth = bandwidth_in_round(fleet, pairs, count, mine);
        if (mine < count && link.a == fleet->rank)
            links[kept++] = link;
    }
    gather_quietly();
    return kept;
}

static void write_links(const struct link *links, int count)
{
    struct bl_json json = {0};
    for (int i = 0; i < count; i++) {
        bl_json_begin(&json);
        bl_json_open_object(&json, "point");
        bl_json_integer(&json, "a", links[i].a);
        bl_json_integer(&json, "b", links[i].b);
        bl_json_close_object(&json);
        bl_json_bool(&json, "verified", true);
        bl_json_number(&json, "latency", links[i].latency_s);
        bl_json_number(&json, "bandwidth", links[i].bandwidth);
        bl_json_write(&json, stdout);
    }
    bl_json_free(&json);
}

/* Rank 0 writes its own links and asks every other rank for its. */
static long report(const struct bl_world *world, const struct link *links, int kept)
{
    enum { TAG_RESULT = TAG_TURN + 1 };
    long points = kept;
    if (world->rank != 0) {
        BL_MPI(MPI_Send(links, (int)((size_t)kept * sizeof *links), MPI_CHAR, 0, TAG_RESULT,
                        MPI_COMM_WORLD));
        return 0;
    }
    write_links(links, kept);
    for (int rank = 1; rank < world->ranks; rank++) {
        MPI_Status status;
        int bytes;
        BL_MPI(MPI_Probe(rank, TAG_RESULT, MPI_COMM_WORLD, &status));
        BL_MPI(MPI_Get_count(&status, MPI_CHAR, &bytes));
        struct link *theirs = bl_allocate((size_t)bytes + 1, "the links of a rank");
        BL_MPI(
            MPI_Recv(theirs, bytes, MPI_CHAR, rank, TAG_RESULT, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        const int count = (int)((size_t)bytes / sizeof *theirs);
        write_links(theirs, count);
        points += count;
        free(theirs);
    }
    return points;
}

long bl_fleet_pairs(const struct bl_fleet_options *options, const struct bl_world *world)
{
    if (world->ranks < 2)
        bl_die_together(BL_STATUS_USAGE, "pairs need 2 ranks or more; start more");
    const bool all = options->choice == BL_CHOICE_ALL ||
                     (options->choice == BL_CHOICE_AUTO && world->ranks <= LARGEST_TOURNAMENT);
    struct bl_schedule schedule = bl_schedule_make(world->ranks, all);
    const int most =
        options->iterations > options->repeats ? options->iterations : options->repeats;
    struct fleet fleet = {
        .options = options,
        .rank = world->rank,
        .sent = bl_allocate(options->size_bytes + SHORT_BYTES, "the message that is sent"),
        .received = bl_allocate(options->size_bytes + SHORT_BYTES, "the message that comes"),
        .times_s = bl_allocate((size_t)most * sizeof(double), "the times"),
    };
    memset(fleet.sent, world->rank % 100 + 1, options->size_bytes + SHORT_BYTES);
    struct link *links = bl_allocate((size_t)schedule.rounds * sizeof *links, "the links");
    const long points = report(world, links, play(&fleet, &schedule, links));
    free(links);
    free(fleet.sent);
    free(fleet.received);
    free(fleet.times_s);
    bl_schedule_free(&schedule);
    return points;
}
