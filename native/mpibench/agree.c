/* See agree.h. Compiled for a simulator of MPI only. */
#include "agree.h"

#include "bl_error.h"

#include <simgrid/actor.h>

#include <string.h>

/* Longer than any broadcast of a few bytes takes, in s. Simulated time costs nothing. */
static const double until_all_know_s = 0.1;

enum { VALUES_MAX_BYTES = 64 };

/* What rank 0 tells: the result, and when to go on. */
struct word {
    double begin_s;
    unsigned char values[VALUES_MAX_BYTES];
};

static int tell(void *all, size_t size_bytes, int rank, MPI_Comm comm)
{
    struct word word = {.begin_s = MPI_Wtime() + until_all_know_s};
    if (size_bytes > sizeof word.values)
        bl_die(BL_STATUS_FAILED, "%zu B to agree on, raise VALUES_MAX_BYTES", size_bytes);
    if (rank == 0)
        memcpy(word.values, all, size_bytes);
    const int code = MPI_Bcast(&word, (int)(sizeof word.begin_s + size_bytes), MPI_CHAR, 0, comm);
    memcpy(all, word.values, size_bytes);
    sg_actor_sleep_until(word.begin_s);
    return code;
}

int bl_agree(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op how, MPI_Comm comm)
{
    int rank, size_bytes;
    MPI_Comm_rank(comm, &rank);
    MPI_Type_size(type, &size_bytes);
    /* Only the root of a reduction may say that its values lie where the result is to be. */
    const void *const terms = mine == MPI_IN_PLACE && rank != 0 ? all : mine;
    const int code = MPI_Reduce(terms, all, count, type, how, 0, comm);
    return code == MPI_SUCCESS ? tell(all, (size_t)count * (size_t)size_bytes, rank, comm) : code;
}
