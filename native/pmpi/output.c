/* See output.h. */
#include "output.h"

#include "kernel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

/* So much of the final name is in that of the part. */
#define STEM_SIZE 40

static const char *refusal_of(const struct stat *status)
{
    if (S_ISREG(status->st_mode))
        return NULL;
    if (S_ISLNK(status->st_mode))
        return "is a symbolic link: remove it, or name another file";
    if (S_ISDIR(status->st_mode))
        return "is a folder: name a file";
    return "is not a regular file: remove it, or name another one";
}

const char *bl_output_refusal(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 ? refusal_of(&status) : NULL;
}

/* Opens the folder once: a link that takes its place later leads nowhere. */
static bool open_folder(struct bl_output *output, const char *path)
{
    char folder[PATH_MAX + 64];
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    const char *name = path + length;
    if (!*name || strlen(name) >= sizeof output->name || length >= sizeof folder) {
        errno = *name ? ENAMETOOLONG : EISDIR;
        return false;
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    memcpy(output->name, name, strlen(name) + 1);
    output->folder = bl_kernel_open(length ? folder : ".", O_PATH | O_DIRECTORY, 0);
    return output->folder >= 0;
}

static bool name_part(struct bl_output *output)
{
    uint64_t random = 0;
    const int source = bl_kernel_open("/dev/urandom", O_RDONLY, 0);
    const bool good =
        source >= 0 && bl_kernel_read(source, &random, sizeof random) == sizeof random;
    if (source >= 0)
        bl_kernel_close(source);
    int stem = (int)strlen(output->name);
    stem = stem < STEM_SIZE ? stem : STEM_SIZE;
    while (stem > 0 && ((unsigned char)output->name[stem] & 0xC0) == 0x80)
        stem--; /* not within a character of UTF-8 */
    snprintf(output->part, sizeof output->part, ".%.*s.%016" PRIx64 ".part", stem, output->name,
             random);
    return good;
}

const char *bl_output_begin(struct bl_output *output, const char *path)
{
    struct stat status;
    *output = (struct bl_output){.descriptor = -1, .folder = -1};
    if (!open_folder(output, path))
        return strerror(errno);
    const char *refusal = NULL;
    if (fstatat(output->folder, output->name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        refusal = refusal_of(&status);
    if (!refusal && name_part(output))
        output->descriptor = bl_kernel_open_at(output->folder, output->part,
                                               O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (output->descriptor >= 0) {
        /* Says that somebody writes it; without locks, what killed processes left stays. */
        syscall(SYS_flock, output->descriptor, LOCK_EX | LOCK_NB);
        return NULL;
    }
    refusal = refusal ? refusal : strerror(errno);
    bl_kernel_close(output->folder);
    return refusal;
}

bool bl_output_place(struct bl_output *output, bool whole, bool durable)
{
    if (durable)
        whole = whole && syscall(SYS_fsync, output->descriptor) == 0;
    whole = whole && renameat(output->folder, output->part, output->folder, output->name) == 0;
    const int error = whole || errno ? errno : EIO;
    if (!whole)
        unlinkat(output->folder, output->part, 0);
    bl_kernel_close(output->folder);
    errno = error;
    return whole;
}

bool bl_output_end(struct bl_output *output, bool whole, bool durable)
{
    whole = bl_output_place(output, whole, durable);
    const int error = errno;
    bl_kernel_close(output->descriptor);
    errno = error;
    return whole;
}

int bl_output_reopen(const char *path, int flags)
{
    struct stat status;
    const int file = bl_kernel_open(path, flags | O_NOFOLLOW | O_NONBLOCK, 0);
    if (file >= 0 && (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))) {
        bl_kernel_close(file);
        return -1;
    }
    return file;
}
