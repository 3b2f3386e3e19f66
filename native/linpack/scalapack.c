/*
 * The solution by ScaLAPACK: LU factorisation with partial pivoting over a grid of ranks as near to
 * a square as their number allows, rows not more than columns (HPL's advice), matrix dealt out in
 * square blocks: L. S. Blackford et al. (1997), ScaLAPACK Users' Guide,
 * doi:10.1137/1.9780898719642.
 *
 * Exported: bl_linpack_solve. Operations and residual are HPL's, as in nodebench/linpack.c; the
 * residual is computed here, not by ScaLAPACK.
 */
#include "bl_clock.h"
#include "bl_error.h"
#include "bl_memory.h"
#include "bl_openblas.h"
#include "bl_peak.h"
#include "bl_random.h"
#include "bl_summary.h"
#include "check.h"
#include "linpack.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double largest_residual = 16;
enum { SEED = 2, PROTOCOL_VERSION = 1, DESCRIPTOR = 9, ONE = 1 };

extern void Cblacs_get(int context, int what, int *value);
extern void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
extern void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
extern void Cblacs_gridexit(int context);
extern int numroc_(const int *n, const int *block, const int *process, const int *first,
                   const int *processes);
extern void descinit_(int *descriptor, const int *rows, const int *columns, const int *row_block,
                      const int *column_block, const int *first_row, const int *first_column,
                      const int *context, const int *leading, int *info);
extern void pdgetrf_(const int *rows, const int *columns, double *a, const int *row,
                     const int *column, const int *descriptor, int *pivots, int *info);
extern void pdgetrs_(const char *transpose, const int *n, const int *columns, const double *a,
                     const int *row, const int *column, const int *descriptor, const int *pivots,
                     double *b, const int *b_row, const int *b_column, const int *b_descriptor,
                     int *info, unsigned long transpose_length);

#pragma weak openblas_set_num_threads
extern void openblas_set_num_threads(int threads);

struct grid {
    int context, rows, columns, row, column;
};

/* One rank's part of the system. */
struct system {
    struct grid grid;
    int order, block;
    int local_rows, local_columns;
    int a_descriptor[DESCRIPTOR], b_descriptor[DESCRIPTOR];
    double *a; /* by columns */
    double *b; /* then x; only in the first column of the grid */
    int *pivots;
};

static struct grid make_grid(int ranks)
{
    struct grid grid = {.rows = (int)sqrt((double)ranks)};
    while (ranks % grid.rows != 0)
        grid.rows--;
    grid.columns = ranks / grid.rows;
    Cblacs_get(0, 0, &grid.context);
    Cblacs_gridinit(&grid.context, "R", grid.rows, grid.columns);
    Cblacs_gridinfo(grid.context, &grid.rows, &grid.columns, &grid.row, &grid.column);
    return grid;
}

/* Index in the whole matrix of a local one: blocks are dealt out in turn. */
static size_t whole(int local, int block, int process, int processes)
{
    return ((size_t)(local / block) * (size_t)processes + (size_t)process) * (size_t)block +
           (size_t)(local % block);
}

static size_t whole_row(const struct system *s, int local)
{
    return whole(local, s->block, s->grid.row, s->grid.rows);
}

static size_t whole_column(const struct system *s, int local)
{
    return whole(local, s->block, s->grid.column, s->grid.columns);
}

static double entry(const struct system *s, size_t row, size_t column)
{
    return bl_random_at(SEED, column * (size_t)s->order + row);
}

static double right_side(const struct system *s, size_t row)
{
    return entry(s, row, (size_t)s->order);
}

static void describe(const struct system *s, int columns, int *descriptor)
{
    static const int first = 0;
    const int leading = s->local_rows > 1 ? s->local_rows : 1;
    int info;
    descinit_(descriptor, &s->order, &columns, &s->block, &s->block, &first, &first,
              &s->grid.context, &leading, &info);
    if (info != 0)
        bl_die(BL_STATUS_FAILED, "ScaLAPACK refuses the distribution (info = %d), change --nb",
               info);
}

