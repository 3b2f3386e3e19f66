/* The page cache; see iobench.h. */
#include "iobench.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* Part of a file that is looked at in one piece: mincore wants a byte for every page of it. */
static const uint64_t window_bytes = UINT64_C(1) << 30;
static unsigned char residency[(1 << 30) / BL_IO_UNIT_BYTES];

static uint64_t cached_in_window(int file, uint64_t offset, size_t size_bytes)
{
    void *window = mmap(NULL, size_bytes, PROT_READ, MAP_SHARED, file, (off_t)offset);
    if (window == MAP_FAILED)
        return size_bytes;
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t cached_bytes = size_bytes;
    if (mincore(window, size_bytes, residency) == 0) {
        cached_bytes = 0;
        for (size_t page = 0; page * page_bytes < size_bytes; page++) {
            if (residency[page] & 1)
                cached_bytes += page_bytes;
        }
    }
    munmap(window, size_bytes);
    return cached_bytes;
}

uint64_t bl_cached_bytes(int file, uint64_t size_bytes)
{
    uint64_t cached_bytes = 0;
    for (uint64_t offset = 0; offset < size_bytes; offset += window_bytes) {
        const uint64_t left = size_bytes - offset;
        cached_bytes +=
            cached_in_window(file, offset, (size_t)(left < window_bytes ? left : window_bytes));
    }
    return cached_bytes;
}

bool bl_lies_in_memory(int file)
{
    struct statfs found;
    return fstatfs(file, &found) == 0 &&
           (found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC);
}

/* What is unknown counts as of this machine: its page cache is looked at in any case. Numbers: not
 * every kernel's linux/magic.h has all names, and some of these are in no kernel. */
bool bl_is_remote(const char *folder)
{
    static const unsigned long kinds[] = {
        0x6969,     /* NFS */
        0x517b,     /* SMB */
        0xff534d42, /* CIFS */
        0xfe534d42, /* SMB 2 and later */
        0x01021997, /* 9p */
        0x00c36400, /* Ceph */
        0x5346414f, /* AFS */
        0x65735546, /* FUSE: GlusterFS, virtiofs, sshfs ... */
        0x0bd00bd0, /* Lustre */
        0x47504653, /* GPFS */
        0x19830326, /* BeeGFS */
        0xaad7aaea, /* PanFS */
        0x20030528, /* OrangeFS */
    };
    struct statfs found;
    if (statfs(folder, &found) != 0)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if ((unsigned long)found.f_type == kinds[i])
            return true;
    }
    return false;
}

/* The whole machine's clean pages, where we may: others' files lose theirs, too. */
static void drop_everything(void)
{
    const int control = open("/proc/sys/vm/drop_caches", O_WRONLY);
    if (control < 0)
        return;
    if (write(control, "1", 1) != 1) {
        /* What is still cached is counted afterwards. */
    }
    close(control);
}

uint64_t bl_cache_drop(int file, uint64_t size_bytes)
{
    enum { TRIES = 10 };
    uint64_t cached_bytes = bl_cached_bytes(file, size_bytes);
    for (int i = 0; i < TRIES && cached_bytes && !bl_lies_in_memory(file); i++) {
        /* The kernel leaves dirty pages alone, and those that it is just working on. */
        fsync(file);
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        if (i == TRIES / 2)
            drop_everything();
        cached_bytes = bl_cached_bytes(file, size_bytes);
        if (cached_bytes)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return cached_bytes;
}
