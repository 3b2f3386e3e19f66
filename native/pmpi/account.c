/* See account.h. */
#include "account.h"

uint64_t bl_block(struct bl_counts counts, struct bl_types types, int i)
{
    const MPI_Count count = counts.narrow ? counts.narrow[i]
                            : counts.wide ? counts.wide[i]
                                          : counts.one;
    const MPI_Datatype type = types.c         ? types.c[i]
                              : types.fortran ? PMPI_Type_f2c(types.fortran[i])
                                              : types.one;
    return bl_bytes(count, type);
}

uint64_t bl_sum(struct bl_counts counts, struct bl_types types, int n)
{
    if (types.c || types.fortran) {
        uint64_t bytes = 0;
        for (int i = 0; i < n; i++)
            bytes += bl_block(counts, types, i);
        return bytes;
    }
    MPI_Count sum = counts.one * n;
    if (counts.narrow)
        for (int i = 0; i < n; i++)
            sum += counts.narrow[i];
    else if (counts.wide)
        for (int i = 0; i < n; i++)
            sum += counts.wide[i];
    return bl_bytes(sum, types.one);
}

/* Point to point ------------------------------------------------------------------------------ */

uint64_t bl_status_bytes(const MPI_Status *status)
{
    MPI_Count bytes = 0;
    if (PMPI_Get_elements_x(status, MPI_BYTE, &bytes) || bytes < 0)
        return 0;
    return (uint64_t)bytes;
}

void bl_arrived(struct bl_op *op, const MPI_Status *status)
{
    if (!op->wakes)
        return;
    op->received = bl_status_bytes(status);
    const unsigned kind = bl_call_kinds[op->call];
    if (op->ends.from == BL_ANYBODY && status->MPI_SOURCE != MPI_PROC_NULL)
        op->ends.from = bl_world_rank(op->group, status->MPI_SOURCE);
    if (op->ends.receive_tag == BL_ANY_TAG)
        op->ends.receive_tag = status->MPI_TAG;
    if (kind == BL_KIND_SWAP)
        return;
    op->size = op->received;
    if (kind == BL_KIND_RECEIVE && op->place == BL_ANYWHERE && op->group)
        op->place = (uint8_t)bl_place_of(bl_world_rank(op->group, status->MPI_SOURCE));
}

/* Collectives --------------------------------------------------------------------------------- */

/* What the root argument makes of this process. */
enum role { MEMBER, ROOT, BYSTANDER };

static enum role role_of(const struct bl_op *op, int root)
{
    if (root == MPI_ROOT)
        return ROOT;
    if (root == MPI_PROC_NULL || !op->group)
        return BYSTANDER;
    return !op->group->inter && op->group->rank == root ? ROOT : MEMBER;
}

void bl_count_barrier(struct bl_op *op, MPI_Comm comm)
{
    bl_count_over(op, comm);
}

void bl_count_bcast(struct bl_op *op, MPI_Comm comm, int root, MPI_Count count, MPI_Datatype type)
{
    bl_count_over(op, comm);
    const enum role role = role_of(op, root);
    op->ends.root = bl_end_of(op, root);
    op->size = role == BYSTANDER ? 0 : bl_bytes_of(op, count, type);
    op->sent = role == ROOT ? op->size : 0;
    op->received = role == MEMBER ? op->size : 0;
}

void bl_count_reduce(struct bl_op *op, MPI_Comm comm, int root, MPI_Count count, MPI_Datatype type)
{
    bl_count_over(op, comm);
    const enum role role = role_of(op, root);
    op->ends.root = bl_end_of(op, root);
    op->size = role == BYSTANDER ? 0 : bl_bytes_of(op, count, type);
    op->sent = role == ROOT && op->group->inter ? 0 : op->size;
    op->received = role == ROOT ? op->size : 0;
}

void bl_count_allreduce(struct bl_op *op, MPI_Comm comm, MPI_Count count, MPI_Datatype type)
{
    bl_count_over(op, comm);
    op->size = op->sent = op->received = bl_bytes_of(op, count, type);
}

