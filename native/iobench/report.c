/* The lines of the output; see iobench.h. */
#include "iobench.h"

#include "bl_clock.h"
#include "bl_summary.h"

enum { PROTOCOL_VERSION = 1 };

void bl_io_report_header(struct bl_json *json, const struct bl_io_options *options,
                         void (*add_options)(struct bl_json *, const struct bl_io_options *))
{
    bl_json_begin(json);
    bl_json_integer(json, "bareline", PROTOCOL_VERSION);
    bl_json_string(json, "program", "iobench");
    bl_json_string(json, "benchmark", options->benchmark);
    bl_json_string(json, "timer", bl_clock_name());
    bl_json_number(json, "timer_resolution_s", bl_clock_resolution_s());
    bl_json_open_object(json, "options");
    bl_json_integer(json, "size_bytes", (int64_t)options->size_bytes);
    add_options(json, options);
    bl_json_close_object(json);
    bl_json_write(json, stdout);
}

void bl_io_report_series(struct bl_json *json, const char *key, double *values, size_t count)
{
    const struct bl_summary summary = bl_summarise(values, count);
    bl_json_summary(json, key, &summary);
}

void bl_io_report_end(struct bl_json *json, int points)
{
    bl_json_begin(json);
    bl_json_bool(json, "end", true);
    bl_json_integer(json, "points", points);
    bl_json_open_array(json, "cut");
    bl_json_close_array(json);
    bl_json_write(json, stdout);
}
