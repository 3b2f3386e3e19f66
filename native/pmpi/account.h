/*
 * The peers of a call and the number of bytes that it sends and receives, from its arguments.
 * docs/reference/profile.md describes the same rules for users.
 *
 * `size` is the message size by the definition of benchmarks: the vector of a reduction, the block
 * of a gather or scatter, all that a rank sends in an all-to-all. `sent` and `received` are the
 * bytes of the buffers that this rank's arguments describe. Arguments that are not significant on a
 * rank by the MPI standard (the receive type of a gather on a rank that is not the root) may have
 * any value and are not read.
 */
#ifndef BL_PMPI_ACCOUNT_H
#define BL_PMPI_ACCOUNT_H

#include "thread.h"

/* Arrays of counts of either width, or one count for all. */
struct bl_counts {
    const int *narrow;
    const MPI_Count *wide;
    MPI_Count one;
};

/* Datatypes per block of either language, or one for all. */
struct bl_types {
    const MPI_Datatype *c;
    const MPI_Fint *fortran;
    MPI_Datatype one;
};

static inline struct bl_counts bl_narrow(const int *counts)
{
    return (struct bl_counts){.narrow = counts};
}
static inline struct bl_counts bl_wide(const MPI_Count *counts)
{
    return (struct bl_counts){.wide = counts};
}
static inline struct bl_counts bl_same(MPI_Count count)
{
    return (struct bl_counts){.one = count};
}
static inline struct bl_types bl_one_type(MPI_Datatype type)
{
    return (struct bl_types){.one = type};
}

/* Bytes of data, without the gaps of the type. */
static inline uint64_t bl_bytes(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) || size <= 0)
        return 0;
    return (uint64_t)count * (uint64_t)size;
}

/* The same, of the data of a call; the trace keeps the size of an element. */
static inline uint64_t bl_bytes_of(struct bl_op *op, MPI_Count count, MPI_Datatype type)
{
    if (count <= 0)
        return 0;
    const uint64_t element = bl_bytes(1, type);
    op->ends.element = element > UINT32_MAX ? 0 : (uint32_t)element;
    return (uint64_t)count * element;
}

/* Bytes of block i of a vector. */
uint64_t bl_block(struct bl_counts counts, struct bl_types types, int i);

/* Bytes of n blocks. */
uint64_t bl_sum(struct bl_counts counts, struct bl_types types, int n);

static inline int bl_peers(const struct bl_op *op)
{
    return op->group ? op->group->peers : 0;
}

/* A group may be freed before the call is recorded, so that its properties are copied. */
static inline void bl_set_group(struct bl_op *op, const struct bl_group *group)
{
    op->group = group;
    if (group) {
        op->ends.comm = group->id;
        op->ends.comm_size = group->size;
    }
}

static inline void bl_count_over(struct bl_op *op, MPI_Comm comm)
{
    bl_set_group(op, bl_group_of_comm(&op->thread->groups, comm));
}

static inline void bl_set_peer(struct bl_op *op, int peer)
{
    if (peer == MPI_PROC_NULL) {
        op->place = BL_NO_PEER;
        return;
    }
    op->world_peer = bl_world_rank(op->group, peer);
    op->place = (uint8_t)bl_place_of(op->world_peer);
}

/* Point to point ------------------------------------------------------------------------------ */

/* A rank argument as a rank of MPI_COMM_WORLD, BL_ANYBODY or BL_NOBODY. */
static inline int bl_end_of(const struct bl_op *op, int peer)
{
    return peer == MPI_PROC_NULL ? BL_NOBODY : bl_world_rank(op->group, peer);
}

static inline int bl_tag_of(int tag)
{
    return tag == MPI_ANY_TAG ? BL_ANY_TAG : tag;
}

static inline void bl_count_peer(struct bl_op *op, MPI_Comm comm, int peer, int tag)
{
    bl_count_over(op, comm);
    bl_set_peer(op, peer);
    op->world_peer = -1;
    op->ends.from = bl_end_of(op, peer);
    op->ends.receive_tag = bl_tag_of(tag);
}

static inline void bl_count_send(struct bl_op *op, MPI_Comm comm, int dest, int tag, uint64_t bytes)
{
    bl_count_over(op, comm);
    bl_set_peer(op, dest);
    op->ends.to = bl_end_of(op, dest);
    op->ends.send_tag = tag;
    if (dest == MPI_PROC_NULL)
        bytes = 0;
    op->size = op->sent = bytes;
}

/* The true size and source of a receive are known when it completes; until then, the requested
 * ones. */
static inline void bl_count_receive(struct bl_op *op, MPI_Comm comm, int source, int tag,
                                    uint64_t bytes)
{
    bl_count_peer(op, comm, source, tag);
    op->wakes = true;
    op->size = source == MPI_PROC_NULL ? 0 : bytes;
}

static inline void bl_count_matched(struct bl_op *op, uint64_t bytes)
{
    op->place = BL_ANYWHERE;
    op->wakes = true;
    op->size = bytes;
}