static struct system make_system(const struct bl_linpack_options *options, int ranks)
{
    static const int first = 0;
    struct system s = {.grid = make_grid(ranks), .order = options->order, .block = options->block};
    s.local_rows = numroc_(&s.order, &s.block, &s.grid.row, &first, &s.grid.rows);
    s.local_columns = numroc_(&s.order, &s.block, &s.grid.column, &first, &s.grid.columns);
    describe(&s, s.order, s.a_descriptor);
    describe(&s, ONE, s.b_descriptor);
    const size_t rows = (size_t)s.local_rows, columns = (size_t)s.local_columns;
    s.a = bl_allocate(rows * columns * sizeof(double), "a rank's part of the matrix (--n)");
    s.b = bl_allocate(rows * sizeof(double), "a rank's part of the solution");
    s.pivots = bl_allocate((rows + (size_t)s.block) * sizeof(int), "a rank's pivots");
    return s;
}

static void fill(struct system *s)
{
    for (int j = 0; j < s->local_columns; j++) {
        const size_t column = whole_column(s, j);
        for (int i = 0; i < s->local_rows; i++)
            s->a[(size_t)j * (size_t)s->local_rows + (size_t)i] = entry(s, whole_row(s, i), column);
    }
    for (int i = 0; i < s->local_rows; i++)
        s->b[i] = right_side(s, whole_row(s, i));
}

static void solve(struct system *s)
{
    static const int one = ONE;
    int info;
    pdgetrf_(&s->order, &s->order, s->a, &one, &one, s->a_descriptor, s->pivots, &info);
    if (info == 0)
        pdgetrs_("N", &s->order, &one, s->a, &one, &one, s->a_descriptor, s->pivots, s->b, &one,
                 &one, s->b_descriptor, &info, 1);
    if (info != 0)
        bl_die(BL_STATUS_WRONG, "ScaLAPACK stopped with info = %d, do not trust this library",
               info);
}

