/*
 * Order statistics of a series of measured values.
 *
 * Exported: struct bl_summary, bl_summarise, bl_quantile, bl_json_summary.
 * bl_summarise sorts the values in place. Nothing here is collective.
 *
 * Quantiles interpolate linearly between order statistics, type 7 of R. J. Hyndman and Y. Fan
 * (1996), Sample Quantiles in Statistical Packages, doi:10.1080/00031305.1996.10473566, which is
 * the default of numpy and R.
 */
#ifndef BL_SUMMARY_H
#define BL_SUMMARY_H

#include "bl_json.h"

#include <stddef.h>

struct bl_summary {
    double min, q1, median, q3, p95, p99, max, mean;
};

/* Quantile of `count` > 0 ascending values at `probability` in [0, 1]. */
double bl_quantile(const double *sorted, size_t count, double probability);

/* Sorts `values` (`count` > 0) and summarises them. */
struct bl_summary bl_summarise(double *values, size_t count);

/* Adds the summary as an object. */
void bl_json_summary(struct bl_json *json, const char *key, const struct bl_summary *summary);

#endif
