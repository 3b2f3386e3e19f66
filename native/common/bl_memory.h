/*
 * Buffers of benchmarks: page-aligned, so that neither cache lines nor pages are shared by
 * accident.
 *
 * Exported: bl_allocate. Nothing here is collective.
 */
#ifndef BL_MEMORY_H
#define BL_MEMORY_H

#include <stddef.h>

/* Returns at least one page of untouched memory, or ends the program naming `what`. */
void *bl_allocate(size_t size_bytes, const char *what);

#endif
