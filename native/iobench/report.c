/* The lines of the output; see iobench.h. */
#include "iobench.h"

#include "bl_clock.h"
#include "bl_error.h"
#include "bl_summary.h"

enum { PROTOCOL_VERSION = 1 };

void bl_io_report_begin(struct bl_json *json, const char *benchmark)
{
    bl_json_begin(json);
    bl_json_integer(json, "bareline", PROTOCOL_VERSION);
    bl_json_string(json, "program", bl_program());
    bl_json_string(json, "benchmark", benchmark);
    bl_json_string(json, "timer", bl_clock_name());
    bl_json_number(json, "timer_resolution_s", bl_clock_resolution_s());
    bl_json_open_object(json, "options");
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
