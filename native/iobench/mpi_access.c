/* POSIX and MPI-IO; see iobench_mpi.h. */
#include "bl_error.h"
#include "check.h"
#include "iobench_mpi.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool posix_open(struct bl_file *file, bool writing)
{
    const struct bl_job_options *options = file->job->options;
    const int direct = options->mode == BL_IO_DIRECT ? O_DIRECT : 0;
    /* A file of all ranks is made by the one that comes first. */
    const int make = O_RDWR | O_CREAT | O_NOFOLLOW | (options->files == BL_FILES_OWN ? O_EXCL : 0);
    file->descriptor = open(file->path, (writing ? make : O_RDONLY) | direct, 0600);
    if (file->descriptor < 0 && errno == EINVAL && direct)
        return bl_job_fail(file->job, BL_STATUS_FAILED,
                           "the file system of '%s' has no direct I/O, use --mode buffered",
                           options->folder);
    if (file->descriptor < 0)
        return bl_job_fail_errno(file->job, errno, writing ? "make" : "open", file->path);
    if (direct && bl_lies_in_memory(file->descriptor))
        return bl_job_fail(file->job, BL_STATUS_FAILED,
                           "'%s' lies in memory: direct I/O reaches no device, use --mode buffered "
                           "or another folder",
                           options->folder);
    return true;
}

/* A write stops short where the space ends, a read where the file does. */
static bool moved_all(struct bl_file *file, ssize_t moved, size_t size_bytes, const char *doing)
{
    if (bl_io_interrupted)
        return bl_job_fail_errno(file->job, EINTR, doing, file->path);
    if (moved < 0)
        return bl_job_fail_errno(file->job, errno, doing, file->path);
    if ((size_t)moved != size_bytes)
        return bl_job_fail_errno(file->job, doing[0] == 'w' ? ENOSPC : EIO, doing, file->path);
    return true;
}

static bool posix_write(struct bl_file *file, const void *data, size_t size_bytes, uint64_t offset)
{
    return moved_all(file, pwrite(file->descriptor, data, size_bytes, (off_t)offset), size_bytes,
                     "write");
}

static bool posix_read(struct bl_file *file, void *data, size_t size_bytes, uint64_t offset)
{
    return moved_all(file, pread(file->descriptor, data, size_bytes, (off_t)offset), size_bytes,
                     "read");
}

static bool posix_sync(struct bl_file *file)
{
    return fsync(file->descriptor) == 0 || bl_job_fail_errno(file->job, errno, "sync", file->path);
}

static bool posix_close(struct bl_file *file)
{
    return close(file->descriptor) == 0 || bl_job_fail_errno(file->job, errno, "close", file->path);
}

/* The errno that an error of MPI-IO stands for; EIO where it stands for none. */
static int errno_of(int code)
{
    static const struct {
        int class, error;
    } known[] = {
        {MPI_ERR_NO_SPACE, ENOSPC},  {MPI_ERR_QUOTA, EDQUOT},        {MPI_ERR_ACCESS, EACCES},
        {MPI_ERR_READ_ONLY, EROFS},  {MPI_ERR_NO_SUCH_FILE, ENOENT}, {MPI_ERR_FILE_EXISTS, EEXIST},
        {MPI_ERR_BAD_FILE, ENOTDIR},
    };
    int class;
    MPI_Error_class(code, &class);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].class == class)
            return known[i].error;
    }
    return EIO;
}

static bool succeeded(struct bl_file *file, int code, const char *doing)
{
    if (bl_io_interrupted)
        return bl_job_fail_errno(file->job, EINTR, doing, file->path);
    if (code == MPI_SUCCESS)
        return true;
    const int error = errno_of(code);
    if (error != EIO)
        return bl_job_fail_errno(file->job, error, doing, file->path);
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length;
    MPI_Error_string(code, text, &length);
    return bl_job_fail(file->job, BL_STATUS_FAILED, "cannot %s '%s': %.200s, %s", doing, file->path,
                       text, bl_place_advice(EIO));
}

/* Errors of files are returned, not fatal, unless somebody says otherwise. */
static bool mpiio_open(struct bl_file *file, bool writing)
{
    const bool own = file->job->options->files == BL_FILES_OWN;
    const int mode = writing ? MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL : MPI_MODE_RDONLY;
    return succeeded(file,
                     MPI_File_open(own ? MPI_COMM_SELF : MPI_COMM_WORLD, file->path, mode,
                                   MPI_INFO_NULL, &file->handle),
                     writing ? "make" : "open");
}

static bool counted(struct bl_file *file, int code, MPI_Status *status, size_t size_bytes,
                    const char *doing)
{
    int moved;
    if (!succeeded(file, code, doing))
        return false;
    MPI_Get_count(status, MPI_BYTE, &moved);
    return moved_all(file, moved, size_bytes, doing);
}

static bool mpiio_write(struct bl_file *file, const void *data, size_t size_bytes, uint64_t offset)
{
    MPI_Status status;
    const int code = MPI_File_write_at(file->handle, (MPI_Offset)offset, data, (int)size_bytes,
                                       MPI_BYTE, &status);
    return counted(file, code, &status, size_bytes, "write");
}

static bool mpiio_read(struct bl_file *file, void *data, size_t size_bytes, uint64_t offset)
{
    MPI_Status status;
    const int code = MPI_File_read_at(file->handle, (MPI_Offset)offset, data, (int)size_bytes,
                                      MPI_BYTE, &status);
    return counted(file, code, &status, size_bytes, "read");
}

static bool collective_write(struct bl_file *file, const void *data, size_t size_bytes,
                             uint64_t offset)
{
    MPI_Status status;
    const int code = MPI_File_write_at_all(file->handle, (MPI_Offset)offset, data, (int)size_bytes,
                                           MPI_BYTE, &status);
    return counted(file, code, &status, size_bytes, "write");
}

static bool collective_read(struct bl_file *file, void *data, size_t size_bytes, uint64_t offset)
{
    MPI_Status status;
    const int code = MPI_File_read_at_all(file->handle, (MPI_Offset)offset, data, (int)size_bytes,
                                          MPI_BYTE, &status);
    return counted(file, code, &status, size_bytes, "read");
}

static bool mpiio_sync(struct bl_file *file)
{
    return succeeded(file, MPI_File_sync(file->handle), "sync");
}

static bool mpiio_close(struct bl_file *file)
{
    return succeeded(file, MPI_File_close(&file->handle), "close");
}

const struct bl_access bl_accesses[] = {
    [BL_API_POSIX] =
        {
            .name = "posix",
            .open = posix_open,
            .write = posix_write,
            .read = posix_read,
            .sync = posix_sync,
            .close = posix_close,
        },
    [BL_API_MPIIO] =
        {
            .name = "mpiio",
            .open = mpiio_open,
            .write = mpiio_write,
            .read = mpiio_read,
            .sync = mpiio_sync,
            .close = mpiio_close,
        },
    [BL_API_MPIIO_COLLECTIVE] =
        {
            .name = "mpiio-collective",
            .collective = true,
            .open = mpiio_open,
            .write = collective_write,
            .read = collective_read,
            .sync = mpiio_sync,
            .close = mpiio_close,
        },
};