/* Of an inter-communicator, the local group shares the result out among its own. */
static int local_size(const struct bl_op *op)
{
    return !op->group ? 0 : op->group->inter ? op->group->size - op->group->peers : op->group->size;
}

void bl_count_reduce_scatter(struct bl_op *op, MPI_Comm comm, struct bl_counts counts,
                             MPI_Datatype type)
{
    bl_count_over(op, comm);
    op->size = op->sent = bl_sum(counts, bl_one_type(type), local_size(op));
    op->received = op->group ? bl_block(counts, bl_one_type(type), op->group->rank) : 0;
}

void bl_count_reduce_scatter_block(struct bl_op *op, MPI_Comm comm, MPI_Count count,
                                   MPI_Datatype type)
{
    bl_count_over(op, comm);
    op->received = bl_bytes_of(op, count, type);
    op->size = op->sent = op->received * (uint64_t)local_size(op);
}

void bl_count_gather(struct bl_op *op, MPI_Comm comm, int root, bool in_place, MPI_Count sendcount,
                     MPI_Datatype sendtype, struct bl_counts recvcounts, MPI_Datatype recvtype)
{
    bl_count_over(op, comm);
    const enum role role = role_of(op, root);
    op->ends.root = bl_end_of(op, root);
    const struct bl_types types = bl_one_type(recvtype);
    if (role == ROOT)
        op->received = bl_sum(recvcounts, types, bl_peers(op));
    if (role == MEMBER || (role == ROOT && !op->group->inter))
        op->sent = in_place ? bl_block(recvcounts, types, op->group->rank)
                            : bl_bytes_of(op, sendcount, sendtype);
    op->size = op->sent;
}

void bl_count_scatter(struct bl_op *op, MPI_Comm comm, int root, bool in_place,
                      struct bl_counts sendcounts, MPI_Datatype sendtype, MPI_Count recvcount,
                      MPI_Datatype recvtype)
{
    bl_count_over(op, comm);
    const enum role role = role_of(op, root);
    op->ends.root = bl_end_of(op, root);
    const struct bl_types types = bl_one_type(sendtype);
    if (role == ROOT)
        op->sent = bl_sum(sendcounts, types, bl_peers(op));
    if (role == MEMBER || (role == ROOT && !op->group->inter))
        op->received = in_place ? bl_block(sendcounts, types, op->group->rank)
                                : bl_bytes_of(op, recvcount, recvtype);
    op->size = op->received;
}

void bl_count_allgather(struct bl_op *op, MPI_Comm comm, bool in_place, MPI_Count sendcount,
                        MPI_Datatype sendtype, struct bl_counts recvcounts, MPI_Datatype recvtype)
{
    bl_count_over(op, comm);
    if (!op->group)
        return;
    const struct bl_types types = bl_one_type(recvtype);
    op->size = op->sent = in_place ? bl_block(recvcounts, types, op->group->rank)
                                   : bl_bytes_of(op, sendcount, sendtype);
    op->received = bl_sum(recvcounts, types, bl_peers(op));
}

void bl_count_alltoall(struct bl_op *op, MPI_Comm comm, bool in_place, struct bl_counts sendcounts,
                       struct bl_types sendtypes, struct bl_counts recvcounts,
                       struct bl_types recvtypes)
{
    bl_count_over(op, comm);
    op->received = bl_sum(recvcounts, recvtypes, bl_peers(op));
    op->size = op->sent = in_place ? op->received : bl_sum(sendcounts, sendtypes, bl_peers(op));
}

void bl_count_neighbours(struct bl_op *op, MPI_Comm comm, struct bl_counts sendcounts,
                         struct bl_types sendtypes, struct bl_counts recvcounts,
                         struct bl_types recvtypes)
{
    int in;
    int out;
    bl_count_over(op, comm);
    if (!op->group)
        return;
    bl_group_degree(op->group, comm, &in, &out);
    op->size = op->sent = bl_sum(sendcounts, sendtypes, out);
    op->received = bl_sum(recvcounts, recvtypes, in);
}

