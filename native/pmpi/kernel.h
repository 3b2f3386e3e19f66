/*
 * The few file calls that the profiler itself makes while it may be counting. They call the kernel
 * directly, because posix.c replaces the functions of the C library and would count these calls.
 * posix.c also needs the clock and the journal, which make these calls.
 *
 * Exported: bl_kernel_open, bl_kernel_open_at, bl_kernel_close, bl_kernel_read, bl_kernel_read_at,
 * bl_kernel_write_at. On an error, the functions return -1 and set errno.
 */
#ifndef BL_PMPI_KERNEL_H
#define BL_PMPI_KERNEL_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline int bl_kernel_open_at(int folder, const char *name, int flags, mode_t mode)
{
    return (int)syscall(SYS_openat, folder, name, flags | O_CLOEXEC, mode);
}

static inline int bl_kernel_open(const char *path, int flags, mode_t mode)
{
    return bl_kernel_open_at(AT_FDCWD, path, flags, mode);
}

static inline void bl_kernel_close(int file)
{
    syscall(SYS_close, file);
}

static inline ssize_t bl_kernel_read(int file, void *buffer, size_t size)
{
    return (ssize_t)syscall(SYS_read, file, buffer, size);
}

static inline ssize_t bl_kernel_read_at(int file, void *buffer, size_t size, off_t at)
{
    return (ssize_t)syscall(SYS_pread64, file, buffer, size, at);
}

static inline ssize_t bl_kernel_write_at(int file, const void *buffer, size_t size, off_t at)
{
    return (ssize_t)syscall(SYS_pwrite64, file, buffer, size, at);
}

#endif
