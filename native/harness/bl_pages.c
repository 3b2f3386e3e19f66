/*
 * What Fortran cannot ask of the memory: large pages under an array, and data ahead of their use.
 *
 * Exported: bl_prefer_large_pages, bl_prefetch, bl_prefetch_rows, bl_prefetch_columns, which
 * bl_memory.f90 declares to Fortran and describes. Nothing here is collective.
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise */
#endif

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void bl_prefer_large_pages(const void *array, int64_t size_bytes);
void bl_prefetch(const void *array, int64_t size_bytes);
void bl_prefetch_rows(const void *array, int64_t stride_bytes, int64_t rows);
void bl_prefetch_columns(const void *array, int column_bytes, int many, const int *places);

void bl_prefer_large_pages(const void *array, int64_t size_bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)array + page_bytes - 1) / page_bytes * page_bytes;
    const uintptr_t end = ((uintptr_t)array + (uintptr_t)size_bytes) / page_bytes * page_bytes;
    if (begin < end)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)array;
    (void)size_bytes;
#endif
}

void bl_prefetch(const void *array, int64_t size_bytes)
{
#ifdef __GNUC__
    enum { CACHE_LINE_BYTES = 64 };
    for (int64_t byte = 0; byte < size_bytes; byte += CACHE_LINE_BYTES)
        __builtin_prefetch((const char *)array + byte);
#else
    (void)array;
    (void)size_bytes;
#endif
}

void bl_prefetch_rows(const void *array, int64_t stride_bytes, int64_t rows)
{
#ifdef __GNUC__
    for (int64_t row = 0; row < rows; row++)
        __builtin_prefetch((const char *)array + row * stride_bytes);
#else
    (void)array;
    (void)stride_bytes;
    (void)rows;
#endif
}

void bl_prefetch_columns(const void *array, int column_bytes, int many, const int *places)
{
#ifdef __GNUC__
    for (int i = 0; i < many; i++)
        __builtin_prefetch((const char *)array + ((int64_t)places[i] - 1) * column_bytes);
#else
    (void)array;
    (void)column_bytes;
    (void)many;
    (void)places;
#endif
}
