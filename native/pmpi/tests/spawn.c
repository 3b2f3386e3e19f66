/*
 * Known traffic with processes that are started later. The parents (2 ranks) start one child, which
 * is this program again; rank 0 sends it 5 ints, all add up 3 doubles.
 */
#include <mpi.h>

static int numbers[5];
static double mine[3], sums[3];

static void be_child(MPI_Comm parents)
{
    MPI_Recv(numbers, 5, MPI_INT, 0, 1, parents, MPI_STATUS_IGNORE);
    MPI_Allreduce(mine, sums, 3, MPI_DOUBLE, MPI_SUM, parents);
    MPI_Comm_disconnect(&parents);
}

static void be_parent(const char *program)
{
    MPI_Comm child;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child,
                   MPI_ERRCODES_IGNORE);
    if (rank == 0)
        MPI_Send(numbers, 5, MPI_INT, 0, 1, child);
    MPI_Allreduce(mine, sums, 3, MPI_DOUBLE, MPI_SUM, child);
    MPI_Comm_disconnect(&child);
}

int main(int argc, char **argv)
{
    MPI_Comm parents;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parents);
    if (parents == MPI_COMM_NULL)
        be_parent(argv[0]);
    else
        be_child(parents);
    MPI_Finalize();
    return 0;
}
