/* See journal.h. */
#include "journal.h"

#include "kernel.h"
#include "output.h"
#include "say.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
    int file;
    off_t slice_at;
    size_t used;
} journal = {.file = -1};

static size_t whole_pieces(size_t size)
{
    return (size + BL_JOURNAL_PIECE - 1) / BL_JOURNAL_PIECE * BL_JOURNAL_PIECE;
}

/*
 * Makes sure that the pages exist: a mapped page that the disk has no room for would end the
 * application with SIGBUS at its first use.
 */
static bool fill_with_zeros(int file, off_t at, size_t size)
{
    static const char zeros[BL_JOURNAL_PIECE];
    while (size > 0) {
        const size_t part = size < sizeof zeros ? size : sizeof zeros;
        const ssize_t done = bl_kernel_write_at(file, zeros, part, at);
        if (done <= 0)
            return false;
        at += done;
        size -= (size_t)done;
    }
    return true;
}

const char *bl_journal_write(const char *path, const void *head, size_t size)
{
    struct bl_output output;
    const char *refusal = bl_output_begin(&output, path);
    if (refusal)
        return refusal;
    const bool whole = bl_kernel_write_at(output.descriptor, head, size, 0) == (ssize_t)size;
    return bl_output_end(&output, whole, false) ? NULL : strerror(errno);
}

bool bl_journal_create(const char *path, const struct bl_journal_head *head)
{
    const char *refusal = bl_journal_write(path, head, sizeof *head);
    if (refusal)
        bl_say("%s: cannot be written (%s), this run is not profiled", path, refusal);
    return !refusal;
}

void *bl_journal_take(size_t size, uint64_t *offset)
{
    const size_t length = whole_pieces(size);
    *offset = 0;
    if (journal.file >= 0 && journal.used + length <= BL_SLICE_SIZE) {
        const off_t at = journal.slice_at + (off_t)journal.used;
        if (fill_with_zeros(journal.file, at, length)) {
            void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                                journal.file, at);
            if (memory != MAP_FAILED) {
                *offset = journal.used;
                journal.used += length;
                return memory;
            }
        }
    }
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

struct bl_slice *bl_journal_open(const char *path, uint32_t rank)
{
    _Static_assert(sizeof(struct bl_journal_head) <= BL_JOURNAL_PIECE, "head fits its piece");
    _Static_assert(sizeof(struct bl_slice) <= BL_JOURNAL_PIECE, "slice fits its piece");
    journal.file = bl_output_reopen(path, O_RDWR);
    journal.slice_at = (off_t)BL_JOURNAL_PIECE + (off_t)rank * (off_t)BL_SLICE_SIZE;
    journal.used = 0;
    uint64_t offset;
    return bl_journal_take(sizeof(struct bl_slice), &offset);
}

enum bl_state bl_journal_state(uint32_t rank)
{
    uint32_t state;
    const off_t at = (off_t)BL_JOURNAL_PIECE + (off_t)rank * (off_t)BL_SLICE_SIZE;
    _Static_assert(offsetof(struct bl_slice, state) == 0, "the state is first");
    if (journal.file < 0 ||
        bl_kernel_read_at(journal.file, &state, sizeof state, at) != (ssize_t)sizeof state)
        return BL_STATE_UNUSED;
    return (enum bl_state)state;
}

void bl_journal_remove(const char *path)
{
    unlink(path);
}
