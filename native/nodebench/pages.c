/* Memory in pages of a known size; see pages.h. */
#define _DEFAULT_SOURCE /* madvise, MAP_ANONYMOUS */
#include "pages.h"

#include "nodebench.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_HUGE_2MB
#define MAP_HUGE_2MB (21 << 26) /* the logarithm of the size stands from bit 26 on */
#endif

static size_t round_up(size_t size_bytes, size_t unit_bytes)
{
    return (size_bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
}

static void touch(struct bl_region *region, size_t page_bytes)
{
    volatile char *memory = region->memory;
    for (size_t at = 0; at < region->size_bytes; at += page_bytes)
        memory[at] = 1;
}

/* Maps a region that begins at a huge page, untouched. */
static struct bl_region map_aligned(size_t size_bytes)
{
    struct bl_region region = {.size_bytes = round_up(size_bytes, BL_HUGE_PAGE_BYTES)};
    const size_t mapped_bytes = region.size_bytes + BL_HUGE_PAGE_BYTES;
    char *mapped =
        mmap(NULL, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return region;
    const size_t before_bytes = (size_t)(-(uintptr_t)mapped % BL_HUGE_PAGE_BYTES);
    const size_t after_bytes = BL_HUGE_PAGE_BYTES - before_bytes;
    if (before_bytes > 0)
        munmap(mapped, before_bytes);
    region.memory = mapped + before_bytes;
    munmap(region.memory + region.size_bytes, after_bytes);
    return region;
}

/* Bytes of the region's mapping that are in transparent huge pages; -1: the kernel does not say. */
static int64_t transparent_huge_bytes(const struct bl_region *region)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    if (!file)
        return -1;
    char line[512];
    bool inside = false;
    int64_t found_bytes = -1;
    while (found_bytes < 0 && fgets(line, sizeof line, file)) {
        uintptr_t begin, end;
        int64_t size_kib;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2)
            inside = begin <= (uintptr_t)region->memory && (uintptr_t)region->memory < end;
        else if (inside && sscanf(line, "AnonHugePages: %" SCNd64 " kB", &size_kib) == 1)
            found_bytes = size_kib * 1024;
    }
    fclose(file);
    return found_bytes;
}

/* "always [madvise] never": the word in brackets. */
static const char *transparent_setting(char *text, int size)
{
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (!file)
        return "the kernel has none";
    const char *line = fgets(text, size, file);
    fclose(file);
    const char *begin = line ? strchr(line, '[') : NULL;
    char *end = begin ? strchr(begin, ']') : NULL;
    if (!end)
        return "setting unknown";
    *end = '\0';
    return begin + 1;
}

static void map_reserved(struct bl_region *region)
{
    /* The kernel sets reserved pages aside here: touching them later cannot fail. */
    char *mapped = mmap(NULL, region->size_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_HUGE_2MB, -1, 0);
    if (mapped == MAP_FAILED)
        return;
    region->memory = mapped;
    region->source = "reserved";
    touch(region, BL_HUGE_PAGE_BYTES);
}

static struct bl_region map_huge(size_t size_bytes, char *reason, size_t reason_bytes)
{
    struct bl_region region = {.size_bytes = round_up(size_bytes, BL_HUGE_PAGE_BYTES)};
    map_reserved(&region);
    if (region.memory)
        return region;
    region = map_aligned(size_bytes);
    if (!region.memory) {
        snprintf(reason, reason_bytes, "cannot map %zu B: %s", region.size_bytes, strerror(errno));
        return region;
    }
    const bool advised = madvise(region.memory, region.size_bytes, MADV_HUGEPAGE) == 0;
    touch(&region, BL_SMALL_PAGE_BYTES);
    const int64_t granted_bytes = transparent_huge_bytes(&region);
    region.source = "transparent";
    if (advised && granted_bytes == (int64_t)region.size_bytes)
        return region;
    char setting[80];
    snprintf(reason, reason_bytes,
             "no 2 MiB pages: none reserved, transparent ones (%s) cover %" PRId64 " of %zu B",
             transparent_setting(setting, sizeof setting), granted_bytes < 0 ? 0 : granted_bytes,
             region.size_bytes);
    bl_region_unmap(&region);
    return region;
}

static struct bl_region map_small(size_t size_bytes, char *reason, size_t reason_bytes)
{
    struct bl_region region = {.size_bytes = size_bytes};
    const long kernel_page_bytes = sysconf(_SC_PAGESIZE);
    if (kernel_page_bytes != BL_SMALL_PAGE_BYTES) {
        snprintf(reason, reason_bytes, "no 4 KiB pages: this kernel's have %ld B",
                 kernel_page_bytes);
        return region;
    }
    region = map_aligned(size_bytes);
    if (!region.memory) {
        snprintf(reason, reason_bytes, "cannot map %zu B: %s", region.size_bytes, strerror(errno));
        return region;
    }
    /* A kernel without transparent huge pages refuses the advice and gives none. */
    madvise(region.memory, region.size_bytes, MADV_NOHUGEPAGE);
    touch(&region, BL_SMALL_PAGE_BYTES);
    region.source = "small";
    const int64_t huge_bytes = transparent_huge_bytes(&region);
    if (huge_bytes > 0) {
        snprintf(reason, reason_bytes, "%" PRId64 " B are in 2 MiB pages in spite of the advice",
                 huge_bytes);
        bl_region_unmap(&region);
    }
    return region;
}

struct bl_region bl_region_map(size_t size_bytes, size_t page_bytes, char *reason,
                               size_t reason_bytes)
{
    if (page_bytes == BL_HUGE_PAGE_BYTES)
        return map_huge(size_bytes, reason, reason_bytes);
    return map_small(size_bytes, reason, reason_bytes);
}

void bl_region_unmap(struct bl_region *region)
{
    if (region->memory)
        munmap(region->memory, region->size_bytes);
    region->memory = NULL;
}

size_t bl_available_bytes(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    if (!file)
        return 0;
    char line[128];
    size_t available_kib = 0;
    while (available_kib == 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %zu kB", &available_kib) != 1)
            available_kib = 0;
    fclose(file);
    return available_kib << 10;
}

size_t bl_past_cache_bytes(int arrays)
{
    const size_t cache_bytes = bl_last_level_cache_bytes();
    const size_t wanted_bytes = cache_bytes ? 4 * cache_bytes : (size_t)256 << 20;
    /* Not more than half of the free memory: a program that the kernel ends measures nothing. */
    const size_t most_bytes = bl_available_bytes() / 2 / (size_t)arrays;
    return most_bytes > 0 && most_bytes < wanted_bytes ? most_bytes : wanted_bytes;
}
