/* A receive is posted, 30 ms pass, then it is waited for: the time that it could have overlapped.
 */
#include <mpi.h>
#include <time.h>

int main(int argc, char **argv)
{
    int rank;
    double out[100] = {0}, in[100];
    MPI_Request request[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 5; i++) {
        MPI_Irecv(in, 100, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(out, 100, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &request[1]);
        nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
