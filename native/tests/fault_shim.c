/*
 * Lets the k-th call of one kind below a folder fail, write short, or end the process.
 *
 * Preloaded (LD_PRELOAD); armed from inside the process by `bl_fault_arm`. Every call below the
 * folder that changes something is logged, a line each: its name, its path, and for a write its
 * bytes. Calls are counted by kind: `openat` counts as `open`, `renameat` as `rename`, `linkat` as
 * `link`.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* What happens at the k-th call: it fails once, from then on, writes half, or kills. */
enum bl_fault_mode { BL_ONCE, BL_ON, BL_SHORT, BL_KILL };

static struct {
    char folder[PATH_MAX];
    char kind[16];
    int number, error, count, log;
    enum bl_fault_mode mode;
    pid_t owner;
} bl_fault;

void bl_fault_arm(const char *folder, const char *log, const char *kind, int number, int error,
                  int mode)
{
    snprintf(bl_fault.folder, sizeof bl_fault.folder, "%s", folder);
    snprintf(bl_fault.kind, sizeof bl_fault.kind, "%s", kind);
    bl_fault.log =
        (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    bl_fault.number = number;
    bl_fault.error = error;
    bl_fault.mode = (enum bl_fault_mode)mode;
    bl_fault.count = 0;
    bl_fault.owner = getpid();
}

static void bl_path_of(int at, const char *path, char *out)
{
    char base[PATH_MAX / 2] = "";
    char link[64];
    ssize_t length;

    out[0] = '\0';
    if (path != NULL && path[0] == '/') {
        snprintf(out, PATH_MAX, "%s", path);
        return;
    }
    if (at == AT_FDCWD) {
        snprintf(link, sizeof link, "/proc/self/cwd");
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    }
    length = readlink(link, base, sizeof base - 1);
    if (length < 0) {
        return;
    }
    base[length] = '\0';
    snprintf(out, PATH_MAX, "%s%s%s", base, path ? "/" : "", path ? path : "");
}

/* Say whether this call is the one: 0, or the mode above, plus one. */
static int bl_strikes(const char *kind, int at, const char *path, const char *to, long bytes)
{
    char whole[PATH_MAX], line[2 * PATH_MAX];
    size_t length = strlen(bl_fault.folder);
    int kept = errno, strikes = 0, size;

    if (length == 0 || getpid() != bl_fault.owner) {
        return 0;
    }
    bl_path_of(at, path, whole);
    if (strncmp(whole, bl_fault.folder, length) != 0 || (whole[length] && whole[length] != '/')) {
        errno = kept;
        return 0;
    }
    if (strcmp(kind, bl_fault.kind) == 0) {
        bl_fault.count++;
        strikes = bl_fault.count == bl_fault.number ||
                  (bl_fault.mode == BL_ON && bl_fault.count > bl_fault.number);
    }
    size = snprintf(line, sizeof line, "%s%s\t%s\t%s\t%ld\n", strikes ? "!" : "", kind, whole,
                    to ? to : "", bytes);
    (void)!syscall(SYS_write, bl_fault.log, line, (size_t)size);
    if (strikes && bl_fault.mode == BL_KILL) {
        kill(getpid(), SIGKILL);
    }
    errno = strikes ? bl_fault.error : kept;
    return strikes ? 1 + (int)bl_fault.mode : 0;
}

#define REAL(name)                                                                                 \
    static __typeof__(&name) real;                                                                 \
    if (real == NULL) {                                                                            \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                 \
    }

#define MODE_OF(flags)                                                                             \
    mode_t mode = 0;                                                                               \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                         \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode = va_arg(more, mode_t);                                                               \
        va_end(more);                                                                              \
    }

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        REAL(name)                                                                                 \
        MODE_OF(flags)                                                                             \
        return bl_strikes("open", AT_FDCWD, path, NULL, flags) ? -1 : real(path, flags, mode);     \
    }
#define OPENAT(name)                                                                               \
    int name(int at, const char *path, int flags, ...)                                             \
    {                                                                                              \
        REAL(name)                                                                                 \
        MODE_OF(flags)                                                                             \
        return bl_strikes("open", at, path, NULL, flags) ? -1 : real(at, path, flags, mode);       \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int file, const void *data, size_t bytes)
{
    REAL(write)
    int strikes = bl_strikes("write", file, NULL, NULL, (long)bytes);

    if (strikes == 1 + BL_SHORT) {
        return real(file, data, bytes / 2);
    }
    return strikes ? -1 : real(file, data, bytes);
}

int fsync(int file)
{
    REAL(fsync)
    return bl_strikes("fsync", file, NULL, NULL, 0) ? -1 : real(file);
}

int flock(int file, int operation)
{
    REAL(flock)
    return bl_strikes("flock", file, NULL, NULL, 0) ? -1 : real(file, operation);
}

int ftruncate(int file, off_t bytes)
{
    REAL(ftruncate)
    return bl_strikes("ftruncate", file, NULL, NULL, bytes) ? -1 : real(file, bytes);
}

int ftruncate64(int file, off64_t bytes)
{
    REAL(ftruncate64)
    return bl_strikes("ftruncate", file, NULL, NULL, bytes) ? -1 : real(file, bytes);
}

int rename(const char *from, const char *to)
{
    REAL(rename)
    return bl_strikes("rename", AT_FDCWD, from, to, 0) ? -1 : real(from, to);
}

int renameat(int at, const char *from, int in, const char *to)
{
    char whole[PATH_MAX];

    REAL(renameat)
    bl_path_of(in, to, whole);
    return bl_strikes("rename", at, from, whole, 0) ? -1 : real(at, from, in, to);
}

int link(const char *from, const char *to)
{
    REAL(link)
    return bl_strikes("link", AT_FDCWD, from, to, 0) ? -1 : real(from, to);
}

int linkat(int at, const char *from, int in, const char *to, int flags)
{
    REAL(linkat)
    return bl_strikes("link", at, from, to, 0) ? -1 : real(at, from, in, to, flags);
}

int mkdir(const char *path, mode_t mode)
{
    REAL(mkdir)
    return bl_strikes("mkdir", AT_FDCWD, path, NULL, 0) ? -1 : real(path, mode);
}

int unlink(const char *path)
{
    REAL(unlink)
    return bl_strikes("unlink", AT_FDCWD, path, NULL, 0) ? -1 : real(path);
}

int unlinkat(int at, const char *path, int flags)
{
    REAL(unlinkat)
    return bl_strikes("unlink", at, path, NULL, 0) ? -1 : real(at, path, flags);
}

int rmdir(const char *path)
{
    REAL(rmdir)
    return bl_strikes("unlink", AT_FDCWD, path, NULL, 0) ? -1 : real(path);
}
