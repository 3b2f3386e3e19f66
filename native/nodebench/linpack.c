/*
 * Linpack on one node: A x = b of order n, dense, in double precision, solved by LAPACK's LU
 * factorisation with partial pivoting (dgetrf, dgetrs).
 *
 * Exported: bl_linpack. Operations are counted as HPL counts them, 2/3 n^3 + 3/2 n^2, whatever the
 * library does; the solution is checked by HPL's scaled residual,
 *     |A x - b| / (eps (|A| |x| + |b|) n) < 16   in the infinity norm, eps = 2^-53:
 * A. Petitet, R. C. Whaley, J. Dongarra, A. Cleary, HPL, https://www.netlib.org/benchmark/hpl.
 */
#include "bl_error.h"
#include "bl_memory.h"
#include "bl_openblas.h"
#include "bl_random.h"
#include "blas.h"
#include "cores.h"
#include "nodebench.h"
#include "pages.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double largest_residual = 16;
enum { SEED = 2 };

struct system {
    int order;
    double *a; /* by columns */
    double *x; /* b, then the solution */
    int *pivots;
};

static double entry(const struct system *s, size_t row, size_t column)
{
    return bl_random_at(SEED, column * (size_t)s->order + row);
}

static double right_side(const struct system *s, size_t row)
{
    return entry(s, row, (size_t)s->order);
}

static void fill(void *data)
{
    struct system *s = data;
    const size_t n = (size_t)s->order;
#pragma omp parallel for
    for (size_t column = 0; column < n; column++) {
        for (size_t row = 0; row < n; row++)
            s->a[column * n + row] = entry(s, row, column);
    }
    for (size_t row = 0; row < n; row++)
        s->x[row] = right_side(s, row);
}

static void solve(void *data)
{
    struct system *s = data;
    const int n = s->order, one = 1;
    int info;
    dgetrf_(&n, &n, s->a, &n, s->pivots, &info);
    if (info == 0)
        dgetrs_("N", &n, &one, s->a, &n, s->pivots, s->x, &n, &info, 1);
    if (info != 0)
        bl_die(BL_STATUS_WRONG, "linpack: LAPACK stopped with info = %d, do not trust this library",
               info);
}

/* The factorisation overwrote A: it is made again, row by row. */
static double residual_of(const struct system *s)
{
    const size_t n = (size_t)s->order;
    double error = 0, norm_a = 0, norm_x = 0, norm_b = 0;
#pragma omp parallel for reduction(max : error, norm_a, norm_x, norm_b)
    for (size_t row = 0; row < n; row++) {
        double product = 0, row_sum = 0;
        for (size_t column = 0; column < n; column++) {
            const double a = entry(s, row, column);
            product += a * s->x[column];
            row_sum += fabs(a);
        }
        const double row_error = fabs(product - right_side(s, row));
        error = isnan(row_error) ? INFINITY : fmax(error, row_error);
        norm_a = fmax(norm_a, row_sum);
        norm_x = fmax(norm_x, fabs(s->x[row]));
        norm_b = fmax(norm_b, fabs(right_side(s, row)));
    }
    return error / (DBL_EPSILON / 2 * (norm_a * norm_x + norm_b) * (double)n);
}

/* Largest order, in steps of 8, whose matrix takes this share of the memory that is available. */
static int order_for(double memory_share)
{
    const size_t available_bytes = bl_available_bytes();
    if (available_bytes == 0)
        bl_die(BL_STATUS_FAILED, "this system does not report its available memory, use --n");
    const double order = sqrt(memory_share * (double)available_bytes / sizeof(double));
    return order < 8 ? 8 : (int)order / 8 * 8;
}

static struct system make_system(int order)
{
    const size_t n = (size_t)order;
    const size_t available_bytes = bl_available_bytes();
    /* The kernel promises more than it has, and ends whoever takes it at its word. */
    if (available_bytes > 0 && n * n > available_bytes / sizeof(double))
        bl_die(BL_STATUS_FAILED,
               "a matrix of order %d needs %zu B, %zu B are available, use a "
               "smaller --n",
               order, n * n * sizeof(double), available_bytes);
    return (struct system){
        .order = order,
        .a = bl_allocate(n * n * sizeof(double), "the matrix of linpack (--n, --memory-share)"),
        .x = bl_allocate(n * sizeof(double), "the solution of linpack"),
        .pivots = bl_allocate(n * sizeof(int), "the pivots of linpack"),
    };
}

struct linpack {
    const struct bl_node_options *options;
    int order;
    struct bl_node_peak peak;
};

static void add_options(struct bl_json *json, const void *data)
{
    const struct linpack *linpack = data;
    bl_json_integer(json, "n", linpack->order);
    bl_json_string(json, "mode", bl_mode_names[linpack->options->mode]);
}

static void report_point(const struct linpack *linpack, struct bl_json *json, int cores,
                         const struct bl_series *series, double residual)
{
    const double n = linpack->order;
    bl_json_begin(json);
    bl_json_open_object(json, "point");
    bl_json_integer(json, "n", linpack->order);
    bl_json_close_object(json);
    bl_node_report_rates(json, series, 2.0 / 3 * n * n * n + 3.0 / 2 * n * n);
    bl_json_integer(json, "peak_cores", cores);
    bl_node_peak_report(json, &linpack->peak);
    bl_json_number(json, "residual", residual);
    bl_json_write(json, stdout);
}

void bl_linpack(const struct bl_node_options *options)
{
    const int cores = bl_cores_of_mode(options);
    bl_blas_threads_set(cores);
    struct linpack linpack = {.options = options, .order = options->order};
    if (options->memory_share > 0)
        linpack.order = order_for(options->memory_share);
    struct system system = make_system(linpack.order);
    struct bl_json json = {0};
    bl_node_report_header(&json, options, cores, add_options, &linpack, bl_openblas_report);
    const struct bl_work work = {.prepare = fill, .run = solve, .data = &system};
    bl_node_peak_look(&linpack.peak, cores);
    struct bl_series series = bl_repeat_within(&work, options->repeats, options->budget_s);
    bl_node_peak_look(&linpack.peak, cores);
    const double residual = residual_of(&system);
    if (!(residual < largest_residual))
        bl_die(BL_STATUS_WRONG, "linpack: residual %g is not below %g, do not trust this LAPACK",
               residual, largest_residual);
    report_point(&linpack, &json, cores, &series, residual);
    bl_node_report_end(&json, 1, NULL, 0);
    bl_json_free(&json);
    free(series.time_s);
    free(system.a);
    free(system.x);
    free(system.pivots);
}
