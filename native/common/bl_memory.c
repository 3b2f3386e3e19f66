/* See bl_memory.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "bl_memory.h"

#include "bl_error.h"

#include <stdlib.h>
#include <sys/mman.h>

static const size_t page_bytes = 4096;
static const size_t huge_page_bytes = (size_t)2 << 20;

static void *allocate_aligned(size_t size_bytes, size_t alignment_bytes, const char *what)
{
    void *memory = NULL;
    if (posix_memalign(&memory, alignment_bytes, size_bytes))
        bl_die(BL_STATUS_FAILED, "cannot allocate %zu B for %s, use smaller sizes or fewer ranks",
               size_bytes, what);
    return memory;
}

void *bl_allocate(size_t size_bytes, const char *what)
{
    return allocate_aligned(size_bytes < page_bytes ? page_bytes : size_bytes, page_bytes, what);
}

void *bl_allocate_huge(size_t size_bytes, const char *what)
{
    const size_t pages = (size_bytes + huge_page_bytes - 1) / huge_page_bytes;
    void *memory = allocate_aligned(pages * huge_page_bytes, huge_page_bytes, what);
#ifdef MADV_HUGEPAGE
    /* Kernels without them refuse; the pages are then ordinary ones. */
    (void)madvise(memory, pages * huge_page_bytes, MADV_HUGEPAGE);
#endif
    return memory;
}
