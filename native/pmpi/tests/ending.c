/*
 * Sends 10 messages of 80 B from rank 0 to rank 1, then ends as the argument says: `return` (exit
 * code 3 after MPI_Finalize), `exit` (without it), `abort` (MPI_Abort with 5), `segv`, `kill`
 * (SIGKILL) or `term`, all by rank 1.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;
    double values[10] = {0};
    const char *way = argc > 1 ? argv[1] : "return";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++) {
        if (rank == 0)
            MPI_Send(values, 10, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Recv(values, 10, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        printf("checksum 42\n");
    fflush(stdout);
    /* The output is written whole before rank 1 ends: the launcher then kills rank 0. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(way, "return") != 0) {
        if (rank != 1)
            for (;;)
                sleep(1);
        if (strcmp(way, "exit") == 0)
            _exit(4);
        if (strcmp(way, "abort") == 0)
            MPI_Abort(MPI_COMM_WORLD, 5);
        if (strcmp(way, "segv") == 0)
            raise(SIGSEGV);
        raise(strcmp(way, "term") == 0 ? SIGTERM : SIGKILL);
    }
    MPI_Finalize();
    return 3;
}