/* The slowest rank's time. */
static double solve_timed(struct system *s)
{
    fill(s);
    BL_MPI(MPI_Barrier(MPI_COMM_WORLD));
    const int64_t begin_ns = bl_clock_ns();
    solve(s);
    double time_s = BL_SECONDS_PER_NS * (double)(bl_clock_ns() - begin_ns);
    BL_MPI(MPI_Allreduce(MPI_IN_PLACE, &time_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    return time_s;
}

/* Untimed first, then until the budget is spent; returns how many times. Where the first spends
 * the budget alone, it counts. */
static int repeat(struct system *s, const struct bl_linpack_options *options, double *time_s)
{
    double spent_s = time_s[0] = solve_timed(s);
    int count = 0;
    while (count < options->repeats && spent_s <= options->budget_s) {
        time_s[count] = solve_timed(s);
        spent_s += time_s[count++];
    }
    return count > 0 ? count : 1;
}

static void sum_over_ranks(double *values, size_t count)
{
    BL_MPI(MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

static double *zeros(size_t count)
{
    double *values = bl_allocate(count * sizeof *values, "the residual");
    for (size_t i = 0; i < count; i++)
        values[i] = 0;
    return values;
}

/* Every rank gets the whole solution and adds the products of its part of A, which it makes again.
 * Collective. */
static double residual_of(const struct system *s)
{
    const size_t n = (size_t)s->order;
    double *x = zeros(n), *sums = zeros(2 * n), *row_sums = sums + n;
    for (int i = 0; s->grid.column == 0 && i < s->local_rows; i++)
        x[whole_row(s, i)] = s->b[i];
    sum_over_ranks(x, n);
    for (int j = 0; j < s->local_columns; j++) {
        const size_t column = whole_column(s, j);
        for (int i = 0; i < s->local_rows; i++) {
            const size_t row = whole_row(s, i);
            const double a = entry(s, row, column);
            sums[row] += a * x[column];
            row_sums[row] += fabs(a);
        }
    }
    sum_over_ranks(sums, n);
    sum_over_ranks(row_sums, n);
    double error = 0, norm_a = 0, norm_x = 0, norm_b = 0;
    for (size_t row = 0; row < n; row++) {
        const double row_error = fabs(sums[row] - right_side(s, row));
        if (!(row_error <= error)) /* a NaN, too, gets through */
            error = row_error;
        norm_a = fmax(norm_a, row_sums[row]);
        norm_x = fmax(norm_x, fabs(x[row]));
        norm_b = fmax(norm_b, fabs(right_side(s, row)));
    }
    free(x);
    free(sums);
    return error / (DBL_EPSILON / 2 * (norm_a * norm_x + norm_b) * (double)n);
}

/* Mean over the ranks, all of which run at once. Collective. */
static double peak_rate(const struct bl_peak_kernel **kernel, int ranks)
{
    const double look_s = 0.1;
    const struct bl_peak_kernel *kernels;
    const int count = bl_peak_kernels(&kernels);
    *kernel = &kernels[count - 1];
    BL_MPI(MPI_Barrier(MPI_COMM_WORLD));
    double rate = bl_peak_rate(*kernel, look_s);
    sum_over_ranks(&rate, 1);
    return rate / ranks;
}

static void report_header(struct bl_json *json, const struct bl_linpack_options *options,
                          const struct bl_world *world, const struct system *s)
{
    bl_json_begin(json);
    bl_json_integer(json, "bareline", PROTOCOL_VERSION);
    bl_json_string(json, "program", "linpack_mpi");
    bl_json_string(json, "benchmark", "linpack");
    bl_json_integer(json, "ranks", world->ranks);
    bl_json_integer(json, "nodes", world->nodes);
    bl_json_integer(json, "threads", options->threads);
    bl_json_string(json, "mpi_library", world->mpi_library);
    bl_json_string(json, "timer", bl_clock_name());
    bl_json_number(json, "timer_resolution_s", bl_clock_resolution_s());
    bl_json_open_object(json, "options");
    bl_json_integer(json, "n", options->order);
    bl_json_integer(json, "nb", options->block);
    bl_json_integer(json, "p", s->grid.rows);
    bl_json_integer(json, "q", s->grid.columns);
    bl_json_integer(json, "repeat", options->repeats);
    bl_json_number(json, "budget_s", options->budget_s);
    bl_json_close_object(json);
    bl_openblas_report(json);
    bl_json_write(json, stdout);
}

static void report_point(struct bl_json *json, double *rates, int count, int order)
{
    const struct bl_summary summary = bl_summarise(rates, (size_t)count);
    bl_json_begin(json);
    bl_json_open_object(json, "point");
    bl_json_integer(json, "n", order);
    bl_json_close_object(json);
    bl_json_integer(json, "iterations", count);
    bl_json_bool(json, "verified", true);
    bl_json_summary(json, "rate", &summary);
}

static void report_end(struct bl_json *json)
{
    bl_json_write(json, stdout);
    bl_json_begin(json);
    bl_json_bool(json, "end", true);
    bl_json_integer(json, "points", 1);
    bl_json_open_array(json, "cut");
    bl_json_close_array(json);
    bl_json_write(json, stdout);
}

void bl_linpack_solve(const struct bl_linpack_options *options, const struct bl_world *world)
{
    if (openblas_set_num_threads)
        openblas_set_num_threads(options->threads);
    struct system s = make_system(options, world->ranks);
    struct bl_json json = {0};
    if (world->rank == 0)
        report_header(&json, options, world, &s);
    double *rates =
        bl_allocate((size_t)options->repeats * sizeof *rates, "the times of the solutions");
    const struct bl_peak_kernel *kernel;
    double peak = peak_rate(&kernel, world->ranks);
    const int count = repeat(&s, options, rates);
    peak = fmax(peak, peak_rate(&kernel, world->ranks));
    const double residual = residual_of(&s);
    if (!(residual < largest_residual))
        bl_die_together(BL_STATUS_WRONG, "residual %g is not below %g, do not trust this ScaLAPACK",
                        residual, largest_residual);
    const double n = options->order;
    for (int i = 0; i < count; i++)
        rates[i] = (2.0 / 3 * n * n * n + 3.0 / 2 * n * n) / rates[i];
    if (world->rank == 0) {
        report_point(&json, rates, count, options->order);
        bl_json_integer(&json, "peak_cores", world->ranks * options->threads);
        bl_json_string(&json, "peak_instructions", kernel->name);
        bl_json_number(&json, "peak_rate", peak);
        bl_json_number(&json, "residual", residual);
        report_end(&json);
    }
    Cblacs_gridexit(s.grid.context);
    bl_json_free(&json);
    free(rates);
    free(s.a);
    free(s.b);
    free(s.pivots);
}