void bl_count_neighbours_gather(struct bl_op *op, MPI_Comm comm, MPI_Count sendcount,
                                MPI_Datatype sendtype, struct bl_counts recvcounts,
                                MPI_Datatype recvtype)
{
    int in;
    int out;
    bl_count_over(op, comm);
    if (!op->group)
        return;
    bl_group_degree(op->group, comm, &in, &out);
    op->size = op->sent = bl_bytes_of(op, sendcount, sendtype);
    op->received = bl_sum(recvcounts, bl_one_type(recvtype), in);
}

/* Requests ------------------------------------------------------------------------------------ */

/* The group of a receive from any rank, which tells in the end whose message came. */
static const struct bl_group *group_to_hold(const struct bl_op *op)
{
    if (!op->wakes || op->ends.from != BL_ANYBODY || !op->group || !op->thread->traced)
        return NULL;
    bl_group_hold();
    return op->group;
}

void bl_track(struct bl_op *op, MPI_Request handle)
{
    if (handle == MPI_REQUEST_NULL)
        return;
    op->posts = true;
    const struct bl_request request = {
        .what = bl_what_of(op),
        .size = op->size,
        .ends = op->ends,
        .group = group_to_hold(op),
        .post = ++op->thread->posts,
        .posted = op->stop,
        .sent = op->sent,
        .received = op->received,
        .peer = op->world_peer,
        .receives = op->wakes,
    };
    /* The row of the post gets what a collective or a one-sided call will receive; a receive's
     * bytes are added when its status tells them. */
    if (!bl_request_add(handle, &request))
        op->thread->table.sheet->untracked++;
}

void bl_persist(struct bl_op *op, MPI_Request handle, enum bl_starts starts)
{
    const struct bl_request request = {
        .what = bl_what_of(op),
        .size = op->size,
        .ends = op->ends,
        .group = group_to_hold(op),
        .sent = op->sent,
        .received = op->received,
        .peer = op->world_peer,
        .receives = op->wakes,
        .starts = (uint8_t)starts,
        .persistent = true,
    };
    if (handle != MPI_REQUEST_NULL && !bl_request_add(handle, &request))
        op->thread->table.sheet->untracked++;
    /* Nothing moves before the start. */
    op->sent = op->received = 0;
    op->world_peer = -1;
}

/* Notes the completion for a replay, and what a receive from any rank or of any tag met. */
static void trace_done(struct bl_op *op, const struct bl_request *request, const MPI_Status *status)
{
    struct bl_ends arrived = request->ends;
    int cancelled = 0;
    if (request->receives && status) {
        PMPI_Test_cancelled(status, &cancelled);
        if (cancelled)
            arrived.from = BL_NOBODY;
        else if (request->group)
            arrived.from = bl_world_rank(request->group, status->MPI_SOURCE);
        if (!cancelled && arrived.receive_tag == BL_ANY_TAG)
            arrived.receive_tag = status->MPI_TAG;
    }
    if (request->group && !request->persistent)
        bl_group_release();
    const bool told =
        arrived.from != request->ends.from || arrived.receive_tag != request->ends.receive_tag;
    bl_trace_done(op->thread->posts - request->post, told ? &arrived : NULL);
}

void bl_complete(struct bl_op *op, MPI_Request handle, const MPI_Status *status)
{
    struct bl_request request;
    if (handle == MPI_REQUEST_NULL || !bl_request_take(handle, &request))
        return;
    uint64_t arrived = request.receives && status ? bl_status_bytes(status) : 0;
    op->completes = true;
    op->receives += request.receives;
    op->awaited += request.receives ? arrived : request.size;
    if (op->thread->traced)
        trace_done(op, &request, status);
    struct bl_row *row = bl_table_row(&op->thread->table, request.what, request.size);
    if (!row)
        return;
    row->finished++;
    if (op->began > request.posted)
        row->window += op->began - request.posted;
    row->flight += op->stop - request.posted;
    row->received += arrived;
}
