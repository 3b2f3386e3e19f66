/*
 * Programs of many kinds on a grid of ranks, whose messages benchmarks/ranks.py predicts for more
 * ranks. No cells are computed: only the messages matter.
 *
 *     mpicc -O1 benchmarks/halo.c -o halo
 *     mpirun -n 16 ./halo steps=24 cells=64x64 fold
 *
 * Settings: steps=N, cells=AxB or AxBxC (also the number of sides), rule=rising, falling or
 * first=N (the first side stays N), pad=B (messages in whole blocks of B bytes). The rest are
 * words:
 *
 *     ends       the grid is not periodic          tiles       tags name the sender's tile
 *     roots      Bcast, Reduce, Gather at rank 0   rows        a Bcast along each row
 *     fours      a sum over four ranks             opposite    an exchange with rank P-1-r
 *     fold       the last row meets itself         transposed  ranks meet across the diagonal
 *     random     partners that follow nothing      grow        sums whose number follows P
 *     late       the same beyond 16 ranks          four, six   periods of four and six steps
 *     monitor    rank 0 writes lines that differ   lu          pipelines of NPB 3.4's LU instead
 *     complex    elements of 16 B                  corners     an exchange along the diagonal
 *     pairs      ranks 2n and 2n + 1 exchange      halves      a sum over each half of the ranks
 *     butterfly  an exchange for each bit of P     everyone    each rank sends to all others
 *     leaders    a sum over every fourth rank      sized       an Allgather, an Alltoall of n/P^2
 *     diagonals  all 8 or 26 neighbours            moving      a Bcast whose root is the step, mod
 * 4 circling   the same, mod P                   triangle    an Alltoallv of a triangular matrix
 *     quarter    an exchange with rank r + P/4     onward      an exchange with rank r + 4
 *     third      every third step, a sum over the  logarithm   sums of 8 log2(P) bytes
 *                first half of the ranks           master      rank 0 serves all others
 *     curve      neighbours along a Hilbert curve  cyclic      blocks of 4 cells, dealt in turn
 *     scans      Scan, Exscan, Sendrecv_replace    neighbours  a Neighbor_alltoall
 *     nonblocking Ireduce, Iallreduce, Ibcast      panels      LU with look-ahead: panels shrink
 *     strip      a quarter of the first side does  shuffle     the first side's numbers, their bits
 *                more, its first rank at least                 reversed
 *     squares    X^2 elements across the 2nd side  middle      a Bcast from the middle of each row
 *     gathers    an Allgather along each row       blocks      messages of whole KiB that are equal
 *     oddeven    odd ranks send first              farther     an exchange with the third rank on
 *
 * The pipelines of LU follow the NAS Parallel Benchmarks' message pattern: for each plane a row
 * comes from the low ends and goes on to the high ends, then back; ranks at an end of the grid send
 * one row fewer along it.
 */
#include <mpi.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDES_MAX = 3, PLANES = 8, VARIABLES = 5, ROOM = 1 << 22 };

static struct {
    int steps, sides, pad, first;
    bool falling;
    int cells[SIDES_MAX];
    bool ends, roots, rows, fours, opposite, fold, transposed, random, grow, late, four, six;
    bool monitor, tiles, lu, complex, corners, pairs, halves, butterfly, everyone, leaders, sized;
    bool diagonals, moving, circling, triangle, quarter, onward, third, logarithm, master, curve;
    bool cyclic, scans, neighbours, nonblocking, panels, strip, shuffle, squares, middle, gathers;
    bool blocks, oddeven, farther;
} asked = {.steps = 24, .sides = 2, .pad = 1, .cells = {64, 64, 64}};

static int rank, ranks, side[SIDES_MAX], at[SIDES_MAX];
static char *out, *in;
static MPI_Comm half, leaders, grid;

