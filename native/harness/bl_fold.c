/* See bl_fold.h. Compiled for SimGrid's SMPI only. */
#include "bl_fold.h"

#include "bl_error.h"

#include <smpi/smpi.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* smpi.h sends these to SMPI's own bookkeeping of leaks; here the linker's names are meant. */
#undef malloc
#undef realloc
#undef free

void *__real_malloc(size_t size_bytes);
void *__real_realloc(void *array, size_t size_bytes);
void __real_free(void *array);
void *__wrap_malloc(size_t size_bytes);
void *__wrap_realloc(void *array, size_t size_bytes);
void __wrap_free(void *array);

enum { ARRAYS_MAX = 512 };

/* Those of this rank: SMPI gives every rank its own copy of a program's variables. */
static struct folded {
    void *array;
    size_t size_bytes;
} arrays[ARRAYS_MAX];

static int used;    /* of arrays */
static int numbers; /* of arrays folded so far: the same array has the same number on every rank */

static size_t smallest_bytes(void)
{
    static size_t smallest;
    if (smallest == 0) {
        const char *const text = getenv("BARELINE_FOLD");
        smallest = text ? (size_t)strtoull(text, NULL, 10) : SIZE_MAX;
        if (smallest == 0)
            bl_die(BL_STATUS_USAGE, "BARELINE_FOLD=%s: write a number of bytes above 0", text);
    }
    return smallest;
}

int bl_fold_is_on(void)
{
    return smallest_bytes() != SIZE_MAX;
}

static struct folded *find(const void *array)
{
    for (int i = used - 1; i >= 0; i--) {
        if (arrays[i].array == array)
            return &arrays[i];
    }
    return NULL;
}

void *__wrap_malloc(size_t size_bytes)
{
    if (size_bytes < smallest_bytes())
        return __real_malloc(size_bytes);
    if (used == ARRAYS_MAX)
        bl_die(BL_STATUS_FAILED, "more than %d arrays to fold, raise BARELINE_FOLD", ARRAYS_MAX);
    /* SMPI lets arrays of one file and line share memory; the size keeps unequal ones apart. */
    enum { PAGE_BYTES = 4096, NUMBERS = 1 << 10 };
    const int place = (int)(size_bytes / PAGE_BYTES % (1 << 20)) * NUMBERS + numbers++ % NUMBERS;
    void *const array = smpi_shared_malloc(size_bytes, "bl_fold", place);
    arrays[used++] = (struct folded){array, size_bytes};
    return array;
}

void __wrap_free(void *array)
{
    struct folded *const folded = array && used > 0 ? find(array) : NULL;
    if (!folded) {
        __real_free(array);
        return;
    }
    *folded = arrays[--used];
    smpi_shared_free(array);
}

void *__wrap_realloc(void *array, size_t size_bytes)
{
    const struct folded *const folded = array && used > 0 ? find(array) : NULL;
    if (!folded)
        return __real_realloc(array, size_bytes);
    const size_t kept = folded->size_bytes < size_bytes ? folded->size_bytes : size_bytes;
    void *const moved = __wrap_malloc(size_bytes);
    memcpy(moved, array, kept);
    __wrap_free(array);
    return moved;
}
