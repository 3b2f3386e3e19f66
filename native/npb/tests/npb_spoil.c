/*
 * Preloaded into a benchmark, it spoils what MPI delivers: the last number of every sum over all
 * processes and the first of every blocking send is changed by a thousandth or by one. The
 * verification has to notice.
 */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

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
    if (count > 0 && op == MPI_SUM)
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
    if (count > 0 && op == MPI_SUM && rank == root)
        spoil((char *)receive + (size_t)(count - 1) * (size_t)size_bytes, type);
    return code;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    int size_bytes;
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
