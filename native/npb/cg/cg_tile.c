/*
 * The product of a tile of CG's matrix (cg_slices.f90) with its part of the vector:
 *
 *     product(row) = product(row) + sum of value * vector(column) over the row's entries in the
 * tile
 *
 * In C because neither way to fetch the vector's numbers can be asked of a Fortran compiler: it
 * takes them apart and puts them together through other registers, at a fifth more time. Which way
 * is faster depends on the processor: gather instructions are on Intel's, and slow on AMD's and
 * wherever microcode mends their leak (Downfall).
 *
 * Exported: bl_cg_tile, bl_cg_ways. Nothing here is collective; bl_cg_tile is timed.
 * Layout: LANES rows to a slice, entry k of all of them side by side, from the begin of a cache
 * line on. Slices, entries and rows are counted from 1, columns from 0 at the tile's first.
 */
#include <stdint.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

enum { LOADS = 0, GATHERS = 1 };
#ifdef __AVX__
enum { LANES = 16, WIDTH = 4, VECTORS = LANES / WIDTH };
#define FETCHED(at)                                                                                \
    {                                                                                              \
        vector[(at)[0]], vector[(at)[1]], vector[(at)[2]], vector[(at)[3]]                         \
    }
#else
enum { LANES = 16, WIDTH = 2, VECTORS = LANES / WIDTH };
#define FETCHED(at)                                                                                \
    {                                                                                              \
        vector[(at)[0]], vector[(at)[1]]                                                           \
    }
#endif

typedef double vector_t __attribute__((vector_size(WIDTH * sizeof(double))));

int bl_cg_ways(void);
void bl_cg_tile(int way, int is_backward, int slices, const int64_t *first_entry,
                const int32_t *row, const uint16_t *column, const double *value,
                const double *vector, double *product);

/* Ways to fetch that this build has: the first so many of LOADS, GATHERS. */
int bl_cg_ways(void)
{
#ifdef __AVX512F__
    return 2;
#else
    return 1;
#endif
}

/* One load for each number of a vector that the processor has. */
static inline void sum_by_loads(int64_t entries, int step, const uint16_t *column,
                                const double *value, const double *vector, double total[LANES])
{
    vector_t sum[VECTORS] = {{0}};
    for (int64_t entry = 0; entry < entries; entry++, column += step, value += step) {
        const vector_t *const values = (const vector_t *)(const void *)value;
        for (int part = 0; part < VECTORS; part++)
            sum[part] += values[part] * (vector_t)FETCHED(column + WIDTH * part);
    }
    for (int lane = 0; lane < LANES; lane++)
        total[lane] = sum[lane / WIDTH][lane % WIDTH];
}

#ifdef __AVX512F__
static inline void sum_by_gathers(int64_t entries, int step, const uint16_t *column,
                                  const double *value, const double *vector, double total[LANES])
{
    __m512d low = _mm512_setzero_pd(), high = _mm512_setzero_pd();
    for (int64_t entry = 0; entry < entries; entry++, column += step, value += step) {
        const __m512i at =
            _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)column));
        const __m512d of_low = _mm512_i32gather_pd(_mm512_castsi512_si256(at), vector, 8);
        const __m512d of_high = _mm512_i32gather_pd(_mm512_extracti64x4_epi64(at, 1), vector, 8);
        low = _mm512_fmadd_pd(_mm512_load_pd(value), of_low, low);
        high = _mm512_fmadd_pd(_mm512_load_pd(value + 8), of_high, high);
    }
    _mm512_storeu_pd(total, low);
    _mm512_storeu_pd(total + 8, high);
}
#endif

void bl_cg_tile(int way, int is_backward, int slices, const int64_t *first_entry,
                const int32_t *row, const uint16_t *column, const double *value,
                const double *vector, double *product)
{
    const int step = is_backward ? -LANES : LANES;
    for (int turn = 0; turn < slices; turn++) {
        const int slice = is_backward ? slices - 1 - turn : turn;
        const int64_t first = LANES * (first_entry[slice + is_backward] - 1 - is_backward);
        const int64_t entries = first_entry[slice + 1] - first_entry[slice];
        double total[LANES];
#ifdef __AVX512F__
        if (way == GATHERS)
            sum_by_gathers(entries, step, column + first, value + first, vector, total);
        else
#endif
            sum_by_loads(entries, step, column + first, value + first, vector, total);
        for (int lane = 0; lane < LANES; lane++)
            product[row[LANES * slice + lane] - 1] += total[lane];
    }
    (void)way;
}
