/* The lines of the output; see nodebench.h. */
#include "nodebench.h"

#include "bl_build.h"
#include "bl_clock.h"
#include "bl_summary.h"

enum { PROTOCOL_VERSION = 1 };

const char *const bl_mode_names[] = {"single", "star", "all", NULL};

void bl_node_report_header(struct bl_json *json, const struct bl_node_options *options, int threads,
                           void (*add_options)(struct bl_json *, const void *), const void *data,
                           void (*add_members)(struct bl_json *))
{
    bl_json_begin(json);
    bl_json_integer(json, "bareline", PROTOCOL_VERSION);
    bl_json_string(json, "program", "nodebench");
    bl_json_string(json, "benchmark", options->benchmark);
    bl_json_integer(json, "threads", threads);
    bl_json_string(json, "timer", bl_clock_name());
    bl_json_number(json, "timer_resolution_s", bl_clock_resolution_s());
    bl_json_open_object(json, "options");
    if (options->repeats > 0)
        bl_json_integer(json, "repeat", options->repeats);
    add_options(json, data);
    bl_json_close_object(json);
    if (add_members)
        add_members(json);
    bl_build_report(json);
    bl_json_write(json, stdout);
}

void bl_node_report_rates(struct bl_json *json, const struct bl_series *series, double amount)
{
    double total_s = 0;
    for (int i = 0; i < series->count; i++) {
        total_s += series->time_s[i];
        series->time_s[i] = amount / series->time_s[i];
    }
    const struct bl_summary summary = bl_summarise(series->time_s, (size_t)series->count);
    bl_json_integer(json, "iterations", series->count);
    bl_json_bool(json, "verified", true);
    bl_json_summary(json, "rate", &summary);
    bl_json_number(json, "loop_rate", amount * series->count / total_s);
}

void bl_node_report_end(struct bl_json *json, int points, const struct bl_cut *cuts, int count)
{
    bl_json_begin(json);
    bl_json_bool(json, "end", true);
    bl_json_integer(json, "points", points);
    bl_json_open_array(json, "cut");
    for (int i = 0; i < count; i++) {
        bl_json_open_object(json, NULL);
        bl_json_open_object(json, "point");
        bl_json_integer(json, "working_set_bytes", (int64_t)cuts[i].working_set_bytes);
        bl_json_integer(json, "page_bytes", (int64_t)cuts[i].page_bytes);
        bl_json_close_object(json);
        bl_json_string(json, "reason", cuts[i].reason);
        bl_json_close_object(json);
    }
    bl_json_close_array(json);
    bl_json_write(json, stdout);
}