static inline void bl_count_swap(struct bl_op *op, MPI_Comm comm, int dest, int sendtag, int source,
                                 int recvtag, uint64_t bytes)
{
    bl_count_send(op, comm, dest, sendtag, bytes);
    op->ends.from = bl_end_of(op, source);
    op->ends.receive_tag = bl_tag_of(recvtag);
    op->wakes = true;
}

uint64_t bl_status_bytes(const MPI_Status *status);

/* After a call that received: takes size and source from its status. */
void bl_arrived(struct bl_op *op, const MPI_Status *status);

/* Collectives --------------------------------------------------------------------------------- */

void bl_count_barrier(struct bl_op *op, MPI_Comm comm);
void bl_count_bcast(struct bl_op *op, MPI_Comm comm, int root, MPI_Count count, MPI_Datatype type);
void bl_count_reduce(struct bl_op *op, MPI_Comm comm, int root, MPI_Count count, MPI_Datatype type);
void bl_count_allreduce(struct bl_op *op, MPI_Comm comm, MPI_Count count, MPI_Datatype type);
void bl_count_reduce_scatter(struct bl_op *op, MPI_Comm comm, struct bl_counts counts,
                             MPI_Datatype type);
void bl_count_reduce_scatter_block(struct bl_op *op, MPI_Comm comm, MPI_Count count,
                                   MPI_Datatype type);
void bl_count_gather(struct bl_op *op, MPI_Comm comm, int root, bool in_place, MPI_Count sendcount,
                     MPI_Datatype sendtype, struct bl_counts recvcounts, MPI_Datatype recvtype);
void bl_count_scatter(struct bl_op *op, MPI_Comm comm, int root, bool in_place,
                      struct bl_counts sendcounts, MPI_Datatype sendtype, MPI_Count recvcount,
                      MPI_Datatype recvtype);
void bl_count_allgather(struct bl_op *op, MPI_Comm comm, bool in_place, MPI_Count sendcount,
                        MPI_Datatype sendtype, struct bl_counts recvcounts, MPI_Datatype recvtype);
void bl_count_alltoall(struct bl_op *op, MPI_Comm comm, bool in_place, struct bl_counts sendcounts,
                       struct bl_types sendtypes, struct bl_counts recvcounts,
                       struct bl_types recvtypes);
void bl_count_neighbours(struct bl_op *op, MPI_Comm comm, struct bl_counts sendcounts,
                         struct bl_types sendtypes, struct bl_counts recvcounts,
                         struct bl_types recvtypes);
void bl_count_neighbours_gather(struct bl_op *op, MPI_Comm comm, MPI_Count sendcount,
                                MPI_Datatype sendtype, struct bl_counts recvcounts,
                                MPI_Datatype recvtype);

/* With --split: first waits for the other ranks, so that the call itself contains only the
 * transfer. */
static inline void bl_synchronise(struct bl_op *op, MPI_Comm comm)
{
    if (__builtin_expect(bl_split, 0)) {
        op->began = bl_now();
        PMPI_Barrier(comm);
    }
}

/* One-sided ----------------------------------------------------------------------------------- */

static inline void bl_count_epoch(struct bl_op *op, MPI_Win win)
{
    bl_set_group(op, bl_group_of_win(&op->thread->groups, win));
}

static inline void bl_count_target(struct bl_op *op, MPI_Win win, int target)
{
    bl_count_epoch(op, win);
    bl_set_peer(op, target);
    op->world_peer = -1;
}

static inline void bl_count_put_get(struct bl_op *op, MPI_Win win, int target, uint64_t put,
                                    uint64_t got)
{
    bl_count_epoch(op, win);
    bl_set_peer(op, target);
    if (target == MPI_PROC_NULL)
        put = got = 0;
    op->sent = put;
    op->received = got;
    op->size = put > got ? put : got;
}

static inline void bl_count_put(struct bl_op *op, MPI_Win win, int target, uint64_t bytes)
{
    bl_count_put_get(op, win, target, bytes, 0);
}

static inline void bl_count_get(struct bl_op *op, MPI_Win win, int target, uint64_t bytes)
{
    bl_count_put_get(op, win, target, 0, bytes);
}

/* Files --------------------------------------------------------------------------------------- */

static inline void bl_count_file(struct bl_op *op, MPI_File file)
{
    bl_set_group(op, bl_group_of_file(&op->thread->groups, file));
}

static inline void bl_count_read(struct bl_op *op, MPI_File file, uint64_t bytes)
{
    bl_count_file(op, file);
    op->wakes = true;
    op->size = bytes;
}

static inline void bl_count_write(struct bl_op *op, MPI_File file, uint64_t bytes)
{
    bl_count_file(op, file);
    op->size = op->sent = bytes;
}

/* Requests ------------------------------------------------------------------------------------ */

/* After the post: follows the request to its completion. */
void bl_track(struct bl_op *op, MPI_Request handle);

/* After the creation of a persistent request. */
void bl_persist(struct bl_op *op, MPI_Request handle, enum bl_starts starts);

/* A call that completed `handle`; `status` may be NULL. */
void bl_complete(struct bl_op *op, MPI_Request handle, const MPI_Status *status);

#endif
