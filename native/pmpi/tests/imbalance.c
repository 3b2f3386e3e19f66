/* Rank 1 computes 20 ms longer before each of 10 reductions: the others wait for it. */
#include <mpi.h>
#include <time.h>

int main(int argc, char **argv)
{
    int rank;
    double value = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++) {
        if (rank == 1)
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
