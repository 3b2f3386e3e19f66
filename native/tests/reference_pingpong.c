/* Ping-pong as osu_latency and IMB's PingPong do it: half the mean round trip of a plain loop. */
#include "reference.h"

static double half_round_trip(const struct reference *r, int size, long iterations, long warmup)
{
    double begin = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < iterations + warmup; i++) {
        if (i == warmup)
            begin = MPI_Wtime();
        if (r->rank == 0) {
            MPI_Send(r->send, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(r->receive, size, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(r->receive, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(r->send, size, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - begin) / (2.0 * (double)iterations);
}

int main(int argc, char **argv)
{
    return reference_main(argc, argv, half_round_trip);
}
