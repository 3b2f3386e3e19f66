/*
 * Time per call of MPI functions that do next to nothing, in ns: what a profiler adds to a call is
 * the difference to a run without it. One JSON line on stdout: for each call the median over
 * batches.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCHES 201
#define CALLS 1000

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static double one = 1;
static double result;

static void send_nowhere(void)
{
    MPI_Send(&one, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

/* Two calls. */
static void isend_wait_nowhere(void)
{
    MPI_Request request;
    MPI_Isend(&one, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Three calls. */
static void exchange_with_self(void)
{
    MPI_Request request;
    MPI_Irecv(&result, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(&one, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void allreduce_alone(void)
{
    MPI_Allreduce(&one, &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void barrier_alone(void)
{
    MPI_Barrier(MPI_COMM_SELF);
}

/* Sizes and communicators change with every call, as they do in an application. */
static void changing(void)
{
    static char bytes[4096];
    static int turn;
    turn = (turn + 7) % 48;
    MPI_Bcast(bytes, 1 + 64 * turn, MPI_CHAR, 0, MPI_COMM_SELF);
}

static const struct {
    const char *name;
    void (*run)(void);
    int calls;
} cases[] = {
    {"MPI_Send", send_nowhere, 1},
    {"MPI_Isend, MPI_Wait", isend_wait_nowhere, 2},
    {"MPI_Irecv, MPI_Send, MPI_Wait", exchange_with_self, 3},
    {"MPI_Allreduce", allreduce_alone, 1},
    {"MPI_Barrier", barrier_alone, 1},
    {"MPI_Bcast of 48 sizes", changing, 1},
};

int main(int argc, char **argv)
{
    static double batch[BATCHES];
    MPI_Init(&argc, &argv);
    printf("{");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int b = 0; b < BATCHES; b++) {
            const double begin = now_ns();
            for (int n = 0; n < CALLS; n++)
                cases[i].run();
            batch[b] = (now_ns() - begin) / CALLS / cases[i].calls;
        }
        qsort(batch, BATCHES, sizeof *batch, compare);
        printf("%s\"%s\":%.2f", i ? "," : "", cases[i].name, batch[BATCHES / 2]);
    }
    printf("}\n");
    MPI_Finalize();
    return 0;
}
