/* A tiny MPI program for the tests of platforms.

   rank_program [sleep|signal|exit|time|compute]: every rank prints one JSON line with where and how
   it runs; then rank 0 and the last rank exchange messages, and a rank sleeps, dies, fails, tells
   how long that took or computes for COMPUTE_S of processor time. */

#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE_BYTES 524288
#define MESSAGES 8
#define COMPUTE_S 0.6

static char message[MESSAGE_BYTES];

static void exchange(int rank, int last)
{
    for (int i = 0; i < MESSAGES; i++) {
        if (rank == 0) {
            MPI_Send(message, MESSAGE_BYTES, MPI_BYTE, last, 0, MPI_COMM_WORLD);
            MPI_Recv(message, 1, MPI_BYTE, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == last) {
            MPI_Recv(message, MESSAGE_BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(message, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    }
}

/* However busy the machine is: what it computes is measured by what it got of the processor. */
static void compute(void)
{
    while ((double)clock() / CLOCKS_PER_SEC < COMPUTE_S)
        ;
}

/* MPICH before 4.2 over UCX and TCP may wait for ever in MPI_Finalize if a rank answers another
   one's farewell before it says its own (pmodels/mpich pull request 6596): all say it at once. */
static void leave(int size)
{
    const struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};
    if (size > 1) {
        MPI_Barrier(MPI_COMM_WORLD);
        nanosleep(&pause, NULL);
    }
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    int rank, size;
    char host[256], folder[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *action = argc > 1 ? argv[1] : "";
    const char *value = getenv("SAID");
    cpu_set_t cores;
    sched_getaffinity(0, sizeof cores, &cores);
    gethostname(host, sizeof host);
    if (!getcwd(folder, sizeof folder))
        folder[0] = '\0';
    printf("{\"rank\": %d, \"size\": %d, \"host\": \"%s\", \"said\": \"%s\", \"cores\": %d, "
           "\"folder\": \"%s\"}\n",
        rank, size, host, value ? value : "", CPU_COUNT(&cores), folder);
    fflush(stdout);
    const double begin = MPI_Wtime();
    if (size > 1)
        exchange(rank, size - 1);
    if (!strcmp(action, "time") && rank == 0)
        printf("%.9f\n", MPI_Wtime() - begin);
    if (!strcmp(action, "compute"))
        compute();
    if (!strcmp(action, "sleep"))
        sleep(600);
    if (!strcmp(action, "signal") && rank == size - 1)
        raise(SIGSEGV);
    leave(size);
    return !strcmp(action, "exit") ? 7 : 0;
}
