/*
 * Time and bytes of the C library's file functions between MPI calls. Only regular files count: not
 * sockets, pipes, terminals, and nothing that happens inside an MPI call.
 *
 * Formatted output (fprintf, Fortran's write) is buffered; it is seen where the buffer goes to the
 * system through a function below: Fortran's and C++'s at once, that of C's stdio in fflush and
 * fclose.
 */
#include "export.h"
#include "thread.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* What is behind a descriptor, found out at its first use. */
enum { UNKNOWN, REGULAR, ELSE };
#define DESCRIPTORS 4096
static atomic_uchar descriptor_kind[DESCRIPTORS];

/* The kernel gives the number to something else. */
static void forget(int fd)
{
    if (fd >= 0 && fd < DESCRIPTORS)
        atomic_store_explicit(&descriptor_kind[fd], UNKNOWN, memory_order_relaxed);
}

static bool is_regular(int fd)
{
    struct stat status;
    if (fd < 0)
        return false;
    unsigned kind = fd < DESCRIPTORS
                        ? atomic_load_explicit(&descriptor_kind[fd], memory_order_relaxed)
                        : UNKNOWN;
    if (kind == UNKNOWN) {
        kind = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? REGULAR : ELSE;
        if (fd < DESCRIPTORS)
            atomic_store_explicit(&descriptor_kind[fd], (unsigned char)kind, memory_order_relaxed);
    }
    return kind == REGULAR;
}

/* False: not counted, only forwarded. errno stays what it is until the real call. */
static bool begin(struct bl_op *op, unsigned call, int fd)
{
    if (!bl_active || (bl_self && !bl_self->open) || !is_regular(fd) || !bl_begin(op, call))
        return false;
    op->caller = NULL;
    bl_start(op);
    return true;
}

static void end(struct bl_op *op, ssize_t bytes, bool writes)
{
    bl_stop(op);
    if (bytes > 0) {
        op->size = (uint64_t)bytes;
        op->sent = writes ? op->size : 0;
        op->received = writes ? 0 : op->size;
    }
    bl_record(op);
}

/* The C library's function behind ours. */
#define REAL(name)                                                                                 \
    static __typeof__(&name) real;                                                                 \
    if (__builtin_expect(!real, 0)) {                                                              \
        void *address = dlsym(RTLD_NEXT, #name);                                                   \
        memcpy(&real, &address, sizeof real);                                                      \
    }

#define TRANSFER(name, writes, call, fd, declarations, ...)                                        \
    BL_EXPORT ssize_t name declarations;                                                           \
    BL_EXPORT ssize_t name declarations                                                            \
    {                                                                                              \
        REAL(name)                                                                                 \
        struct bl_op op;                                                                           \
        if (!begin(&op, call, fd))                                                                 \
            return real(__VA_ARGS__);                                                              \
        const ssize_t bytes = real(__VA_ARGS__);                                                   \
        end(&op, bytes, writes);                                                                   \
        return bytes;                                                                              \
    }

TRANSFER(read, false, BL_POSIX_READ, fd, (int fd, void *buffer, size_t n), fd, buffer, n)
TRANSFER(__read_chk, false, BL_POSIX_READ, fd, (int fd, void *buffer, size_t n, size_t length), fd,
         buffer, n, length)
TRANSFER(pread, false, BL_POSIX_READ, fd, (int fd, void *buffer, size_t n, off_t at), fd, buffer, n,
         at)
TRANSFER(readv, false, BL_POSIX_READ, fd, (int fd, const struct iovec *parts, int n), fd, parts, n)
TRANSFER(write, true, BL_POSIX_WRITE, fd, (int fd, const void *buffer, size_t n), fd, buffer, n)
TRANSFER(pwrite, true, BL_POSIX_WRITE, fd, (int fd, const void *buffer, size_t n, off_t at), fd,
         buffer, n, at)
TRANSFER(writev, true, BL_POSIX_WRITE, fd, (int fd, const struct iovec *parts, int n), fd, parts, n)
TRANSFER(pread64, false, BL_POSIX_READ, fd, (int fd, void *buffer, size_t n, off64_t at), fd,
         buffer, n, at)
TRANSFER(pwrite64, true, BL_POSIX_WRITE, fd, (int fd, const void *buffer, size_t n, off64_t at), fd,
         buffer, n, at)

#define SYNC(name)                                                                                 \
    BL_EXPORT int name(int fd)                                                                     \
    {                                                                                              \
        REAL(name)                                                                                 \
        struct bl_op op;                                                                           \
        if (!begin(&op, BL_POSIX_SYNC, fd))                                                        \
            return real(fd);                                                                       \
        const int code = real(fd);                                                                 \
        end(&op, 0, true);                                                                         \
        return code;                                                                               \
    }
SYNC(fsync)
SYNC(fdatasync)

/* Opening and closing ------------------------------------------------------------------------- */

/* Before an open it is not known whether the file is a regular one: timed, then kept or not. */
static bool begin_open(struct bl_op *op)
{
    if (!bl_active || (bl_self && !bl_self->open) || !bl_begin(op, BL_POSIX_OPEN))
        return false;
    op->caller = NULL;
    bl_start(op);
    return true;
}

static void end_open(struct bl_op *op, int fd)
{
    forget(fd);
    bl_stop(op);
    if (is_regular(fd))
        bl_record(op);
    else
        op->thread->open = true;
}

/* The mode is there only when a file may be made. */
#define READ_MODE(flags)                                                                           \
    mode_t mode = 0;                                                                               \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                       \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode = va_arg(arguments, mode_t);                                                          \
        va_end(arguments);                                                                         \
    }

