/*
 * Preloaded into iobench_mpi, it spoils what is written: BL_SPOIL=flip changes a byte within one
 * call's data, BL_SPOIL=shift writes one call's data where the call before went. All ranks do it,
 * in their third call. iobench_mpi has to find both.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { SPOILT_CALL = 3 };

static int calls;
static int inside; /* an MPI call, which itself may write in pieces */

/* The data to be written, with a byte changed in the third call; to be freed. */
static void *copy_of(const void *data, size_t size_bytes)
{
    unsigned char *copy = malloc(size_bytes);
    memcpy(copy, data, size_bytes);
    if (calls == SPOILT_CALL && strcmp(getenv("BL_SPOIL"), "flip") == 0)
        copy[size_bytes / 2] ^= 0x10;
    return copy;
}

static int is_full(void)
{
    const char *rank =
        getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    return calls == SPOILT_CALL && rank && atoi(rank) == 0 &&
           strcmp(getenv("BL_SPOIL"), "full") == 0;
}

static ssize_t no_space(void)
{
    errno = ENOSPC;
    return -1;
}

static long long moved_by(size_t size_bytes)
{
    const int shifts = calls == SPOILT_CALL && strcmp(getenv("BL_SPOIL"), "shift") == 0;
    return shifts ? -(long long)size_bytes : 0;
}

ssize_t pwrite(int file, const void *data, size_t size_bytes, off_t offset)
{
    static ssize_t (*call)(int, const void *, size_t, off_t);
    if (!call)
        *(void **)&call = dlsym(RTLD_NEXT, "pwrite");
    if (inside)
        return call(file, data, size_bytes, offset);
    calls++;
    void *copy = copy_of(data, size_bytes);
    const ssize_t moved =
        is_full() ? no_space() : call(file, copy, size_bytes, offset + moved_by(size_bytes));
    free(copy);
    return moved;
}

/* What metadata's files are filled with. Other files are left alone: MPI libraries write, too. */
ssize_t write(int file, const void *data, size_t size_bytes)
{
    static ssize_t (*call)(int, const void *, size_t);
    if (!call)
        *(void **)&call = dlsym(RTLD_NEXT, "write");
    char link[32], path[4096] = "";
    const ssize_t length = (snprintf(link, sizeof link, "/proc/self/fd/%d", file),
                            readlink(link, path, sizeof path - 1));
    if (inside || length < 0 || !strstr(path, "/iobench-"))
        return call(file, data, size_bytes);
    calls++;
    void *copy = copy_of(data, size_bytes);
    const ssize_t moved = is_full() ? no_space() : call(file, copy, size_bytes);
    free(copy);
    return moved;
}

typedef int write_at(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *);

static int write_at_spoilt(write_at *call, MPI_File file, MPI_Offset offset, const void *data,
                           int count, MPI_Datatype type, MPI_Status *status)
{
    calls++;
    void *copy = copy_of(data, (size_t)count);
    inside = 1;
    const int code = call(file, offset + moved_by((size_t)count), copy, count, type, status);
    inside = 0;
    free(copy);
    return is_full() ? MPI_ERR_NO_SPACE : code;
}

int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void *data, int count,
                      MPI_Datatype type, MPI_Status *status)
{
    return write_at_spoilt(PMPI_File_write_at, file, offset, data, count, type, status);
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void *data, int count,
                          MPI_Datatype type, MPI_Status *status)
{
    return write_at_spoilt(PMPI_File_write_at_all, file, offset, data, count, type, status);
}