static const struct {
    const char *name;
    bool *is_set;
} words[] = {
    {"ends", &asked.ends},
    {"roots", &asked.roots},
    {"rows", &asked.rows},
    {"fours", &asked.fours},
    {"fold", &asked.fold},
    {"opposite", &asked.opposite},
    {"transposed", &asked.transposed},
    {"random", &asked.random},
    {"grow", &asked.grow},
    {"late", &asked.late},
    {"four", &asked.four},
    {"six", &asked.six},
    {"monitor", &asked.monitor},
    {"tiles", &asked.tiles},
    {"lu", &asked.lu},
    {"complex", &asked.complex},
    {"corners", &asked.corners},
    {"pairs", &asked.pairs},
    {"halves", &asked.halves},
    {"leaders", &asked.leaders},
    {"sized", &asked.sized},
    {"butterfly", &asked.butterfly},
    {"everyone", &asked.everyone},
    {"diagonals", &asked.diagonals},
    {"moving", &asked.moving},
    {"circling", &asked.circling},
    {"triangle", &asked.triangle},
    {"quarter", &asked.quarter},
    {"onward", &asked.onward},
    {"third", &asked.third},
    {"logarithm", &asked.logarithm},
    {"master", &asked.master},
    {"curve", &asked.curve},
    {"cyclic", &asked.cyclic},
    {"scans", &asked.scans},
    {"neighbours", &asked.neighbours},
    {"nonblocking", &asked.nonblocking},
    {"panels", &asked.panels},
    {"strip", &asked.strip},
    {"shuffle", &asked.shuffle},
    {"squares", &asked.squares},
    {"middle", &asked.middle},
    {"gathers", &asked.gathers},
    {"blocks", &asked.blocks},
    {"oddeven", &asked.oddeven},
    {"farther", &asked.farther},
};

static bool read_word(const char *text)
{
    if (sscanf(text, "steps=%d", &asked.steps) == 1 || sscanf(text, "pad=%d", &asked.pad) == 1 ||
        sscanf(text, "rule=first=%d", &asked.first) == 1 || !strcmp(text, "rule=rising"))
        return true;
    if (!strcmp(text, "rule=falling"))
        return asked.falling = true;
    if (!strncmp(text, "cells=", 6)) {
        asked.sides =
            sscanf(text + 6, "%dx%dx%d", &asked.cells[0], &asked.cells[1], &asked.cells[2]);
        return asked.sides > 0;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(text, words[i].name))
            return *words[i].is_set = true;
    return false;
}

/* The sides of the least sum, rising or falling; the first one may be fixed. */
static void lay_out(void)
{
    const int first = asked.first ? asked.first : 0;
    const int count = first ? ranks / first : ranks;
    int best[SIDES_MAX] = {1, 1, 1}, least = -1;
    for (int a = 1; a <= count; a++)
        for (int b = 1; b <= count; b++) {
            const int c = count / (a * b);
            const int cut = asked.sides - (first != 0);
            if (a * b * c != count || a > b || (cut > 2 && b > c) || (cut < 3 && c > 1) ||
                (cut < 2 && a > 1))
                continue;
            const int sum = a + b + c;
            if (least < 0 || sum < least) {
                least = sum;
                best[0] = cut < 2 ? b : a;
                best[1] = cut < 2 ? 1 : b;
                best[2] = c;
            }
        }
    const int cut = asked.sides - (first != 0);
    for (int i = 0; i < cut; i++)
        side[i + (first != 0)] = best[asked.falling ? cut - 1 - i : i];
    if (first)
        side[0] = first;
    for (int i = asked.sides; i < SIDES_MAX; i++)
        side[i] = 1;
    at[0] = rank % side[0];
    at[1] = rank / side[0] % side[1];
    at[2] = rank / side[0] / side[1];
}

static int rank_at(int x, int y, int z)
{
    x = (x + side[0]) % side[0];
    y = (y + side[1]) % side[1];
    z = (z + side[2]) % side[2];
    return (z * side[1] + y) * side[0] + x;
}

/* Cells of a part: where they do not divide the first ones have one more. */
static int local(int i)
{
    return asked.cells[i] / side[i] + (at[i] < asked.cells[i] % side[i]);
}

static int in_blocks(int bytes)
{
    return (bytes + asked.pad - 1) / asked.pad * asked.pad;
}

static void halo(void)
{
    const MPI_Datatype type = asked.complex ? MPI_C_DOUBLE_COMPLEX : MPI_DOUBLE;
    const int element = asked.complex ? 16 : 8;
    for (int i = 0; i < asked.sides; i++) {
        int bytes = element;
        for (int other = 0; other < asked.sides; other++)
            bytes *= other == i ? 1 : local(other);
        const int count = in_blocks(bytes) / element;
        for (int way = 1; way >= -1; way -= 2) {
            const int to =
                rank_at(at[0] + way * (i == 0), at[1] + way * (i == 1), at[2] + way * (i == 2));
            const int from =
                rank_at(at[0] - way * (i == 0), at[1] - way * (i == 1), at[2] - way * (i == 2));
            const bool sends = !asked.ends || (at[i] + way >= 0 && at[i] + way < side[i]);
            const bool receives = !asked.ends || (at[i] - way >= 0 && at[i] - way < side[i]);
            const int tag = 2 * i + (way > 0);
            MPI_Request requests[2];
            int posts = 0;
            if (receives)
                MPI_Irecv(in, count, type, from, asked.tiles ? 100 * tag + from : tag,
                          MPI_COMM_WORLD, &requests[posts++]);
            if (sends)
                MPI_Isend(out, count, type, to, asked.tiles ? 100 * tag + rank : tag,
                          MPI_COMM_WORLD, &requests[posts++]);
            MPI_Waitall(posts, requests, MPI_STATUSES_IGNORE);
        }
    }
}

