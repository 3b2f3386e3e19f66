/*
 * Preloaded into a kernel, it spoils what MPI delivers: a number of every sum over all processes
 * and the first of every message is changed by a thousandth or by one. The verification has to
 * notice. SPOIL names the one function to spoil (MPI_Isend); without it, sums and blocking sends
 * are.
 */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

static int is_asked(const char *function, int by_default)
{
    const char *const asked = getenv("SPOIL");
    return asked ? strcmp(asked, function) == 0 : by_default;
}

static void spoil(void *number, MPI_Datatype type)
{
    if (type == MPI_DOUBLE || type == MPI_DOUBLE_PRECISION || type == MPI_DOUBLE_COMPLEX)
        *(double *)number *= 1.001;
    else if (type == MPI_INTEGER)
        *(int *)number += 1;
    else if (type == MPI_INTEGER8)
        *(long long *)number += 1;
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    int size_bytes;
    const int code = PMPI_Allreduce(send, receive, count, type, op, comm);
    PMPI_Type_size(type, &size_bytes);
    if (count > 0 && op == MPI_SUM && is_asked("MPI_Allreduce", 1))
        spoil((char *)receive + (size_t)(count - 1) * (size_t)size_bytes, type);
    return code;
}

int MPI_Reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
    int size_bytes, rank;
    const int code = PMPI_Reduce(send, receive, count, type, op, root, comm);
    PMPI_Type_size(type, &size_bytes);
    PMPI_Comm_rank(comm, &rank);
    if (count > 0 && op == MPI_SUM && rank == root && is_asked("MPI_Reduce", 1))
        spoil((char *)receive + (size_t)(count - 1) * (size_t)size_bytes, type);
    return code;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    int size_bytes;
    if (!is_asked("MPI_Send", 1))
        return PMPI_Send(buffer, count, type, to, tag, comm);
    PMPI_Type_size(type, &size_bytes);
    void *const spoiled = malloc((size_t)count * (size_t)size_bytes + 1);
    if (!spoiled)
        return MPI_ERR_NO_MEM;
    memcpy(spoiled, buffer, (size_t)count * (size_t)size_bytes);
    if (count > 0)
        spoil(spoiled, type);
    const int code = PMPI_Send(spoiled, count, type, to, tag, comm);
    free(spoiled);
    return code;
}

/* In place: what the kernels send without blocking lies in buffers made for it. */
int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (count > 0 && is_asked("MPI_Isend", 0))
        spoil((void *)buffer, type);
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Alltoall(const void *send, int sent, MPI_Datatype send_type, void *receive, int received,
                 MPI_Datatype receive_type, MPI_Comm comm)
{
    const int code = PMPI_Alltoall(send, sent, send_type, receive, received, receive_type, comm);
    if (received > 0 && is_asked("MPI_Alltoall", 0))
        spoil(receive, receive_type);
    return code;
}

int MPI_Alltoallv(const void *send, const int *sent, const int *send_at, MPI_Datatype send_type,
                  void *receive, const int *received, const int *receive_at,
                  MPI_Datatype receive_type, MPI_Comm comm)
{
    const int code = PMPI_Alltoallv(send, sent, send_at, send_type, receive, received, receive_at,
                                    receive_type, comm);
    if (received[0] > 0 && is_asked("MPI_Alltoallv", 0))
        spoil(receive, receive_type);
    return code;
}
