/*
 * Dense matrix product C = A B of order n in double precision, by the node's BLAS: 2 n^3 flop.
 *
 * Exported: bl_dgemm. Modes: one core; every core at once, each with matrices of its own (HPC
 * Challenge's StarDGEMM); all threads together on one product.
 */
#include "bl_clock.h"
#include "bl_error.h"
#include "bl_memory.h"
#include "bl_openblas.h"
#include "bl_random.h"
#include "bl_summary.h"
#include "blas.h"
#include "cores.h"
#include "nodebench.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum { CHECKED_ENTRIES = 64 };

struct product {
    int order;
    double *a, *b, *c;
};

/* What the modes have in common. `rate` is that of one core in modes single and star. */
struct dgemm {
    const struct bl_node_options *options;
    int cores;
    struct bl_series time; /* of the repetitions; star: the median over the cores */
    double slowest_core_s; /* median over the repetitions of the slowest core's time */
    double residual;       /* largest */
    struct bl_node_peak peak;
};

static void multiply(void *data)
{
    const struct product *p = data;
    const int n = p->order;
    cblas_dgemm(BL_ROW_MAJOR, BL_NO_TRANSPOSE, BL_NO_TRANSPOSE, n, n, n, 1.0, p->a, n, p->b, n, 0.0,
                p->c, n);
}

static double entry_of_product(const struct product *p, size_t row, size_t column, double *scale)
{
    const size_t n = (size_t)p->order;
    double sum = 0;
    *scale = 0;
    for (size_t k = 0; k < n; k++) {
        const double term = p->a[row * n + k] * p->b[k * n + column];
        sum += term;
        *scale += fabs(term);
    }
    return sum;
}

/*
 * Largest error of some entries in units of its bound, n epsilon sum |a b|: N. J. Higham (2002),
 * Accuracy and Stability of Numerical Algorithms, section 3.5. Both sides round, hence 2.
 */
static double residual_of(const struct product *p)
{
    const size_t n = (size_t)p->order;
    double largest = 0;
    for (uint64_t i = 0; i < CHECKED_ENTRIES; i++) {
        const size_t row = (size_t)((bl_random_at(1, 2 * i) + 0.5) * (double)n);
        const size_t column = (size_t)((bl_random_at(1, 2 * i + 1) + 0.5) * (double)n);
        double scale;
        const double expected = entry_of_product(p, row, column, &scale);
        const double bound = 2 * (double)n * DBL_EPSILON * scale + DBL_MIN;
        const double residual = fabs(p->c[row * n + column] - expected) / bound;
        if (!(residual <= largest)) /* a NaN, too, gets through */
            largest = residual;
    }
    return largest;
}

static struct product make_product(int order, uint64_t seed)
{
    const size_t count = (size_t)order * (size_t)order;
    struct product p = {.order = order};
    double **const matrices[] = {&p.a, &p.b, &p.c};
    for (int i = 0; i < 3; i++)
        *matrices[i] = bl_allocate(count * sizeof(double), "a matrix of dgemm (--n)");
    for (size_t i = 0; i < count; i++) {
        p.a[i] = bl_random_at(seed, 2 * i);
        p.b[i] = bl_random_at(seed, 2 * i + 1);
        p.c[i] = NAN; /* what is not computed must not pass */
    }
    return p;
}

static void free_product(struct product *p)
{
    free(p->a);
    free(p->b);
    free(p->c);
}

static void run_together(struct dgemm *dgemm)
{
    struct product p = make_product(dgemm->options->order, 42);
    const struct bl_work work = {.run = multiply, .data = &p};
    dgemm->time = bl_repeat_within(&work, dgemm->options->repeats, dgemm->options->budget_s);
    dgemm->residual = residual_of(&p);
    free_product(&p);
}

/* What the cores share; core c's r-th repetition is at time_s[c * stride + r]. */
struct star {
    double *time_s;
    size_t stride;
    int done;
    bool over;
    int64_t begin_ns;
};

static double multiply_timed(struct product *p)
{
    const int64_t begin_ns = bl_clock_ns();
    multiply(p);
    return BL_SECONDS_PER_NS * (double)(bl_clock_ns() - begin_ns);
}

/* One core looks at the clock for all: they have to agree on the end. */
static void agree_on_end(struct star *star, const struct bl_node_options *options)
{
#pragma omp barrier
#pragma omp master
    {
        const double spent_s = BL_SECONDS_PER_NS * (double)(bl_clock_ns() - star->begin_ns);
        star->done++;
        star->over = star->done == options->repeats || spent_s > options->budget_s;
    }
#pragma omp barrier
}

