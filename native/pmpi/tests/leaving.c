/*
 * One allreduce over all ranks, then rank 0 ends properly and the last rank as the argument says:
 * `late` (MPI_Finalize 4 s after the others), `return` (from main, without MPI_Finalize), `exit`
 * (_exit with 0), `kill` (SIGKILL), or properly with `fork`: after a child process that computes
 * and ends by exit.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void be_parent(void)
{
    const pid_t child = fork();
    if (child == 0) {
        FILE *file = fopen("/dev/null", "w");
        fputs("a child's own file", file);
        fclose(file);
        exit(0);
    }
    waitpid(child, NULL, 0);
}

static void leave(const char *way)
{
    if (strcmp(way, "late") == 0)
        sleep(4);
    if (strcmp(way, "exit") == 0)
        _exit(0);
    if (strcmp(way, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(way, "fork") == 0)
        be_parent();
}

int main(int argc, char **argv)
{
    int rank;
    int ranks;
    double mine = 1;
    double sum = 0;
    const char *way = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("sum %g\n", sum);
        fflush(stdout);
    }
    if (rank == ranks - 1) {
        leave(way);
        if (strcmp(way, "return") == 0)
            return 0;
    }
    MPI_Finalize();
    return 0;
}
