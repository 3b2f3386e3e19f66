/*
 * The MPI functions that the kernels call, timed one by one.
 *
 * Exported: the bl_mpi_* functions, which bl_messages.f90 declares to Fortran, where each is
 * described.
 *
 * The layer is C because Fortran's `use mpi` declares no interface for functions with buffers in
 * half of the libraries (MPICH, SimGrid), so that nothing would check the arguments; here they have
 * one, and a profiling library that intercepts MPI's C functions sees the calls. The handles are
 * Fortran's.
 *
 * A call costs two reads of MPI_Wtime (tens of ns) beyond MPI itself. Errors are fatal in MPI.
 */
#include "bl_compute.h"
#include "bl_fold.h"

#include <mpi.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum function {
    ALLREDUCE,
    ALLTOALL,
    ALLTOALLV,
    BARRIER,
    BCAST,
    IRECV,
    ISEND,
    RECV,
    REDUCE,
    SEND,
    SENDRECV,
    WAIT,
    WAITALL,
    FUNCTIONS
};

static const char *const names[FUNCTIONS] = {
    [ALLREDUCE] = "MPI_Allreduce", [ALLTOALL] = "MPI_Alltoall", [ALLTOALLV] = "MPI_Alltoallv",
    [BARRIER] = "MPI_Barrier",     [BCAST] = "MPI_Bcast",       [IRECV] = "MPI_Irecv",
    [ISEND] = "MPI_Isend",         [RECV] = "MPI_Recv",         [REDUCE] = "MPI_Reduce",
    [SEND] = "MPI_Send",           [SENDRECV] = "MPI_Sendrecv", [WAIT] = "MPI_Wait",
    [WAITALL] = "MPI_Waitall",
};

static struct tally {
    double time_s;
    int64_t calls;
} tallies[FUNCTIONS];

/* `count` is the size of the message in elements: it tells stretches of computation apart. */
#define TIMED(function, count, call)                                                               \
    do {                                                                                           \
        BL_COMPUTE_ENDS(function, count);                                                          \
        const double begin_s_ = MPI_Wtime();                                                       \
        (call);                                                                                    \
        tallies[function].time_s += MPI_Wtime() - begin_s_;                                        \
        tallies[function].calls++;                                                                 \
        BL_COMPUTE_BEGINS();                                                                       \
    } while (0)

/* The tallies. */

int bl_mpi_functions(void);
void bl_mpi_function_name(int function, char *name, int capacity);
void bl_mpi_reset(void);
void bl_mpi_totals(double *time_s, int64_t *calls);
void bl_mpi_region(int level);

int bl_mpi_functions(void)
{
    return FUNCTIONS;
}

/* Pads with blanks, as Fortran does. Functions count from 1. */
void bl_mpi_function_name(int function, char *name, int capacity)
{
    const char *text = names[function - 1];
    size_t length = strlen(text);
    if (length > (size_t)capacity)
        length = (size_t)capacity;
    memset(name, ' ', (size_t)capacity);
    memcpy(name, text, length);
}

void bl_mpi_reset(void)
{
    memset(tallies, 0, sizeof tallies);
    BL_COMPUTE_RESET();
}

void bl_mpi_totals(double *time_s, int64_t *calls)
{
    for (int i = 0; i < FUNCTIONS; i++) {
        time_s[i] = tallies[i].time_s;
        calls[i] = tallies[i].calls;
    }
}

/* Tells tools where the timed part is: bareline's profiler counts it as a region of its own.
 * SimGrid has no such call. */
void bl_mpi_region(int level)
{
#ifdef BL_SIMULATED
    (void)level;
#else
    MPI_Pcontrol(level);
#endif
}

/* The job: not timed. */

void bl_mpi_init(void);
void bl_mpi_finalize(void);
_Noreturn void bl_mpi_abort(int status);
int bl_mpi_rank(MPI_Fint comm);
int bl_mpi_size(MPI_Fint comm);
MPI_Fint bl_mpi_split(MPI_Fint comm, int color, int key);
MPI_Fint bl_mpi_split_node(MPI_Fint comm);
void bl_mpi_free(MPI_Fint *comm);
int bl_memory_folded(void);
double bl_mpi_wtime(void);
double bl_mpi_wtick(void);
void bl_mpi_versions(char *standard, int standard_capacity, char *library, int library_capacity);

void bl_mpi_init(void)
{
    MPI_Init(NULL, NULL);
}

void bl_mpi_finalize(void)
{
    BL_COMPUTE_REPORT();
    MPI_Finalize();
}