/* One row comes from `low` and goes to `high`, along side i, whose rows lie along the other. */
static void pipe_on(int i, int way, bool begins)
{
    const int other = 1 - i;
    const int rows = local(other) - (at[other] == 0) - (at[other] == side[other] - 1);
    const int from = at[i] - way, to = at[i] + way, count = VARIABLES * rows;
    if (begins && from >= 0 && from < side[i])
        MPI_Recv(in, count, MPI_DOUBLE, rank_at(i ? at[0] : from, i ? from : at[1], 0), i,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!begins && to >= 0 && to < side[i])
        MPI_Send(out, count, MPI_DOUBLE, rank_at(i ? at[0] : to, i ? to : at[1], 0), i,
                 MPI_COMM_WORLD);
}

static void pipelines(void)
{
    for (int way = 1; way >= -1; way -= 2)
        for (int plane = 0; plane < PLANES; plane++)
            for (int begins = 1; begins >= 0; begins--)
                for (int i = 0; i < 2; i++)
                    pipe_on(i, way, begins);
}

static void swap_of(int count, int to, int from)
{
    MPI_Sendrecv(out, count, MPI_DOUBLE, to, 9, in, count, MPI_DOUBLE, from, 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void swap(int to, int from)
{
    swap_of(8, to, from);
}

/* An exchange with both neighbours along the second side. */
static void across(int count)
{
    swap_of(count, rank_at(at[0], at[1] + 1, at[2]), rank_at(at[0], at[1] - 1, at[2]));
}

static void sums(int count)
{
    for (int i = 0; i < count; i++)
        MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* A permutation that follows nothing, the same on all ranks. */
static void scattered(void)
{
    int *order = malloc(sizeof *order * (size_t)ranks), from = 0;
    for (int i = 0; i < ranks; i++)
        order[i] = i;
    srand((unsigned)ranks);
    for (int i = ranks - 1; i > 0; i--) {
        const int j = rand() % (i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    while (order[from] != rank)
        from++;
    swap(order[rank], from);
    free(order);
}

static void everyone(void)
{
    for (int other = 0; other < ranks; other++)
        if (other != rank)
            swap(other, other);
}

static void butterfly(void)
{
    for (int bit = 1; bit < ranks; bit *= 2)
        if ((rank ^ bit) < ranks)
            swap(rank ^ bit, rank ^ bit);
}

static void diagonals(void)
{
    const int deep = asked.sides > 2;
    for (int z = -deep; z <= deep; z++)
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++)
                if (x || y || z)
                    swap(rank_at(at[0] + x, at[1] + y, at[2] + z),
                         rank_at(at[0] - x, at[1] - y, at[2] - z));
}

/* Where a Hilbert curve of this many ranks goes after `length` steps; n is the side of its square.
 */
static void on_curve(int n, int length, int *x, int *y)
{
    *x = *y = 0;
    for (int s = 1; s < n; s *= 2, length /= 4) {
        const int rx = 1 & (length / 2), ry = 1 & (length ^ rx);
        if (!ry) {
            if (rx) {
                *x = s - 1 - *x;
                *y = s - 1 - *y;
            }
            const int kept = *x;
            *x = *y;
            *y = kept;
        }
        *x += s * rx;
        *y += s * ry;
    }
}

/* Each rank has a square of a curve of P ranks and exchanges with the squares on its four sides. */
static void curve(void)
{
    int n = 1, x, y;
    while (n * n < ranks)
        n *= 2;
    on_curve(n, rank, &x, &y);
    for (int other = 0; other < ranks; other++) {
        int there_x, there_y;
        on_curve(n, other, &there_x, &there_y);
        if (abs(there_x - x) + abs(there_y - y) == 1)
            swap(other, other);
    }
}

/* Elements of blocks of four that are dealt in turn along the first side, as ScaLAPACK has them. */
static void cyclic(void)
{
    const int block = 4, whole = asked.cells[0] / block;
    const int more = at[0] < whole % side[0]    ? block
                     : at[0] == whole % side[0] ? asked.cells[0] % block
                                                : 0;
    across(whole / side[0] * block + more);
}

static void master(void)
{
    for (int other = 1; !rank && other < ranks; other++) {
        MPI_Recv(in, 4, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, 16, MPI_DOUBLE, other, 4, MPI_COMM_WORLD);
    }
    if (rank) {
        MPI_Send(out, 4, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
        MPI_Recv(in, 16, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Odd ranks send first and then receive, as programs do without MPI_Sendrecv. */
static void oddeven(void)
{
    const int to = rank_at(at[0] + 1, at[1], at[2]), from = rank_at(at[0] - 1, at[1], at[2]);
    if (rank % 2)
        MPI_Ssend(out, 8, MPI_DOUBLE, to, 5, MPI_COMM_WORLD);
    MPI_Recv(in, 8, MPI_DOUBLE, from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank % 2 == 0)
        MPI_Ssend(out, 8, MPI_DOUBLE, to, 5, MPI_COMM_WORLD);
}

static int bits_reversed(int number, int count)
{
    int reversed = 0;
    for (int bit = 1; bit < count; bit *= 2, number /= 2)
        reversed = 2 * reversed + number % 2;
    return reversed;
}

static void more_messages(void)
{
    if (asked.diagonals)
        diagonals();
    if (asked.quarter)
        swap((rank + ranks / 4) % ranks, (rank - ranks / 4 + ranks) % ranks);
    if (asked.onward)
        swap((rank + 4) % ranks, (rank - 4 + ranks) % ranks);
    if (asked.farther)
        swap(rank_at(at[0] + 3, at[1], at[2]), rank_at(at[0] - 3 + 3 * side[0], at[1], at[2]));
    if (asked.curve)
        curve();
    if (asked.cyclic)
        cyclic();
    if (asked.master)
        master();
    if (asked.oddeven)
        oddeven();
    if (asked.strip && at[0] < (side[0] > 4 ? side[0] / 4 : 1))
        across(16);
    if (asked.shuffle) {
        const int there = rank_at(bits_reversed(at[0], side[0]), at[1], at[2]);
        swap(there, there);
    }
    if (asked.squares)
        across(side[0] * side[0]);
    if (asked.blocks)
        across((asked.cells[0] * 8 / side[0] + 1023) / 1024 * 128);
    if (asked.scans)
        MPI_Sendrecv_replace(out, 4, MPI_DOUBLE, rank_at(at[0] + 1, at[1], at[2]), 6,
                             rank_at(at[0] - 1, at[1], at[2]), 6, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
}

static void messages(void)
{
    if (asked.corners)
        swap(rank_at(at[0] + 1, at[1] + 1, at[2] + 1), rank_at(at[0] - 1, at[1] - 1, at[2] - 1));
    if (asked.pairs && (rank ^ 1) < ranks)
        swap(rank ^ 1, rank ^ 1);
    if (asked.butterfly)
        butterfly();
    if (asked.everyone)
        everyone();
}

static void sized(void)
{
    const int block = asked.cells[0] * asked.cells[0] / (ranks * ranks);
    MPI_Allgather(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Alltoall(out, block, MPI_DOUBLE, in, block, MPI_DOUBLE, MPI_COMM_WORLD);
}

/* The element in row r and column c of a triangular matrix has one double; others have none. */
static void triangle(void)
{
    int *counts = malloc(sizeof *counts * 4 * (size_t)ranks);
    for (int other = 0; other < ranks; other++) {
        counts[other] = other <= rank;
        counts[ranks + other] = counts[3 * ranks + other] = other;
        counts[2 * ranks + other] = rank <= other;
    }
    MPI_Alltoallv(out, counts, counts + ranks, MPI_DOUBLE, in, counts + 2 * ranks,
                  counts + 3 * ranks, MPI_DOUBLE, MPI_COMM_WORLD);
    free(counts);
}

static void nonblocking(void)
{
    MPI_Request requests[3];
    MPI_Ireduce(out, in, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(out + 4096, in + 4096, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Ibcast(rank ? in + 8192 : out, 6, MPI_DOUBLE, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

static void more_collectives(int number, MPI_Comm row)
{
    if (asked.moving)
        MPI_Bcast(out, 5, MPI_DOUBLE, number % 4, MPI_COMM_WORLD);
    if (asked.circling)
        MPI_Bcast(out, 5, MPI_DOUBLE, number % ranks, MPI_COMM_WORLD);
    /* A panel of fewer rows in each step goes along the rows, from the column that has it. */
    if (asked.panels)
        MPI_Bcast(out, (asked.steps - number) * asked.cells[0] / side[1], MPI_DOUBLE,
                  number % side[0], row);
    if (asked.triangle)
        triangle();
    if (asked.third && number % 3 == 0 && rank < ranks / 2)
        MPI_Allreduce(out, in, 3, MPI_DOUBLE, MPI_SUM, half);
    if (asked.logarithm) {
        int count = 0;
        while (2 << count <= ranks)
            count++;
        MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (asked.scans) {
        MPI_Scan(out, in, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Exscan(out, in, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (asked.neighbours)
        MPI_Neighbor_alltoall(out, 7, MPI_DOUBLE, in, 7, MPI_DOUBLE, grid);
    if (asked.nonblocking)
        nonblocking();
    if (asked.middle)
        MPI_Bcast(out, 9, MPI_DOUBLE, side[0] / 2, row);
    if (asked.gathers)
        MPI_Allgather(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, row);
}

static void collectives(int number, MPI_Comm row, MPI_Comm fours)
{
    more_collectives(number, row);
    if (asked.sized)
        sized();
    if (asked.halves)
        MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, half);
    if (asked.leaders && rank % 4 == 0)
        MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, leaders);
    if (asked.roots) {
        MPI_Bcast(out, 10, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Reduce(out, in, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Gather(out, 3, MPI_DOUBLE, in, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    if (asked.rows)
        MPI_Bcast(out, 6, MPI_DOUBLE, 0, row);
    if (asked.fours)
        MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, fours);
    if (asked.grow)
        sums(4 + ranks / 4);
    if (asked.late)
        sums(4 + (ranks > 16 ? ranks : 16) / 16);
}

static void step(int number, int file, MPI_Comm row, MPI_Comm fours)
{
    if (asked.lu)
        pipelines();
    else
        halo();
    if (asked.opposite)
        swap(ranks - 1 - rank, ranks - 1 - rank);
    if (asked.fold && at[asked.sides - 1] == side[asked.sides - 1] - 1) {
        const int other = rank_at(side[0] - 1 - at[0], at[1], at[2]);
        swap(other, other);
    }
    if (asked.transposed && side[0] == side[1])
        swap(rank_at(at[1], at[0], at[2]), rank_at(at[1], at[0], at[2]));
    if (asked.random)
        scattered();
    messages();
    more_messages();
    collectives(number, row, fours);
    if ((asked.four || asked.six) && number % 2 == 0)
        sums(1);
    if ((asked.four && number % 4 == 0) || (asked.six && number % 3 == 0))
        MPI_Allreduce(out, in, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (asked.monitor && rank == 0) {
        char line[80];
        const int length = snprintf(line, sizeof line, "step %d %.*f\n", number, number % 7, 1.5);
        if (write(file, line, (size_t)length) != length)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    sums(1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i < argc; i++)
        if (!read_word(argv[i])) {
            fprintf(stderr, "halo: '%s' is not a setting, see the head of halo.c\n", argv[i]);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    lay_out();
    out = calloc(1, ROOM);
    in = calloc(1, ROOM);
    const int file =
        asked.monitor && rank == 0 ? open("halo.monitor", O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
    MPI_Comm row, fours;
    MPI_Comm_split(MPI_COMM_WORLD, rank / side[0], rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 4, rank, &fours);
    MPI_Comm_split(MPI_COMM_WORLD, 2 * rank / ranks, rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 4, rank, &leaders);
    /* The first side is the last one of MPI's row-major order. */
    const int lengths[SIDES_MAX] = {side[2], side[1], side[0]}, around[SIDES_MAX] = {1, 1, 1};
    MPI_Cart_create(MPI_COMM_WORLD, asked.sides, lengths + SIDES_MAX - asked.sides, around, 0,
                    &grid);
    for (int number = 0; number < asked.steps; number++)
        step(number, file, row, fours);
    if (rank == 0)
        printf("%dx%dx%d\n", side[0], side[1], side[2]);
    MPI_Comm_free(&row);
    MPI_Comm_free(&fours);
    MPI_Comm_free(&half);
    MPI_Comm_free(&leaders);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
