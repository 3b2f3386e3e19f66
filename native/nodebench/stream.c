/*
 * Sustainable memory bandwidth of four long vector kernels,
 *     copy  c = a        scale  b = q c        add  c = a + b        triad  a = b + q c
 * as J. D. McCalpin (1995), Memory Bandwidth and Machine Balance in Current High Performance
 * Computers, defines them.
 *
 * Exported: bl_stream. Threads work on contiguous parts, whose pages they touched first.
 *
 * Bytes are those that the program names: 16 for an element of copy and scale, 24 of add and
 * triad. A processor that reads a line before it overwrites it moves more; that is not counted,
 * and with regular stores the figure is lower for it. Non-temporal stores avoid that read where the
 * hardware has them. The definition allows either: --stores best runs both and counts the kind with
 * the higher median, as others' copy does that ends in the C library's. Each point says which.
 */
#include "bl_dispatch.h"
#include "bl_error.h"
#include "bl_memory.h"
#include "bl_summary.h"
#include "nodebench.h"
#include "pages.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#define FACTOR 3.0

/* Parts begin at cache lines. */
enum { LINE_DOUBLES = 8 };

typedef void kernel_fn(double *restrict to, const double *restrict x, const double *restrict y,
                       size_t count);

#define REGULAR(set, attribute, name, value)                                                       \
    attribute static void name##_##set(double *restrict to, const double *restrict x,              \
                                       const double *restrict y, size_t count)                     \
    {                                                                                              \
        (void)y;                                                                                   \
        for (size_t i = 0; i < count; i++)                                                         \
            to[i] = value;                                                                         \
    }

BL_EACH_SET(REGULAR, copy, x[i])
BL_EACH_SET(REGULAR, scale, FACTOR *x[i])
BL_EACH_SET(REGULAR, add, x[i] + y[i])
BL_EACH_SET(REGULAR, triad, x[i] + FACTOR * y[i])

#ifdef __SSE2__
/* Counts are multiples of LINE_DOUBLES and arrays are aligned to lines. */
#define NONTEMPORAL(name, value)                                                                   \
    static void name##_nontemporal(double *restrict to, const double *restrict x,                  \
                                   const double *restrict y, size_t count)                         \
    {                                                                                              \
        const __m128d q = _mm_set1_pd(FACTOR);                                                     \
        (void)q, (void)y;                                                                          \
        for (size_t i = 0; i < count; i += 2)                                                      \
            _mm_stream_pd(to + i, value);                                                          \
        _mm_sfence();                                                                              \
    }

NONTEMPORAL(copy, _mm_load_pd(x + i))
NONTEMPORAL(scale, _mm_mul_pd(q, _mm_load_pd(x + i)))
NONTEMPORAL(add, _mm_add_pd(_mm_load_pd(x + i), _mm_load_pd(y + i)))
NONTEMPORAL(triad, _mm_add_pd(_mm_load_pd(x + i), _mm_mul_pd(q, _mm_load_pd(y + i))))
#define KERNEL(name) BL_SET_TABLE(name), name##_nontemporal
#else
#define KERNEL(name) BL_SET_TABLE(name), NULL
#endif

const char *const bl_stores_names[] = {"regular", "nontemporal", "best", NULL};

enum array { A, B, C, ARRAYS };

static const struct kernel {
    const char *name;
    int bytes; /* an element */
    enum array to, x, y;
    double of_x, of_y; /* to = of_x x + of_y y, for the check */
    kernel_fn *regular[BL_SETS];
    kernel_fn *nontemporal; /* NULL where there are no such stores */
} kernels[] = {
    {"copy", 16, C, A, A, 1, 0, KERNEL(copy)},
    {"scale", 16, B, C, C, FACTOR, 0, KERNEL(scale)},
    {"add", 24, C, A, B, 1, 1, KERNEL(add)},
    {"triad", 24, A, B, C, 1, FACTOR, KERNEL(triad)},
};

enum { KERNELS = sizeof kernels / sizeof *kernels };

struct stream {
    double *arrays[ARRAYS];
    size_t count; /* elements of an array */
    int threads;
    const struct kernel *kernel;
    enum bl_stores stores;
    enum bl_set set;
};

/* The calling thread's part of the arrays. */
static size_t part_begin(const struct stream *stream, int thread)
{
    const size_t lines = stream->count / LINE_DOUBLES;
    return lines * (size_t)thread / (size_t)stream->threads * LINE_DOUBLES;
}

static void initialise(struct stream *stream)
{
    static const double start[ARRAYS] = {1.0, 2.0, 0.0};
#pragma omp parallel
    {
        const int thread = bl_this_thread();
        for (int array = 0; array < ARRAYS; array++) {
            double *values = stream->arrays[array];
            const size_t end = part_begin(stream, thread + 1);
            for (size_t i = part_begin(stream, thread); i < end; i++)
                values[i] = start[array];
        }
    }
}

static void run_kernel(void *data)
{
    const struct stream *stream = data;
    const struct kernel *kernel = stream->kernel;
    kernel_fn *const run = stream->stores == BL_STORES_NONTEMPORAL ? kernel->nontemporal
                                                                   : kernel->regular[stream->set];
#pragma omp parallel
    {
        const int thread = bl_this_thread();
        const size_t begin = part_begin(stream, thread);
        run(stream->arrays[kernel->to] + begin, stream->arrays[kernel->x] + begin,
            stream->arrays[kernel->y] + begin, part_begin(stream, thread + 1) - begin);
    }
}

