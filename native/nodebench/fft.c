/*
 * Complex Fourier transforms in double precision by FFTW: one long one-dimensional transform, and
 * one over a cube. Operations are counted as the field does, 5 N log2 N for N points, whatever the
 * library does.
 *
 * Exported: bl_fft. Two checks: some coefficients against the sum that defines them, and the
 * inverse transform against the input.
 */
#include "bl_error.h"
#include "bl_memory.h"
#include "bl_random.h"
#include "cores.h"
#include "nodebench.h"

#include <complex.h> /* before fftw3.h, whose numbers are then C's */
#include <fftw3.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKED = 4, SEED = 3 };

struct transform {
    const char *name;
    int rank; /* dimensions */
    int lengths[3];
    size_t count; /* points */
    double complex *input, *output;
    fftw_plan forward, backward;
};

static struct transform make_transform(const char *name, int rank, int length)
{
    struct transform t = {.name = name, .rank = rank, .count = 1};
    for (int i = 0; i < rank; i++) {
        t.lengths[i] = length;
        t.count *= (size_t)length;
    }
    t.input = fftw_alloc_complex(t.count);
    t.output = fftw_alloc_complex(t.count);
    if (!t.input || !t.output)
        bl_die(BL_STATUS_FAILED, "cannot allocate %zu points for fft, use a smaller --n or --n3",
               t.count);
    return t;
}

static double complex input_at(size_t index)
{
    return bl_random_at(SEED, 2 * index) + I * bl_random_at(SEED, 2 * index + 1);
}

/* Planning overwrites the arrays. */
static void plan(struct transform *t, const struct bl_node_options *options)
{
    const unsigned effort = options->effort == BL_EFFORT_MEASURE ? FFTW_MEASURE : FFTW_ESTIMATE;
    fftw_set_timelimit(options->budget_s);
    t->forward = fftw_plan_dft(t->rank, t->lengths, t->input, t->output, FFTW_FORWARD,
                               effort | FFTW_PRESERVE_INPUT);
    t->backward =
        fftw_plan_dft(t->rank, t->lengths, t->output, t->input, FFTW_BACKWARD, FFTW_ESTIMATE);
    if (!t->forward || !t->backward)
        bl_die(BL_STATUS_FAILED, "FFTW has no plan for %s of length %d, use another --n or --n3",
               t->name, t->lengths[0]);
    for (size_t i = 0; i < t->count; i++)
        t->input[i] = input_at(i);
}

static void run_forward(void *data)
{
    const struct transform *t = data;
    fftw_execute(t->forward);
}

/* The coefficient by its definition. Its phase is reduced as an integer: exact for any length. */
static double complex coefficient(const struct transform *t, size_t index)
{
    const double pi = 3.14159265358979323846;
    const size_t length = (size_t)t->lengths[0];
    double complex sum = 0;
    for (size_t i = 0; i < t->count; i++) {
        size_t phase = 0;
        for (size_t at = i, to = index, d = 0; d < (size_t)t->rank; d++) {
            phase = (phase + at % length * (to % length)) % length;
            at /= length;
            to /= length;
        }
        sum += input_at(i) * cexp(-2 * pi * I * (double)phase / (double)length);
    }
    return sum;
}

/*
 * Largest error of coefficients and of the inverse, in units of eps sqrt(N) log2 N (a coefficient
 * is of size sqrt(N), and the sum that defines it is the less accurate side) and of eps log2 N:
 * N. J. Higham (2002), Accuracy and Stability of Numerical Algorithms, section 24.1.
 */
static double residual_of(struct transform *t)
{
    const double count = (double)t->count, log_count = fmax(log2(count), 1);
    double largest = 0;
    for (uint64_t i = 0; i < CHECKED; i++) {
        const size_t index = (size_t)((bl_random_at(4, i) + 0.5) * count);
        const double error = cabs(t->output[index] - coefficient(t, index));
        largest = fmax(largest, error / (8 * DBL_EPSILON * sqrt(count) * log_count));
    }
    fftw_execute(t->backward);
    for (size_t i = 0; i < t->count; i++) {
        const double error = cabs(t->input[i] / count - input_at(i));
        if (isnan(error))
            return INFINITY;
        largest = fmax(largest, error / (4 * DBL_EPSILON * log_count));
    }
    return largest;
}

static void measure(struct transform *t, const struct bl_node_options *options,
                    struct bl_json *json)
{
    plan(t, options);
    const struct bl_work work = {.run = run_forward, .data = t};
    struct bl_series series = bl_repeat_within(&work, options->repeats, options->budget_s);
    const double residual = residual_of(t);
    if (!(residual <= 1))
        bl_die(BL_STATUS_WRONG,
               "fft %s computed wrong values (residual %g), do not trust this FFTW", t->name,
               residual);
    const double count = (double)t->count;
    bl_json_begin(json);
    bl_json_open_object(json, "point");
    bl_json_string(json, "transform", t->name);
    bl_json_integer(json, "length", t->lengths[0]);
    bl_json_close_object(json);
    bl_node_report_rates(json, &series, 5 * count * log2(count));
    bl_json_number(json, "residual", residual);
    bl_json_write(json, stdout);
    free(series.time_s);
    fftw_destroy_plan(t->forward);
    fftw_destroy_plan(t->backward);
    fftw_free(t->input);
    fftw_free(t->output);
}

static void add_options(struct bl_json *json, const void *data)
{
    const struct bl_node_options *options = data;
    bl_json_integer(json, "n", options->order);
    bl_json_integer(json, "n3", options->edge);
    bl_json_string(json, "mode", bl_mode_names[options->mode]);
    bl_json_string(json, "plan", options->effort == BL_EFFORT_MEASURE ? "measure" : "estimate");
    bl_json_string(json, "fftw", fftw_version);
}

static int set_threads(const struct bl_node_options *options)
{
    const int cores = bl_cores_of_mode(options);
#ifdef BL_HAVE_FFTW_THREADS
    if (!fftw_init_threads())
        bl_die(BL_STATUS_FAILED, "FFTW cannot start its threads, use --mode single");
    fftw_plan_with_nthreads(cores);
#else
    if (cores > 1)
        bl_die(BL_STATUS_USAGE, "--mode: this FFTW has no threads, use single");
#endif
    return cores;
}

void bl_fft(const struct bl_node_options *options)
{
    const int cores = set_threads(options);
    struct bl_json json = {0};
    bl_node_report_header(&json, options, cores, add_options, options, NULL);
    struct transform line = make_transform("1d", 1, options->order);
    measure(&line, options, &json);
    struct transform cube = make_transform("3d", 3, options->edge);
    measure(&cube, options, &json);
    bl_node_report_end(&json, 2, NULL, 0);
    bl_json_free(&json);
}
