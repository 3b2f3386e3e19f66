/* See bl_memory.h. */
#include "bl_memory.h"

#include "bl_error.h"

#include <stdlib.h>

enum { PAGE_BYTES = 4096 };

void *bl_allocate(size_t size_bytes, const char *what)
{
    void *memory = NULL;
    if (posix_memalign(&memory, PAGE_BYTES, size_bytes < PAGE_BYTES ? PAGE_BYTES : size_bytes))
        bl_die(BL_STATUS_FAILED, "cannot allocate %zu B for %s, use smaller sizes or fewer ranks",
               size_bytes, what);
    return memory;
}
