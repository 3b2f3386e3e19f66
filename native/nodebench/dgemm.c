/*
 * Dense matrix product C = A B of order n in double precision, by the node's BLAS: 2 n^3 flop.
 *
 * Exported: bl_dgemm.
 */
#include "bl_error.h"
#include "bl_memory.h"
#include "nodebench.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * The C interface's prototype is fixed, but distributions put cblas.h into different folders and
 * OpenBLAS's differs from the reference's in the enumerations' names. Values: row-major, no
 * transposition.
 */
enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };
extern void cblas_dgemm(int layout, int transpose_a, int transpose_b, int m, int n, int k,
                        double alpha, const double *a, int lda, const double *b, int ldb,
                        double beta, double *c, int ldc);

/* Only OpenBLAS has these; other libraries follow OpenMP's or their own environment variables. */
#pragma weak openblas_set_num_threads
#pragma weak openblas_get_num_threads
#pragma weak openblas_get_config
extern void openblas_set_num_threads(int threads);
extern int openblas_get_num_threads(void);
extern char *openblas_get_config(void);

enum { CHECKED_ENTRIES = 64 };

struct product {
    int order;
    double *a, *b, *c;
};

static void multiply(void *data)
{
    const struct product *p = data;
    const int n = p->order;
    cblas_dgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, n, n, n, 1.0, p->a, n, p->b, n, 0.0, p->c,
                n);
}

/* Uniform in [-1/2, 1/2): xorshift64* of S. Vigna (2016), doi:10.1145/2845077. */
static double next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)(*state * UINT64_C(2685821657736338717) >> 11) * 0x1p-53 - 0.5;
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
    uint64_t state = 88172645463325252;
    double largest = 0;
    for (int i = 0; i < CHECKED_ENTRIES; i++) {
        const size_t row = (size_t)((next_random(&state) + 0.5) * (double)n);
        const size_t column = (size_t)((next_random(&state) + 0.5) * (double)n);
        double scale;
        const double expected = entry_of_product(p, row, column, &scale);
        const double bound = 2 * (double)n * DBL_EPSILON * scale + DBL_MIN;
        const double residual = fabs(p->c[row * n + column] - expected) / bound;
        if (!(residual <= largest)) /* a NaN, too, gets through */
            largest = residual;
    }
    return largest;
}

static void add_options(struct bl_json *json, const void *data)
{
    const struct product *p = data;
    bl_json_integer(json, "n", p->order);
    bl_json_string(json, "blas", openblas_get_config ? openblas_get_config() : "not OpenBLAS");
}

static int set_threads(int wanted)
{
    if (!openblas_set_num_threads)
        return bl_threads_set(wanted);
    if (wanted > 0)
        openblas_set_num_threads(wanted);
    const int running = openblas_get_num_threads();
    if (wanted > 0 && running != wanted)
        bl_die(BL_STATUS_FAILED,
               "%d threads asked for, OpenBLAS gives %d, its build allows no more", wanted,
               running);
    return running;
}

static struct product make_product(int order)
{
    const size_t count = (size_t)order * (size_t)order;
    struct product p = {.order = order};
    double **const matrices[] = {&p.a, &p.b, &p.c};
    for (int i = 0; i < 3; i++)
        *matrices[i] = bl_allocate(count * sizeof(double), "a matrix of dgemm (--n)");
    uint64_t state = 42;
    for (size_t i = 0; i < count; i++) {
        p.a[i] = next_random(&state);
        p.b[i] = next_random(&state);
        p.c[i] = NAN; /* what is not computed must not pass */
    }
    return p;
}

void bl_dgemm(const struct bl_node_options *options)
{
    const int threads = set_threads(options->threads);
    struct product p = make_product(options->order);
    struct bl_json json = {0};
    bl_node_report_header(&json, options, threads, add_options, &p);
    struct bl_series series = bl_repeat(multiply, &p, options->repeats);
    const double residual = residual_of(&p);
    if (!(residual <= 1))
        bl_die(BL_STATUS_WRONG, "dgemm computed wrong values (residual %g), do not trust this BLAS",
               residual);
    const double n = options->order;
    bl_json_begin(&json);
    bl_json_open_object(&json, "point");
    bl_json_integer(&json, "n", options->order);
    bl_json_close_object(&json);
    bl_node_report_rates(&json, &series, 2 * n * n * n);
    bl_json_number(&json, "residual", residual);
    bl_json_write(&json, stdout);
    bl_node_report_end(&json, 1, NULL, 0);
    bl_json_free(&json);
    free(series.time_s);
    free(p.a);
    free(p.b);
    free(p.c);
}