_Noreturn void bl_mpi_abort(int status)
{
    MPI_Abort(MPI_COMM_WORLD, status);
    exit(status);
}

int bl_mpi_rank(MPI_Fint comm)
{
    int rank;
    MPI_Comm_rank(MPI_Comm_f2c(comm), &rank);
    return rank;
}

int bl_mpi_size(MPI_Fint comm)
{
    int size;
    MPI_Comm_size(MPI_Comm_f2c(comm), &size);
    return size;
}

MPI_Fint bl_mpi_split(MPI_Fint comm, int color, int key)
{
    MPI_Comm part;
    MPI_Comm_split(MPI_Comm_f2c(comm), color, key, &part);
    return MPI_Comm_c2f(part);
}

MPI_Fint bl_mpi_split_node(MPI_Fint comm)
{
    MPI_Comm node;
    MPI_Comm_split_type(MPI_Comm_f2c(comm), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    return MPI_Comm_c2f(node);
}

void bl_mpi_free(MPI_Fint *comm)
{
    MPI_Comm freed = MPI_Comm_f2c(*comm);
    MPI_Comm_free(&freed);
    *comm = MPI_Comm_c2f(freed);
}

int bl_memory_folded(void)
{
    return BL_MEMORY_FOLDED();
}

double bl_mpi_wtime(void)
{
    BL_COMPUTE_CLOCK();
    return MPI_Wtime();
}

double bl_mpi_wtick(void)
{
    return MPI_Wtick();
}

static void pad(char *text, size_t length, int capacity)
{
    for (size_t i = length; i < (size_t)capacity; i++)
        text[i] = ' ';
}

/* Of the library's text only the first line: MPICH's goes on with how it was configured. */
void bl_mpi_versions(char *standard, int standard_capacity, char *library, int library_capacity)
{
    int version, subversion, length;
    MPI_Get_version(&version, &subversion);
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    const char digits[] = {(char)('0' + version), '.', (char)('0' + subversion)};
    memcpy(standard, digits, sizeof digits);
    pad(standard, sizeof digits, standard_capacity);

    MPI_Get_library_version(text, &length);
    size_t used = strcspn(text, "\n");
    if (used > (size_t)library_capacity)
        used = (size_t)library_capacity;
    for (size_t i = 0; i < used; i++)
        library[i] = text[i] == '\t' ? ' ' : text[i];
    pad(library, used, library_capacity);
}

/* The messages: timed. */

void bl_mpi_barrier(MPI_Fint comm);
void bl_mpi_bcast(void *buffer, int count, MPI_Fint type, int root, MPI_Fint comm);
void bl_mpi_reduce(void *values, int count, MPI_Fint type, MPI_Fint op, int root, MPI_Fint comm);
void bl_mpi_allreduce(void *values, int count, MPI_Fint type, MPI_Fint op, MPI_Fint comm);
void bl_mpi_alltoall(const void *sent, void *received, int count, MPI_Fint type, MPI_Fint comm);
void bl_mpi_alltoallv(const void *sent, const int *sent_counts, const int *sent_offsets,
                      void *received, const int *received_counts, const int *received_offsets,
                      MPI_Fint type, MPI_Fint comm);
void bl_mpi_send(const void *buffer, int count, MPI_Fint type, int dest, int tag, MPI_Fint comm);
void bl_mpi_recv(void *buffer, int count, MPI_Fint type, int source, int tag, MPI_Fint comm);
void bl_mpi_sendrecv(const void *sent, int sent_count, int dest, void *received, int received_count,
                     int source, MPI_Fint type, int tag, MPI_Fint comm);
void bl_mpi_isend(const void *buffer, int count, MPI_Fint type, int dest, int tag, MPI_Fint comm,
                  MPI_Fint *request);
void bl_mpi_irecv(void *buffer, int count, MPI_Fint type, int source, int tag, MPI_Fint comm,
                  MPI_Fint *request);
void bl_mpi_wait(MPI_Fint *request);
void bl_mpi_waitall(int count, MPI_Fint *requests);

void bl_mpi_barrier(MPI_Fint comm)
{
    TIMED(BARRIER, 0, MPI_Barrier(MPI_Comm_f2c(comm)));
}

void bl_mpi_bcast(void *buffer, int count, MPI_Fint type, int root, MPI_Fint comm)
{
    TIMED(BCAST, count, MPI_Bcast(buffer, count, MPI_Type_f2c(type), root, MPI_Comm_f2c(comm)));
}

void bl_mpi_reduce(void *values, int count, MPI_Fint type, MPI_Fint op, int root, MPI_Fint comm)
{
    const MPI_Comm c_comm = MPI_Comm_f2c(comm);
    int rank;
    MPI_Comm_rank(c_comm, &rank);
    const void *sent = rank == root ? MPI_IN_PLACE : values;
    TIMED(REDUCE, count,
          MPI_Reduce(sent, rank == root ? values : NULL, count, MPI_Type_f2c(type), MPI_Op_f2c(op),
                     root, c_comm));
}

void bl_mpi_allreduce(void *values, int count, MPI_Fint type, MPI_Fint op, MPI_Fint comm)
{
    TIMED(ALLREDUCE, count,
          MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_Type_f2c(type), MPI_Op_f2c(op),
                        MPI_Comm_f2c(comm)));
}

