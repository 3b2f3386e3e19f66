/*
 * Preloaded into an MPI program, it spoils what MPI delivers: one byte or one sum of each result is
 * changed, and barriers do not wait. mpibench's checks have to find all of it.
 *
 * Sums of a single double pass: with them mpibench agrees on times.
 */
#include <mpi.h>

/* Buffers of receives under way; mpibench has no more than these in the tests. */
enum { RECEIVES = 1024 };
static unsigned char *receiving[RECEIVES];
static int receives;

static void spoil_bytes(void *buffer, int count, MPI_Datatype type)
{
    if (type == MPI_CHAR && count > 0)
        ((unsigned char *)buffer)[count - 1] ^= 0x10;
}

static void spoil_sums(void *buffer, int count, MPI_Datatype type)
{
    if (type == MPI_DOUBLE && count > 1)
        ((double *)buffer)[count - 1] += 1;
}

int MPI_Barrier(MPI_Comm comm)
{
    (void)comm;
    return MPI_SUCCESS;
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    const int code = PMPI_Recv(buffer, count, type, source, tag, comm, status);
    spoil_bytes(buffer, count, type);
    return code;
}

int MPI_Sendrecv(const void *send, int send_count, MPI_Datatype send_type, int to, int send_tag,
                 void *receive, int receive_count, MPI_Datatype receive_type, int from,
                 int receive_tag, MPI_Comm comm, MPI_Status *status)
{
    const int code = PMPI_Sendrecv(send, send_count, send_type, to, send_tag, receive,
                                   receive_count, receive_type, from, receive_tag, comm, status);
    spoil_bytes(receive, receive_count, receive_type);
    return code;
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (type == MPI_CHAR && count > 0 && receives < RECEIVES)
        receiving[receives++] = (unsigned char *)buffer + count - 1;
    return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    const int code = PMPI_Waitall(count, requests, statuses);
    /* A window's messages share a buffer: spoil it once, not back and forth. */
    for (int i = 0; i < receives; i++) {
        if (i == 0 || receiving[i] != receiving[i - 1])
            *receiving[i] ^= 0x10;
    }
    receives = 0;
    return code;
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    const int code = PMPI_Allreduce(send, receive, count, type, op, comm);
    spoil_sums(receive, count, type);
    return code;
}

int MPI_Reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
    int rank;
    const int code = PMPI_Reduce(send, receive, count, type, op, root, comm);
    PMPI_Comm_rank(comm, &rank);
    if (rank == root)
        spoil_sums(receive, count, type);
    return code;
}

int MPI_Reduce_scatter(const void *send, void *receive, const int counts[], MPI_Datatype type,
                       MPI_Op op, MPI_Comm comm)
{
    int rank;
    const int code = PMPI_Reduce_scatter(send, receive, counts, type, op, comm);
    PMPI_Comm_rank(comm, &rank);
    spoil_sums(receive, counts[rank], type);
    return code;
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int rank;
    const int code = PMPI_Bcast(buffer, count, type, root, comm);
    PMPI_Comm_rank(comm, &rank);
    if (rank != root)
        spoil_bytes(buffer, count, type);
    return code;
}

int MPI_Scatter(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    const int code =
        PMPI_Scatter(send, send_count, send_type, receive, receive_count, receive_type, root, comm);
    spoil_bytes(receive, receive_count, receive_type);
    return code;
}

int MPI_Gather(const void *send, int send_count, MPI_Datatype send_type, void *receive,
               int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    int rank, ranks;
    const int code =
        PMPI_Gather(send, send_count, send_type, receive, receive_count, receive_type, root, comm);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    /* The names of the nodes are gathered, too: at full length they end in zeros. */
    if (rank == root && receive_count < MPI_MAX_PROCESSOR_NAME)
        spoil_bytes(receive, ranks * receive_count, receive_type);
    return code;
}

int MPI_Allgather(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                  int receive_count, MPI_Datatype receive_type, MPI_Comm comm)
{
    int ranks;
    const int code =
        PMPI_Allgather(send, send_count, send_type, receive, receive_count, receive_type, comm);
    PMPI_Comm_size(comm, &ranks);
    spoil_bytes(receive, ranks * receive_count, receive_type);
    return code;
}

int MPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                 int receive_count, MPI_Datatype receive_type, MPI_Comm comm)
{
    int ranks;
    const int code =
        PMPI_Alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm);
    PMPI_Comm_size(comm, &ranks);
    spoil_bytes(receive, ranks * receive_count, receive_type);
    return code;
}
