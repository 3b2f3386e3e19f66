/*
 * Memory in pages of a known size.
 *
 * Exported: struct bl_region, bl_region_map, bl_region_unmap, bl_available_bytes,
 *           bl_past_cache_bytes.
 *
 * What the kernel grants is read back from /proc/self/smaps: advice is only advice, and a latency
 * over 4 KiB pages must not pass for one over 2 MiB pages.
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
 * Maps and touches at least `size_bytes` in pages of `page_bytes`, one of the two above. Where
 * that fails `memory` is NULL and `reason` says why.
 */
struct bl_region bl_region_map(size_t size_bytes, size_t page_bytes, char *reason,
                               size_t reason_bytes);
void bl_region_unmap(struct bl_region *region);

/* What the kernel says can be used without swapping; 0: it does not say. */
size_t bl_available_bytes(void);

/* Size of each of so many arrays whose rate is to be memory's: four times the last-level cache, as
 * STREAM's rule wants, 256 MiB where that is not known; less where memory is short. */
size_t bl_past_cache_bytes(int arrays);

#endif