void bl_mpi_alltoall(const void *sent, void *received, int count, MPI_Fint type, MPI_Fint comm)
{
    const MPI_Datatype c_type = MPI_Type_f2c(type);
    TIMED(ALLTOALL, count,
          MPI_Alltoall(sent, count, c_type, received, count, c_type, MPI_Comm_f2c(comm)));
}

void bl_mpi_alltoallv(const void *sent, const int *sent_counts, const int *sent_offsets,
                      void *received, const int *received_counts, const int *received_offsets,
                      MPI_Fint type, MPI_Fint comm)
{
    const MPI_Datatype c_type = MPI_Type_f2c(type);
    TIMED(ALLTOALLV, 0,
          MPI_Alltoallv(sent, sent_counts, sent_offsets, c_type, received, received_counts,
                        received_offsets, c_type, MPI_Comm_f2c(comm)));
}

void bl_mpi_send(const void *buffer, int count, MPI_Fint type, int dest, int tag, MPI_Fint comm)
{
    const MPI_Datatype c_type = MPI_Type_f2c(type);
    TIMED(SEND, count,
          (MPI_Send(buffer, count, c_type, dest, tag, MPI_Comm_f2c(comm)),
           BL_COMPUTE_SENT(count, c_type, dest, MPI_Comm_f2c(comm))));
}

void bl_mpi_recv(void *buffer, int count, MPI_Fint type, int source, int tag, MPI_Fint comm)
{
    TIMED(RECV, count,
          MPI_Recv(buffer, count, MPI_Type_f2c(type), source, tag, MPI_Comm_f2c(comm),
                   MPI_STATUS_IGNORE));
}

void bl_mpi_sendrecv(const void *sent, int sent_count, int dest, void *received, int received_count,
                     int source, MPI_Fint type, int tag, MPI_Fint comm)
{
    const MPI_Datatype c_type = MPI_Type_f2c(type);
    TIMED(SENDRECV, sent_count,
          MPI_Sendrecv(sent, sent_count, c_type, dest, tag, received, received_count, c_type,
                       source, tag, MPI_Comm_f2c(comm), MPI_STATUS_IGNORE));
}

void bl_mpi_isend(const void *buffer, int count, MPI_Fint type, int dest, int tag, MPI_Fint comm,
                  MPI_Fint *request)
{
    MPI_Request started;
    TIMED(ISEND, count,
          MPI_Isend(buffer, count, MPI_Type_f2c(type), dest, tag, MPI_Comm_f2c(comm), &started));
    *request = MPI_Request_c2f(started);
}

void bl_mpi_irecv(void *buffer, int count, MPI_Fint type, int source, int tag, MPI_Fint comm,
                  MPI_Fint *request)
{
    MPI_Request started;
    TIMED(IRECV, count,
          MPI_Irecv(buffer, count, MPI_Type_f2c(type), source, tag, MPI_Comm_f2c(comm), &started));
    *request = MPI_Request_c2f(started);
}

void bl_mpi_wait(MPI_Fint *request)
{
    MPI_Request started = MPI_Request_f2c(*request);
    TIMED(WAIT, 0, MPI_Wait(&started, MPI_STATUS_IGNORE));
    *request = MPI_Request_c2f(started);
}

/* Batches, because the handles have to be converted into an array of the library's own type. */
void bl_mpi_waitall(int count, MPI_Fint *requests)
{
    enum { BATCH = 64 };
    MPI_Request started[BATCH];
    for (int first = 0; first < count; first += BATCH) {
        const int batch = count - first < BATCH ? count - first : BATCH;
        for (int i = 0; i < batch; i++)
            started[i] = MPI_Request_f2c(requests[first + i]);
        TIMED(WAITALL, batch, MPI_Waitall(batch, started, MPI_STATUSES_IGNORE));
        for (int i = 0; i < batch; i++)
            requests[first + i] = MPI_Request_c2f(started[i]);
    }
}
