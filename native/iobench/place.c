/* The folder that is measured; see iobench.h. */
#include "iobench.h"

#include "bl_error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { MAX_PATH_BYTES = BL_PLACE_BYTES - 72 };

/* Beside the data: block maps, directories, the journal. */
static const uint64_t overhead_bytes = UINT64_C(1) << 20;

static char place[BL_PLACE_BYTES];

const char *bl_place_advice(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return "take less data or another folder";
    case EROFS:
        return "it is mounted read-only, take another folder";
    case EFBIG:
        return "take a smaller size, or look at `ulimit -f`";
    case EACCES:
    case EPERM:
        return "take a folder that you may write to";
    case ENOENT:
    case ENOTDIR:
        return "take a folder that exists";
    case EMFILE:
        return "take fewer threads or directories, or look at `ulimit -n`";
    case EINTR:
        return "start again";
    default:
        return "look at the kernel's log";
    }
}

void bl_place_die(int error, const char *doing, const char *what)
{
    bl_die(BL_STATUS_FAILED, "cannot %s '%s': %s, %s", doing, what, strerror(error),
           bl_place_advice(error));
}

static void remove_files(const char *folder)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return;
    for (const struct dirent *entry; (entry = readdir(directory));)
        unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
}

/* Files, and folders of files. */
void bl_place_remove(void)
{
    if (!place[0])
        return;
    remove_files(place);
    DIR *directory = opendir(place);
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[sizeof place + sizeof entry->d_name + 1];
        snprintf(path, sizeof path, "%s/%s", place, entry->d_name);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        remove_files(path);
        rmdir(path);
    }
    if (directory)
        closedir(directory);
    rmdir(place);
    place[0] = '\0';
}

static void leave(int status, const char *line)
{
    bl_place_remove();
    fputs(line, stderr);
    exit(status);
}

static void check_free(const char *folder, uint64_t bytes, uint64_t files)
{
    struct statvfs found;
    if (statvfs(folder, &found) != 0)
        bl_place_die(errno, "look at", folder);
    if (found.f_flag & ST_RDONLY)
        bl_place_die(EROFS, "write into", folder);
    const uint64_t free_bytes = (uint64_t)found.f_bavail * found.f_frsize;
    if (free_bytes < bytes + overhead_bytes)
        bl_die(BL_STATUS_FAILED, "%" PRIu64 " B are needed and %" PRIu64 " B free in '%s', %s",
               bytes + overhead_bytes, free_bytes, folder, bl_place_advice(ENOSPC));
    /* Some file systems make inodes as they are needed and say 0. */
    if (found.f_files && found.f_favail < files)
        bl_die(BL_STATUS_FAILED, "%" PRIu64 " inodes are needed and %" PRIu64 " free in '%s', %s",
               files, (uint64_t)found.f_favail, folder, "take fewer files or another folder");
}

const char *bl_place_make(const char *folder, uint64_t bytes, uint64_t files)
{
    if (strlen(folder) > MAX_PATH_BYTES)
        bl_die(BL_STATUS_USAGE, "--folder: the path is longer than %d bytes, take a shorter one",
               MAX_PATH_BYTES);
    check_free(folder, bytes, files);
    snprintf(place, sizeof place, "%s/iobench-XXXXXX", folder);
    if (!mkdtemp(place)) {
        place[0] = '\0';
        bl_place_die(errno, "make a folder in", folder);
    }
    return place;
}

const char *bl_place_open(const char *folder, uint64_t bytes, uint64_t files)
{
    bl_place_make(folder, bytes, files);
    bl_set_exit(leave);
    return place;
}

const char *bl_place_join(const char *path)
{
    snprintf(place, sizeof place, "%s", path);
    return place;
}