/* Whether the kernel's target holds what its sources say, in every element. */
static bool holds(const struct stream *stream)
{
    const struct kernel *kernel = stream->kernel;
    const double *to = stream->arrays[kernel->to];
    const double *x = stream->arrays[kernel->x];
    const double *y = stream->arrays[kernel->y];
    for (size_t i = 0; i < stream->count; i++) {
        const double expected = kernel->of_x * x[i] + kernel->of_y * y[i];
        /* A fused multiply-add rounds once, this may round twice. */
        if (!(fabs(to[i] - expected) <= 4e-16 * fabs(expected)))
            return false;
    }
    return true;
}

/* No kernel's target is one of its sources: repeating it changes nothing, and one check at the end
 * sees the last repetition. */
static void verify(const struct stream *stream)
{
    if (!holds(stream))
        bl_die(BL_STATUS_WRONG,
               "stream %s computed wrong values, do not trust this node's memory or compiler",
               stream->kernel->name);
}

static void add_options(struct bl_json *json, const void *data)
{
    const struct stream *stream = data;
    bl_json_integer(json, "size_bytes", (int64_t)(stream->count * sizeof(double)));
    bl_json_integer(json, "last_level_cache_bytes", (int64_t)bl_last_level_cache_bytes());
    bl_json_string(json, "stores", bl_stores_names[stream->stores]);
#ifdef BL_HAVE_TARGETS
    bl_json_string(json, "instruction_set", bl_set_names[stream->set]);
#endif
}

static double median_time_s(const struct bl_series *series)
{
    return bl_summarise(series->time_s, (size_t)series->count).median;
}

/* Repeats a kernel with one kind of stores. */
static struct bl_series run_with(struct stream *stream, enum bl_stores stores, int repeats)
{
    stream->stores = stores;
    double *to = stream->arrays[stream->kernel->to];
    for (size_t i = 0; i < stream->count; i++)
        to[i] = NAN; /* what is not computed must not pass, though the other kind computed it */
    struct bl_series series = bl_repeat(run_kernel, stream, repeats);
    verify(stream);
    return series;
}

static struct bl_series run_best(struct stream *stream, int repeats)
{
    struct bl_series regular = run_with(stream, BL_STORES_REGULAR, repeats);
    if (!stream->kernel->nontemporal)
        return regular;
    struct bl_series nontemporal = run_with(stream, BL_STORES_NONTEMPORAL, repeats);
    const bool better = median_time_s(&nontemporal) < median_time_s(&regular);
    free(better ? regular.time_s : nontemporal.time_s);
    stream->stores = better ? BL_STORES_NONTEMPORAL : BL_STORES_REGULAR;
    return better ? nontemporal : regular;
}

static void measure(struct stream *stream, const struct kernel *kernel,
                    const struct bl_node_options *options, struct bl_json *json)
{
    stream->kernel = kernel;
    struct bl_series series = options->stores == BL_STORES_BEST
                                  ? run_best(stream, options->repeats)
                                  : run_with(stream, options->stores, options->repeats);
    bl_json_begin(json);
    bl_json_open_object(json, "point");
    bl_json_string(json, "kernel", kernel->name);
    bl_json_close_object(json);
    bl_node_report_rates(json, &series, (double)stream->count * kernel->bytes);
    bl_json_string(json, "stores", bl_stores_names[stream->stores]);
    bl_json_write(json, stdout);
    free(series.time_s);
}

static size_t choose_count(const struct bl_node_options *options, int threads)
{
    const size_t size_bytes =
        options->size_bytes ? options->size_bytes : bl_past_cache_bytes(ARRAYS);
    const size_t smallest_bytes = (size_t)threads * LINE_DOUBLES * sizeof(double);
    if (size_bytes < smallest_bytes)
        bl_die(BL_STATUS_USAGE,
               "--size: %zu B is less than a cache line for each of %d threads, "
               "use %zu or more",
               size_bytes, threads, smallest_bytes);
    return size_bytes / (LINE_DOUBLES * sizeof(double)) * LINE_DOUBLES;
}

void bl_stream(const struct bl_node_options *options)
{
    struct stream stream = {
        .threads = bl_threads_set(options->threads),
        .stores = options->stores,
        .set = bl_instruction_set(),
    };
    if (stream.stores == BL_STORES_NONTEMPORAL && !kernels[0].nontemporal)
        bl_die(BL_STATUS_USAGE, "--stores: this architecture has no non-temporal stores here, use "
                                "regular");
    stream.count = choose_count(options, stream.threads);
    for (int array = 0; array < ARRAYS; array++)
        stream.arrays[array] =
            bl_allocate(stream.count * sizeof(double), "an array of stream (--size)");
    initialise(&stream);

    struct bl_json json = {0};
    bl_node_report_header(&json, options, stream.threads, add_options, &stream, NULL);
    for (int i = 0; i < KERNELS; i++)
        measure(&stream, &kernels[i], options, &json);
    bl_node_report_end(&json, KERNELS, NULL, 0);
    bl_json_free(&json);
    for (int array = 0; array < ARRAYS; array++)
        free(stream.arrays[array]);
}