#define OPEN(name, declarations, ...)                                                              \
    BL_EXPORT int name declarations                                                                \
    {                                                                                              \
        REAL(name)                                                                                 \
        READ_MODE(flags)                                                                           \
        struct bl_op op;                                                                           \
        const bool counted = begin_open(&op);                                                      \
        const int fd = real(__VA_ARGS__, flags, mode);                                             \
        if (counted)                                                                               \
            end_open(&op, fd);                                                                     \
        else                                                                                       \
            forget(fd);                                                                            \
        return fd;                                                                                 \
    }
OPEN(open, (const char *path, int flags, ...), path)
OPEN(open64, (const char *path, int flags, ...), path)
OPEN(openat, (int folder, const char *path, int flags, ...), folder, path)
OPEN(openat64, (int folder, const char *path, int flags, ...), folder, path)

BL_EXPORT int close(int fd)
{
    REAL(close)
    struct bl_op op;
    const bool counted = begin(&op, BL_POSIX_CLOSE, fd);
    forget(fd);
    const int code = real(fd);
    if (counted)
        end(&op, 0, true);
    return code;
}

BL_EXPORT int dup2(int from, int to)
{
    REAL(dup2)
    forget(to);
    return real(from, to);
}

BL_EXPORT int dup3(int from, int to, int flags)
{
    REAL(dup3)
    forget(to);
    return real(from, to, flags);
}

/* Streams ------------------------------------------------------------------------------------- */

#define FOPEN(name)                                                                                \
    BL_EXPORT FILE *name(const char *path, const char *mode)                                       \
    {                                                                                              \
        REAL(name)                                                                                 \
        struct bl_op op;                                                                           \
        const bool counted = begin_open(&op);                                                      \
        FILE *file = real(path, mode);                                                             \
        if (counted)                                                                               \
            end_open(&op, file ? fileno(file) : -1);                                               \
        else if (file)                                                                             \
            forget(fileno(file));                                                                  \
        return file;                                                                               \
    }
FOPEN(fopen)
FOPEN(fopen64)

BL_EXPORT int fclose(FILE *file)
{
    REAL(fclose)
    struct bl_op op;
    const int fd = fileno(file);
    const bool counted = begin(&op, BL_POSIX_CLOSE, fd);
    forget(fd);
    const int code = real(file);
    if (counted)
        end(&op, 0, true);
    return code;
}

BL_EXPORT int fflush(FILE *file)
{
    REAL(fflush)
    struct bl_op op;
    if (!file || !begin(&op, BL_POSIX_SYNC, fileno(file)))
        return real(file);
    const int code = real(file);
    end(&op, 0, true);
    return code;
}

BL_EXPORT size_t fwrite(const void *buffer, size_t size, size_t n, FILE *file)
{
    REAL(fwrite)
    struct bl_op op;
    if (!begin(&op, BL_POSIX_WRITE, fileno(file)))
        return real(buffer, size, n, file);
    const size_t done = real(buffer, size, n, file);
    end(&op, (ssize_t)(done * size), true);
    return done;
}

BL_EXPORT size_t fread(void *buffer, size_t size, size_t n, FILE *file)
{
    REAL(fread)
    struct bl_op op;
    if (!begin(&op, BL_POSIX_READ, fileno(file)))
        return real(buffer, size, n, file);
    const size_t done = real(buffer, size, n, file);
    end(&op, (ssize_t)(done * size), false);
    return done;
}

size_t __fread_chk(void *buffer, size_t length, size_t size, size_t n, FILE *file);
BL_EXPORT size_t __fread_chk(void *buffer, size_t length, size_t size, size_t n, FILE *file)
{
    REAL(__fread_chk)
    struct bl_op op;
    if (!begin(&op, BL_POSIX_READ, fileno(file)))
        return real(buffer, length, size, n, file);
    const size_t done = real(buffer, length, size, n, file);
    end(&op, (ssize_t)(done * size), false);
    return done;
}
