/* See report.h. */
#include "report.h"

#include "bl_clock.h"
#include "bl_memory.h"
#include "bl_summary.h"

#include <stdlib.h>

enum { PROTOCOL_VERSION = 1 };

void bl_report_header(struct bl_json *json, const struct bl_options *options,
                      const struct bl_world *world, int team_ranks)
{
    bl_json_begin(json);
    bl_json_integer(json, "bareline", PROTOCOL_VERSION);
    bl_json_string(json, "program", "mpibench");
    bl_json_string(json, "benchmark", options->benchmark->name);
    bl_json_integer(json, "ranks", world->ranks);
    bl_json_integer(json, "team_ranks", team_ranks);
    bl_json_integer(json, "nodes", world->nodes);
    bl_json_open_array(json, "rank_nodes");
    for (int i = 0; i < world->ranks; i++)
        bl_json_integer(json, NULL, world->rank_nodes[i]);
    bl_json_close_array(json);
    bl_json_string(json, "mpi_standard", world->mpi_standard);
    bl_json_string(json, "mpi_library", world->mpi_library);
    bl_json_string(json, "timer", bl_clock_name());
    bl_json_number(json, "timer_resolution_s", bl_clock_resolution_s());
    bl_options_report(options, json);
    bl_json_write(json, stdout);
}

void bl_report_point(struct bl_json *json, const struct bl_operation *op)
{
    bl_json_begin(json);
    bl_json_open_object(json, "point");
    if (op->benchmark->element != BL_NO_SIZE)
        bl_json_integer(json, "size_bytes", (int64_t)op->size_bytes);
    bl_json_close_object(json);
}

static void report_times(struct bl_json *json, double share,
                         const struct bl_measurement *measurement, double *scratch)
{
    for (long i = 0; i < measurement->iterations; i++)
        scratch[i] = share * measurement->time_s[i];
    const struct bl_summary summary = bl_summarise(scratch, (size_t)measurement->iterations);
    bl_json_summary(json, "time", &summary);
    bl_json_number(json, "loop_mean", share * measurement->loop_mean_s);
    bl_json_number(json, "loop_mean_max", share * measurement->loop_mean_max_s);
    bl_json_number(json, "rank_mean", share * measurement->rank_mean_s);
    bl_json_number(json, "rank_mean_min", share * measurement->rank_mean_min_s);
    bl_json_number(json, "rank_mean_max", share * measurement->rank_mean_max_s);
}

/* `amount` is what one call moves: bytes or messages. */
static void report_rates(struct bl_json *json, const char *const names[3], double amount,
                         const struct bl_measurement *measurement, double *scratch)
{
    for (long i = 0; i < measurement->iterations; i++)
        scratch[i] = amount / measurement->time_s[i];
    const struct bl_summary summary = bl_summarise(scratch, (size_t)measurement->iterations);
    bl_json_summary(json, names[0], &summary);
    bl_json_number(json, names[1], amount / measurement->loop_mean_s);
    bl_json_number(json, names[2], amount / measurement->loop_mean_max_s);
}

void bl_report_measurement(struct bl_json *json, const struct bl_operation *op,
                           const struct bl_effort *effort, struct bl_measurement *measurement)
{
    static const char *const byte_names[] = {"rate", "loop_rate", "loop_rate_min"};
    static const char *const message_names[] = {"message_rate", "loop_message_rate",
                                                "loop_message_rate_min"};
    const struct bl_benchmark *benchmark = op->benchmark;
    double *scratch =
        bl_allocate((size_t)measurement->iterations * sizeof *scratch, "the summary of a point");
    bl_json_integer(json, "iterations", measurement->iterations);
    bl_json_integer(json, "iterations_asked", effort->iterations);
    bl_json_integer(json, "loop_iterations", measurement->loop_iterations);
    bl_json_bool(json, "verified", true);
    if (!benchmark->rate_only)
        report_times(json, benchmark->time_share, measurement, scratch);
    if (benchmark->bytes && op->size_bytes > 0)
        report_rates(json, byte_names, benchmark->bytes(op), measurement, scratch);
    if (benchmark->messages)
        report_rates(json, message_names, benchmark->messages(op), measurement, scratch);
    free(scratch);
}

void bl_report_end(struct bl_json *json, long points, const struct bl_cut *cuts, int cut_count)
{
    bl_json_begin(json);
    bl_json_bool(json, "end", true);
    bl_json_integer(json, "points", points);
    bl_json_open_array(json, "cut");
    for (int i = 0; i < cut_count; i++) {
        bl_json_open_object(json, NULL);
        bl_json_open_object(json, "point");
        if (cuts[i].sized)
            bl_json_integer(json, "size_bytes", (int64_t)cuts[i].size_bytes);
        bl_json_close_object(json);
        bl_json_string(json, "reason", cuts[i].reason);
        bl_json_close_object(json);
    }
    bl_json_close_array(json);
    bl_json_write(json, stdout);
}
