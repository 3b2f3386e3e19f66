/* The C functions that complete, start or free requests. */
#include "completion.h"

#include "export.h"

static uint64_t started_row(const struct bl_request *request, unsigned base)
{
    return bl_what(base + request->starts, bl_self->region, bl_what_place(request->what),
                   bl_what_class(request->what));
}

void bl_started(struct bl_op *op, unsigned base, int n, const MPI_Request handles[])
{
    /* One row per message; the call's time is shared out among them. */
    const uint64_t share = n > 0 ? (op->stop - op->start) / (uint64_t)n : 0;
    uint64_t compute = bl_compute_before(op);
    for (int i = 0; i < n; i++) {
        struct bl_request request;
        const uint32_t post = ++op->thread->posts;
        if (!bl_request_start(handles[i], op->stop, post, started_row, base, &request)) {
            op->thread->table.sheet->untracked++;
            bl_trace_lose();
            continue;
        }
        struct bl_row *row = bl_table_row(&op->thread->table, request.what, request.size);
        if (row) {
            bl_add(row, 1, share);
            row->bytes += request.size;
            row->sent += request.sent;
            row->received += request.received;
        }
        op->world_peer = request.peer;
        op->size = request.size;
        bl_count_cell(op);
        bl_count_site(op, share);
        if (op->thread->traced) {
            const struct bl_trace_call call = {
                .ends = request.ends,
                .call = bl_what_call(request.what),
                .posts = true,
                .size = request.size,
                .sent = request.sent,
                .received = request.received,
                .compute = compute,
                .spent = share,
            };
            bl_trace_call(&call);
            compute = 0;
        }
    }
    bl_close(op);
}

BL_EXPORT int MPI_Start(MPI_Request *request)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_START_SEND))
        return PMPI_Start(request);
    bl_start(&op);
    const int code = PMPI_Start(request);
    bl_stop(&op);
    bl_started(&op, BL_START_SEND, 1, request);
    return code;
}

BL_EXPORT int MPI_Startall(int count, MPI_Request requests[])
{
    struct bl_op op;
    if (!bl_begin(&op, BL_STARTALL_SEND))
        return PMPI_Startall(count, requests);
    bl_start(&op);
    const int code = PMPI_Startall(count, requests);
    bl_stop(&op);
    bl_started(&op, BL_STARTALL_SEND, count, requests);
    return code;
}

BL_EXPORT int MPI_Request_free(MPI_Request *request)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Request_free))
        return PMPI_Request_free(request);
    bl_request_drop(*request);
    bl_start(&op);
    const int code = PMPI_Request_free(request);
    bl_stop(&op);
    bl_record(&op);
    return code;
}

BL_EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Wait))
        return PMPI_Wait(request, status);
    MPI_Status own;
    const MPI_Request handle = *request;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    bl_start(&op);
    const int code = PMPI_Wait(request, status);
    bl_stop(&op);
    bl_complete(&op, handle, status);
    bl_record(&op);
    return code;
}

BL_EXPORT int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Test))
        return PMPI_Test(request, flag, status);
    MPI_Status own;
    const MPI_Request handle = *request;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    bl_start(&op);
    const int code = PMPI_Test(request, flag, status);
    bl_stop(&op);
    if (*flag)
        bl_complete(&op, handle, status);
    bl_record(&op);
    return code;
}

BL_EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Waitall))
        return PMPI_Waitall(count, requests, statuses);
    const bool noted = bl_completion_note(&op, count, requests);
    if (noted && statuses == MPI_STATUSES_IGNORE)
        statuses = op.thread->scratch.statuses;
    bl_start(&op);
    const int code = PMPI_Waitall(count, requests, statuses);
    bl_stop(&op);
    for (int i = 0; noted && i < count; i++)
        bl_complete(&op, op.thread->scratch.handles[i], &statuses[i]);
    bl_record(&op);
    return code;
}

BL_EXPORT int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Testall))
        return PMPI_Testall(count, requests, flag, statuses);
    const bool noted = bl_completion_note(&op, count, requests);
    if (noted && statuses == MPI_STATUSES_IGNORE)
        statuses = op.thread->scratch.statuses;
    bl_start(&op);
    const int code = PMPI_Testall(count, requests, flag, statuses);
    bl_stop(&op);
    for (int i = 0; noted && *flag && i < count; i++)
        bl_complete(&op, op.thread->scratch.handles[i], &statuses[i]);
    bl_record(&op);
    return code;
}

BL_EXPORT int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Waitany))
        return PMPI_Waitany(count, requests, index, status);
    MPI_Status own;
    const bool noted = bl_completion_note(&op, count, requests);
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    bl_start(&op);
    const int code = PMPI_Waitany(count, requests, index, status);
    bl_stop(&op);
    if (noted && *index != MPI_UNDEFINED)
        bl_complete(&op, op.thread->scratch.handles[*index], status);
    bl_record(&op);
    return code;
}

BL_EXPORT int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                          MPI_Status *status)
{
    struct bl_op op;
    if (!bl_begin(&op, BL_Testany))
        return PMPI_Testany(count, requests, index, flag, status);
    MPI_Status own;
    const bool noted = bl_completion_note(&op, count, requests);
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    bl_start(&op);
    const int code = PMPI_Testany(count, requests, index, flag, status);
    bl_stop(&op);
    if (noted && *flag && *index != MPI_UNDEFINED)
        bl_complete(&op, op.thread->scratch.handles[*index], status);
    bl_record(&op);
    return code;
}

/* MPI_Waitsome and MPI_Testsome are told apart by nothing but their names. */
static inline __attribute__((always_inline)) int
some(int (*real)(int, MPI_Request *, int *, int *, MPI_Status *), unsigned call, int incount,
     MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    struct bl_op op;
    if (!bl_begin(&op, call))
        return real(incount, requests, outcount, indices, statuses);
    const bool noted = bl_completion_note(&op, incount, requests);
    if (noted && statuses == MPI_STATUSES_IGNORE)
        statuses = op.thread->scratch.statuses;
    bl_start(&op);
    const int code = real(incount, requests, outcount, indices, statuses);
    bl_stop(&op);
    for (int i = 0; noted && *outcount != MPI_UNDEFINED && i < *outcount; i++)
        bl_complete(&op, op.thread->scratch.handles[indices[i]], &statuses[i]);
    bl_record(&op);
    return code;
}

BL_EXPORT int MPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                           MPI_Status statuses[])
{
    return some(PMPI_Waitsome, BL_Waitsome, incount, requests, outcount, indices, statuses);
}

BL_EXPORT int MPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                           MPI_Status statuses[])
{
    return some(PMPI_Testsome, BL_Testsome, incount, requests, outcount, indices, statuses);
}
