/*
 * Attainable rate of double-precision arithmetic of a core, one point for each instruction set that
 * the processor shows; on one core, or on every core at once (the median core counts).
 *
 * Exported: bl_peak.
 */
#include "bl_peak.h"
#include "cores.h"
#include "nodebench.h"

#include <stdlib.h>

static const double look_s = 0.01;

static void add_options(struct bl_json *json, const void *data)
{
    const struct bl_node_options *options = data;
    bl_json_string(json, "mode", bl_mode_names[options->mode]);
}

static void measure(const struct bl_peak_kernel *kernel, const struct bl_node_options *options,
                    int cores, struct bl_json *json)
{
    struct bl_series series = bl_series_make(options->repeats);
    for (; series.count < options->repeats; series.count++)
        series.time_s[series.count] = 1 / bl_node_peak_rate(kernel, cores, look_s);
    bl_json_begin(json);
    bl_json_open_object(json, "point");
    bl_json_string(json, "instructions", kernel->name);
    bl_json_close_object(json);
    bl_node_report_rates(json, &series, 1);
    bl_json_write(json, stdout);
    free(series.time_s);
}

void bl_peak(const struct bl_node_options *options)
{
    const int cores = bl_cores_of_mode(options);
    const struct bl_peak_kernel *kernels;
    const int count = bl_peak_kernels(&kernels);
    struct bl_json json = {0};
    bl_node_report_header(&json, options, cores, add_options, options, NULL);
    for (int i = 0; i < count; i++)
        measure(&kernels[i], options, cores, &json);
    bl_node_report_end(&json, count, NULL, 0);
    bl_json_free(&json);
}
