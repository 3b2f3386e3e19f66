/* Four threads of each rank send to the other rank at once: 2 ranks, MPI_THREAD_MULTIPLE. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

#define THREADS 4
#define MESSAGES 200
#define LATER_THREADS 100
#define LATER_MESSAGES 2

static int other, messages = MESSAGES;

static void *talk(void *argument)
{
    const int tag = (int)(intptr_t)argument;
    char out[32] = {0}, in[64];
    for (int i = 0; i < messages; i++) {
        MPI_Request request;
        MPI_Irecv(in, 64, MPI_CHAR, other, tag, MPI_COMM_WORLD, &request);
        MPI_Send(out, 8 * (tag + 1), MPI_CHAR, other, tag, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, rank;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 77);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, talk, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    /* One after the other: their counters are used again. Each message may cost the other rank's
     * wait for a core, so there are few. */
    messages = LATER_MESSAGES;
    for (int i = 0; i < LATER_THREADS; i++) {
        pthread_create(&threads[0], NULL, talk, (void *)0);
        pthread_join(threads[0], NULL);
    }
    MPI_Finalize();
    return 0;
}
