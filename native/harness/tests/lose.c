/*
 * Preloaded into a kernel, it loses one message: what the call delivered is zeros. The kernel's own
 * verification has to notice.
 *
 *   LOSE=MPI_Irecv:2:17     the 17th message that rank 2 gets by MPI_Irecv, zeroed when it is there
 *   LOSE_COUNT=PREFIX       writes PREFIX.RANK: "MPI_Irecv 480" a line, how many there were to lose
 *
 * Only what arrives in the timed part counts (MPI_Pcontrol of bl_timing): losses in the warm-up
 * leave no trace in the result, as everything is set back after it. A message is what one call
 * delivers to a rank; of an exchange among all it is what comes from the next rank.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum function { ALLREDUCE, ALLTOALL, ALLTOALLV, BCAST, IRECV, RECV, REDUCE, SENDRECV, FUNCTIONS };

static const char *const names[FUNCTIONS] = {
    [ALLREDUCE] = "MPI_Allreduce", [ALLTOALL] = "MPI_Alltoall", [ALLTOALLV] = "MPI_Alltoallv",
    [BCAST] = "MPI_Bcast",         [IRECV] = "MPI_Irecv",       [RECV] = "MPI_Recv",
    [REDUCE] = "MPI_Reduce",       [SENDRECV] = "MPI_Sendrecv",
};

enum { TIMED_REGION = 9 };

static long delivered[FUNCTIONS];
static int timed;

/* The receive that is under way and to be lost. */
static MPI_Request pending = MPI_REQUEST_NULL;
static void *pending_buffer;
static size_t pending_bytes;

static size_t bytes_of(int count, MPI_Datatype type)
{
    int size_bytes;
    PMPI_Type_size(type, &size_bytes);
    return (size_t)count * (size_t)size_bytes;
}

/* Counts a message of this function; whether it is the one. */
static int is_lost(enum function function)
{
    const char *const asked = getenv("LOSE");
    char name[32];
    int rank, rank_asked;
    long place;
    if (!timed)
        return 0;
    delivered[function]++;
    if (!asked || sscanf(asked, "%31[^:]:%d:%ld", name, &rank_asked, &place) != 3)
        return 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == rank_asked && strcmp(name, names[function]) == 0 && delivered[function] == place;
}

int MPI_Pcontrol(const int level, ...)
{
    if (level == TIMED_REGION)
        timed = 1;
    if (level == -TIMED_REGION)
        timed = 0;
    return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    const char *const prefix = getenv("LOSE_COUNT");
    if (prefix) {
        char path[4096];
        int rank;
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        snprintf(path, sizeof path, "%s.%d", prefix, rank);
        FILE *const file = fopen(path, "w");
        if (!file)
            return MPI_ERR_FILE;
        for (int i = 0; i < FUNCTIONS; i++) {
            if (delivered[i])
                fprintf(file, "%s %ld\n", names[i], delivered[i]);
        }
        fclose(file);
    }
    return PMPI_Finalize();
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    const int code = PMPI_Irecv(buffer, count, type, source, tag, comm, request);
    if (count > 0 && is_lost(IRECV)) {
        pending = *request;
        pending_buffer = buffer;
        pending_bytes = bytes_of(count, type);
    }
    return code;
}

/* After `request` was completed. */
static void lose(MPI_Request request)
{
    if (pending == MPI_REQUEST_NULL || request != pending)
        return;
    memset(pending_buffer, 0, pending_bytes);
    pending = MPI_REQUEST_NULL;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    const MPI_Request waited = *request;
    const int code = PMPI_Wait(request, status);
    lose(waited);
    return code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int is_there = 0;
    for (int i = 0; i < count; i++)
        is_there |= pending != MPI_REQUEST_NULL && requests[i] == pending;
    const int code = PMPI_Waitall(count, requests, statuses);
    if (is_there)
        lose(pending);
    return code;
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    const int code = PMPI_Recv(buffer, count, type, source, tag, comm, status);
    if (count > 0 && is_lost(RECV))
        memset(buffer, 0, bytes_of(count, type));
    return code;
}

int MPI_Sendrecv(const void *sent, int sent_count, MPI_Datatype sent_type, int to, int sent_tag,
                 void *received, int received_count, MPI_Datatype received_type, int from,
                 int received_tag, MPI_Comm comm, MPI_Status *status)
{
    const int code = PMPI_Sendrecv(sent, sent_count, sent_type, to, sent_tag, received,
                                   received_count, received_type, from, received_tag, comm, status);
    if (received_count > 0 && is_lost(SENDRECV))
        memset(received, 0, bytes_of(received_count, received_type));
    return code;
}

int MPI_Allreduce(const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    const int code = PMPI_Allreduce(sent, received, count, type, op, comm);
    if (count > 0 && is_lost(ALLREDUCE))
        memset(received, 0, bytes_of(count, type));
    return code;
}

int MPI_Reduce(const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
    int rank;
    const int code = PMPI_Reduce(sent, received, count, type, op, root, comm);
    PMPI_Comm_rank(comm, &rank);
    if (count > 0 && rank == root && is_lost(REDUCE))
        memset(received, 0, bytes_of(count, type));
    return code;
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int rank;
    const int code = PMPI_Bcast(buffer, count, type, root, comm);
    PMPI_Comm_rank(comm, &rank);
    if (count > 0 && rank != root && is_lost(BCAST))
        memset(buffer, 0, bytes_of(count, type));
    return code;
}

/* Whose message of an exchange among all is lost. */
static int next_rank(MPI_Comm comm)
{
    int rank, ranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    return (rank + 1) % ranks;
}

int MPI_Alltoall(const void *sent, int sent_count, MPI_Datatype sent_type, void *received,
                 int received_count, MPI_Datatype received_type, MPI_Comm comm)
{
    const int code =
        PMPI_Alltoall(sent, sent_count, sent_type, received, received_count, received_type, comm);
    const size_t block_bytes = bytes_of(received_count, received_type);
    if (received_count > 0 && is_lost(ALLTOALL))
        memset((char *)received + (size_t)next_rank(comm) * block_bytes, 0, block_bytes);
    return code;
}

int MPI_Alltoallv(const void *sent, const int *sent_counts, const int *sent_at,
                  MPI_Datatype sent_type, void *received, const int *received_counts,
                  const int *received_at, MPI_Datatype received_type, MPI_Comm comm)
{
    const int code = PMPI_Alltoallv(sent, sent_counts, sent_at, sent_type, received,
                                    received_counts, received_at, received_type, comm);
    const int from = next_rank(comm);
    if (received_counts[from] > 0 && is_lost(ALLTOALLV))
        memset((char *)received + bytes_of(received_at[from], received_type), 0,
               bytes_of(received_counts[from], received_type));
    return code;
}