/* One core's part. Repetitions begin together: each is measured beside busy neighbours. */
static void run_core(struct dgemm *dgemm, struct star *star, int core)
{
    bl_core_pin(core);
    struct product p = make_product(dgemm->options->order, 42 + (uint64_t)core);
    multiply_timed(&p);
    for (size_t i = 0; !star->over; i++) {
#pragma omp barrier
        star->time_s[(size_t)core * star->stride + i] = multiply_timed(&p);
        agree_on_end(star, dgemm->options);
    }
    const double residual = residual_of(&p);
#pragma omp critical
    if (!(residual <= dgemm->residual))
        dgemm->residual = residual;
    free_product(&p);
}

/* Over the cores: the median of each repetition, and the slowest core's median time. */
static void condense(struct dgemm *dgemm, const struct star *star)
{
    const size_t cores = (size_t)dgemm->cores, done = (size_t)star->done;
    double *column = bl_allocate(cores * sizeof *column, "the times of the cores");
    dgemm->time = bl_series_make(star->done);
    dgemm->time.count = star->done;
    for (size_t i = 0; i < done; i++) {
        for (size_t core = 0; core < cores; core++)
            column[core] = star->time_s[core * star->stride + i];
        dgemm->time.time_s[i] = bl_summarise(column, cores).median;
    }
    dgemm->slowest_core_s = 0;
    for (size_t core = 0; core < cores; core++) {
        const double median_s = bl_summarise(star->time_s + core * star->stride, done).median;
        dgemm->slowest_core_s = fmax(dgemm->slowest_core_s, median_s);
    }
    free(column);
}

static void run_star(struct dgemm *dgemm)
{
    struct star star = {.stride = (size_t)dgemm->options->repeats, .begin_ns = bl_clock_ns()};
    star.time_s = bl_allocate((size_t)dgemm->cores * star.stride * sizeof(double),
                              "the times of the repetitions (--repeat)");
#pragma omp parallel num_threads(dgemm->cores)
    {
#ifdef _OPENMP
        run_core(dgemm, &star, omp_get_thread_num());
#else
        run_core(dgemm, &star, 0);
#endif
    }
    condense(dgemm, &star);
    free(star.time_s);
}

static void add_options(struct bl_json *json, const void *data)
{
    const struct dgemm *dgemm = data;
    bl_json_integer(json, "n", dgemm->options->order);
    bl_json_string(json, "mode", bl_mode_names[dgemm->options->mode]);
}

static void report_point(const struct dgemm *dgemm, struct bl_json *json)
{
    const double n = dgemm->options->order;
    const double flops = 2 * n * n * n;
    const bool together = dgemm->options->mode == BL_MODE_ALL;
    bl_json_begin(json);
    bl_json_open_object(json, "point");
    bl_json_integer(json, "n", dgemm->options->order);
    bl_json_close_object(json);
    bl_node_report_rates(json, &dgemm->time, flops);
    if (dgemm->options->mode == BL_MODE_STAR)
        bl_json_number(json, "slowest_core_rate", flops / dgemm->slowest_core_s);
    bl_json_integer(json, "peak_cores", together ? dgemm->cores : 1);
    bl_node_peak_report(json, &dgemm->peak);
    bl_json_number(json, "residual", dgemm->residual);
    bl_json_write(json, stdout);
}

void bl_dgemm(const struct bl_node_options *options)
{
    struct dgemm dgemm = {.options = options, .cores = bl_cores_of_mode(options)};
    bl_blas_threads_set(options->mode == BL_MODE_ALL ? dgemm.cores : 1);
    struct bl_json json = {0};
    bl_node_report_header(&json, options, dgemm.cores, add_options, &dgemm, bl_openblas_report);
    bl_node_peak_look(&dgemm.peak, dgemm.cores);
    if (options->mode == BL_MODE_STAR)
        run_star(&dgemm);
    else
        run_together(&dgemm);
    bl_node_peak_look(&dgemm.peak, dgemm.cores);
    if (!(dgemm.residual <= 1))
        bl_die(BL_STATUS_WRONG, "dgemm computed wrong values (residual %g), do not trust this BLAS",
               dgemm.residual);
    report_point(&dgemm, &json);
    bl_node_report_end(&json, 1, NULL, 0);
    bl_json_free(&json);
    free(dgemm.time.time_s);
}
