/* The Fortran functions that complete, start or free requests. */
#include "completion.h"
#include "fortran.h"

/* Notes Fortran handles as C handles. */
static bool note(struct bl_op *op, int n, const MPI_Fint *requests)
{
    if (!bl_scratch_reserve(&op->thread->scratch, n))
        return false;
    for (int i = 0; i < n; i++)
        op->thread->scratch.handles[i] = PMPI_Request_f2c(requests[i]);
    return true;
}

/*
 * What the indices of completed requests count from: 1, but for MPICH 4.0, whose mpi_f08 returns
 * those of C. A completed request, unless persistent, has become null.
 */
static int first_index(const struct bl_op *op, int n, const MPI_Fint *requests, int completed,
                       const MPI_Fint *indices)
{
    const MPI_Fint null = PMPI_Request_c2f(MPI_REQUEST_NULL);
    for (int i = 0; i < completed; i++) {
        const int at = indices[i];
        if (at == 0)
            return 0;
        const bool done_before = op->thread->scratch.handles[at - 1] == MPI_REQUEST_NULL;
        if (at < n && requests[at] == null && (requests[at - 1] != null || done_before) &&
            op->thread->scratch.handles[at] != MPI_REQUEST_NULL)
            return 0;
    }
    return 1;
}

static void complete(struct bl_op *op, int request, const MPI_Fint *status)
{
    const MPI_Status converted = bl_fortran_status(status);
    bl_complete(op, op->thread->scratch.handles[request], &converted);
}

typedef void (*real_start)(MPI_Fint *, MPI_Fint *);
typedef void (*real_startall)(MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef real_start real_request_free;
typedef void (*real_wait)(MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef void (*real_test)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef void (*real_waitall)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef void (*real_testall)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef real_testall real_waitany;
typedef void (*real_testany)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
                             MPI_Fint *);
typedef real_testany real_waitsome;
typedef real_testany real_testsome;

BL_BODY void body_start(real_start real, MPI_Fint *request, MPI_Fint *ierror)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_START_SEND)) {
        real(request, ierror);
        return;
    }
    bl_start(&op);
    real(request, ierror);
    bl_stop(&op);
    const MPI_Request handle = PMPI_Request_f2c(*request);
    bl_started(&op, BL_START_SEND, 1, &handle);
}
BL_FORTRAN_ENTRIES(start, (MPI_Fint * request), (request))

BL_BODY void body_startall(real_startall real, MPI_Fint *count, MPI_Fint *requests,
                           MPI_Fint *ierror)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_STARTALL_SEND)) {
        real(count, requests, ierror);
        return;
    }
    const bool noted = note(&op, *count, requests);
    bl_start(&op);
    real(count, requests, ierror);
    bl_stop(&op);
    bl_started(&op, BL_STARTALL_SEND, noted ? *count : 0, op.thread->scratch.handles);
}
BL_FORTRAN_ENTRIES(startall, (MPI_Fint * count, MPI_Fint *requests), (count, requests))

BL_BODY void body_request_free(real_request_free real, MPI_Fint *request, MPI_Fint *ierror)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Request_free)) {
        real(request, ierror);
        return;
    }
    bl_request_drop(PMPI_Request_f2c(*request));
    bl_start(&op);
    real(request, ierror);
    bl_stop(&op);
    bl_record(&op);
}
BL_FORTRAN_ENTRIES(request_free, (MPI_Fint * request), (request))

BL_BODY void body_wait(real_wait real, MPI_Fint *request, MPI_Fint *status, MPI_Fint *ierror)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Wait)) {
        real(request, status, ierror);
        return;
    }
    MPI_Fint own[MPI_F_STATUS_SIZE];
    const bool noted = note(&op, 1, request);
    if (bl_fortran_status_ignored(status))
        status = own;
    bl_start(&op);
    real(request, status, ierror);
    bl_stop(&op);
    if (noted)
        complete(&op, 0, status);
    bl_record(&op);
}
BL_FORTRAN_ENTRIES(wait, (MPI_Fint * request, MPI_Fint *status), (request, status))

BL_BODY void body_test(real_test real, MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status,
                       MPI_Fint *ierror)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Test)) {
        real(request, flag, status, ierror);
        return;
    }
    MPI_Fint own[MPI_F_STATUS_SIZE];
    const bool noted = note(&op, 1, request);
    if (bl_fortran_status_ignored(status))
        status = own;
    bl_start(&op);
    real(request, flag, status, ierror);
    bl_stop(&op);
    if (noted && *flag)
        complete(&op, 0, status);
    bl_record(&op);
}
BL_FORTRAN_ENTRIES(test, (MPI_Fint * request, MPI_Fint *flag, MPI_Fint *status),
                   (request, flag, status))

