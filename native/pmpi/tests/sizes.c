/* 300 sizes of one call, 40 of another: the first are put into bins, the others stay exact. */
#include <mpi.h>

int main(int argc, char **argv)
{
    static char bytes[4096];
    MPI_Init(&argc, &argv);
    for (int size = 0; size < 300; size++)
        MPI_Bcast(bytes, size, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int size = 1; size <= 40; size++)
        MPI_Allreduce(MPI_IN_PLACE, bytes, 10 * size, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
