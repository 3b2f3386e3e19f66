/*
 * Buffers of benchmarks: page-aligned, so that neither cache lines nor pages are shared by
 * accident.
 *
 * Exported: bl_allocate, bl_allocate_huge. Nothing here is collective.
 */
#ifndef BL_MEMORY_H
#define BL_MEMORY_H

#include <stddef.h>

/* Returns at least one page of untouched memory, or ends the program naming `what`. */
void *bl_allocate(size_t size_bytes, const char *what);

/* The same in pages of 2 MiB, if the kernel follows madvise. The memory is then contiguous for a
 * device, even if the machine's memory is fragmented. */
void *bl_allocate_huge(size_t size_bytes, const char *what);

#endif