BL_BODY void body_waitall(real_waitall real, MPI_Fint *count, MPI_Fint *requests,
                          MPI_Fint *statuses, MPI_Fint *ierror)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Waitall)) {
        real(count, requests, statuses, ierror);
        return;
    }
    const bool noted = note(&op, *count, requests);
    if (noted && bl_fortran_statuses_ignored(statuses))
        statuses = op.thread->scratch.fortran_statuses;
    bl_start(&op);
    real(count, requests, statuses, ierror);
    bl_stop(&op);
    for (int i = 0; noted && i < *count; i++)
        complete(&op, i, statuses + i * MPI_F_STATUS_SIZE);
    bl_record(&op);
}
BL_FORTRAN_ENTRIES(waitall, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *statuses),
                   (count, requests, statuses))

BL_BODY void body_testall(real_testall real, MPI_Fint *count, MPI_Fint *requests, MPI_Fint *flag,
                          MPI_Fint *statuses, MPI_Fint *ierror)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Testall)) {
        real(count, requests, flag, statuses, ierror);
        return;
    }
    const bool noted = note(&op, *count, requests);
    if (noted && bl_fortran_statuses_ignored(statuses))
        statuses = op.thread->scratch.fortran_statuses;
    bl_start(&op);
    real(count, requests, flag, statuses, ierror);
    bl_stop(&op);
    for (int i = 0; noted && *flag && i < *count; i++)
        complete(&op, i, statuses + i * MPI_F_STATUS_SIZE);
    bl_record(&op);
}
BL_FORTRAN_ENTRIES(testall,
                   (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *flag, MPI_Fint *statuses),
                   (count, requests, flag, statuses))

BL_BODY void body_waitany(real_waitany real, MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index,
                          MPI_Fint *status, MPI_Fint *ierror)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Waitany)) {
        real(count, requests, index, status, ierror);
        return;
    }
    MPI_Fint own[MPI_F_STATUS_SIZE];
    const bool noted = note(&op, *count, requests);
    if (bl_fortran_status_ignored(status))
        status = own;
    bl_start(&op);
    real(count, requests, index, status, ierror);
    bl_stop(&op);
    if (noted && *index != MPI_UNDEFINED)
        complete(&op, *index - first_index(&op, *count, requests, 1, index), status);
    bl_record(&op);
}
BL_FORTRAN_ENTRIES(waitany,
                   (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *status),
                   (count, requests, index, status))

BL_BODY void body_testany(real_testany real, MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index,
                          MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Testany)) {
        real(count, requests, index, flag, status, ierror);
        return;
    }
    MPI_Fint own[MPI_F_STATUS_SIZE];
    const bool noted = note(&op, *count, requests);
    if (bl_fortran_status_ignored(status))
        status = own;
    bl_start(&op);
    real(count, requests, index, flag, status, ierror);
    bl_stop(&op);
    if (noted && *flag && *index != MPI_UNDEFINED)
        complete(&op, *index - first_index(&op, *count, requests, 1, index), status);
    bl_record(&op);
}
BL_FORTRAN_ENTRIES(testany,
                   (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *flag,
                    MPI_Fint *status),
                   (count, requests, index, flag, status))

static void some(real_waitsome real, unsigned call, MPI_Fint *incount, MPI_Fint *requests,
                 MPI_Fint *outcount, MPI_Fint *indices, MPI_Fint *statuses, MPI_Fint *ierror)
{
    struct bl_op op;
    if (!bl_begin(&op, call)) {
        real(incount, requests, outcount, indices, statuses, ierror);
        return;
    }
    const bool noted = note(&op, *incount, requests);
    if (noted && bl_fortran_statuses_ignored(statuses))
        statuses = op.thread->scratch.fortran_statuses;
    bl_start(&op);
    real(incount, requests, outcount, indices, statuses, ierror);
    bl_stop(&op);
    const int done = noted && *outcount != MPI_UNDEFINED ? *outcount : 0;
    const int first = first_index(&op, *incount, requests, done, indices);
    for (int i = 0; i < done; i++)
        complete(&op, indices[i] - first, statuses + i * MPI_F_STATUS_SIZE);
    bl_record(&op);
}

#define SOME_DECLARATIONS                                                                          \
    (MPI_Fint * incount, MPI_Fint * requests, MPI_Fint * outcount, MPI_Fint * indices,             \
     MPI_Fint * statuses)
#define SOME_ARGUMENTS (incount, requests, outcount, indices, statuses)

BL_BODY void body_waitsome(real_waitsome real, MPI_Fint *incount, MPI_Fint *requests,
                           MPI_Fint *outcount, MPI_Fint *indices, MPI_Fint *statuses,
                           MPI_Fint *ierror)
{
    some(real, BL_Waitsome, incount, requests, outcount, indices, statuses, ierror);
}
BL_FORTRAN_ENTRIES(waitsome, SOME_DECLARATIONS, SOME_ARGUMENTS)

BL_BODY void body_testsome(real_testsome real, MPI_Fint *incount, MPI_Fint *requests,
                           MPI_Fint *outcount, MPI_Fint *indices, MPI_Fint *statuses,
                           MPI_Fint *ierror)
{
    some(real, BL_Testsome, incount, requests, outcount, indices, statuses, ierror);
}
BL_FORTRAN_ENTRIES(testsome, SOME_DECLARATIONS, SOME_ARGUMENTS)
