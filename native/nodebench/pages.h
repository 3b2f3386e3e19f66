/*
 * Memory in pages of a known size.
 *
 * Exported: struct bl_region, bl_region_map, bl_region_unmap, bl_available_bytes,
 *           bl_past_cache_bytes.
 *
 * The kernel need not follow madvise. The page size is therefore read from /proc/self/smaps, so
 * that a latency with 4 KiB pages is never reported as a latency with 2 MiB pages.
 */
#ifndef BL_PAGES_H
#define BL_PAGES_H

#include <stddef.h>

enum { BL_SMALL_PAGE_BYTES = 4 << 10, BL_HUGE_PAGE_BYTES = 2 << 20 };

struct bl_region {
    char *memory; /* begins at a huge page; NULL: could not be had */
    size_t size_bytes;
    const char *source; /* how the pages were got */
};

/*
 * Maps and touches at least `size_bytes` in pages of `page_bytes`, one of the two sizes above. If
 * this fails, `memory` is NULL and `reason` contains the reason.
 */
struct bl_region bl_region_map(size_t size_bytes, size_t page_bytes, char *reason,
                               size_t reason_bytes);
void bl_region_unmap(struct bl_region *region);

/* Memory that can be used without swapping, according to the kernel; 0 if unknown. */
size_t bl_available_bytes(void);

/* Size of each of `arrays` arrays that do not fit into caches: four times the last-level cache,
 * which is STREAM's rule, or 256 MiB if the cache is unknown. All arrays together use at most half
 * of the available memory. */
size_t bl_past_cache_bytes(int arrays);

#endif
