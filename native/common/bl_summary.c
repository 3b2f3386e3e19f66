/* See bl_summary.h. */
#include "bl_summary.h"

#include <stdlib.h>

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

double bl_quantile(const double *sorted, size_t count, double probability)
{
    const double position = probability * (double)(count - 1);
    const size_t below = (size_t)position;
    if (below + 1 >= count)
        return sorted[count - 1];
    const double weight = position - (double)below;
    return sorted[below] + weight * (sorted[below + 1] - sorted[below]);
}

struct bl_summary bl_summarise(double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    qsort(values, count, sizeof *values, ascending);
    return (struct bl_summary){
        .min = values[0],
        .q1 = bl_quantile(values, count, 0.25),
        .median = bl_quantile(values, count, 0.5),
        .q3 = bl_quantile(values, count, 0.75),
        .p95 = bl_quantile(values, count, 0.95),
        .p99 = bl_quantile(values, count, 0.99),
        .max = values[count - 1],
        .mean = sum / (double)count,
    };
}

void bl_json_summary(struct bl_json *json, const char *key, const struct bl_summary *summary)
{
    bl_json_open_object(json, key);
    bl_json_number(json, "min", summary->min);
    bl_json_number(json, "q1", summary->q1);
    bl_json_number(json, "median", summary->median);
    bl_json_number(json, "q3", summary->q3);
    bl_json_number(json, "p95", summary->p95);
    bl_json_number(json, "p99", summary->p99);
    bl_json_number(json, "max", summary->max);
    bl_json_number(json, "mean", summary->mean);
    bl_json_close_object(json);
}
